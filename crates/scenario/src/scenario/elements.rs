//! What a link does to packets beside sending them: the keys of `[path]` and `[[link]]` that become
//! elements of the simulator.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::{QuantityError, Rate, Size, Time};
use serde::Serialize;

use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::{Fields, Read};

/// What happens to packets on a link beside its rate, its delay, its buffer and its loss.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Elements {
    /// The most that each packet is late by, at random and in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Time>,
    /// The mean delay of a busy WiFi cell, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wifi: Option<Time>,
    /// What drops packets above a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<Policer>,
    /// The link's rate over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateStep>,
    /// When `rates` begin again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates_period: Option<Time>,
}

/// A token bucket that drops what finds too little in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Policer {
    /// The rate at which the bucket fills.
    pub rate: Rate,
    /// What it holds.
    pub bucket: Size,
}

/// A rate from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RateStep {
    /// From when on it holds.
    pub at: Time,
    /// The rate, or none: an outage.
    pub rate: RateOrNone,
}

/// A rate, or `none`: nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateOrNone(pub Option<Rate>);

impl RateOrNone {
    /// Bits per second, 0 for none.
    pub fn bps(self) -> u64 {
        self.0.map_or(0, Rate::bps)
    }
}

impl FromStr for RateOrNone {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Ok(Self(if text == "none" { None } else { Some(text.parse()?) }))
    }
}

impl fmt::Display for RateOrNone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => rate.fmt(f),
            None => f.write_str("none"),
        }
    }
}

impl Serialize for RateOrNone {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Elements {
    /// The keys of elements in a table of a link.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            jitter: fields.read("jitter")?,
            wifi: fields.read("wifi")?,
            policer: fields.read("policer")?,
            rates: fields.list("rates")?,
            rates_period: fields.read("rates_period")?,
        })
    }
}

impl Read for Policer {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (rate, bucket) = (fields.read("rate")?, fields.read("bucket")?);
        let rate = rate.ok_or_else(|| fields.missing("rate", "rate = \"10Mbps\""));
        let bucket = bucket.ok_or_else(|| fields.missing("bucket", "bucket = \"64kB\""));
        fields.finish()?;
        Ok(Self { rate: rate?, bucket: bucket? })
    }
}

impl Read for RateStep {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (at, rate) = (fields.read("at")?, fields.read("rate")?);
        let rate = rate.ok_or_else(|| fields.missing("rate", "rate = \"10Mbps\", or \"none\""));
        fields.finish()?;
        Ok(Self { at: at.unwrap_or(Time::ZERO), rate: rate? })
    }
}
