//! One seed per run, one random stream per element, so that adding an element disturbs no other.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng};

/// A whole number drawn at random, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// The smallest.
    pub from: u64,
    /// The largest, not below the smallest.
    pub until: u64,
}

impl Uniform {
    /// A number from `from` to `until`, both included.
    pub fn draw(self, rng: &mut Pcg64Mcg) -> u64 {
        let values = u128::from(self.until.saturating_sub(self.from)) + 1;
        self.from + ((u128::from(rng.next_u64()) * values) >> 64) as u64
    }
}

/// The stream of `element` in a run of `seed`. Both are spread over all bits of the state first:
/// the generator ignores the lowest ones, so that neighbouring numbers would share a stream.
pub fn stream(seed: u64, element: u64) -> Pcg64Mcg {
    let state = u128::from(mix(seed)) << 64 | u128::from(mix(element ^ mix(seed)));
    Pcg64Mcg::from_seed(state.to_le_bytes())
}

/// [`spread`] after one step of SplitMix64's counter.
fn mix(number: u64) -> u64 {
    spread(number.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn spread(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Streams of links of the reverse path begin here, below those of starts of flows. Those of their
/// elements follow those of the links' elements.
pub const BACK_STREAMS: u64 = 1 << 31;

/// Streams of queues begin here; those of elements are below.
pub const QUEUE_STREAMS: u64 = 1 << 36;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn neighbouring_elements_and_seeds_draw_differently() {
        let draws: HashSet<u64> = (0..100)
            .flat_map(|seed| (0..100).map(move |element| stream(seed, element).next_u64()))
            .collect();
        assert_eq!(draws.len(), 10_000);
    }

    #[test]
    fn draws_are_uniform_and_reach_both_ends() {
        let mut rng = Pcg64Mcg::from_seed([7; 16]);
        let mut seen = [0_u32; 5];
        for _ in 0..50_000 {
            seen[Uniform { from: 3, until: 7 }.draw(&mut rng) as usize - 3] += 1;
        }
        assert!(seen.iter().all(|count| count.abs_diff(10_000) < 400), "{seen:?}");
        assert_eq!(Uniform { from: 9, until: 9 }.draw(&mut rng), 9);
    }

    #[test]
    fn neighbouring_streams_are_spread_evenly() {
        let mean = |draw: fn(&mut Pcg64Mcg) -> u64| {
            let sum: f64 = (0..4096).map(|e| draw(&mut stream(1, e)) as f64 / 2f64.powi(64)).sum();
            sum / 4096.0
        };
        // The mean of 4096 uniform draws has a standard deviation of 0.0045.
        assert!((mean(|rng| rng.next_u64()) - 0.5).abs() < 0.02);
    }
}
