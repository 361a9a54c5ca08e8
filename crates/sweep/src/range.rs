//! A range of a quantity, from which samples are drawn: `10ms` to `600ms`.

use std::fmt;

use firstflight_scenario::{Fraction, Rate, Size, Time};

/// Two values of one kind and how values lie between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    kind: Kind,
    from: u64,
    to: u64,
    log: bool,
}

/// What kind of quantity, each a whole number of its smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// bit/s
    Rate,
    /// ns
    Time,
    /// bytes
    Size,
    /// parts per billion
    Share,
    /// thousandths of a BDP
    Bdp,
    /// packets
    Packets,
    /// a number without unit
    Whole,
}

impl Range {
    /// Reads both ends; `log` for values whose logarithms are uniform.
    pub(crate) fn read(from: &str, to: &str, log: bool) -> Result<Self, String> {
        let ((kind, from_base), (other, to_base)) = (read(from)?, read(to)?);
        if kind != other {
            return Err(format!("\"{from}\" and \"{to}\" are of two kinds; accepted: one kind"));
        }
        if from_base >= to_base {
            return Err(format!("\"{from}\" is not below \"{to}\"; accepted: from below to"));
        }
        if log && from_base == 0 {
            return Err(format!("a range by its logarithm cannot begin at \"{from}\""));
        }
        Ok(Self { kind, from: from_base, to: to_base, log })
    }

    /// The value at a share of the way, 0 to 1, as a scenario takes it.
    pub(crate) fn at(&self, share: f64) -> String {
        let (from, to) = (self.from as f64, self.to as f64);
        let value =
            if self.log { from * (to / from).powf(share) } else { from + share * (to - from) };
        let value = (value.round() as u64).clamp(self.from, self.to);
        match self.kind {
            Kind::Rate => Rate::from_bps(value).to_string(),
            Kind::Time => Time::from_ns(value).to_string(),
            Kind::Size => Size::from_bytes(value).to_string(),
            Kind::Share => Fraction::from_ppb(value).to_string(),
            Kind::Bdp => format!("{}.{:03}bdp", value / 1000, value % 1000),
            Kind::Packets => format!("{value}pkt"),
            Kind::Whole => value.to_string(),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.log { "log" } else { "linear" };
        write!(f, "{} to {} {way}", self.at(0.0), self.at(1.0))
    }
}

/// A value as a number: rates in bit/s, times in s, sizes in bytes, shares of 1, buffers in BDP.
pub(crate) fn number(text: &str) -> Option<f64> {
    let (kind, base) = read(text).ok()?;
    let unit = match kind {
        Kind::Time | Kind::Share => 1e9,
        Kind::Bdp => 1e3,
        Kind::Rate | Kind::Size | Kind::Packets | Kind::Whole => 1.0,
    };
    Some(base as f64 / unit)
}

fn read(text: &str) -> Result<(Kind, u64), String> {
    if let Ok(whole) = text.parse() {
        return Ok((Kind::Whole, whole));
    }
    if let Some(packets) = text.strip_suffix("pkt").and_then(|text| text.parse().ok()) {
        return Ok((Kind::Packets, packets));
    }
    if let Some(milli) = text.strip_suffix("bdp").and_then(milli) {
        return Ok((Kind::Bdp, milli));
    }
    let rate = text.parse().map(|rate: Rate| (Kind::Rate, rate.bps())).ok();
    let time = || text.parse().map(|time: Time| (Kind::Time, time.ns())).ok();
    let size = || text.parse().map(|size: Size| (Kind::Size, size.bytes())).ok();
    let share = || text.parse().map(|share: Fraction| (Kind::Share, share.ppb())).ok();
    rate.or_else(time).or_else(size).or_else(share).ok_or_else(|| {
        format!(
            "\"{text}\" is no quantity; accepted: a rate 40Mbps, a time 100ms, a size 5MB, a share \
             0.1%, 0.25bdp, 10pkt, or a whole number"
        )
    })
}

/// Thousandths of a decimal with at most three places.
fn milli(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || rest.len() > 3 || !digits(whole) || !digits(rest) {
        return None;
    }
    let thousandths: u64 = format!("{rest:0<3}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_gives_its_ends_and_its_middle() {
        let at = |from, to, log, share| Range::read(from, to, log).unwrap().at(share);
        assert_eq!(at("1Mbps", "1Gbps", true, 0.0), "1Mbps");
        assert_eq!(at("1Mbps", "100Mbps", true, 0.5), "10Mbps");
        assert_eq!(at("1Mbps", "1Gbps", true, 1.0), "1Gbps");
        assert_eq!(at("10ms", "600ms", false, 0.5), "305ms");
        assert_eq!(at("0%", "1%", false, 0.25), "0.25%");
        assert_eq!(at("0.5bdp", "2bdp", false, 0.5), "1.250bdp");
        assert_eq!(at("1MB", "2000KB", false, 0.5), "1500KB");
        assert_eq!(at("4", "8", false, 0.5), "6");
        assert_eq!(at("1pkt", "9pkt", false, 0.5), "5pkt");
    }

    #[test]
    fn a_range_that_is_none_says_why() {
        let refused = |from, to, log| Range::read(from, to, log).unwrap_err();
        assert!(refused("1Mbps", "5ms", false).contains("two kinds"));
        assert!(refused("5ms", "5ms", false).contains("not below"));
        assert!(refused("0%", "1%", true).contains("logarithm"));
        assert!(refused("often", "1%", true).contains("\"often\" is no quantity"));
    }
}
