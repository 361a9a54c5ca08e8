//! The runs of a scenario: which control each group of flows has in which run.

use firstflight_control::ControlSpec;
use firstflight_results::statistics::distinct;

use crate::error::ScenarioError;
use crate::scenario::{FlowGroup, Scenario};

/// One run: a name for it and a control for each group of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The control, or all of them joined by `, ` when the groups differ.
    pub name: String,
    /// One control for each group of [`Complete::flows`](crate::Complete::flows), in order.
    pub controls: Vec<ControlSpec>,
}

impl Scenario {
    /// The runs, one per listed control; a single one when every flow has a control of its own.
    ///
    /// # Errors
    /// A flow without any control, or listed controls that no flow would use.
    pub fn plans(&self) -> Result<Vec<Plan>, ScenarioError> {
        let flows = &self.groups();
        let lacking = flows.iter().position(|flow| flow.control.is_none());
        match (self.controls.is_empty(), lacking) {
            (true, Some(i)) => {
                let problem = "no control; accepted: `control` in each flow, or `controls` at the \
                    top for one run each";
                Err(self.origin.error(&format!("flow[{i}]"), problem))
            }
            (false, None) => {
                let problem = "every flow has a control of its own; accepted: one or the other";
                Err(self.origin.error("controls", problem))
            }
            (true, None) => Ok(vec![plan(flows, None)]),
            (false, Some(_)) => Ok(self.controls.iter().map(|c| plan(flows, Some(c))).collect()),
        }
    }
}

fn plan(flows: &[FlowGroup], listed: Option<&ControlSpec>) -> Plan {
    let controls: Vec<ControlSpec> =
        flows.iter().filter_map(|flow| flow.control.as_ref().or(listed).cloned()).collect();
    Plan { name: distinct(controls.iter().map(|control| control.text.as_str())), controls }
}
