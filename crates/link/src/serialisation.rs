//! How long a link takes to send a packet.

use std::num::NonZero;

use firstflight_core::units::{NANOS_PER_SECOND, Span};

/// Bytes to nanoseconds at a link's rate, keeping the remainder so that rates do not drift.
#[derive(Clone, Debug)]
pub struct Serialisation {
    rate_bps: u64,
    /// Size of the packets that it is set to.
    bytes: u64,
    /// The time that one takes, in whole nanoseconds.
    whole: u64,
    /// The rest of it, in parts of a nanosecond that the rate counts.
    rest: u64,
    /// How many of these parts may be added before they make another nanosecond.
    left: u64,
}

impl Serialisation {
    /// At this rate, with nothing left of earlier packets.
    pub fn new(rate_bps: u64) -> Self {
        let rate_bps = rate_bps.max(1);
        Self { rate_bps, bytes: 0, whole: 0, rest: 0, left: rate_bps - 1 }
    }

    /// The size of the packets it is set to.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From now on packets have this size.
    #[inline]
    pub fn set(&mut self, bytes: u64) {
        if bytes != self.bytes {
            let bit_nanos = bytes.saturating_mul(8 * NANOS_PER_SECOND);
            self.bytes = bytes;
            self.whole = (bit_nanos / self.rate_bps).min(NEVER.0);
            self.rest = bit_nanos % self.rate_bps;
        }
    }

    /// Clears the remainder of a nanosecond that earlier packets left.
    #[inline]
    pub fn clear_remainder(&mut self) {
        self.left = self.rate_bps - 1;
    }

    /// Rounds the sum of the times of the packets from here on up, not down.
    pub fn round_up(&mut self) {
        self.left = 0;
    }

    /// The time of the next packet, in nanoseconds.
    #[inline]
    pub fn step(&mut self) -> u64 {
        let (left, over) = self.left.overflowing_sub(self.rest);
        self.left = if over { left.wrapping_add(self.rate_bps) } else { left };
        self.whole + u64::from(over)
    }

    /// The shortest time of a packet, in nanoseconds; the longest is one more.
    pub fn least(&self) -> u64 {
        self.whole
    }

    /// The time of a packet in nanoseconds, if all packets take equally long: no remainder is
    /// left at this rate and size.
    #[inline]
    pub fn even(&self) -> Option<NonZero<u64>> {
        NonZero::new(self.whole).filter(|_| self.rest == 0)
    }

    /// The time of a packet of this size, in nanoseconds.
    #[inline]
    pub fn time(&mut self, bytes: u64) -> u64 {
        self.set(bytes);
        self.step()
    }
}

/// Time to send `bytes` at `rate_bps`, at least one nanosecond.
#[inline]
pub fn serialisation(bytes: u64, rate_bps: u64) -> Span {
    Span((bytes * 8 * NANOS_PER_SECOND / rate_bps.max(1)).max(1))
}

/// Longer than any run, and far from the end of what 64 bits hold: 73 years.
pub const NEVER: Span = Span(1 << 61);

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes at 30 Mbit/s take 266,666.67 ns.
    #[test]
    fn a_thousand_packets_of_an_uneven_time_end_where_one_large_one_does() {
        for (rounds_up, expected) in [(false, 266_666_666), (true, 266_666_667)] {
            let mut serial = Serialisation::new(30_000_000);
            if rounds_up {
                serial.round_up();
            }
            let sum: u64 = (0..1_000).map(|_| serial.time(1_000)).sum();
            assert_eq!(sum, expected);
        }
    }
}
