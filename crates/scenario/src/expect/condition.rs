//! One condition on one field: `>= 36Mbps`, `== loss`, `0.2..0.3`.

use serde::Serialize;
use serde_json::Value;

use super::domain::{Domain, Values};

/// A bound on one field, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub(super) text: String,
    bound: Bound,
}

#[derive(Clone, Debug, PartialEq)]
enum Bound {
    Number(Relation, f64),
    Between(f64, f64),
    /// A word such as an exit reason, or `none` for what did not happen; `true` if it must differ.
    Word(String, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
    Unequal,
}

impl Condition {
    /// Reads it; `field` without the numbers of flows says what it can be.
    pub(super) fn parse(field: &str, text: &str) -> Result<Self, String> {
        let (domain, text) = (Domain::of(field), text.trim());
        let bound = Bound::parse(&domain, text)?;
        if let Bound::Word(word, _) = &bound {
            domain.word(word)?;
        } else if let Values::Numbers { most, whole, .. } = domain.values {
            let accepted = domain.examples();
            let range = Range { most, whole };
            if !bound.holds_for_some(range) {
                return Err(format!("no value is so; accepted: {accepted}"));
            }
            if !domain.nullable && bound.holds_for_all(range) {
                return Err(format!("every value is so; accepted: {accepted}"));
            }
        }
        Ok(Self { text: text.to_owned(), bound })
    }

    pub(super) fn holds(&self, value: &Value) -> bool {
        match (&self.bound, value) {
            (Bound::Word(word, differ), _) => {
                let same = match value {
                    Value::Null => word == "none",
                    Value::String(text) => word == text,
                    _ => false,
                };
                same != *differ
            }
            (Bound::Number(relation, limit), Value::Number(number)) => {
                number.as_f64().is_some_and(|number| relation.holds(number, *limit))
            }
            (Bound::Between(from, to), Value::Number(number)) => {
                number.as_f64().is_some_and(|number| (*from..=*to).contains(&number))
            }
            _ => false,
        }
    }
}

impl Serialize for Condition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// The numbers from 0 to a largest one, perhaps only whole ones.
#[derive(Clone, Copy)]
struct Range {
    most: f64,
    whole: bool,
}

impl Bound {
    fn parse(domain: &Domain, text: &str) -> Result<Self, String> {
        let wrong = || format!("not a condition; accepted: {}", domain.examples());
        let number = |text: &str| match domain.values {
            Values::Numbers { unit, .. } => unit.number(text),
            Values::Words(_) => Err(format!("it is a word; accepted: {}", domain.examples())),
        };
        if let Some((from, to)) = text.split_once("..") {
            let (from, to) = (number(from)?, number(to)?);
            return (from <= to).then_some(Self::Between(from, to)).ok_or_else(wrong);
        }
        let (relation, limit) = RELATIONS
            .iter()
            .find_map(|(sign, relation)| Some((*relation, text.strip_prefix(sign)?.trim())))
            .ok_or_else(wrong)?;
        let is_word = |c: char| c.is_ascii_alphabetic() || "-_".contains(c);
        let of_words = matches!(domain.values, Values::Words(_));
        match relation {
            _ if limit.is_empty() => Err(wrong()),
            Relation::Equal if of_words || limit.chars().all(is_word) => {
                Ok(Self::Word(limit.to_owned(), false))
            }
            Relation::Unequal if of_words || limit.chars().all(is_word) => {
                Ok(Self::Word(limit.to_owned(), true))
            }
            _ => Ok(Self::Number(relation, number(limit)?)),
        }
    }

    /// Whether any number of the range is so.
    fn holds_for_some(&self, range: Range) -> bool {
        let Range { most, whole } = range;
        match *self {
            Self::Number(Relation::AtLeast, limit) => limit <= most,
            Self::Number(Relation::Above, limit) => limit < most,
            Self::Number(Relation::AtMost, limit) => limit >= 0.0,
            Self::Number(Relation::Below, limit) => limit > 0.0,
            Self::Number(Relation::Equal, limit) => range.has(limit),
            Self::Number(Relation::Unequal, _) | Self::Word(..) => true,
            Self::Between(from, to) => {
                let first = if whole { from.max(0.0).ceil() } else { from.max(0.0) };
                first <= to && first <= most
            }
        }
    }

    /// Whether every number of the range is so.
    fn holds_for_all(&self, range: Range) -> bool {
        let Range { most, .. } = range;
        match *self {
            Self::Number(Relation::AtLeast, limit) => limit <= 0.0,
            Self::Number(Relation::Above, limit) => limit < 0.0,
            Self::Number(Relation::AtMost, limit) => limit >= most,
            Self::Number(Relation::Below, limit) => limit > most,
            Self::Number(Relation::Unequal, limit) => !range.has(limit),
            Self::Number(Relation::Equal, _) | Self::Word(..) => false,
            Self::Between(from, to) => from <= 0.0 && to >= most,
        }
    }
}

impl Range {
    fn has(self, number: f64) -> bool {
        (0.0..=self.most).contains(&number) && (!self.whole || number.fract() == 0.0)
    }
}

impl Relation {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::AtLeast => value >= limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::Below => value < limit,
            Self::Equal => value == limit,
            Self::Unequal => value != limit,
        }
    }
}

/// Longer signs first, so that `>=` is not read as `>`.
const RELATIONS: &[(&str, Relation)] = &[
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    (">", Relation::Above),
    ("<", Relation::Below),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(field: &str, text: &str) -> String {
        Condition::parse(field, text).err().unwrap_or_default()
    }

    #[test]
    fn a_rate_or_a_time_without_its_unit_is_refused_and_a_count_with_one_too() {
        let refused = |field: &str, text: &str| Condition::parse(field, text).is_err();
        assert!(problem("total_throughput_bps", ">= 36").starts_with("`36` has no unit, and is a"));
        assert!(problem("flows.completion_time_s", "1..2s").contains("\"1s..2s\""));
        assert!(
            problem("flows.timeouts", "< 2s").starts_with("`2s` is no such number; accepted: ")
        );
        assert!(problem("utilization", ">= 90%").contains("a share of 0 to 1"));
        assert!(refused("cost.delivered_packets_per_s", "> 2s"));
        assert!(!refused("total_throughput_bps", "> 0"), "nothing needs no unit");
        assert!(!refused("cost.delivered_packets_per_s", "> 2"));
    }

    #[test]
    fn what_no_value_can_be_is_refused() {
        for (field, text) in [
            ("utilization", ">= 90"),
            ("utilization", "== 1.5"),
            ("utilization", "> 1"),
            ("jain_index", "2..3"),
            ("timeouts", "< 0"),
            ("timeouts", "== 0.5"),
            ("timeouts", "0.2..0.8"),
            ("completion_time_s", "< 0s"),
        ] {
            assert!(problem(field, text).starts_with("no value is so"), "{field} {text}");
        }
        let word = problem("exit_reason", "!= losss");
        assert!(word.starts_with("it is never `losss`, did you mean `loss`; accepted: "), "{word}");
        assert!(word.contains("loss, timeout, ssthresh, heuristic, ecn"), "{word}");
        assert!(problem("flows.startup.exit_reason", "== lost").contains("`loss`"));
        assert!(problem("exit_reason", ">= 3").starts_with("it is a word"));
        assert!(problem("timeouts", "== many").starts_with("it is never `many`"));
        assert!(problem("timeouts", "== none").starts_with("it is never `none`"));
        assert!(problem("transport", "== tcp").contains("sim, quic, noq, linux"));
    }

    #[test]
    fn what_every_value_is_is_refused() {
        for (field, text) in [
            ("utilization", "<= 90"),
            ("utilization", ">= 0"),
            ("utilization", "0..1"),
            ("flows.utilization", "!= 2"),
            ("bottleneck.utilization", "<= 1.0"),
            ("timeouts", ">= 0"),
            ("timeouts", "!= 0.5"),
            ("total_throughput_bps", ">= 0"),
        ] {
            let problem = problem(field, text);
            // Of what has no column nothing is promised but what its name says.
            assert!(problem.starts_with("every value is so"), "{field} {text}: {problem}");
        }
        // Not every flow is done.
        assert_eq!(problem("completion_time_s", ">= 0s"), "");
        assert_eq!(problem("utilization", "== 1"), "");
        assert_eq!(problem("bottleneck.marks", "== none"), "");
        assert_eq!(problem("exit_reason", "!= none"), "");
        assert_eq!(problem("control", "== astart+westwood(lg=on)"), "");
    }
}
