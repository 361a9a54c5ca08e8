//! A link that sends at the times of a trace: at each of them it can send 1500 bytes, and what it
//! does not use is gone. This is the trace of Mahimahi's `mm-link` (Netravali and others, USENIX
//! ATC 2015), which LeoCC's rate traces share.
//!
//! A packet that needs more than is left of an opportunity goes on at the next one, and small
//! packets share one. What arrives at the time of an opportunity waits for the next. The trace
//! begins again at the time of its last line.

use std::sync::Arc;

use firstflight_core::units::Instant;

use super::Element;
use super::steps::ScheduleProblem;

/// Opportunities to send, again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// When, in milliseconds, and how many packets' worth; times rise.
    trace: Arc<[(u64, u32)]>,
    /// After so many milliseconds it begins again.
    period_ms: u64,
    /// When the newest opportunities are that have been used.
    at: Instant,
    /// What is left of them, in bytes.
    left: u64,
}

impl Opportunities {
    /// At these milliseconds the link can send so many times 1500 bytes.
    ///
    /// # Errors
    /// If there are none, if their times do not rise, or if all are at 0.
    pub fn new(trace: Arc<[(u64, u32)]>) -> Result<Self, ScheduleProblem> {
        let Some((period_ms, _)) = trace.last().copied() else {
            return Err(ScheduleProblem::Empty);
        };
        if trace.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err(ScheduleProblem::Order);
        }
        if period_ms == 0 {
            return Err(ScheduleProblem::Zero);
        }
        Ok(Self { trace, period_ms, at: Instant(0), left: 0 })
    }

    /// The first opportunities after a time: when they are, and how many bytes they are for.
    fn after(&self, now: Instant) -> (Instant, u64) {
        let now_ms = now.0 / MILLISECOND;
        let (round, within) = (now_ms / self.period_ms, now_ms % self.period_ms);
        let next = self.trace.partition_point(|(at, _)| *at <= within);
        // Its last line is after every time within the period.
        let (at, count) = self.trace[next];
        let at_ms = round.saturating_mul(self.period_ms).saturating_add(at);
        // The first lines of the next round may be at the same time.
        let again = if at == self.period_ms { self.at_zero() } else { 0 };
        let bytes = u64::from(count).saturating_add(again) * OPPORTUNITY_BYTES;
        (Instant(at_ms.saturating_mul(MILLISECOND)), bytes)
    }

    /// Opportunities at 0 ms.
    fn at_zero(&self) -> u64 {
        self.trace.first().filter(|(at, _)| *at == 0).map_or(0, |(_, count)| u64::from(*count))
    }
}

impl Element for Opportunities {
    fn sent_at(&mut self, bytes: u64, start: Instant) -> Option<Instant> {
        if start != self.at {
            self.left = 0;
        }
        let (mut now, mut missing) = (start, bytes);
        while missing > self.left {
            missing -= self.left;
            (self.at, self.left) = self.after(now);
            now = self.at;
        }
        self.left -= missing;
        Some(now)
    }
}

/// What Mahimahi sends with one line of a trace.
const OPPORTUNITY_BYTES: u64 = 1500;
/// Nanoseconds.
const MILLISECOND: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant(ms * MILLISECOND)
    }

    /// The trace `1 1 3 7 10`, played by hand.
    #[test]
    fn a_trace_is_played_as_by_hand() {
        let trace = [(1, 2), (3, 1), (7, 1), (10, 1)];
        let mut link = Opportunities::new(trace.into()).unwrap();
        // Two packets at once, the third 2 ms later; each begins as the one before ends.
        assert_eq!(link.sent_at(1_500, ms(0)), Some(ms(1)));
        assert_eq!(link.sent_at(1_500, ms(1)), Some(ms(1)));
        assert_eq!(link.sent_at(1_500, ms(1)), Some(ms(3)));
        // 1000 bytes of the one at 7 ms; the next has 500 of it and needs 500 of the one at 10.
        assert_eq!(link.sent_at(1_000, Instant(3_500_000)), Some(ms(7)));
        assert_eq!(link.sent_at(1_000, ms(7)), Some(ms(10)));
        assert_eq!(link.sent_at(900, ms(10)), Some(ms(10)), "what is left of it");
        // It begins again: 11, 11, 13, 17, 20.
        assert_eq!(link.sent_at(1_500, ms(10)), Some(ms(11)));
        // What nobody uses is gone.
        assert_eq!(link.sent_at(1_500, ms(16)), Some(ms(17)));
        assert_eq!(link.sent_at(1_500, ms(17)), Some(ms(20)), "the one at 17 ms is used");
        assert_eq!(link.sent_at(100, Instant(20_000_001)), Some(ms(21)));
        assert_eq!(link.sent_at(100, Instant(21_000_001)), Some(ms(23)));
        // A packet that arrives at the time of an opportunity waits for the next.
        assert_eq!(link.sent_at(100, ms(27)), Some(ms(30)));
        // 6000 bytes from 30 ms on: 31, 31, 33 and 37.
        assert_eq!(link.sent_at(6_000, Instant(30_500_000)), Some(ms(37)));
    }

    /// The trace `0 2`: at 2, 4, 6 ... its last line and its first fall together.
    #[test]
    fn the_first_line_may_fall_on_the_last_of_the_round_before() {
        let mut link = Opportunities::new([(0, 1), (2, 1)].into()).unwrap();
        let sent = [(); 4].map(|()| link.sent_at(1_500, link.at));
        assert_eq!(sent.map(Option::unwrap), [ms(2), ms(2), ms(4), ms(4)]);
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let refused = |trace: &[(u64, u32)]| Opportunities::new(trace.into()).unwrap_err();
        assert_eq!(refused(&[]), ScheduleProblem::Empty);
        assert_eq!(refused(&[(3, 1), (2, 1)]), ScheduleProblem::Order);
        assert_eq!(refused(&[(0, 4)]), ScheduleProblem::Zero);
    }
}
