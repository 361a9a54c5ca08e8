//! Jitter: a link delays each packet by a time of its own, and keeps their order, as a radio link
//! does that sends a frame again until it has come over. Linux's `netem` draws its jitter alike,
//! but lets packets overtake each other.

use std::sync::Arc;

use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use super::{Crossing, Element};
use crate::distributions::normal;
use crate::random::Uniform;

/// An additional delay, drawn for each packet on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// In nanoseconds, every value equally likely.
    Uniform(Uniform),
    /// Normally distributed; what would be less than nothing is drawn again, so that the mean of
    /// what is drawn is more than this one where the deviation is not much smaller.
    Normal {
        /// The mean of the whole distribution.
        mean: Span,
        /// Its standard deviation.
        deviation: Span,
    },
    /// Drawn from recorded delays, each equally likely: the distribution is the recording's, the
    /// correlation between one delay and the next is not.
    Recorded(Arc<[Span]>),
}

impl Jitter {
    /// From nothing to the most, every value equally likely.
    pub fn up_to(most: Span) -> Self {
        Self::Uniform(Uniform { from: 0, until: most.0 })
    }

    fn draw(&self, random: &mut Pcg64Mcg) -> Span {
        match self {
            Self::Uniform(between) => Span(between.draw(random)),
            Self::Normal { mean, deviation } => loop {
                let drawn = mean.0 as f64 + deviation.0 as f64 * normal(random);
                if drawn >= 0.0 {
                    return Span(drawn as u64);
                }
            },
            Self::Recorded(all) => {
                let last = all.len().saturating_sub(1) as u64;
                let place = Uniform { from: 0, until: last }.draw(random);
                all.get(place as usize).copied().unwrap_or_default()
            }
        }
    }
}

impl Element for Jitter {
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, random: &mut Pcg64Mcg) -> Instant {
        at + self.draw(random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// Draws in milliseconds, in order of size.
    fn drawn(jitter: &Jitter, draws: usize) -> Vec<f64> {
        let mut random = stream(1, 0);
        let mut drawn: Vec<f64> =
            (0..draws).map(|_| jitter.draw(&mut random).0 as f64 / 1e6).collect();
        drawn.sort_by(f64::total_cmp);
        drawn
    }

    fn mean(drawn: &[f64]) -> f64 {
        drawn.iter().sum::<f64>() / drawn.len() as f64
    }

    /// None of 1000 draws is above the most, and their mean is half of it.
    #[test]
    fn the_delay_is_uniform() {
        let drawn = drawn(&Jitter::up_to(Span::from_millis(10)), 1_000);
        assert!(drawn.iter().all(|added| *added <= 10.0));
        // A standard deviation of 2.9 ms: 0.09 ms of the mean.
        assert!((mean(&drawn) - 5.0).abs() < 0.3, "{}", mean(&drawn));
    }

    /// The normal distribution is at 2.28, 15.87, 50, 84.13 and 97.72 % two and one deviations
    /// below the mean, the mean, and one and two above.
    #[test]
    fn the_normal_delay_has_the_quantiles_of_its_distribution() {
        let (average, deviation) = (Span::from_millis(20), Span::from_millis(4));
        let drawn = drawn(&Jitter::Normal { mean: average, deviation }, 200_000);
        assert!((mean(&drawn) - 20.0).abs() < 0.05, "{}", mean(&drawn));
        for (per_10_000, expected) in
            [(228, 12.0), (1_587, 16.0), (5_000, 20.0), (8_413, 24.0), (9_772, 28.0)]
        {
            let found = drawn[per_10_000 * 20];
            assert!((found - expected).abs() < 0.12, "{per_10_000}: {found}");
        }
    }

    /// One half is left where the mean is nothing; its mean is the deviation times sqrt(2 / pi).
    #[test]
    fn what_would_come_too_early_is_drawn_again() {
        let jitter = Jitter::Normal { mean: Span(0), deviation: Span::from_millis(10) };
        let drawn = drawn(&jitter, 100_000);
        assert!((mean(&drawn) - 7.979).abs() < 0.1, "{}", mean(&drawn));
        // Its median is 0.6745 deviations.
        assert!((drawn[50_000] - 6.745).abs() < 0.1, "{}", drawn[50_000]);
    }

    #[test]
    fn every_recorded_delay_is_as_likely() {
        let recorded = [1, 1, 5].map(Span::from_millis);
        let drawn = drawn(&Jitter::Recorded(recorded.into()), 30_000);
        let ones = drawn.iter().filter(|delay| **delay == 1.0).count();
        assert!(ones.abs_diff(20_000) < 350, "{ones}");
        assert!(drawn.iter().all(|delay| [1.0, 5.0].contains(delay)));
    }
}
