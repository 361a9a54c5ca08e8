//! Which keys of a scenario have an effect, asked of the flows of all its runs.

use firstflight_scenario::keys::{Stack, StackInUse};
use firstflight_scenario::{Scenario, ScenarioError};

use crate::simulator::prepare;
use crate::{Simulator, endpoint, other_stack};

/// Refuses a key that is set and that no flow of any run supports, so that nobody takes a result
/// for that of a key that had no effect.
///
/// # Errors
/// The first such key, at its place, with what supports it.
pub(crate) fn check_keys(scenario: &Scenario, on: Simulator<'_>) -> Result<(), ScenarioError> {
    let is_free = scenario.set().all(|set| set.key.support.is_everywhere());
    if is_free && scenario.endpoint.ns2_release.is_none() {
        return Ok(());
    }
    // A scenario that cannot run at all is refused by the run, with its reason.
    let Ok((complete, prepared)) = prepare(scenario, on) else { return Ok(()) };
    let groups = scenario.groups();
    let mut runs = Vec::new();
    for (plan, controls) in &prepared {
        for (group, (flow, control)) in complete.flows.iter().zip(controls).enumerate() {
            let spec = &plan.controls[group];
            let carrier = other_stack::carrier(on, groups[group].transport, spec);
            let stack = match carrier {
                Ok(Some(_)) => Stack::Quinn,
                _ => endpoint::stack(complete.endpoint.profile, flow, control),
            };
            let keeps_alive = flow.files.is_some_and(|files| files.keep_alive);
            let rests = keeps_alive || !flow.writes.is_empty();
            let (delayed_ack, switches) = (flow.delayed_ack.value, complete.endpoint.switches);
            runs.push(StackInUse { group, stack, delayed_ack, rests, switches });
        }
    }
    scenario.check_support(&runs)
}
