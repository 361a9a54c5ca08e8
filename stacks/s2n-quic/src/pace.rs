//! When the next packet may leave.

use firstflight_core::pacing::Pacing;
use firstflight_core::units::{Instant, Span};

/// The departures of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Departures {
    /// When the packet before has had its time.
    next: Instant,
}

impl Departures {
    /// A packet of so many bytes leaves at the pace of `pacing`. One that leaves late begins when
    /// it was due, but no earlier than what may leave at once takes.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64, pacing: Pacing) {
        let time = |bytes: u64| Span::from_secs(1).scaled(bytes, pacing.rate.0.max(1));
        let more = time(pacing.burst.0.saturating_sub(bytes)).max(LATE);
        let earliest = Instant(now.0.saturating_sub(more.0));
        self.next = self.next.max(earliest) + time(bytes);
    }

    /// When the next packet may leave.
    pub(crate) fn next(&self, pacing: Pacing) -> Instant {
        self.next.max(pacing.not_before.unwrap_or_default())
    }
}

/// How late the timer may be that wakes s2n-quic (`K_GRANULARITY`, RFC 9002 appendix A.2).
const LATE: Span = Span::from_millis(1);

#[cfg(test)]
mod tests {
    use firstflight_core::units::{Bytes, Rate};

    use super::*;

    fn at(us: u64) -> Instant {
        Instant(us * 1_000)
    }

    #[test]
    fn packets_leave_one_by_one_and_lateness_is_made_up_for() {
        let pacing = Pacing::at(Rate(1_000_000));
        let mut departures = Departures::default();
        departures.on_sent(at(10_000), 1_000, pacing);
        assert_eq!(departures.next(pacing), at(10_000), "idle for long: a millisecond is made up");
        departures.on_sent(at(10_000), 1_000, pacing);
        assert_eq!(departures.next(pacing), at(11_000));
        departures.on_sent(at(10_200), 1_000, pacing);
        assert_eq!(departures.next(pacing), at(12_000), "what leaves early gains nothing");
        departures.on_sent(at(12_500), 1_000, pacing);
        assert_eq!(departures.next(pacing), at(13_000));
    }

    #[test]
    fn a_burst_of_the_controls_leaves_at_once_and_nothing_before_its_time() {
        let pacing = Pacing::at(Rate(1_000_000)).in_bursts_of(Bytes(10_000));
        let mut departures = Departures::default();
        for _ in 0..10 {
            assert!(departures.next(pacing) <= at(50_000));
            departures.on_sent(at(50_000), 1_000, pacing);
        }
        assert_eq!(departures.next(pacing), at(51_000));
        assert_eq!(departures.next(pacing.not_before(at(60_000))), at(60_000));
    }
}
