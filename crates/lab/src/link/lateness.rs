//! How late the emulator itself was: the difference between when a packet was due and when it was
//! handed on. Saved with every result, because an emulator that is late measures itself.

use serde::Serialize;

/// Counts of lateness in bins that grow with it, a sixteenth wide.
#[derive(Clone, Debug)]
pub(crate) struct Lateness {
    bins: Vec<u64>,
    count: u64,
    sum_ns: u128,
    max_ns: u64,
    over_1ms: u64,
}

/// The emulator's own lateness over the measured period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LatenessReport {
    /// Packets handed on, both directions.
    pub packets: u64,
    /// Mean, microseconds.
    pub mean_us: f64,
    /// Half of the packets were at most this late.
    pub p50_us: f64,
    /// 98 % of them.
    pub p98_us: f64,
    /// 99 % of them.
    pub p99_us: f64,
    /// The latest.
    pub max_us: f64,
    /// Share of packets a millisecond late or more, 0 to 1.
    pub over_1ms: f64,
}

impl Lateness {
    pub(crate) fn new() -> Self {
        Self { bins: vec![0; 64 * SUB], count: 0, sum_ns: 0, max_ns: 0, over_1ms: 0 }
    }

    pub(crate) fn record(&mut self, late_ns: u64) {
        let late_ns = late_ns.min(1 << 50);
        self.bins[bin(late_ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(late_ns);
        self.max_ns = self.max_ns.max(late_ns);
        self.over_1ms += u64::from(late_ns >= 1_000_000);
    }

    /// Takes in what another one recorded.
    pub(crate) fn add(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(to, from)| *to += from);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.over_1ms += other.over_1ms;
    }

    pub(crate) fn report(&self) -> LatenessReport {
        let count = self.count.max(1) as f64;
        LatenessReport {
            packets: self.count,
            mean_us: self.sum_ns as f64 / count / 1e3,
            p50_us: self.quantile_us(0.5),
            p98_us: self.quantile_us(0.98),
            p99_us: self.quantile_us(0.99),
            max_us: self.max_ns as f64 / 1e3,
            over_1ms: self.over_1ms as f64 / count,
        }
    }

    /// The upper end of the bin in which the share is reached.
    fn quantile_us(&self, share: f64) -> f64 {
        let wanted = (self.count as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (index, bin) in self.bins.iter().enumerate() {
            seen += bin;
            if seen >= wanted && seen > 0 {
                return upper(index).min(self.max_ns) as f64 / 1e3;
            }
        }
        0.0
    }
}

const SUB: usize = 16;

/// Powers of two, each in sixteen parts.
fn bin(ns: u64) -> usize {
    if ns < SUB as u64 {
        return ns as usize;
    }
    let exponent = ns.ilog2() as usize;
    (exponent - 3) * SUB + ((ns >> (exponent - 4)) as usize - SUB)
}

/// The largest value of a bin.
fn upper(bin: usize) -> u64 {
    if bin < SUB {
        return bin as u64;
    }
    let (exponent, part) = (bin / SUB + 3, (bin % SUB) as u64);
    ((SUB as u64 + part + 1) << (exponent - 4)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_the_bin_that_ends_at_or_above_it() {
        for ns in (0..200).chain([1_000, 65_535, 65_536, 1_000_000, 123_456_789, u64::MAX >> 5]) {
            assert!(upper(bin(ns)) >= ns, "{ns}");
            assert!(bin(ns) == 0 || upper(bin(ns) - 1) < ns, "{ns}");
        }
    }

    #[test]
    fn quantiles_are_within_a_sixteenth() {
        let mut lateness = Lateness::new();
        (1..=1_000).for_each(|us| lateness.record(us * 1_000));
        let report = lateness.report();
        assert!((report.p50_us / 500.0 - 1.0).abs() < 0.07, "{}", report.p50_us);
        assert!((report.p99_us / 990.0 - 1.0).abs() < 0.07, "{}", report.p99_us);
        assert_eq!((report.max_us, report.over_1ms), (1_000.0, 0.001));
        assert!((report.mean_us - 500.5).abs() < 1e-9);
    }

    #[test]
    fn nothing_measured_is_no_division_by_zero() {
        assert_eq!(Lateness::new().report(), LatenessReport::default());
    }
}
