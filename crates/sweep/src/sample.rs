//! Points that are drawn or listed: every one can be had by its number.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

use crate::range::Range;

/// Drawn points.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// How many points are drawn.
    pub(crate) points: u64,
    /// The seed of the draws.
    pub(crate) seed: u64,
    /// What is drawn of which key.
    pub(crate) over: Vec<(String, Values)>,
    /// With a Latin hypercube: the stratum of each point in each key.
    strata: Option<Vec<Vec<u32>>>,
}

/// What a key is drawn from.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// A range of a quantity.
    Range(Range),
    /// Values, each as likely.
    List(Vec<String>),
}

impl Sample {
    /// Independent points.
    pub(crate) fn random(points: u64, seed: u64, over: Vec<(String, Values)>) -> Self {
        Self { points, seed, over, strata: None }
    }

    /// A Latin hypercube (McKay, Beckman and Conover 1979): of `points` equal strata of each key
    /// every one has exactly one point, at random within it.
    pub(crate) fn latin_hypercube(points: u32, seed: u64, over: Vec<(String, Values)>) -> Self {
        let strata = (0..over.len()).map(|key| permutation(points, seed, key as u64)).collect();
        Self { points: points.into(), seed, over, strata: Some(strata) }
    }

    /// How points are drawn, as a grid file says it.
    pub(crate) fn method(&self) -> &'static str {
        if self.strata.is_some() { "latin-hypercube" } else { "random" }
    }

    /// The values of a point, in the order of the keys.
    pub(crate) fn values(&self, point: u64) -> Vec<String> {
        let value = |(key, (_, values)): (usize, &(String, Values))| {
            let within = uniform(self.seed, key as u64, point);
            let share = match &self.strata {
                None => within,
                Some(strata) => {
                    let stratum = strata[key].get(point as usize).copied().unwrap_or_default();
                    (f64::from(stratum) + within) / self.points as f64
                }
            };
            values.at(share)
        };
        self.over.iter().enumerate().map(value).collect()
    }
}

impl Values {
    fn at(&self, share: f64) -> String {
        match self {
            Self::Range(range) => range.at(share),
            Self::List(values) => {
                let at = (share * values.len() as f64) as usize;
                values[at.min(values.len() - 1)].clone()
            }
        }
    }
}

/// A uniform random number in [0, 1) that depends on seed, key and point alone.
fn uniform(seed: u64, key: u64, point: u64) -> f64 {
    let mut random = Pcg64::new(seed.into(), PLACES);
    random.advance(u128::from(key).wrapping_mul(APART).wrapping_add(point.into()));
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// 0 to `count` - 1 in random order (Fisher and Yates).
fn permutation(count: u32, seed: u64, key: u64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    let mut random = Pcg64::new(seed.into(), STRATA);
    random.advance(u128::from(key).wrapping_mul(APART));
    for last in (1..all.len()).rev() {
        let other = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        all.swap(last, other as usize);
    }
    all
}

/// The streams of the generator.
const PLACES: u128 = 1;
const STRATA: u128 = 2;
/// How far the keys are apart in a stream: odd, since a jump by a power of two keeps the low bits
/// of the generator's state. The golden ratio of 2^128.
const APART: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

#[cfg(test)]
mod tests {
    use super::*;

    fn over() -> Vec<(String, Values)> {
        let range = Values::Range(Range::read("0", "1000000", false).unwrap());
        vec![("a".to_owned(), range.clone()), ("b".to_owned(), range)]
    }

    fn numbers(sample: &Sample, key: usize) -> Vec<u64> {
        (0..sample.points).map(|point| sample.values(point)[key].parse().unwrap()).collect()
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_every_stratum_of_every_key() {
        let sample = Sample::latin_hypercube(100, 7, over());
        for key in [0, 1] {
            let mut strata: Vec<u64> = numbers(&sample, key).iter().map(|n| n / 10_000).collect();
            assert!(strata.windows(2).any(|pair| pair[0] > pair[1]), "not in order");
            strata.sort_unstable();
            assert_eq!(strata, (0..100).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn random_points_are_spread_and_keys_and_seeds_are_apart() {
        let sample = Sample::random(2000, 1, over());
        let (a, b) = (numbers(&sample, 0), numbers(&sample, 1));
        let mean = a.iter().sum::<u64>() as f64 / 2000.0;
        // The standard error is 1e6 / sqrt(12 * 2000), 6455.
        assert!((mean - 500_000.0).abs() < 4.0 * 6455.0, "{mean}");
        let product: f64 =
            a.iter().zip(&b).map(|(a, b)| (*a as f64 / 1e6 - 0.5) * (*b as f64 / 1e6 - 0.5)).sum();
        // Correlation of independent uniforms: standard error 1 / sqrt(2000), 0.022.
        assert!((product / 2000.0 * 12.0).abs() < 4.0 * 0.022, "{product}");
        let other = Sample::random(2000, 2, over());
        assert_ne!(numbers(&other, 0), a);
        assert_eq!(Sample::random(9, 1, over()).values(5), sample.values(5));
    }

    #[test]
    fn a_list_gives_each_of_its_values() {
        let list = Values::List(vec!["x".to_owned(), "y".to_owned()]);
        assert_eq!(
            (list.at(0.0), list.at(0.49), list.at(0.51)),
            ("x".into(), "x".into(), "y".into())
        );
        assert_eq!(list.at(0.999_999), "y");
    }
}
