//! The retransmission timer (RFC 6298), with ns-2's coarse clock as a variant.

use firstflight_core::units::{Instant, Span};

/// Constants of the timer.
#[derive(Clone, Copy, Debug)]
pub struct RtoRules {
    /// Smallest timeout, before backoff.
    pub min: Span,
    /// Largest timeout, after backoff.
    pub max: Span,
    /// Timeout before the first RTT sample.
    pub initial: Span,
    /// Clock granularity.
    pub granularity: Span,
    /// RTT samples are whole ticks of the granularity and the arithmetic is ns-2.35's; one segment
    /// is timed at a time. Otherwise every ACK of a segment sent once gives a sample.
    pub ticks: bool,
    /// With ticks: when within a tick this endpoint's clock ticks.
    pub phase: Span,
}

/// The timer of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    rules: RtoRules,
    /// Smoothed RTT and its variation: nanoseconds, or ticks times 8 and times 4.
    smoothed: u64,
    variation: u64,
    base: Span,
    backoff: u64,
    /// The segment being timed, and since when.
    timed: Option<(u32, Instant)>,
    /// One past the highest segment ever timed.
    timed_up_to: u32,
    deadline: Option<Instant>,
}

impl RtoRules {
    /// RFC 6298: first timeout and smallest timeout of one second, a clock of 1 ms.
    pub const RFC: Self = Self {
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        initial: Span::from_secs(1),
        granularity: Span::from_millis(1),
        ticks: false,
        phase: Span(0),
    };
}

impl Rto {
    pub(crate) fn new(rules: RtoRules) -> Self {
        // ns-2.35 begins with a variation of 12 s, which its first sample replaces.
        Self {
            rules,
            smoothed: 0,
            variation: 0,
            base: rules.initial,
            backoff: 1,
            timed: None,
            timed_up_to: 0,
            deadline: None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// A segment left for the first time.
    #[inline]
    pub(crate) fn on_sent(&mut self, seq: u32, now: Instant) {
        if self.rules.ticks && self.timed.is_none() && seq >= self.timed_up_to {
            self.timed = Some((seq, now));
            self.timed_up_to = seq + 1;
        }
    }

    /// Segments below `una` are acknowledged; `sample` is the RTT of the newest.
    #[inline]
    pub(crate) fn on_acked(&mut self, una: u32, now: Instant, sample: Option<Span>) {
        if self.rules.ticks {
            if let Some((_, since)) = self.timed.take_if(|(seq, _)| *seq < una) {
                self.backoff = 1;
                self.observe_ticks(since, now);
            }
        } else if let Some(sample) = sample {
            self.backoff = 1;
            self.observe(sample);
        }
    }

    /// Segments below `una` are acknowledged by a partial ACK, which ns-2 does not sample.
    pub(crate) fn on_partially_acked(&mut self, una: u32) {
        if self.rules.ticks && self.timed.take_if(|(seq, _)| *seq < una).is_some() {
            self.backoff = 1;
        }
    }

    /// Starts the timer, or starts it again.
    #[inline]
    pub(crate) fn restart(&mut self, now: Instant) {
        self.deadline = Some(now + self.timeout());
    }

    /// Progress: the next timeout is not backed off.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 1;
    }

    pub(crate) fn cancel(&mut self) {
        self.deadline = None;
    }

    /// What was being timed has been retransmitted (Karn).
    pub(crate) fn forget_timed(&mut self) {
        self.timed = None;
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        if self.backoff < 64 || self.timeout() < self.rules.max {
            self.backoff *= 2;
        }
        if self.rules.ticks && self.backoff > 8 {
            // ns-2.35 distrusts its estimate after four timeouts and keeps it as variation only.
            self.variation += self.smoothed >> 3;
            self.smoothed = 0;
        }
    }

    pub(crate) fn timeout(&self) -> Span {
        let base = self.base.max(self.rules.min);
        (base * self.backoff).min(self.rules.max).max(self.rules.granularity * 2)
    }

    fn observe(&mut self, sample: Span) {
        if self.smoothed == 0 {
            self.smoothed = sample.0;
            self.variation = sample.0 / 2;
        } else {
            let error = self.smoothed.abs_diff(sample.0);
            self.variation = self.variation - self.variation / 4 + error / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + sample.0 / 8;
        }
        let margin = (self.variation * 4).max(self.rules.granularity.0);
        self.base = Span(self.smoothed + margin);
    }

    /// ns-2.35's `rtt_update`: the clock ticks, and the sample is the number of ticks seen.
    fn observe_ticks(&mut self, since: Instant, now: Instant) {
        let tick = self.rules.granularity.0.max(1);
        let phase = (since.0 + self.rules.phase.0) % tick;
        let sample = (((now.0 - since.0) + phase) / tick).max(1);
        if self.smoothed == 0 {
            self.smoothed = sample << 3;
            self.variation = sample << 1;
        } else {
            let error = sample as i64 - (self.smoothed >> 3) as i64;
            self.smoothed = (self.smoothed as i64 + error).max(1) as u64;
            let spread = error.abs() - (self.variation >> 2) as i64;
            self.variation = (self.variation as i64 + spread).max(1) as u64;
        }
        self.base = Span((((self.variation << 3) + self.smoothed) >> 3) * tick);
    }
}
