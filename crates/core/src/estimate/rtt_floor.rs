//! The smallest RTT of a window of time that slides in quarters.
//!
//! Several start-ups ask for it: Rapid Start over the last smallest RTT (quicly keeps four slots
//! as here), Copa over half of the smoothed RTT. A sample counts for at least three quarters of the
//! window and for less than the whole.

use crate::units::{Instant, Span};

/// The smallest samples of the quarters; [`Span::MAX`] is that of none.
#[derive(Clone, Copy, Debug)]
pub struct RttFloor {
    /// The smallest sample of each quarter, the newest first.
    quarters: [Span; 4],
    /// When the newest quarter began.
    began: Instant,
}

impl RttFloor {
    /// Before any sample.
    pub const NEW: Self = Self { quarters: [Span::MAX; 4], began: Instant(0) };

    /// A sample of now, where the window is so long.
    #[inline]
    pub fn observe(&mut self, now: Instant, rtt: Span, window: Span) {
        let quarter = window.0 / 4;
        if now.since(self.began).0 >= quarter {
            self.turn(now, quarter);
        }
        self.quarters[0] = self.quarters[0].min(rtt);
    }

    /// Quarters are over.
    #[inline(never)]
    fn turn(&mut self, now: Instant, quarter: u64) {
        let passed = now.since(self.began).0 / quarter.max(1);
        for _ in 0..passed.min(4) {
            self.quarters.rotate_right(1);
            self.quarters[0] = Span::MAX;
        }
        // Quarters follow each other without a gap, unless the whole window has passed.
        self.began = if passed < 4 { self.began + Span(quarter * passed) } else { now };
    }

    /// The smallest of them; [`Span::MAX`] if there is no sample.
    #[inline]
    pub fn floor(&self) -> Span {
        let [a, b, c, d] = self.quarters;
        a.min(b).min(c.min(d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant(0) + Span::from_millis(ms)
    }

    fn of(samples: &[(u64, u64)]) -> u64 {
        let mut floor = RttFloor::NEW;
        for (now, rtt) in samples {
            floor.observe(at(*now), Span::from_millis(*rtt), Span::from_millis(100));
        }
        floor.floor().0 / 1_000_000
    }

    #[test]
    fn the_smallest_sample_counts_for_three_quarters_to_the_whole_of_the_window() {
        assert_eq!(of(&[(1_000, 10), (1_001, 30)]), 10);
        assert_eq!(of(&[(1_000, 10), (1_099, 30)]), 10);
        assert_eq!(of(&[(1_000, 10), (1_100, 30)]), 30);
        // In the same quarter as a sample of 1000 ms: forgotten with it.
        assert_eq!(of(&[(1_000, 50), (1_024, 10), (1_099, 30)]), 10);
        assert_eq!(of(&[(1_000, 50), (1_024, 10), (1_101, 30)]), 30);
        // After a whole window the quarters begin anew with the sample.
        assert_eq!(of(&[(1_000, 50), (1_110, 10), (1_209, 30)]), 10);
    }

    #[test]
    fn there_is_none_without_samples_and_a_window_of_nothing_keeps_the_newest() {
        assert_eq!(RttFloor::NEW.floor(), Span::MAX);
        let mut floor = RttFloor::NEW;
        floor.observe(at(5), Span(10), Span(0));
        floor.observe(at(6), Span(20), Span(0));
        assert_eq!(floor.floor(), Span(20));
        floor.observe(Instant(u64::MAX), Span(30), Span::MAX);
        assert_eq!(floor.floor(), Span(20), "the fourth quarter of all time");
    }
}
