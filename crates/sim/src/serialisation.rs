//! How long a link takes to send a packet.

use std::num::NonZero;

use firstflight_core::units::{NANOS_PER_SECOND, Span};

/// Bytes to nanoseconds at a link's rate, keeping the remainder so that rates do not drift.
#[derive(Clone, Debug)]
pub(crate) struct Serialisation {
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
    pub(crate) fn new(rate_bps: u64) -> Self {
        let rate_bps = rate_bps.max(1);
        Self { rate_bps, bytes: 0, whole: 0, rest: 0, left: rate_bps - 1 }
    }

    /// The size of the packets it is set to.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From now on packets have this size.
    pub(crate) fn set(&mut self, bytes: u64) {
        if bytes != self.bytes {
            let bit_nanos = bytes.saturating_mul(8 * NANOS_PER_SECOND);
            self.bytes = bytes;
            self.whole = (bit_nanos / self.rate_bps).min(NEVER.0);
            self.rest = bit_nanos % self.rate_bps;
        }
    }

    /// Clears the remainder of a nanosecond that earlier packets left.
    pub(crate) fn clear_remainder(&mut self) {
        self.left = self.rate_bps - 1;
    }

    /// The time of the next packet, in nanoseconds.
    #[inline]
    pub(crate) fn step(&mut self) -> u64 {
        let (left, over) = self.left.overflowing_sub(self.rest);
        self.left = if over { left.wrapping_add(self.rate_bps) } else { left };
        self.whole + u64::from(over)
    }

    /// The shortest time of a packet, in nanoseconds; the longest is one more.
    pub(crate) fn least(&self) -> u64 {
        self.whole
    }

    /// The time of a packet in nanoseconds, if all packets take equally long: no remainder is
    /// left at this rate and size.
    #[inline]
    pub(crate) fn even(&self) -> Option<NonZero<u64>> {
        NonZero::new(self.whole).filter(|_| self.rest == 0)
    }

    /// The time of a packet of this size, in nanoseconds.
    pub(crate) fn time(&mut self, bytes: u64) -> u64 {
        self.set(bytes);
        self.step()
    }
}

/// Time to send `bytes` at `rate_bps`, at least one nanosecond.
pub(crate) fn serialisation(bytes: u64, rate_bps: u64) -> Span {
    Span((bytes * 8 * NANOS_PER_SECOND / rate_bps.max(1)).max(1))
}

/// Longer than any run, and far from the end of what 64 bits hold: 73 years.
pub(crate) const NEVER: Span = Span(1 << 61);
