//! What a scenario expects, condition by condition, with verdicts.

use firstflight_outside::short;
use firstflight_results::RunResult;
use firstflight_scenario::expect::measured;
use firstflight_scenario::{Expect, Scenario, Unmet};
use serde::Serialize;
use serde_json::Value;

/// Every condition on every run it is for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// Condition by condition, and for each control by control.
    pub expectations: Vec<Expectation>,
    /// The conditions that do not hold, run by run.
    pub unmet: Vec<Unmet>,
}

/// A condition on the runs of one control.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Expectation {
    /// The control.
    pub control: String,
    /// What is measured, by the name of its column.
    pub field: String,
    /// The condition as written.
    pub expected: String,
    /// The value, or the smallest and the largest of several.
    pub measured: String,
    /// It holds in all runs.
    pub holds: bool,
}

/// Checks every condition on every run; `None` if the scenario expects nothing. The runs of one
/// control share one, with what was measured in all of them.
pub fn check(scenario: &Scenario, runs: &[&RunResult]) -> Option<Checked> {
    let mut expectations = Vec::new();
    let mut all = Vec::new();
    let mut alone = Scenario::default();
    for (expect, field) in scenario.expect.iter().flat_map(conditions) {
        alone.expect = vec![expect];
        for runs in runs.chunk_by(|one, next| one.alias == next.alias) {
            let run = runs[0];
            let named = alone.expect[0].control.as_ref();
            if named.is_some_and(|name| *name != run.alias && *name != run.control) {
                continue;
            }
            let unmet = runs.iter().flat_map(|run| of_run(&alone, run, runs));
            let mut unmet: Vec<Unmet> = unmet.collect();
            unmet.iter_mut().for_each(|unmet| {
                let number = unmet.measured.parse();
                unmet.measured =
                    number.map_or_else(|_| unmet.measured.clone(), |n| shown(&unmet.field, n));
            });
            let values = runs.iter().flat_map(|run| measured(run, &field).unwrap_or_default());
            let values: Vec<(String, Value)> = values.collect();
            let expected = serde_json::to_value(&alone.expect[0].fields[&field]);
            let expected = expected.ok().and_then(|text| Some(text.as_str()?.to_owned()));
            expectations.push(Expectation {
                control: run.alias.clone(),
                field: field.clone(),
                expected: expected.unwrap_or_default(),
                measured: in_short(&field, &values),
                holds: unmet.is_empty(),
            });
            all.extend(unmet);
        }
    }
    (!expectations.is_empty()).then_some(Checked { expectations, unmet: all })
}

/// The conditions that one of the runs of a control does not meet; of several its seed is said.
fn of_run(scenario: &Scenario, run: &RunResult, runs: &[&RunResult]) -> Vec<Unmet> {
    let mut unmet = scenario.unmet(run);
    if runs.len() > 1 {
        let seed = format!(", seed {}", run.seed);
        unmet.iter_mut().for_each(|unmet| unmet.control.push_str(&seed));
    }
    unmet
}

/// The value, or the smallest and the largest, or the words of several flows.
fn in_short(field: &str, values: &[(String, Value)]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut numbers: Vec<f64> = values.iter().filter_map(|(_, value)| value.as_f64()).collect();
    numbers.sort_by(f64::total_cmp);
    match numbers.as_slice() {
        [] => {}
        [first, .., last] if first < last => {
            texts.push(format!("{}..{}", shown(field, *first), shown(field, *last)));
        }
        [first, ..] => texts.push(shown(field, *first)),
    }
    for (_, value) in values.iter().filter(|(_, value)| !value.is_number()) {
        let text = value.as_str().map_or_else(|| "none".to_owned(), str::to_owned);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(", ")
}

/// A number in the form in which conditions are written: `36.2Mbps`, `1.5s`.
fn shown(field: &str, number: f64) -> String {
    match field {
        _ if field.ends_with("_bps") => short(number / 1e6) + "Mbps",
        _ if field.ends_with("_s") => short(number) + "s",
        _ => short(number),
    }
}

/// Each condition as an expectation of its own.
fn conditions(expect: &Expect) -> impl Iterator<Item = (Expect, String)> {
    expect.fields.iter().map(|(field, condition)| {
        let fields = [(field.clone(), condition.clone())].into();
        (Expect { control: expect.control.clone(), fields }, field.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_shown_by_their_range_and_words_once_each() {
        let shown = |values: &[Value]| {
            let values = values.iter().map(|value| (String::new(), value.clone()));
            in_short("flows.timeouts", &values.collect::<Vec<_>>())
        };
        assert_eq!(shown(&[2.into(), 0.into(), 1.into()]), "0..2");
        assert_eq!(shown(&[0.25.into(), 0.25.into()]), "0.25");
        assert_eq!(shown(&["loss".into(), Value::Null, "loss".into()]), "loss, none");
        assert_eq!(shown(&[1.5.into(), Value::Null]), "1.5, none");
        assert_eq!(super::shown("total_throughput_bps", 36.2e6), "36.2Mbps");
        assert_eq!(super::shown("flows.0.completion_time_s", 1.5), "1.5s");
    }
}
