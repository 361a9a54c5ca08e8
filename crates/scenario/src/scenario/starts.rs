//! Random starts of a group of flows.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::Time;
use serde::Serialize;

/// Starts drawn uniformly from a span: `uniform 0s..1170s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Starts {
    /// The earliest start.
    pub from: Time,
    /// The latest start, not before the earliest.
    pub until: Time,
}

impl FromStr for Starts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let accepted = "accepted: uniform 0s..1170s";
        let span = text.trim().strip_prefix("uniform ").and_then(|span| span.split_once(".."));
        let (from, until) = span.ok_or_else(|| format!("not a span of starts; {accepted}"))?;
        let time =
            |text: &str| text.parse::<Time>().map_err(|e| format!("{}; {accepted}", e.problem));
        let (from, until) = (time(from)?, time(until)?);
        if from > until {
            return Err(format!("the span ends before it begins; {accepted}"));
        }
        Ok(Self { from, until })
    }
}

impl fmt::Display for Starts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uniform {}..{}", self.from, self.until)
    }
}

impl Serialize for Starts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
