//! What a link does to packets besides sending them: the keys of `[path]` and `[[link]]` that
//! become elements of the simulator. Most have a card, which says how they are read.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::{Buffer, Loss, QuantityError, Rate, Time};
use firstflight_link::{ELEMENTS, ElementCard, Entry};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::carded::Carded;
use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::{Fields, Read};
use crate::schema::Form;
use crate::trace::{Delays, Rates, Recorded, Trace};

/// What happens to packets on a link besides its rate, its delay, its buffer and its loss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Elements {
    /// How late each packet is, at random and in order.
    pub jitter: Option<Jitter>,
    /// Those that have a card, in the order of their cards.
    pub carded: Vec<Carded>,
    /// The link's rate over time.
    pub rates: Vec<RateStep>,
    /// When `rates` begin again.
    pub rates_period: Option<Time>,
    /// The link's rate over time in a file.
    pub rate_trace: Option<Trace<Rates>>,
    /// The link's delay over time, one way, in both directions.
    pub delays: Vec<DelayStep>,
    /// When `delays` begin again.
    pub delays_period: Option<Time>,
    /// The link's delay over time in a file.
    pub delay_trace: Option<Trace<Delays>>,
    /// The other direction, where it is more than a delay.
    pub back: Option<Box<Back>>,
}

impl Elements {
    /// The keys of elements in a table of a link.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self, ScenarioError> {
        let mut read = Self::default();
        for entry in ELEMENTS {
            match entry {
                Entry::Card(card) => read.carded.extend(Carded::read(fields, card)?),
                Entry::Jitter => read.jitter = fields.read("jitter")?,
                Entry::Rates => {
                    read.rates = fields.list("rates")?;
                    read.rates_period = fields.read("rates_period")?;
                    read.rate_trace = fields.read("rate_trace")?;
                }
                Entry::Delays => {
                    read.delays = fields.list("delays")?;
                    read.delays_period = fields.read("delays_period")?;
                    read.delay_trace = fields.read("delay_trace")?;
                }
            }
        }
        read.back = fields.read("back")?.map(Box::new);
        Ok(read)
    }

    /// The element of this card, if it is written.
    pub(crate) fn of(&self, card: &ElementCard) -> Option<&Carded> {
        self.carded.iter().find(|it| it.card.key == card.key)
    }

    /// Whether the rate changes.
    pub fn has_rates(&self) -> bool {
        !self.rates.is_empty() || self.rate_trace.is_some()
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
        let key = |entry: &Entry| match entry {
            Entry::Card(card) => self.of(card).map(|_| card.key),
            Entry::Jitter => self.jitter.as_ref().map(|_| "jitter"),
            Entry::Rates if !self.rates.is_empty() => Some("rates"),
            Entry::Rates => self.rate_trace.as_ref().map(|_| "rate_trace"),
            Entry::Delays if !self.delays.is_empty() => Some("delays"),
            Entry::Delays => self.delay_trace.as_ref().map(|_| "delay_trace"),
        };
        ELEMENTS.iter().find_map(key).or(self.back.as_ref().map(|_| "back"))
    }

    /// Each one in a few words, for headers; those of the reverse path among them.
    pub(crate) fn words(&self, back: Option<String>) -> impl Iterator<Item = String> + '_ {
        let schedule = |steps: usize, what| (steps > 0).then(|| format!("{steps} {what} in turn"));
        let words = move |entry: &Entry| match entry {
            Entry::Card(card) => self.of(card).map(Carded::words),
            Entry::Jitter => self.jitter.as_ref().map(Jitter::words),
            Entry::Rates => schedule(self.rates.len(), "rates"),
            Entry::Delays => schedule(self.delays.len(), "delays"),
        };
        let rates = self.rate_trace.as_ref().map(|trace| format!("rates of {}", trace.file));
        let delays = self.delay_trace.as_ref().map(|trace| format!("delays of {}", trace.file));
        ELEMENTS.iter().filter_map(words).chain(back).chain(rates).chain(delays)
    }

    /// In base units, for results; the reverse path has a place of its own there.
    pub(crate) fn in_results<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let ns = |time: Option<Time>| time.map(|time| json!(time.ns()));
        let list = |list: Vec<Value>| (!list.is_empty()).then_some(Value::Array(list));
        for entry in ELEMENTS {
            let entries = match entry {
                Entry::Card(card) => {
                    self.of(card).map_or(Ok(()), |it| it.in_results(&mut map))?;
                    continue;
                }
                Entry::Jitter => self.jitter.iter().map(Jitter::in_results).collect(),
                Entry::Rates => {
                    let rates = self
                        .rates
                        .iter()
                        .map(|it| json!({ "at_ns": it.at.ns(), "rate_bps": it.rate.bps() }));
                    vec![
                        ("rates", list(rates.collect())),
                        ("rates_period_ns", ns(self.rates_period)),
                        ("rate_trace", self.rate_trace.as_ref().map(Trace::in_results)),
                    ]
                }
                Entry::Delays => {
                    let delays = self
                        .delays
                        .iter()
                        .map(|it| json!({ "at_ns": it.at.ns(), "delay_ns": it.delay.ns() }));
                    vec![
                        ("delays", list(delays.collect())),
                        ("delays_period_ns", ns(self.delays_period)),
                        ("delay_trace", self.delay_trace.as_ref().map(Trace::in_results)),
                    ]
                }
            };
            for (key, value) in entries {
                value.map_or(Ok(()), |value| map.serialize_entry(key, &value))?;
            }
        }
        map.end()
    }

    /// What the reverse path cannot have of its own.
    pub(crate) fn not_back(&self) -> Option<(&'static str, &'static str)> {
        let schedules = [
            (!self.delays.is_empty(), "delays", "those of the link hold for both directions"),
            (
                self.delay_trace.is_some(),
                "delay_trace",
                "that of the link holds for both directions",
            ),
        ];
        let schedules = schedules.into_iter().find(|(is, ..)| *is).map(|(_, key, why)| (key, why));
        let carded = || self.carded.iter().find_map(|it| Some((it.card.key, it.card.not_back?)));
        let back = || self.back.as_ref().map(|_| ("back", "it is a reverse path itself"));
        schedules.or_else(carded).or_else(back)
    }
}

/// As written.
impl Serialize for Elements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn some<M: SerializeMap, T: Serialize>(
            map: &mut M,
            key: &str,
            value: Option<&T>,
        ) -> Result<(), M::Error> {
            value.map_or(Ok(()), |value| map.serialize_entry(key, value))
        }
        let mut map = serializer.serialize_map(None)?;
        for entry in ELEMENTS {
            match entry {
                Entry::Card(card) => self.of(card).map_or(Ok(()), |it| it.write(&mut map))?,
                Entry::Jitter => some(&mut map, "jitter", self.jitter.as_ref())?,
                Entry::Rates => {
                    some(&mut map, "rates", Some(&self.rates).filter(|it| !it.is_empty()))?;
                    some(&mut map, "rates_period", self.rates_period.as_ref())?;
                    some(&mut map, "rate_trace", self.rate_trace.as_ref())?;
                }
                Entry::Delays => {
                    some(&mut map, "delays", Some(&self.delays).filter(|it| !it.is_empty()))?;
                    some(&mut map, "delays_period", self.delays_period.as_ref())?;
                    some(&mut map, "delay_trace", self.delay_trace.as_ref())?;
                }
            }
        }
        some(&mut map, "back", self.back.as_ref())?;
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

impl Jitter {
    fn words(&self) -> String {
        match self {
            Self::UpTo(most) => format!("jitter up to {most}"),
            Self::Uniform(from, until) => format!("jitter of {from} to {until}"),
            Self::Normal(mean, deviation) => {
                format!("normal jitter of {mean} with deviation {deviation}")
            }
            Self::Recorded(trace) => format!("jitter of {}", trace.file),
        }
    }

    fn in_results(&self) -> (&'static str, Option<Value>) {
        let (key, value) = match self {
            Self::UpTo(most) => ("jitter_ns", json!(most.ns())),
            Self::Uniform(from, until) => ("jitter_uniform_ns", json!([from.ns(), until.ns()])),
            Self::Normal(mean, deviation) => {
                ("jitter_normal_ns", json!([mean.ns(), deviation.ns()]))
            }
            Self::Recorded(trace) => ("jitter_recorded", trace.in_results()),
        };
        (key, Some(value))
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

impl Read for Back {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let (rate, buffer) = (fields.read("rate")?, fields.read("buffer")?);
        let (loss, elements) = (fields.read("loss")?, Elements::read(&mut fields)?);
        fields.finish()?;
        Ok(Self { rate, buffer, loss, elements })
    }
}
