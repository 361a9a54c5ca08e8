//! Whether a path is full, as BBR sees it in Startup and in UP (draft-ietf-ccwg-bbr-06 section
//! 5.3.1.2, `CheckFullBWReached`): three rounds in which the rate grew by less than a quarter.

use crate::units::Rate;

/// What is known of the rate, a round at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    /// The best rate (`BBR.full_bw`).
    best: Rate,
    /// Rounds without a quarter more (`BBR.full_bw_count`).
    flat: u64,
}

impl FullPipe {
    /// One whose rate has stopped growing.
    #[cfg(test)]
    pub(crate) const FULL: Self = Self { best: Rate(0), flat: FLAT_ROUNDS };

    /// Before any round, with the rate that the first one has to beat.
    pub(crate) const fn new(best: Rate) -> Self {
        Self { best, flat: 0 }
    }

    /// A round was delivered at that rate.
    pub(crate) fn note(&mut self, rate: Rate) {
        if rate >= self.best.scaled(GROWTH.0, GROWTH.1) {
            *self = Self::new(rate);
        } else {
            self.flat += 1;
        }
    }

    /// Whether the rate has stopped growing.
    pub(crate) const fn is_full(&self) -> bool {
        self.flat >= FLAT_ROUNDS
    }

    /// Rounds since the rate grew.
    pub(crate) const fn flat_rounds(&self) -> u64 {
        self.flat
    }

    /// The rate that the next round has to beat by a quarter.
    #[cfg(test)]
    pub(crate) const fn best(&self) -> Rate {
        self.best
    }
}

/// By how much the rate must grow.
const GROWTH: (u64, u64) = (5, 4);

/// Rounds without that which fill the pipe.
const FLAT_ROUNDS: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// A quarter more is growth.
    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let mut full = FullPipe::default();
        let mut after = |rate| {
            full.note(Rate(rate));
            (full.best().0, full.flat_rounds(), full.is_full())
        };
        assert_eq!(after(100), (100, 0, false));
        assert_eq!(after(124), (100, 1, false));
        assert_eq!(after(125), (125, 0, false));
        assert_eq!(after(130), (125, 1, false));
        assert_eq!(after(130), (125, 2, false));
        assert_eq!(after(130), (125, 3, true));
        assert_eq!(after(157), (157, 0, false));
    }
}
