//! What a field of the results can be: words or numbers, which of them, and with which unit. A
//! condition that no value meets, or that all do, is an error of whoever wrote it.

use firstflight_control::hint;
use firstflight_control::quantity::{Rate, Time};

use firstflight_results::{Column, EXIT_REASONS, Kind, measures};

/// The values that a field can have.
pub(super) struct Domain {
    /// It may have no value: `none`.
    pub(super) nullable: bool,
    pub(super) values: Values,
}

pub(super) enum Values {
    /// Words: one of these, or any where none are named.
    Words(&'static [&'static str]),
    /// Numbers from 0 on.
    Numbers {
        unit: Unit,
        /// None is larger.
        most: f64,
        /// Each is whole.
        whole: bool,
    },
}

/// How numbers of a field are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Rate,
    Time,
    /// A part of 1.
    Share,
    /// A count, or a number without a unit.
    Plain,
}

impl Domain {
    /// What the field can be, without the numbers of flows.
    pub(super) fn of(field: &str) -> Self {
        let name = field.rsplit('.').next().unwrap_or(field);
        if let Some((_, words)) = WORDS.iter().find(|(known, _)| *known == name) {
            let nullable = measures::named(name).is_none_or(|measure| measure.column.nullable);
            return Self { nullable, values: Values::Words(words) };
        }
        match measures::named(name).map(|measure| measure.column) {
            Some(column) if column.kind == Kind::Text => {
                Self { nullable: column.nullable, values: Values::Words(&[]) }
            }
            // Of what has no column, such as `bottleneck.marks`, nothing is promised.
            column => Self::numbers(name, column),
        }
    }

    fn numbers(name: &str, column: Option<Column>) -> Self {
        let is_share = SHARES.contains(&name) || column.is_some_and(|it| it.unit == "share");
        let unit = match name {
            _ if is_share => Unit::Share,
            _ if name.ends_with("_bps") => Unit::Rate,
            _ if name.ends_with("_per_s") => Unit::Plain,
            _ if name.ends_with("_s") || field_of_times(name) => Unit::Time,
            _ => Unit::Plain,
        };
        let most = if is_share { 1.0 } else { f64::INFINITY };
        let whole = column.is_some_and(|column| column.kind == Kind::Count);
        let nullable = column.is_none_or(|column| column.nullable);
        Self { nullable, values: Values::Numbers { unit, most, whole } }
    }

    /// What conditions on the field look like.
    pub(super) fn examples(&self) -> String {
        let none = if self.nullable { ", \"== none\"" } else { "" };
        let examples = match &self.values {
            Values::Words([]) => "\"== WORD\", \"!= WORD\"".to_owned(),
            Values::Words(words) => {
                let (first, words) = (words[0], words.join(", "));
                format!("\"== {first}\", \"!= {first}\", and so of {words}")
            }
            Values::Numbers { unit, .. } => unit.examples().to_owned(),
        };
        examples + none
    }

    /// A word that the field can have, or what is wrong with it.
    pub(super) fn word(&self, word: &str) -> Result<(), String> {
        let none = self.nullable.then_some("none");
        let accepted: Vec<&str> = match &self.values {
            Values::Words([]) if word != "none" || self.nullable => return Ok(()),
            Values::Words(words) => words.iter().copied().chain(none).collect(),
            Values::Numbers { .. } => none.into_iter().collect(),
        };
        if accepted.contains(&word) {
            return Ok(());
        }
        let hint = hint(word, accepted.iter().copied());
        Err(format!("it is never `{word}`{hint}; accepted: {}", self.examples()))
    }
}

/// The last step of `time_to_bdp_s.0.6`, whose digits are dropped as indices are.
fn field_of_times(name: &str) -> bool {
    name == "time_to_bdp_s"
}

impl Unit {
    fn examples(self) -> &'static str {
        match self {
            Self::Rate => "\">= 36Mbps\", \"< 500kbps\", \"30Mbps..40Mbps\"",
            Self::Time => "\"< 2s\", \">= 150ms\", \"1s..2s\"",
            Self::Share => "a share of 0 to 1, \">= 0.9\", \"< 0.5\", \"0.2..0.3\"",
            Self::Plain => "a number without a unit, \"== 0\", \"< 5\", \"2..3\"",
        }
    }

    /// A number as it is written in this unit.
    pub(super) fn number(self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let plain = text.parse::<f64>().ok().filter(|number| number.is_finite());
        let wrong = |why: &str| Err(format!("`{text}` {why}; accepted: {}", self.examples()));
        match self {
            // Nothing needs no unit.
            Self::Rate | Self::Time if plain == Some(0.0) => Ok(0.0),
            Self::Rate => match (text.parse::<Rate>(), plain) {
                (Ok(rate), _) => Ok(rate.bps() as f64),
                (_, Some(_)) => wrong("has no unit, and is a rate"),
                _ => wrong("is no rate"),
            },
            Self::Time => match (text.parse::<Time>(), plain) {
                (Ok(time), _) => Ok(time.seconds()),
                (_, Some(_)) => wrong("has no unit, and is a time"),
                _ => wrong("is no time"),
            },
            Self::Share | Self::Plain => plain.map_or_else(|| wrong("is no such number"), Ok),
        }
    }
}

/// Fields whose words are a closed set.
const WORDS: &[(&str, &[&str])] = &[
    ("exit_reason", &EXIT_REASONS),
    ("transport", &["sim", "quic", "noq", "linux", "sim, quic", "sim, noq"]),
    ("profile", &["linux", "quic", "rfc", "ns2"]),
    ("lab_timing", TIMINGS),
    ("timing", TIMINGS),
    ("alias", &[]),
    ("control", &[]),
    ("preset", &[]),
    ("note", &[]),
    ("kernel", &[]),
    ("link", &[]),
    ("generator", &[]),
    ("machine", &[]),
    ("kernel_sha256", &[]),
    ("initramfs_sha256", &[]),
];
const TIMINGS: &[&str] = &["valid", "degraded", "invalid", "unknown"];

/// Shares of 1 whose columns, if they have one, do not call them so.
const SHARES: [&str; 3] = ["jain_index", "late_over_1ms", "stolen_share"];
