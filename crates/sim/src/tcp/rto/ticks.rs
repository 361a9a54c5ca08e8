//! ns-2.35's estimate of the timeout: its clock ticks.

use firstflight_core::units::{Instant, Span};

use crate::endpoint::rules::{RtoRules, Timer};

/// ns-2's estimator: whole ticks, one segment timed at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    /// Smoothed RTT, in ticks times 8.
    pub(super) smoothed: u64,
    /// Its variation, in ticks times 4.
    pub(super) variation: u64,
    /// The timeout before back-off.
    pub(super) base: Span,
    /// The timeout when the timer was started last.
    pub(super) timeout: Span,
    /// The segment being timed, and since when.
    pub(super) timed: Option<(u32, Instant)>,
    /// One past the highest segment ever timed.
    pub(super) timed_up_to: u32,
}

impl Ticks {
    /// Before the first sample, which replaces ns-2.35's variation of 12 s.
    pub(super) fn new(initial: Span) -> Self {
        Self {
            smoothed: 0,
            variation: 0,
            base: initial,
            timeout: Span(0),
            timed: None,
            timed_up_to: 0,
        }
    }

    /// ns-2.35's `rtt_update`: the clock ticks, and the sample is the number of ticks seen.
    pub(super) fn observe(&mut self, rules: &RtoRules, since: Instant, now: Instant) {
        let Timer::Ns2 { phase, eighths_below } = rules.timer else { return };
        let tick = rules.granularity.0.max(1);
        let phase = (since.0 + phase.0) % tick;
        let sample = (((now.0 - since.0) + phase) / tick).max(1);
        if self.smoothed == 0 {
            self.smoothed = sample << 3;
            self.variation = sample << 1;
        } else {
            let error = sample as i64 - (self.smoothed >> 3) as i64;
            self.smoothed = (self.smoothed as i64 + error).max(1) as u64;
            let spread = error.abs() - (self.variation >> 2) as i64;
            let eighth = eighths_below && error < 0 && spread > 0;
            let spread = if eighth { spread >> 3 } else { spread };
            self.variation = (self.variation as i64 + spread).max(1) as u64;
        }
        self.base = Span((((self.variation << 3) + self.smoothed) >> 3) * tick);
    }
}
