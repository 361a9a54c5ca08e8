//! Claims of the papers beside what was measured: the rows of `reproduce --json`.

use serde::{Deserialize, Serialize};

use crate::results::finite;

/// The document of `reproduce --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// One row per claim, in the order of the papers.
    pub rows: Vec<Row>,
}

/// One claim, expected and measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The claim's id: `S0-T1a`.
    pub id: String,
    /// The paper's short name: `astart`.
    pub paper: String,
    /// What is claimed, in a line.
    pub what: String,
    /// What the paper says.
    pub expected: Value,
    /// What firstflight measured.
    pub measured: Value,
    /// Unit of both: `%`, `Mbit/s`, `packets`; empty for a property.
    pub unit: String,
    /// How closely the claim can be held to.
    pub class: Class,
    /// The rule of the verdict: a number in `unit`, or words.
    pub tolerance: Value,
    /// The outcome.
    pub verdict: Verdict,
    /// The set of knobs: `figures`, `paper`.
    pub preset: String,
    /// The scenario file or the path in words.
    pub scenario: String,
    /// The arithmetic of a refutation, or the reason for a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What is compared: a number, a property that holds or not, or words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Whether a property holds.
    Flag(bool),
    /// A finite number in the row's unit.
    Number(#[serde(serialize_with = "finite")] f64),
    /// Words, such as an ordering.
    Text(String),
}

/// How closely a claim can be held to, by what kind of claim it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Equality.
    Exact,
    /// A printed number, within a small stated tolerance.
    Tight,
    /// A curve: ordering, thresholds and crossings.
    Shape,
    /// A single number of unknown period: side and order of magnitude.
    Anecdote,
    /// A number the paper itself contradicts.
    Refuted,
}

/// The outcome of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Measured agrees with expected.
    Pass,
    /// It does not.
    Fail,
    /// It does not, and the arithmetic says that it cannot.
    RefutedConfirmed,
    /// Nothing was measured: a row of the lab that was not asked for or cannot be run here.
    NotRun,
}

impl Verdict {
    /// As in JSON: `pass`, `fail`, `refuted-confirmed`, `not-run`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::RefutedConfirmed => "refuted-confirmed",
            Self::NotRun => "not-run",
        }
    }
}

impl Class {
    /// As in JSON: `exact`, `tight`, `shape`, `anecdote`, `refuted`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Tight => "tight",
            Self::Shape => "shape",
            Self::Anecdote => "anecdote",
            Self::Refuted => "refuted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_it_was_written() {
        let row = Row {
            id: "S0-T1a".to_owned(),
            paper: "astart".to_owned(),
            what: "utilization of NewReno".to_owned(),
            expected: Value::Number(95.6),
            measured: Value::Number(95.4),
            unit: "%".to_owned(),
            class: Class::Tight,
            tolerance: Value::Number(1.5),
            verdict: Verdict::RefutedConfirmed,
            preset: "figures".to_owned(),
            scenario: "papers/astart/table1.toml".to_owned(),
            note: None,
        };
        let json = serde_json::to_string(&Reproduction { rows: vec![row.clone()] }).unwrap();
        assert!(json.contains(r#""expected":95.6,"measured":95.4,"unit":"%","class":"tight""#));
        assert!(json.ends_with(r#""scenario":"papers/astart/table1.toml"}]}"#));
        let back: Reproduction = serde_json::from_str(&json).unwrap();
        assert_eq!(back.rows, [row]);
    }

    #[test]
    fn names_are_those_of_the_json() {
        for verdict in [Verdict::Pass, Verdict::Fail, Verdict::RefutedConfirmed, Verdict::NotRun] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        }
        for class in [Class::Exact, Class::Tight, Class::Shape, Class::Anecdote, Class::Refuted] {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
    }
}
