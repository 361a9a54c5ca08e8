//! One condition on one field: `>= 36Mbps`, `== loss`, `0.2..0.3`.

use firstflight_control::quantity::{Rate, Time};
use serde::Serialize;
use serde_json::Value;

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
    /// Reads it; `field` without the numbers of flows says which unit it needs.
    pub(super) fn parse(field: &str, text: &str) -> Result<Self, String> {
        let bound = Bound::parse(field, text.trim())
            .ok_or_else(|| format!("not a condition; accepted: {CONDITIONS}"))?;
        Ok(Self { text: text.trim().to_owned(), bound })
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

impl Bound {
    fn parse(field: &str, text: &str) -> Option<Self> {
        if let Some((from, to)) = text.split_once("..") {
            let (from, to) = (number(field, from)?, number(field, to)?);
            return (from <= to).then_some(Self::Between(from, to));
        }
        let (relation, limit) = RELATIONS
            .iter()
            .find_map(|(sign, relation)| Some((*relation, text.strip_prefix(sign)?.trim())))?;
        if let Some(limit) = number(field, limit) {
            return Some(Self::Number(relation, limit));
        }
        let is_word = |c: char| c.is_ascii_alphabetic() || "-_".contains(c);
        let word = !limit.is_empty() && limit.chars().all(is_word);
        match relation {
            Relation::Equal if word => Some(Self::Word(limit.to_owned(), false)),
            Relation::Unequal if word => Some(Self::Word(limit.to_owned(), true)),
            _ => None,
        }
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

/// A finite number. Rates and times have a unit (`30Mbps`, `2s`) unless they are zero.
fn number(field: &str, text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let zero = plain.filter(|number| *number == 0.0);
    if field.ends_with("_bps") {
        return text.parse::<Rate>().ok().map(|rate| rate.bps() as f64).or(zero);
    }
    if field.ends_with("_s") && !field.ends_with("_per_s") {
        return text.parse::<Time>().ok().map(Time::seconds).or(zero);
    }
    plain
}

pub(super) const CONDITIONS: &str = "\">= 0.9\", \"< 5\", \"== 0\", \"!= 0\", \"0.2..0.3\", \
    \"== loss\", \"== none\", with a unit for rates and times: \">= 36Mbps\", \"< 2s\"";

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

    #[test]
    fn a_rate_or_a_time_without_its_unit_is_refused_and_a_count_with_one_too() {
        let refused = |field: &str, text: &str| Condition::parse(field, text).is_err();
        assert!(refused("total_throughput_bps", ">= 36"));
        assert!(refused("flows.completion_time_s", "1..2s"));
        assert!(refused("flows.timeouts", "< 2s"));
        assert!(refused("cost.delivered_packets_per_s", "> 2s"));
        assert!(!refused("total_throughput_bps", "> 0"), "nothing needs no unit");
        assert!(!refused("cost.delivered_packets_per_s", "> 2"));
    }
}
