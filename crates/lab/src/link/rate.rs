//! What the link carries per second.

use std::time::Duration;

/// Bits per second. Exact: no packet's time is rounded twice. Rates that change are elements
/// ([`firstflight_runner::traced`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(u64);

impl Rate {
    /// One rate at all times, at least 1 bit/s.
    pub fn constant(bps: u64) -> Self {
        Self(bps.max(1))
    }

    /// In bits per second.
    pub fn bps(self) -> u64 {
        self.0
    }

    /// When a sending that starts at `start` has sent `need`, in bits times 10^9; `carry` keeps
    /// what a whole nanosecond sent too much, for the next packet.
    pub(crate) fn finish(self, start: u64, need: u128, carry: &mut u128) -> u64 {
        let need = need.saturating_sub(*carry);
        let ns = need.div_ceil(u128::from(self.0));
        *carry = ns * u128::from(self.0) - need;
        start.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// Nanoseconds of a duration, as all times of the link are.
pub(crate) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGA: u128 = 1_000_000_000;

    fn send(rate: Rate, start: u64, bytes: u128, carry: &mut u128) -> u64 {
        rate.finish(start, bytes * 8 * GIGA, carry)
    }

    #[test]
    fn a_thousand_packets_of_an_uneven_time_end_where_one_large_one_does() {
        // 1000 bytes at 30 Mbit/s take 266666.67 ns.
        let rate = Rate::constant(30_000_000);
        let (mut at, mut carry) = (0, 0);
        for _ in 0..1_000 {
            at = send(rate, at, 1_000, &mut carry);
        }
        assert_eq!(at, send(rate, 0, 1_000_000, &mut 0));
    }
}
