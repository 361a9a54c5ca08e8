//! Numbers of given distributions. They are drawn by comparing, adding and multiplying alone, which
//! are equal on every machine; logarithms are not.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng as _;

/// From 0, which does not occur, to 1.
pub(crate) fn uniform(random: &mut Pcg64Mcg) -> f64 {
    (random.next_u64() >> 11 | 1) as f64 / (1_u64 << 53) as f64
}

/// A Poisson number by Knuth's multiplication: how many uniform numbers have a product above
/// e^-mean, less one. Multiplications are equal on every machine.
pub(crate) fn poisson(e_minus_mean: f64, random: &mut Pcg64Mcg) -> u64 {
    let mut product = uniform(random);
    let mut count = 0;
    while product > e_minus_mean {
        product *= uniform(random);
        count += 1;
    }
    count
}

/// A number of the exponential distribution with mean 1, as J. von Neumann draws it ("Various
/// Techniques Used in Connection with Random Digits", 1951).
pub fn exponential(random: &mut Pcg64Mcg) -> f64 {
    let mut whole = 0.0;
    loop {
        let part = uniform(random);
        if bernoulli_exp(part, random) {
            return whole + part;
        }
        whole += 1.0;
    }
}

/// A number of the standard normal distribution, by C. F. F. Karney's Algorithm N ("Sampling
/// Exactly from the Normal Distribution", ACM TOMS 42, 2016). It only compares and multiplies, so
/// that it is the same on every machine.
pub(crate) fn normal(random: &mut Pcg64Mcg) -> f64 {
    loop {
        let mut whole = 0_u32;
        while uniform(random) < E_MINUS_HALF {
            whole += 1;
        }
        let pairs = whole * whole.saturating_sub(1);
        if !(0..pairs).all(|_| uniform(random) < E_MINUS_HALF) {
            continue;
        }
        let part = uniform(random);
        let twice = f64::from(2 * whole);
        let share = part * (twice + part) / (twice + 2.0);
        if (0..=whole).all(|_| bernoulli_exp(share, random)) {
            let size = f64::from(whole) + part;
            return if random.next_u64() >> 63 == 0 { size } else { -size };
        }
    }
}

/// Happens with probability e^-x for x from 0 to 1: numbers fall from x on for an even number of
/// draws (J. von Neumann, 1951).
fn bernoulli_exp(x: f64, random: &mut Pcg64Mcg) -> bool {
    let (mut before, mut even) = (x, true);
    loop {
        let drawn = uniform(random);
        if drawn >= before {
            return even;
        }
        (before, even) = (drawn, !even);
    }
}

/// e^-1/2.
const E_MINUS_HALF: f64 = 0.606_530_659_712_633_4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// Mean and deviation are 1, and e^-1, e^-2 and e^-3 of the numbers are above 1, 2 and 3.
    #[test]
    fn the_exponential_distribution_has_its_mean_and_its_tail() {
        let mut random = stream(1, 0);
        let drawn: Vec<f64> = (0..200_000).map(|_| exponential(&mut random)).collect();
        let mean = drawn.iter().sum::<f64>() / 2e5;
        let square = drawn.iter().map(|x| x * x).sum::<f64>() / 2e5;
        assert!((mean - 1.0).abs() < 0.01 && (square - 2.0).abs() < 0.05, "{mean}, {square}");
        for (above, expected) in [(1.0, 0.367_9), (2.0, 0.135_3), (3.0, 0.049_8)] {
            let share = drawn.iter().filter(|x| **x > above).count() as f64 / 2e5;
            assert!((share - expected).abs() < 0.004, "{above}: {share}");
        }
    }
}
