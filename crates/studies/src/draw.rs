//! Random numbers of a point, which depend on a seed and the point's number alone, so that one of
//! many can be run again by itself.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
pub(crate) struct Draw(Pcg64Mcg);

impl Draw {
    /// The stream of a point.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let base = Pcg64Mcg::seed_from_u64(seed).next_u64();
        Self(Pcg64Mcg::seed_from_u64(base ^ number))
    }

    /// Uniform from 0 to 1, 1 excluded.
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub(crate) fn within(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.share()
    }

    /// Even on a logarithmic scale, to so many digits.
    pub(crate) fn spread(&mut self, from: f64, to: f64, digits: i32) -> f64 {
        self::digits(from * (to / from).powf(self.share()), digits)
    }

    /// Whether it is one of so many.
    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        (self.share() * many as f64) < 1.0
    }

    /// One of these.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.share() * choices.len() as f64) as usize]
    }
}

/// A number to so many digits, all of those before the point.
pub(crate) fn digits(value: f64, digits: i32) -> f64 {
    rounded(value, digits - 1 - value.log10().floor() as i32)
}

/// A number to so many digits behind the point.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    let digits = usize::try_from(digits).unwrap_or(0);
    format!("{value:.digits$}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_number_and_stays_in_its_bounds() {
        let first = |seed, number| Draw::new(seed, number).within(0.0, 1.0);
        assert_eq!(first(1, 2).to_bits(), first(1, 2).to_bits());
        assert!(first(1, 2) != first(1, 3) && first(1, 2) != first(2, 2));
        let mut draw = Draw::new(7, 0);
        let drawn: Vec<f64> = (0..200).map(|_| draw.spread(2.0, 200.0, 2)).collect();
        assert!(drawn.iter().all(|value| (2.0..=200.0).contains(value)));
        // Half of them below the geometric mean.
        let low = drawn.iter().filter(|value| **value < 20.0).count();
        assert!((70..130).contains(&low), "{low}");
    }

    #[test]
    fn digits_are_counted_from_the_first() {
        assert_eq!([digits(123.4, 2), digits(0.012_34, 3), digits(7.0, 2)], [123.0, 0.0123, 7.0]);
        assert_eq!(rounded(1.236, 2), 1.24);
    }
}
