//! What a scenario gave on the simulator and elsewhere, beside each other.

use std::fmt::Write as _;

use firstflight_judge::Measured;
use firstflight_report::digits;
use firstflight_scenario::Rule;

/// The quantity by which a scenario is compared, elsewhere and simulated.
pub(super) struct Compared {
    unit: &'static str,
    values: [Option<f64>; 2],
}

impl Compared {
    /// The completion time; where neither was done, what others got.
    pub(super) fn of(other: &Measured, sim: &Measured) -> Self {
        let both = |of: fn(&Measured) -> Option<f64>| [of(other), of(sim)];
        let quantities =
            [(" s", both(|it| it.completion_s)), (" of the others", both(|it| it.others_share))];
        let found = quantities.into_iter().find(|(_, values)| values.iter().any(Option::is_some));
        let (unit, values) = found.unwrap_or(("", [None; 2]));
        Self { unit, values }
    }

    pub(super) fn words(&self) -> String {
        format!("{}{}", self.values.map(number).join(", "), self.unit)
    }

    /// Percent by which the other has more than the simulator.
    pub(super) fn apart(&self) -> Option<f64> {
        let [other, sim] = self.values;
        let (other, sim) = other.zip(sim)?;
        // Below what one digit shows it is zero, so that no `-0.0` is printed.
        let apart = 100.0 * (other / sim - 1.0);
        Some(if apart.abs() < 0.05 { 0.0 } else { apart })
    }

    /// Whether they differ by more than [`APART`], or only one of the two is done.
    pub(super) fn is_far(&self) -> bool {
        match self.apart() {
            Some(apart) => apart.abs() > APART,
            None => self.values != [None; 2],
        }
    }

    pub(super) fn marked(&self) -> String {
        let words = match self.apart() {
            None if self.is_far() => "one is not done".to_owned(),
            None => "neither is done".to_owned(),
            Some(apart) => format!("{apart:+.1} %"),
        };
        if self.is_far() { format!("**{words}**") } else { words }
    }
}

/// How many differ, and the median, of these differences in percent.
pub(super) fn tell_apart(text: &mut String, mut apart: Vec<f64>) {
    apart.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    if let Some(median) = apart.get(apart.len() / 2) {
        let far = apart.iter().filter(|apart| apart.abs() > APART).count();
        let _ = writeln!(
            text,
            "\nOf {} scenarios {far} differ by more than {APART} %; the median difference is {} %.",
            apart.len(),
            digits(median.abs(), 2)
        );
    }
}

/// `R1 R2`, or nothing.
pub(super) fn words(rules: impl Iterator<Item = Rule>) -> String {
    rules.map(Rule::name).collect::<Vec<_>>().join(" ")
}

/// A number of a table.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "not done".to_owned(), |value| digits(value, 3))
}

/// Percent from which a difference is marked.
const APART: f64 = 15.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_first_and_a_large_difference_is_bold() {
        let measured = |json: &str| -> Measured { serde_json::from_str(json).unwrap() };
        let compared = |other: &str, sim: &str| {
            let compared = Compared::of(&measured(other), &measured(sim));
            (compared.words(), compared.marked())
        };
        let said = compared(r#"{"completion_s":1.16,"others_share":0.5}"#, r#"{"completion_s":1}"#);
        assert_eq!(said, ("1.16, 1 s".to_owned(), "**+16.0 %**".to_owned()));
        let said = compared(r#"{"others_share":0.5}"#, r#"{"others_share":0.5}"#);
        assert_eq!(said, ("0.5, 0.5 of the others".to_owned(), "+0.0 %".to_owned()));
        let said = compared("{}", r#"{"completion_s":1}"#);
        assert_eq!(said.1, "**one is not done**");
    }
}
