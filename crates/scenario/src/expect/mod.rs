//! What a scenario expects of its results: `utilization = ">= 0.9"`, checked on every run.
//!
//! A field has the name of a measure, as the columns of tables have. It must hold for every flow;
//! `flows.0.timeouts` is that of the first. `utilization` is that of all flows together, and
//! `flows.utilization` that of each. What is no measure, such as `bottleneck.marks`, is named by
//! its dotted path in the JSON of a run, and so may all else be.

mod condition;
mod domain;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use firstflight_control::hint;
use firstflight_results::measures::{self, Measure, Over};
use firstflight_results::{Bottleneck, FilesResult, FlowResult, RunResult, Value as Cell};
use serde::Serialize;
use serde_json::Value;

use crate::document::{Node, Raw};
use crate::error::ScenarioError;
use crate::read::unknown_key;

pub use condition::Condition;
use domain::Domain;

/// Conditions on the results: `[expect]`, or `[[expect]]` with a `control` each.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Expect {
    /// The control whose runs are judged, by alias or in full; every run when `None`.
    pub control: Option<String>,
    /// The conditions, by field.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Condition>,
}

/// Names that the results of a scenario have, for [`crate::Scenario::check_expectations`].
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The controls of the runs, by alias and in full.
    pub controls: &'a [String],
    /// How many flows a run has.
    pub flows: u64,
}

/// A condition that a run does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unmet {
    /// The control of the run.
    pub control: String,
    /// The field, with the flow's number where it matters.
    pub field: String,
    /// What was measured, as in the JSON.
    pub measured: String,
    /// The condition as written.
    pub expected: String,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { control, field, measured, expected } = self;
        write!(f, "{control}: {field} is {measured}, expected {expected}")
    }
}

impl crate::Scenario {
    /// Refuses conditions for a flow or a control that the scenario does not run: they would never
    /// be checked.
    ///
    /// # Errors
    /// The first of them, at its place.
    pub fn check_expectations(&self, names: Names<'_>) -> Result<(), ScenarioError> {
        for (i, expect) in self.expect.iter().enumerate() {
            // One table is `[expect]`, several are a list; only one of the two is written.
            let error = |key: &str, problem: String| {
                let of_list = format!("expect[{i}].{key}");
                let place =
                    if self.is_written(&of_list) { of_list } else { format!("expect.{key}") };
                self.error_at(&place, problem)
            };
            if let Some(name) =
                expect.control.as_ref().filter(|name| !names.controls.contains(name))
            {
                let hint = hint(name, names.controls.iter().map(String::as_str));
                let accepted = names.controls.join(", ");
                let problem = format!("no run of that control{hint}; accepted: {accepted}");
                return Err(error("control", problem));
            }
            for field in expect.fields.keys() {
                let number = field.strip_prefix("flows.").and_then(|rest| rest.split('.').next());
                let number = number.and_then(|number| number.parse::<u64>().ok());
                if let Some(number) = number.filter(|number| *number >= names.flows) {
                    let last = names.flows.saturating_sub(1);
                    let problem = format!("no flow {number}; accepted: flows.0 to flows.{last}");
                    return Err(error(field, problem));
                }
            }
        }
        Ok(())
    }

    /// The conditions that `run` does not meet, in order; empty when all is as expected.
    pub fn unmet(&self, run: &RunResult) -> Vec<Unmet> {
        self.expect.iter().flat_map(|expect| expect.unmet(run)).collect()
    }
}

impl Expect {
    /// Reads one table or a list of them.
    pub(crate) fn read_all(node: &Node) -> Result<Vec<Self>, ScenarioError> {
        match &node.raw {
            Raw::List(items) => items.iter().map(Self::read).collect(),
            _ => Ok(vec![Self::read(node)?]),
        }
    }

    fn read(node: &Node) -> Result<Self, ScenarioError> {
        node.fields()?;
        let mut expect = Self::default();
        let mut outcome = Ok(());
        let mut visit = |key: &str, node: &Node| {
            if outcome.is_ok() && !matches!(node.raw, Raw::Table(_)) {
                outcome = expect.add(key, node);
            }
        };
        node.walk("", &mut visit);
        outcome?;
        if expect.fields.is_empty() {
            return Err(node.error("expects nothing; accepted: utilization = \">= 0.9\" below it"));
        }
        Ok(expect)
    }

    fn add(&mut self, key: &str, node: &Node) -> Result<(), ScenarioError> {
        let plain: Vec<_> = key.split('.').filter(|step| step.parse::<usize>().is_err()).collect();
        let plain = plain.join(".");
        let Raw::Text(text) = &node.raw else {
            let accepted = Domain::of(&plain).examples();
            return Err(node.error(format!("not a condition; accepted: {accepted}")));
        };
        if key == "control" {
            self.control = Some(text.clone());
            return Ok(());
        }
        if of_measure(key).is_none() && !KNOWN_FIELDS.contains(&plain) {
            let names = measures::all().map(|measure| measure.column.name);
            return Err(unknown_key(
                node,
                key,
                &["control"].into_iter().chain(names).collect::<Vec<_>>(),
            ));
        }
        let condition = Condition::parse(&plain, text).map_err(|problem| node.error(problem))?;
        self.fields.insert(key.to_owned(), condition);
        Ok(())
    }

    fn unmet(&self, run: &RunResult) -> Vec<Unmet> {
        let of_this = |name: &String| *name == run.alias || *name == run.control;
        if !self.control.as_ref().is_none_or(of_this) {
            return Vec::new();
        }
        let mut unmet = Vec::new();
        for (field, condition) in &self.fields {
            let Ok(found) = measured(run, field) else {
                return vec![Unmet {
                    control: run.alias.clone(),
                    field: "run".to_owned(),
                    measured: "not a number somewhere".to_owned(),
                    expected: "finite numbers".to_owned(),
                }];
            };
            let broken = found.into_iter().filter(|(_, value)| !condition.holds(value));
            unmet.extend(broken.map(|(field, value)| Unmet {
                control: run.alias.clone(),
                field,
                measured: if value.is_null() { "none".to_owned() } else { value.to_string() },
                expected: condition.text.clone(),
            }));
        }
        unmet
    }
}

/// What `run` has at `field`, by the path of each value: one per flow for `flows.timeouts`, a null
/// where there is nothing.
///
/// # Errors
/// A number of the run that is not finite.
pub fn measured(run: &RunResult, field: &str) -> Result<Vec<(String, Value)>, serde_json::Error> {
    let json = serde_json::to_value(run)?;
    let mut found = Vec::new();
    if field == "utilization" {
        found.push((field.to_owned(), Value::from(run.utilization)));
    } else if let Some((measure, only)) = of_measure(field) {
        found = of_flows(run, measure, only);
    } else {
        collect(&json, field, String::new(), &mut found);
    }
    if found.is_empty() {
        found.push((field.to_owned(), Value::Null));
    }
    Ok(found)
}

/// The measure that a field names, and the only flow of which it is meant.
fn of_measure(field: &str) -> Option<(&'static Measure, Option<usize>)> {
    let of_flow = field.strip_prefix("flows.").unwrap_or(field);
    let numbered =
        of_flow.split_once('.').and_then(|(flow, name)| Some((flow.parse().ok()?, name)));
    let (only, name) = numbered.map_or((None, of_flow), |(flow, name)| (Some(flow), name));
    let measure = measures::named(name)?;
    // The run's own have no flow.
    (measure.over != Over::Run || name == field).then_some((measure, only))
}

fn of_flows(run: &RunResult, measure: &Measure, only: Option<usize>) -> Vec<(String, Value)> {
    let json = |flow: &FlowResult| match measure.value(run, flow) {
        Cell::Text(text) => text.into(),
        Cell::Count(count) => count.into(),
        Cell::Number(number) => number.into(),
        Cell::Flag(flag) => flag.into(),
        Cell::Null => Value::Null,
    };
    let name = measure.column.name;
    if measure.over == Over::Run {
        return vec![(name.to_owned(), json(&FlowResult::default()))];
    }
    let flows = run.flows.iter().enumerate().filter(|(id, _)| only.is_none_or(|only| only == *id));
    flows.map(|(id, flow)| (format!("flows.{id}.{name}"), json(flow))).collect()
}

/// Every value at the dotted `path` below `json`; a list without an index stands for all items.
fn collect(json: &Value, path: &str, walked: String, found: &mut Vec<(String, Value)>) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    match json {
        _ if path.is_empty() => found.push((walked, json.clone())),
        Value::Array(items) => match step.parse::<usize>() {
            Ok(index) => {
                if let Some(item) = items.get(index) {
                    collect(item, rest, format!("{walked}.{index}"), found);
                }
            }
            Err(_) => {
                for (i, item) in items.iter().enumerate() {
                    collect(item, path, format!("{walked}.{i}"), found);
                }
            }
        },
        // Keys such as "0.6" hold a dot themselves.
        Value::Object(entries) => {
            for (key, value) in entries {
                let rest = path.strip_prefix(key.as_str());
                let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('.'));
                if let Some(rest) = rest {
                    let walked =
                        if walked.is_empty() { key.clone() } else { format!("{walked}.{key}") };
                    collect(value, rest.trim_start_matches('.'), walked, found);
                }
            }
        }
        _ => {}
    }
}

/// The fields of a run that can be expected, read off an empty result so that none is forgotten.
static KNOWN_FIELDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let flow = FlowResult { files: Some(FilesResult::default()), ..FlowResult::default() };
    let bottleneck = Bottleneck { marks: 1, ..Bottleneck::default() };
    let run = RunResult { flows: vec![flow], bottleneck, ..RunResult::default() };
    let mut fields = vec!["control".to_owned(), "utilization".to_owned()];
    let mut stack = vec![(String::new(), serde_json::to_value(run).unwrap_or_default())];
    while let Some((path, value)) = stack.pop() {
        let below =
            |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match value {
            // "0.6" and its like: digits are dropped as indices are, see `Expect::add`.
            Value::Object(entries) if entries.contains_key("0.6") => fields.push(path),
            Value::Object(entries) => {
                stack.extend(entries.into_iter().map(|(key, value)| (below(&key), value)));
            }
            Value::Array(items) => stack.extend(items.into_iter().map(|item| (path.clone(), item))),
            _ => fields.push(path),
        }
    }
    fields.sort();
    fields.dedup();
    fields
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use firstflight_results::{Counts, Startup, TimeToBdp};

    fn run() -> RunResult {
        let flow = |timeouts| FlowResult {
            utilization: 0.45,
            throughput_bps: 1.8e7,
            delivered_bytes: 45_000_000,
            counts: Counts { timeouts, ..Counts::default() },
            startup: Startup {
                exit_reason: Some("loss".to_owned()),
                time_to_bdp_s: TimeToBdp { at_60: Some(1.5), ..TimeToBdp::default() },
                ..Startup::default()
            },
            ..FlowResult::default()
        };
        RunResult {
            control: "astart+westwood".to_owned(),
            alias: "astart".to_owned(),
            flows: vec![flow(0), flow(2)],
            duration_s: 20.0,
            total_throughput_bps: 3.6e7,
            utilization: 0.9,
            ..RunResult::default()
        }
    }

    fn unmet(conditions: &str) -> Vec<String> {
        let text = format!("controls = [\"astart\"]\n{conditions}");
        let scenario = Scenario::parse(&text, "x.toml").unwrap();
        assert_eq!(scenario.to_toml(), {
            let again = Scenario::parse(&scenario.to_toml(), "x.toml").unwrap();
            again.to_toml()
        });
        scenario.unmet(&run()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn conditions_that_hold_are_silent() {
        let conditions = "[expect]\nutilization = '>= 0.9'\nflows.0.timeouts = '== 0'\n\
            total_throughput_bps = '>= 36Mbps'\nflows.exit_reason = '== loss'\n\
            flows.time_to_60_percent_bdp_s = '< 2s'\ncompletion_time_s = '== none'\n\
            bottleneck_drops = '0..5'\nflows.1.timeouts = '0..2'\n\
            flows.0.exit_reason = '!= ssthresh'";
        assert_eq!(unmet(conditions), [""; 0]);
    }

    #[test]
    fn a_name_of_before_measures_had_names_still_holds() {
        let conditions = "[expect]\nflows.startup.exit_reason = '== loss'\n\
            'flows.0.startup.time_to_bdp_s.0.6' = '< 2s'\nbottleneck.drops = '0..5'\n\
            bottleneck.marks = '== none'";
        assert_eq!(unmet(conditions), [""; 0]);
        assert_eq!(unmet("[expect]\nflows.startup.exit_reason = '!= loss'").len(), 2);
    }

    #[test]
    fn a_measure_of_the_run_is_of_no_flow() {
        let refused = |text: &str| Scenario::parse(text, "x.toml").is_err();
        assert!(refused("[expect]\nflows.0.bottleneck_drops = '== 0'"));
        assert!(!refused("[expect]\nbottleneck_drops = '== 0'"));
        assert_eq!(
            unmet("[expect]\nbottleneck_drops = '> 0'"),
            ["astart: bottleneck_drops is 0, expected > 0"]
        );
    }

    #[test]
    fn a_broken_condition_names_flow_measured_and_expected() {
        assert_eq!(
            unmet("[expect]\nflows.timeouts = '== 0'"),
            ["astart: flows.1.timeouts is 2, expected == 0"]
        );
        assert_eq!(
            unmet("[expect]\nflows.0.completion_time_s = '< 3s'"),
            ["astart: flows.0.completion_time_s is none, expected < 3s"]
        );
        assert_eq!(unmet("[expect]\nflows.7.timeouts = '== 0'").len(), 1);
        assert_eq!(unmet("[expect]\nutilization = '> 0.9'").len(), 1);
        assert_eq!(unmet("[expect]\nutilization = '0.1..0.2'").len(), 1);
        assert_eq!(unmet("[expect]\nflows.0.exit_reason = '!= loss'").len(), 1);
    }

    #[test]
    fn a_condition_may_be_for_one_control_only() {
        let text = "[[expect]]\ncontrol = 'newreno'\nutilization = '< 0.3'\n\
            [[expect]]\ncontrol = 'astart+westwood'\nutilization = '< 0.3'";
        assert_eq!(unmet(text).len(), 1);
    }

    #[test]
    fn an_unknown_field_or_sign_is_refused_with_what_is_accepted() {
        let problem = |text: &str| Scenario::parse(text, "x.toml").unwrap_err().to_string();
        let unknown = problem("[expect]\nutilisation = '> 1'");
        assert!(unknown.starts_with("x.toml:2: expect.utilisation: unknown key, did you mean "));
        assert!(unknown.contains("`utilization`; accepted: "));
        let sign = problem("[expect]\nutilization = '~ 1'");
        assert!(
            sign.contains("\"~ 1\": not a condition; accepted: a share of 0 to 1, \">="),
            "{sign}"
        );
        assert!(problem("[expect]\nutilization = 1").contains("= 1: not a condition"));
        assert!(problem("[expect]\njain_index = '>= NaN'").contains("`NaN` is no such number"));
    }

    #[test]
    fn a_table_that_expects_nothing_is_refused() {
        for text in ["[expect]", "[[expect]]\ncontrol = 'astart'"] {
            let problem = Scenario::parse(text, "x.toml").unwrap_err().to_string();
            assert!(problem.contains("expects nothing"), "{problem}");
        }
    }

    #[test]
    fn conditions_for_what_does_not_run_are_refused_at_their_place() {
        let problem = |text: &str| {
            let text = format!("controls = ['astart']\n{text}");
            let names = Names { controls: &["astart".into(), "astart+westwood".into()], flows: 2 };
            let scenario = Scenario::parse(&text, "x.toml").unwrap();
            scenario.check_expectations(names).map_err(|error| error.to_string())
        };
        assert_eq!(problem("[expect]\nflows.1.timeouts = '== 0'"), Ok(()));
        assert_eq!(
            problem("[expect]\nflows.2.timeouts = '== 0'").unwrap_err(),
            "x.toml:3: expect.flows.2.timeouts = \"== 0\": no flow 2; accepted: flows.0 to flows.1"
        );
        let other = problem("[[expect]]\ncontrol = 'astrat'\nutilization = '> 0'").unwrap_err();
        assert!(other.starts_with("x.toml:3: expect[0].control = \"astrat\": no run of that"));
        assert!(other.contains("did you mean `astart`"), "{other}");
    }
}
