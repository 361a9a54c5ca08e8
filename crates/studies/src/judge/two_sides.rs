//! A control on another transport and on the simulator, in the same scenarios: which verdicts and
//! which times differ.

use firstflight_judge::{Judged, Measured, Verdict};
use firstflight_report::digits;
use firstflight_scenario::Rule;

use crate::compared::Spread;
use crate::tables::{head, row};

/// A control, and the scenarios that both carry: on the other transport, and simulated.
pub(super) struct TwoSides {
    pub(super) control: String,
    pub(super) scenarios: Vec<[Judged; 2]>,
}

/// A table of verdicts, and one of the scenarios that differ by more than [`APART`].
pub(super) fn tables(place: &str, all: &[TwoSides]) -> String {
    let mut text = String::new();
    let mut names = Rule::ALL.map(Rule::name).to_vec();
    names.extend(["scenarios", "median difference"]);
    head(&mut text, &format!("Verdicts: {place}, simulated"), "control", &names);
    for sides in all {
        row(&mut text, &format!("`{}`", sides.control), sides.cells().into_iter());
    }
    let title = format!("Differences above {APART} %");
    head(&mut text, &title, "scenario", &["control", &format!("{place}, simulated"), "difference"]);
    for sides in all {
        for (judged, compared) in sides.far() {
            let cells = [format!("`{}`", sides.control), compared.words(), compared.difference()];
            row(&mut text, judged.name, cells.into_iter());
        }
    }
    text
}

impl TwoSides {
    fn compared(&self) -> impl Iterator<Item = (&Judged, Compared)> {
        let both = self.scenarios.iter();
        both.map(|[other, sim]| (other, Compared::of(&other.measured, &sim.measured)))
    }

    /// The scenarios that differ by more than [`APART`], or in which only one of the two is done.
    pub(super) fn far(&self) -> impl Iterator<Item = (&Judged, Compared)> {
        self.compared().filter(|(_, compared)| compared.is_far())
    }

    /// In how many scenarios each rule holds on the other transport and simulated, of how many that
    /// ask it; how many are compared, and the median of their differences.
    fn cells(&self) -> Vec<String> {
        let rules = Rule::ALL.map(|rule| {
            let count = |side: usize, wanted: Verdict| {
                let verdict = |both: &&[Judged; 2]| both[side].verdicts.get(rule.name()).copied();
                self.scenarios.iter().filter(|both| verdict(both) == Some(wanted)).count()
            };
            let [other, sim] = [0, 1].map(|side| count(side, Verdict::Pass));
            format!("{other}, {sim} of {}", sim + count(1, Verdict::Fail))
        });
        let apart = self.compared().filter_map(|(_, compared)| compared.apart());
        let median = format!("{} %", digits(Spread::of(apart).half(), 2));
        rules.into_iter().chain([self.scenarios.len().to_string(), median]).collect()
    }
}

/// The quantity by which a scenario is compared, on the other transport and simulated.
pub(super) struct Compared {
    unit: &'static str,
    values: [Option<f64>; 2],
}

impl Compared {
    /// Compares the completion times; if neither transfer was completed, the share that the other
    /// flows got.
    fn of(other: &Measured, sim: &Measured) -> Self {
        let both = |of: fn(&Measured) -> Option<f64>| [of(other), of(sim)];
        let quantities =
            [(" s", both(|it| it.completion_s)), (" of the others", both(|it| it.others_share))];
        let found = quantities.into_iter().find(|(_, values)| values.iter().any(Option::is_some));
        let (unit, values) = found.unwrap_or(("", [None; 2]));
        Self { unit, values }
    }

    fn words(&self) -> String {
        let number = |value: Option<f64>| value.map_or("not done".to_owned(), |it| digits(it, 3));
        format!("{}{}", self.values.map(number).join(", "), self.unit)
    }

    /// Percent by which the other has more than the simulator.
    fn apart(&self) -> Option<f64> {
        let [other, sim] = self.values;
        let (other, sim) = other.zip(sim)?;
        Some(100.0 * (other / sim - 1.0))
    }

    fn is_far(&self) -> bool {
        match self.apart() {
            Some(apart) => apart.abs() > APART,
            None => self.values != [None; 2],
        }
    }

    fn difference(&self) -> String {
        self.apart().map_or("one is not done".to_owned(), |apart| format!("{apart:+.1} %"))
    }
}

/// Percent from which a difference is listed.
const APART: f64 = 15.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_first_and_a_transfer_that_one_does_not_finish_is_far() {
        let measured = |json: &str| -> Measured { serde_json::from_str(json).unwrap() };
        let compared = |other: &str, sim: &str| {
            let compared = Compared::of(&measured(other), &measured(sim));
            (compared.words(), compared.difference(), compared.is_far())
        };
        let text = compared(r#"{"completion_s":1.16,"others_share":0.5}"#, r#"{"completion_s":1}"#);
        assert_eq!(text, ("1.16, 1 s".to_owned(), "+16.0 %".to_owned(), true));
        let text = compared(r#"{"others_share":0.5}"#, r#"{"others_share":0.5}"#);
        assert_eq!(text, ("0.5, 0.5 of the others".to_owned(), "+0.0 %".to_owned(), false));
        let text = compared("{}", r#"{"completion_s":1}"#);
        assert_eq!((text.1.as_str(), text.2), ("one is not done", true));
        assert!(!compared("{}", "{}").2, "neither is done");
    }
}
