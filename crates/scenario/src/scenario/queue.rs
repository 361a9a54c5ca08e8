//! A link's queue as written: `codel`, or `codel(target=5ms,ecn=on)`. Names and parameters are
//! those of Linux's `tc`, and what is not written is Linux's default.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::{Buffer, Fraction, Rate, Size, Time};
use firstflight_control::{ControlSpec, NamedPolicy, hint};
use firstflight_link::{
    CodelRules, Discipline, DualPi2Rules, FqCodelRules, PieRules, RedRules, TbfRules,
};
use serde::Serialize;

/// A queue as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    part: NamedPolicy,
}

/// What a queue's sizes are measured by: a link of a scenario.
pub(crate) struct Sizes<'a> {
    /// A full packet, in bytes on the link.
    pub(crate) wire: u64,
    /// How many packets a number of thousandths of the BDP is.
    pub(crate) bdp: &'a dyn Fn(u64) -> u64,
}

impl QueueSpec {
    /// The discipline on such a link; `None` is drop-tail.
    pub(crate) fn resolve(&self, sizes: &Sizes<'_>) -> Result<Option<Discipline>, String> {
        let mut knobs = Knobs { part: &self.part, sizes, asked: Vec::new() };
        let discipline = match self.part.name.as_str() {
            "drop-tail" => None,
            "tbf" => Some(tbf(&mut knobs)?),
            "red" => Some(red(&mut knobs)?),
            "codel" => {
                let rules = codel(&mut knobs, CodelRules::default())?;
                Some(Discipline::Codel(rules))
            }
            "fq_codel" => Some(fq_codel(&mut knobs)?),
            "pie" => Some(pie(&mut knobs)?),
            "dualpi2" => Some(dualpi2(&mut knobs)?),
            other => {
                let accepted = NAMES.join(", ");
                let hint = hint(other, NAMES.iter().copied());
                return Err(format!("no queue is named `{other}`{hint}; accepted: {accepted}"));
            }
        };
        knobs.finish()?;
        Ok(discipline)
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
        // On any link: what is wrong with it is said here.
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

fn tbf(knobs: &mut Knobs<'_>) -> Result<Discipline, String> {
    let missing = |name| format!("`{name}` is missing; accepted: {TBF}");
    let rate: Rate = knobs.text("rate")?.ok_or_else(|| missing("rate"))?;
    let rules = TbfRules {
        rate_bps: rate.bps(),
        burst_bytes: knobs.bytes("burst")?.ok_or_else(|| missing("burst"))?,
        limit_bytes: knobs.bytes("limit")?.unwrap_or_else(|| knobs.bdps(1)),
    };
    let wire = knobs.sizes.wire;
    if rules.burst_bytes < wire {
        return Err(format!("burst: no packet of {wire} bytes would pass; accepted: one or more"));
    }
    Ok(Discipline::Tbf(rules))
}

/// What is not written follows as with `tc`: `max` is a quarter of `limit`, `min` a third of that.
fn red(knobs: &mut Knobs<'_>) -> Result<Discipline, String> {
    let limit_bytes = knobs.bytes("limit")?.unwrap_or_else(|| knobs.bdps(4));
    let max_bytes = knobs.bytes("max")?.unwrap_or(limit_bytes / 4);
    let min_bytes = knobs.bytes("min")?.unwrap_or(max_bytes / 3);
    let size: Option<Size> = knobs.text("avpkt")?;
    let avpkt_bytes = size.map_or(knobs.sizes.wire, Size::bytes).max(1);
    let usual = (2 * min_bytes + max_bytes) / (3 * avpkt_bytes);
    let burst_packets = knobs.number("burst", 1..=MOST)?.unwrap_or(usual.max(1));
    let share: Option<Fraction> = knobs.text("probability")?;
    let probability_ppb = share.map_or(20_000_000, Fraction::ppb) as u32;
    let ecn = knobs.switch("ecn")?.unwrap_or(false);
    if min_bytes >= max_bytes || max_bytes > limit_bytes {
        return Err("min, max and limit do not rise; accepted: min < max <= limit".to_owned());
    }
    Ok(Discipline::Red(RedRules {
        limit_bytes,
        min_bytes,
        max_bytes,
        avpkt_bytes,
        burst_packets,
        probability_ppb,
        ecn,
    }))
}

fn codel(knobs: &mut Knobs<'_>, usual: CodelRules) -> Result<CodelRules, String> {
    Ok(CodelRules {
        target_ns: knobs.time("target")?.unwrap_or(usual.target_ns),
        interval_ns: knobs.time("interval")?.unwrap_or(usual.interval_ns),
        limit_packets: knobs.packets("limit")?.unwrap_or(usual.limit_packets),
        ecn: knobs.switch("ecn")?.unwrap_or(usual.ecn),
        ce_threshold_ns: knobs.time("ce_threshold")?,
    })
}

fn fq_codel(knobs: &mut Knobs<'_>) -> Result<Discipline, String> {
    let usual = FqCodelRules::default();
    let quantum: Option<Size> = knobs.text("quantum")?;
    Ok(Discipline::FqCodel(FqCodelRules {
        codel: codel(knobs, usual.codel)?,
        flows: knobs.number("flows", 1..=65_536)?.map_or(usual.flows, |flows| flows as u32),
        quantum_bytes: quantum.map(Size::bytes),
    }))
}

fn pie(knobs: &mut Knobs<'_>) -> Result<Discipline, String> {
    let usual = PieRules::default();
    Ok(Discipline::Pie(PieRules {
        target_ns: knobs.time("target")?.unwrap_or(usual.target_ns),
        tupdate_ns: knobs.time("tupdate")?.unwrap_or(usual.tupdate_ns),
        limit_packets: knobs.packets("limit")?.unwrap_or(usual.limit_packets),
        alpha: knobs.number("alpha", 0..=32)?.map_or(usual.alpha, |alpha| alpha as u32),
        beta: knobs.number("beta", 0..=32)?.map_or(usual.beta, |beta| beta as u32),
        ecn: knobs.switch("ecn")?.unwrap_or(usual.ecn),
    }))
}

fn dualpi2(knobs: &mut Knobs<'_>) -> Result<Discipline, String> {
    let usual = DualPi2Rules::default();
    Ok(Discipline::DualPi2(DualPi2Rules {
        target_ns: knobs.time("target")?.unwrap_or(usual.target_ns),
        tupdate_ns: knobs.time("tupdate")?.unwrap_or(usual.tupdate_ns),
        step_ns: knobs.time("step")?.unwrap_or(usual.step_ns),
        coupling: knobs.number("coupling", 1..=255)?.map_or(usual.coupling, |k| k as u32),
        limit_packets: knobs.packets("limit")?.unwrap_or(usual.limit_packets),
    }))
}

/// The parameters as written; remembers which were asked for, so that the rest are unknown.
struct Knobs<'a> {
    part: &'a NamedPolicy,
    sizes: &'a Sizes<'a>,
    asked: Vec<&'static str>,
}

impl Knobs<'_> {
    fn text<T: FromStr<Err: ToString>>(&mut self, name: &'static str) -> Result<Option<T>, String> {
        self.asked.push(name);
        let text = self.part.knob(name);
        let read = |text: &str| {
            let wrong = |error: T::Err| format!("{name}: found `{text}`, {}", error.to_string());
            text.parse().map_err(wrong)
        };
        text.map(read).transpose()
    }

    /// Nanoseconds, from a microsecond to the longest that the arithmetic of all disciplines holds.
    fn time(&mut self, name: &'static str) -> Result<Option<u64>, String> {
        let ns = self.text(name)?.map(Time::ns);
        match ns.filter(|ns| !(1_000..=100_000_000_000).contains(ns)) {
            Some(_) => Err(format!("{name}: out of range; accepted: 1us to 100s")),
            None => Ok(ns),
        }
    }

    fn switch(&mut self, name: &'static str) -> Result<Option<bool>, String> {
        match self.text::<String>(name)?.as_deref() {
            None => Ok(None),
            Some("on") => Ok(Some(true)),
            Some("off") => Ok(Some(false)),
            Some(other) => Err(format!("{name}: found `{other}`; accepted: on, off")),
        }
    }

    fn number(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, String> {
        let text: Option<String> = self.text(name)?;
        let number = |text: String| {
            let number = text.parse().ok().filter(|number| range.contains(number));
            let (from, to) = (range.start(), range.end());
            number.ok_or(format!("{name}: found `{text}`; accepted: {from} to {to}"))
        };
        text.map(number).transpose()
    }

    fn bytes(&mut self, name: &'static str) -> Result<Option<u64>, String> {
        let size: Option<Buffer> = self.text(name)?;
        Ok(size.map(|size| match size {
            Buffer::Packets(packets) => packets.saturating_mul(self.sizes.wire),
            Buffer::Bytes(bytes) => bytes,
            Buffer::Bdp(milli) => (self.sizes.bdp)(milli).saturating_mul(self.sizes.wire),
        }))
    }

    fn packets(&mut self, name: &'static str) -> Result<Option<u64>, String> {
        let size: Option<Buffer> = self.text(name)?;
        Ok(size.map(|size| match size {
            Buffer::Packets(packets) => packets,
            Buffer::Bytes(bytes) => (bytes / self.sizes.wire).max(1),
            Buffer::Bdp(milli) => (self.sizes.bdp)(milli).max(1),
        }))
    }

    /// The bytes of so many BDP, at least of twelve packets: then the `min` of `red`, a twelfth of
    /// its `limit`, is a packet.
    fn bdps(&self, many: u64) -> u64 {
        (self.sizes.bdp)(1_000 * many).max(12).saturating_mul(self.sizes.wire)
    }

    fn finish(self) -> Result<(), String> {
        let unknown = |(name, _): &&(String, String)| !self.asked.contains(&name.as_str());
        let Some((name, _)) = self.part.knobs.iter().find(unknown) else { return Ok(()) };
        let (queue, accepted) = (&self.part.name, self.asked.join(", "));
        let hint = hint(name, self.asked.iter().copied());
        Err(match accepted.as_str() {
            "" => format!("`{queue}` has no parameters, found `{name}`; accepted: {queue}"),
            _ => format!("`{queue}` has no `{name}`{hint}; accepted: {accepted}"),
        })
    }
}

/// More packets than any path holds.
const MOST: u64 = 1_000_000_000;
const NAMES: [&str; 7] = ["drop-tail", "tbf", "red", "codel", "fq_codel", "pie", "dualpi2"];
const TBF: &str = "tbf(rate=10Mbps,burst=16KB,limit=1bdp)";
const EXAMPLE: &str = "codel, or codel(target=5ms,ecn=on)";
