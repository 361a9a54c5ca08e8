//! How much a router has been carrying: bytes by intervals of 0.2 s, over the last second, as
//! ns-2.35's Quick-Start agent counts them.

use firstflight_core::units::Instant;

/// Bytes in the current interval and in those before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    /// The current interval, counted from the beginning of the run.
    interval: u64,
    /// By number modulo the length.
    bytes: [u64; INTERVALS],
}

impl Load {
    /// Goes on to the interval of `at`; how many have begun since. Times never go backwards.
    pub(super) fn advance(&mut self, at: Instant) -> u64 {
        let interval = at.0 / INTERVAL_NS;
        let passed = interval - self.interval;
        for i in 1..=passed.min(INTERVALS as u64) {
            self.bytes[(self.interval + i) as usize % INTERVALS] = 0;
        }
        self.interval = interval;
        passed
    }

    /// Counts bytes in the current interval.
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes[self.interval as usize % INTERVALS] += bytes;
    }

    /// The current interval's number.
    pub(super) fn interval(&self) -> u64 {
        self.interval
    }

    /// Bits per second in the busiest interval.
    pub(super) fn peak_bps(&self) -> u64 {
        per_second(self.bytes.iter().max().copied().unwrap_or(0))
    }

    /// Bits per second in the last interval that is over.
    pub(super) fn last_bps(&self) -> u64 {
        let last = (self.interval as usize + INTERVALS - 1) % INTERVALS;
        per_second(self.bytes[last])
    }
}

fn per_second(bytes: u64) -> u64 {
    bytes.saturating_mul(8 * INTERVALS_PER_SECOND)
}

const INTERVAL_NS: u64 = 200_000_000;
const INTERVALS_PER_SECOND: u64 = 5;
const INTERVALS: usize = 5;
