//! A link's queue as written: `codel`, or `codel(target=5ms,ecn=on)`. Names and parameters are
//! those of Linux's `tc`, and what is not written is Linux's default.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::{Buffer, Fraction, Rate, Size, Time};
use firstflight_control::{ControlSpec, NamedPolicy, hint};
use firstflight_link::{Discipline, Kind, Sizes};
use serde::Serialize;

/// A queue as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    part: NamedPolicy,
}

impl QueueSpec {
    /// The discipline on such a link; `None` is drop-tail.
    pub(crate) fn resolve(&self, link: &Sizes<'_>) -> Result<Option<Discipline>, String> {
        let NamedPolicy { name, knobs, .. } = &self.part;
        let cards = Discipline::cards();
        let card = cards.iter().find(|card| card.name == name);
        if card.is_none() && name != DROP_TAIL {
            let names: Vec<&str> =
                [DROP_TAIL].into_iter().chain(cards.iter().map(|card| card.name)).collect();
            let (hint, accepted) = (hint(name, names.iter().copied()), names.join(", "));
            return Err(format!("no queue is named `{name}`{hint}; accepted: {accepted}"));
        }
        let known: Vec<&str> =
            card.iter().flat_map(|card| &card.knobs).map(|(name, _)| *name).collect();
        if let Some((knob, _)) = knobs.iter().find(|(knob, _)| !known.contains(&knob.as_str())) {
            let hint = hint(knob, known.iter().copied());
            return Err(match known.is_empty() {
                true => format!("`{name}` has no parameters, found `{knob}`; accepted: {name}"),
                false => format!("`{name}` has no `{knob}`{hint}; accepted: {}", known.join(", ")),
            });
        }
        let value = |knob: &str, kind: Kind| {
            let written = self.part.knob(knob);
            written
                .map(|text| base_units(kind, text, link).map_err(|why| format!("{knob}{why}")))
                .transpose()
        };
        Discipline::read(name, link, &value).transpose()
    }
}

impl FromStr for QueueSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let spec: ControlSpec =
            text.parse().map_err(|error: firstflight_control::ControlError| {
                format!("{} at column {}; accepted: {EXAMPLE}", error.problem, error.column)
            })?;
        if spec.avoidance.is_some() || spec.startup.landed {
            return Err(format!("a queue has one part; accepted: {EXAMPLE}"));
        }
        let spec = Self { part: spec.startup };
        // Checked on every link, so that a mistake is reported here.
        spec.resolve(&Sizes { wire: 1, bdp: &|milli| milli.saturating_mul(1_000) })?;
        Ok(spec)
    }
}

impl fmt::Display for QueueSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.part.fmt(f)
    }
}

impl Serialize for QueueSpec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A parameter's value in base units.
fn base_units(kind: Kind, text: &str, link: &Sizes<'_>) -> Result<u64, String> {
    fn read<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
        text.parse().map_err(|error: T::Err| format!(": found `{text}`, {}", error.to_string()))
    }
    match kind {
        Kind::Rate => read(text).map(Rate::bps),
        Kind::Size => read(text).map(Size::bytes),
        Kind::Share => read(text).map(Fraction::ppb),
        Kind::Time => match read(text).map(Time::ns)? {
            ns @ 1_000..=100_000_000_000 => Ok(ns),
            _ => Err(": out of range; accepted: 1us to 100s".to_owned()),
        },
        Kind::Bytes => Ok(match read(text)? {
            Buffer::Packets(packets) => packets.saturating_mul(link.wire),
            Buffer::Bytes(bytes) => bytes,
            Buffer::Bdp(milli) => (link.bdp)(milli).saturating_mul(link.wire),
        }),
        Kind::Packets => Ok(match read(text)? {
            Buffer::Packets(packets) => packets,
            Buffer::Bytes(bytes) => (bytes / link.wire).max(1),
            Buffer::Bdp(milli) => (link.bdp)(milli).max(1),
        }),
        Kind::Count(from, to) => {
            let number = text.parse().ok().filter(|number| (from..=to).contains(number));
            number.ok_or_else(|| format!(": found `{text}`; accepted: {from} to {to}"))
        }
        Kind::Switch => match text {
            "on" => Ok(1),
            "off" => Ok(0),
            _ => Err(format!(": found `{text}`; accepted: on, off")),
        },
    }
}

/// The name of the queue that is no discipline.
const DROP_TAIL: &str = "drop-tail";
const EXAMPLE: &str = "codel, or codel(target=5ms,ecn=on)";
