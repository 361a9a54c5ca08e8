//! Claims of the papers beside what was measured: the rows of `reproduce --json`.

use serde::{Deserialize, Serialize};

use crate::run::finite;

/// The document of `reproduce --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// One row per claim, in the order of the papers.
    pub rows: Vec<ClaimRow>,
}

/// One claim, expected and measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimRow {
    /// The claim's id: `S0-T1a`.
    pub id: String,
    /// The paper's short name: `astart`.
    pub paper: String,
    /// What is claimed, in a line.
    pub what: String,
    /// What the paper says.
    pub expected: ClaimValue,
    /// What firstflight measured.
    pub measured: ClaimValue,
    /// Unit of both: `%`, `Mbit/s`, `packets`; empty for a property.
    pub unit: String,
    /// How closely the result must agree.
    pub class: Class,
    /// The rule of the verdict: a number in `unit`, or words.
    pub tolerance: ClaimValue,
    /// The outcome.
    pub verdict: Verdict,
    /// The set of knobs: `figures`, `paper`.
    pub preset: String,
    /// The scenario file or the path in words.
    pub scenario: String,
    /// Every value of the claim, one by one.
    #[serde(default)]
    pub checks: Vec<CheckRow>,
    /// The lab that measured the values, for a row of the lab that was not run now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<LabOrigin>,
    /// The arithmetic of a refutation, or the reason for a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why a claim that fails does so, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The claim is the paper's own arithmetic: it was only found consistent with itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub arithmetic: bool,
}

/// The earlier run of the lab from which a row takes its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabOrigin {
    /// Release of the kernel that it measured.
    pub kernel: String,
    /// The day: `2026-11-22`.
    pub date: String,
}

/// One value of a claim beside what was measured, in the unit that `what` or the row names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    /// What is measured, in words.
    pub what: String,
    /// The value that the paper has; none where it says no number.
    pub paper: Option<f64>,
    /// The measured value, a mean where there are several seeds; none where it did not happen.
    pub measured: Option<f64>,
    /// `measured` minus `paper`.
    pub difference: Option<f64>,
    /// What the measured value must be, in words: `23.2 ± 1.5`, `≥ 3`; empty for information.
    pub tolerance: String,
    /// Runs behind the value, one per seed; 0 for arithmetic.
    pub seeds: u64,
    /// Lower and upper end of the 95 % confidence interval of the mean (Student's t), of 5 seeds
    /// or more.
    pub interval: Option<[f64; 2]>,
    /// The sets of knobs of the runs it reads.
    pub preset: String,
    /// The outcome. What refutes a claim is `pass` when it holds, and the refuted value itself
    /// `refuted-confirmed` when it does not.
    pub verdict: Verdict,
}

/// What is compared: a number, a property that holds or not, or words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ClaimValue {
    /// Whether a property holds.
    Flag(bool),
    /// A finite number in the row's unit.
    Number(#[serde(serialize_with = "finite")] f64),
    /// Words, such as an ordering.
    Text(String),
}

/// How closely a result must agree, by the kind of claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The values are equal.
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
    /// The measured value agrees with the expected one.
    Pass,
    /// It agrees, but knobs were fitted to the expected value.
    Fitted,
    /// It does not agree.
    Fail,
    /// It does not agree, and arithmetic shows that the expected value cannot be right.
    RefutedConfirmed,
    /// Nothing was measured: a row of the lab that was not asked for or cannot be run here.
    NotRun,
    /// The check is measured and shown, but decides nothing; no row has this verdict.
    Information,
}

impl LabOrigin {
    /// `the lab of 2026-11-22 on Linux 6.18.44`.
    pub fn words(&self) -> String {
        format!("the lab of {} on Linux {}", self.date, self.kernel)
    }
}

impl Verdict {
    /// The word in JSON: `pass`, `fitted`, `fail`, `refuted-confirmed`, `not-run`, `information`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fitted => "fitted",
            Self::Fail => "fail",
            Self::RefutedConfirmed => "refuted-confirmed",
            Self::NotRun => "not-run",
            Self::Information => "information",
        }
    }
}

impl Class {
    /// The word in JSON: `exact`, `tight`, `shape`, `anecdote`, `refuted`.
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
        let check = CheckRow {
            what: "at 10 Mbit/s".to_owned(),
            paper: Some(95.6),
            measured: Some(95.4),
            difference: Some(-0.2),
            tolerance: "95.6 ± 1.5".to_owned(),
            seeds: 5,
            interval: Some([95.0, 95.8]),
            preset: "ns2".to_owned(),
            verdict: Verdict::Fitted,
        };
        let row = ClaimRow {
            id: "S0-T1a".to_owned(),
            paper: "astart".to_owned(),
            what: "utilization of NewReno".to_owned(),
            expected: ClaimValue::Number(95.6),
            measured: ClaimValue::Number(95.4),
            unit: "%".to_owned(),
            class: Class::Tight,
            tolerance: ClaimValue::Number(1.5),
            verdict: Verdict::RefutedConfirmed,
            preset: "figures".to_owned(),
            scenario: "papers/astart/table1.toml".to_owned(),
            checks: vec![check],
            lab: None,
            note: None,
            reason: None,
            arithmetic: false,
        };
        let json = serde_json::to_string(&Reproduction { rows: vec![row.clone()] }).unwrap();
        assert!(json.contains(r#""expected":95.6,"measured":95.4,"unit":"%","class":"tight""#));
        let checks = r#""scenario":"papers/astart/table1.toml","checks":[{"what":"at 10 Mbit/s","#;
        assert!(json.contains(checks), "{json}");
        let rest = r#""seeds":5,"interval":[95.0,95.8],"preset":"ns2","verdict":"fitted"}]}]}"#;
        assert!(json.ends_with(rest), "{json}");
        let back: Reproduction = serde_json::from_str(&json).unwrap();
        assert_eq!(back.rows, [row]);
    }

    #[test]
    fn names_are_those_of_the_json() {
        let (pass, fitted, fail) = (Verdict::Pass, Verdict::Fitted, Verdict::Fail);
        let others = [Verdict::RefutedConfirmed, Verdict::NotRun, Verdict::Information];
        for verdict in [pass, fitted, fail].into_iter().chain(others) {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        }
        for class in [Class::Exact, Class::Tight, Class::Shape, Class::Anecdote, Class::Refuted] {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
        }
    }
}
