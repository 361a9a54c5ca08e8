//! What a link does to packets beside sending them: the keys of `[path]` and `[[link]]` that become
//! elements of the simulator.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::{Buffer, Fraction, Loss, QuantityError, Rate, Size, Time};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::{Fields, Read};
use crate::schema::Form;
use crate::trace::{Delays, Rates, Recorded, Trace};

/// What happens to packets on a link beside its rate, its delay, its buffer and its loss.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Elements {
    /// How late each packet is, at random and in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// The mean delay of a busy WiFi cell, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wifi: Option<Time>,
    /// What the link layer adds to each packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// What drops packets above a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<Policer>,
    /// The link's rate over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateStep>,
    /// When `rates` begin again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates_period: Option<Time>,
    /// The link's rate over time in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_trace: Option<Trace<Rates>>,
    /// The link's delay over time, one way, in both directions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<DelayStep>,
    /// When `delays` begin again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays_period: Option<Time>,
    /// The link's delay over time in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_trace: Option<Trace<Delays>>,
    /// Some packets come later than others behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Packets reach the far end at multiples of this time only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Time>,
    /// The other direction, where it is more than a delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<Box<Back>>,
}

impl Elements {
    /// Whether the rate changes.
    pub fn has_rates(&self) -> bool {
        !self.rates.is_empty() || self.rate_trace.is_some()
    }

    /// What a packet of so many bytes takes on the link.
    pub fn on_link(&self, bytes: u64) -> u64 {
        self.framing.map_or(bytes, |framing| framing.built().bytes(bytes))
    }

    /// Whether the delay changes.
    pub fn has_delays(&self) -> bool {
        !self.delays.is_empty() || self.delay_trace.is_some()
    }

    /// Whether ACKs meet more than a delay on the reverse path.
    pub fn has_way_back(&self) -> bool {
        self.back.is_some() || self.has_delays()
    }

    /// The first key that is written, if any is.
    pub fn key(&self) -> Option<&'static str> {
        let written = [
            (self.jitter.is_some(), "jitter"),
            (self.wifi.is_some(), "wifi"),
            (self.framing.is_some(), "framing"),
            (self.policer.is_some(), "policer"),
            (!self.rates.is_empty(), "rates"),
            (self.rate_trace.is_some(), "rate_trace"),
            (!self.delays.is_empty(), "delays"),
            (self.delay_trace.is_some(), "delay_trace"),
            (self.reorder.is_some(), "reorder"),
            (self.release.is_some(), "release"),
            (self.back.is_some(), "back"),
        ];
        written.iter().find(|(is, _)| *is).map(|(_, key)| *key)
    }

    /// Each one in a few words, for headers; those of the reverse path among them.
    pub(crate) fn words(&self, back: Option<String>) -> impl Iterator<Item = String> + '_ {
        let jitter = self.jitter.as_ref().map(|jitter| match jitter {
            Jitter::UpTo(most) => format!("jitter up to {most}"),
            Jitter::Uniform(from, until) => format!("jitter of {from} to {until}"),
            Jitter::Normal(mean, deviation) => {
                format!("normal jitter of {mean} with deviation {deviation}")
            }
            Jitter::Recorded(trace) => format!("jitter of {}", trace.file),
        });
        let in_turn = |steps: usize, what| (steps > 0).then(|| format!("{steps} {what} in turn"));
        [
            jitter,
            self.wifi.map(|mean| format!("WiFi of {mean}")),
            self.framing.map(Framing::words),
            self.policer.map(|it| format!("policer of {} and {}", it.rate, it.bucket)),
            in_turn(self.rates.len(), "rates"),
            in_turn(self.delays.len(), "delays"),
            self.reorder.map(|it| format!("{} later by {}", it.share, it.by)),
            self.release.map(|every| format!("released every {every}")),
            back,
            self.rate_trace.as_ref().map(|trace| format!("rates of {}", trace.file)),
            self.delay_trace.as_ref().map(|trace| format!("delays of {}", trace.file)),
        ]
        .into_iter()
        .flatten()
    }

    /// In base units, for results; the reverse path has a place of its own there.
    pub(crate) fn in_results<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut entry = |key: &str, value: Value| map.serialize_entry(key, &value);
        match &self.jitter {
            Some(Jitter::UpTo(most)) => entry("jitter_ns", json!(most.ns()))?,
            Some(Jitter::Uniform(from, until)) => {
                entry("jitter_uniform_ns", json!([from.ns(), until.ns()]))?;
            }
            Some(Jitter::Normal(mean, deviation)) => {
                entry("jitter_normal_ns", json!([mean.ns(), deviation.ns()]))?;
            }
            Some(Jitter::Recorded(trace)) => entry("jitter_recorded", trace.in_results())?,
            None => {}
        }
        let rate = |it: &RateStep| json!({ "at_ns": it.at.ns(), "rate_bps": it.rate.bps() });
        let delay = |it: &DelayStep| json!({ "at_ns": it.at.ns(), "delay_ns": it.delay.ns() });
        let policer = self
            .policer
            .map(|it| json!({ "rate_bps": it.rate.bps(), "bucket_bytes": it.bucket.bytes() }));
        let ns = |time: Option<Time>| time.map(|time| json!(time.ns()));
        let list = |list: Vec<Value>| (!list.is_empty()).then_some(Value::Array(list));
        let others = [
            ("wifi_ns", ns(self.wifi)),
            ("framing", self.framing.map(Framing::in_results)),
            ("policer", policer),
            ("rates", list(self.rates.iter().map(rate).collect())),
            ("rates_period_ns", ns(self.rates_period)),
            ("rate_trace", self.rate_trace.as_ref().map(Trace::in_results)),
            ("delays", list(self.delays.iter().map(delay).collect())),
            ("delays_period_ns", ns(self.delays_period)),
            ("delay_trace", self.delay_trace.as_ref().map(Trace::in_results)),
            (
                "reorder",
                self.reorder.map(|it| json!({ "share_ppb": it.share.ppb(), "by_ns": it.by.ns() })),
            ),
            ("release_ns", ns(self.release)),
        ];
        for (key, value) in others {
            value.map_or(Ok(()), |value| entry(key, value))?;
        }
        map.end()
    }
}

/// How late each packet is: `2ms` (up to), `uniform:1ms,3ms`, `normal:20ms,5ms`, or
/// `recorded:FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jitter {
    /// Up to this much, every value equally likely.
    UpTo(Time),
    /// Between the two, every value equally likely.
    Uniform(Time, Time),
    /// Normally distributed with this mean and standard deviation, without what is below nothing.
    Normal(Time, Time),
    /// One of the delays in a file, every one equally likely.
    Recorded(Trace<Recorded>),
}

/// A delay from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DelayStep {
    /// From when on it holds.
    pub at: Time,
    /// Propagation, one way.
    pub delay: Time,
}

/// A share of the packets comes later, and others overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Reorder {
    /// The share of packets.
    pub share: Fraction,
    /// How much later they come.
    pub by: Time,
}

/// The reverse path of ACKs over a link: what is not written is as without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Back {
    /// Its rate; the link's when not written.
    pub rate: Option<Rate>,
    /// Room for waiting ACKs; for all of them when not written.
    pub buffer: Option<Buffer>,
    /// Random loss of ACKs.
    pub loss: Option<Loss>,
    /// What else happens to them.
    #[serde(flatten)]
    pub elements: Elements,
}

/// What the link layer adds to each packet, as Linux's size tables have it (tc-stab(8)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Framing {
    /// Bytes of headers and trailers beside the packet's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Size>,
    /// The least that a frame takes with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpu: Option<Size>,
    /// Whether frames are cut into the cells of ATM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atm: Option<bool>,
}

impl Framing {
    /// The element of it.
    pub(crate) fn built(self) -> firstflight_link::Framing {
        let bytes = |size: Option<Size>| size.map_or(0, Size::bytes);
        firstflight_link::Framing {
            overhead: bytes(self.overhead),
            least: bytes(self.mpu),
            atm: self.atm == Some(true),
        }
    }

    fn words(self) -> String {
        let built = self.built();
        let mut said = vec![format!("{} of framing", Size::from_bytes(built.overhead))];
        said.extend(
            (built.least > 0).then(|| format!("at least {}", Size::from_bytes(built.least))),
        );
        said.extend(built.atm.then(|| "ATM cells".to_owned()));
        said.join(" and ")
    }

    fn in_results(self) -> Value {
        let built = self.built();
        json!({ "overhead_bytes": built.overhead, "mpu_bytes": built.least, "atm": built.atm })
    }
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
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Elements {
    /// The keys of elements in a table of a link.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            jitter: fields.read("jitter")?,
            wifi: fields.read("wifi")?,
            framing: fields.read("framing")?,
            policer: fields.read("policer")?,
            rates: fields.list("rates")?,
            rates_period: fields.read("rates_period")?,
            rate_trace: fields.read("rate_trace")?,
            delays: fields.list("delays")?,
            delays_period: fields.read("delays_period")?,
            delay_trace: fields.read("delay_trace")?,
            reorder: fields.read("reorder")?,
            release: fields.read("release")?,
            back: fields.read("back")?.map(Box::new),
        })
    }

    /// What the reverse path cannot have of its own.
    pub(crate) fn not_back(&self) -> Option<(&'static str, &'static str)> {
        let written = [
            (!self.delays.is_empty(), "delays", "those of the link hold for both directions"),
            (
                self.delay_trace.is_some(),
                "delay_trace",
                "that of the link holds for both directions",
            ),
            (self.reorder.is_some(), "reorder", "senders here know ACKs in order only"),
            (self.back.is_some(), "back", "it is a reverse path itself"),
        ];
        written.into_iter().find(|(is, ..)| *is).map(|(_, key, why)| (key, why))
    }
}

impl FromStr for Jitter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((kind, numbers)) = text.split_once(':') else {
            return text.parse().map(Self::UpTo).map_err(|error: QuantityError| error.to_string());
        };
        let pair = numbers.split_once(',').map(|(one, other)| (one.trim(), other.trim()));
        let pair = pair.and_then(|(one, other)| Some((one.parse().ok()?, other.parse().ok()?)));
        match (kind.trim(), pair) {
            ("uniform", Some((from, until))) if from <= until => Ok(Self::Uniform(from, until)),
            ("normal", Some((mean, deviation))) => Ok(Self::Normal(mean, deviation)),
            _ => Err(format!("no jitter; accepted: {JITTERS}")),
        }
    }
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UpTo(most) => most.fmt(f),
            Self::Uniform(from, until) => write!(f, "uniform:{from},{until}"),
            Self::Normal(mean, deviation) => write!(f, "normal:{mean},{deviation}"),
            Self::Recorded(trace) => write!(f, "{RECORDED}{}", trace.file),
        }
    }
}

impl Serialize for Jitter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Read for Jitter {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let recorded = node.words().and_then(|text| text.trim().strip_prefix(RECORDED));
        match recorded {
            Some(file) => Trace::load(file.trim(), node).map(Self::Recorded),
            None => node.text(),
        }
    }

    fn form() -> Form {
        Form::Text
    }
}

/// Before the name of a file.
const RECORDED: &str = "recorded:";
/// Forms of [`Jitter`].
const JITTERS: &str =
    "2ms (up to), uniform:1ms,3ms, normal:20ms,5ms (mean, deviation) or recorded:FILE";

impl Read for Framing {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let framing = Self {
            overhead: fields.read("overhead")?,
            mpu: fields.read("mpu")?,
            atm: fields.read("atm")?,
        };
        fields.finish()?;
        Ok(framing)
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

impl Read for DelayStep {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (at, delay) = (fields.read("at")?, fields.read("delay")?);
        let delay = delay.ok_or_else(|| fields.missing("delay", "delay = \"15ms\", one way"));
        fields.finish()?;
        Ok(Self { at: at.unwrap_or(Time::ZERO), delay: delay? })
    }
}

impl Read for Reorder {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (share, by) = (fields.read("share")?, fields.read("by")?);
        let share = share.ok_or_else(|| fields.missing("share", "share = \"1%\""));
        let by = by.ok_or_else(|| fields.missing("by", "by = \"3ms\""));
        fields.finish()?;
        Ok(Self { share: share?, by: by? })
    }
}

impl Read for Back {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (rate, buffer) = (fields.read("rate")?, fields.read("buffer")?);
        let (loss, elements) = (fields.read("loss")?, Elements::read(&mut fields)?);
        fields.finish()?;
        Ok(Self { rate, buffer, loss, elements })
    }
}
