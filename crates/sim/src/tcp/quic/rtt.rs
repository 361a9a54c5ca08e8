//! The RTT as the transport knows it (RFC 9002 section 5). The core has an estimate of its own,
//! from samples that include what the receiver waited before it acknowledged, as TCP's do.

use firstflight_core::units::Span;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rtt {
    latest: Span,
    /// The smoothed RTT (`smoothed_rtt`), which the first sample replaces.
    smoothed: Span,
    /// Its variation (`rttvar`).
    variation: Span,
    /// The smallest sample (`min_rtt`).
    least: Span,
    /// There has been a sample.
    measured: bool,
}

impl Rtt {
    /// Before the first sample (RFC 9002 section 6.2.2).
    pub(super) const fn new() -> Self {
        Self {
            latest: INITIAL,
            smoothed: INITIAL,
            variation: Span(INITIAL.0 / 2),
            least: INITIAL,
            measured: false,
        }
    }

    /// A sample, of which the receiver says that it waited for `delay` of it, no more than it has
    /// promised (RFC 9002 section 5.3).
    pub(super) fn observe(&mut self, sample: Span, delay: Span) {
        self.latest = sample;
        if !self.measured {
            let variation = Span(sample.0 / 2);
            *self = Self { smoothed: sample, variation, least: sample, measured: true, ..*self };
            return;
        }
        self.least = self.least.min(sample);
        let believable = self.least + delay <= sample;
        let adjusted = if believable { sample.0 - delay.0 } else { sample.0 };
        let off = self.smoothed.0.abs_diff(adjusted);
        self.variation = Span((3 * self.variation.0 + off) / 4);
        self.smoothed = Span((7 * self.smoothed.0 + adjusted) / 8);
    }

    pub(super) fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// How much later than another that left with it a packet may be acknowledged without being
    /// lost (RFC 9002 section 6.1.2).
    pub(super) fn time_threshold(&self) -> Span {
        let rtt = self.smoothed.max(self.latest);
        Span(rtt.0 + rtt.0 / 8).max(GRANULARITY)
    }

    /// RFC 9002 section 6.2.1, after so many timeouts in a row.
    pub(super) fn probe_timeout(&self, max_ack_delay: Span, timeouts: u32) -> Span {
        let base = self.smoothed + (self.variation * 4).max(GRANULARITY) + max_ack_delay;
        base * (1 << timeouts.min(MAX_BACKOFF))
    }

    /// RFC 9002 section 7.6.1.
    pub(super) fn persistent_congestion(&self, max_ack_delay: Span) -> Span {
        self.probe_timeout(max_ack_delay, 0) * 3
    }
}

/// `kInitialRtt` (RFC 9002 section 6.2.2).
const INITIAL: Span = Span::from_millis(333);
/// `kGranularity` (RFC 9002 section 6.1.2).
const GRANULARITY: Span = Span::from_millis(1);
/// quinn doubles so often.
const MAX_BACKOFF: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn the_delay_is_taken_off_unless_the_rtt_would_fall_below_the_least() {
        let mut rtt = Rtt::new();
        rtt.observe(ms(100), ms(25));
        assert_eq!((rtt.smoothed, rtt.variation), (ms(100), ms(50)), "the first counts whole");
        rtt.observe(ms(133), ms(25));
        assert_eq!((rtt.smoothed, rtt.latest), (ms(101), ms(133)));
        rtt.observe(ms(117), ms(25));
        assert_eq!(rtt.smoothed, ms(103), "92 would be less than 100");
    }

    #[test]
    fn timeouts_and_thresholds_are_those_of_rfc_9002() {
        let mut rtt = Rtt::new();
        assert_eq!(rtt.probe_timeout(Span(0), 0), ms(999), "333 + 4 * 166.5");
        rtt.observe(ms(80), Span(0));
        assert_eq!(rtt.time_threshold(), ms(90));
        assert_eq!(rtt.probe_timeout(ms(25), 0), ms(80 + 160 + 25));
        assert_eq!(rtt.probe_timeout(ms(25), 2), ms(4 * 265));
        assert_eq!(rtt.persistent_congestion(ms(25)), ms(3 * 265));
        let mut short = Rtt::new();
        short.observe(Span(1_000), Span(0));
        assert_eq!(short.time_threshold(), ms(1));
    }
}
