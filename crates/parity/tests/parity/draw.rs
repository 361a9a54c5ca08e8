//! Random numbers that are the same in every run.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// One stream of draws.
pub(crate) struct Draw(Pcg64Mcg);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    pub(crate) fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.any() % (high - low + 1)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.any().is_multiple_of(times)
    }

    /// A number of any magnitude, often zero or the largest.
    pub(crate) fn any_size(&mut self) -> u64 {
        match self.between(0, 9) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX - self.between(0, 10_000),
            3 => u64::from(u32::MAX) + self.between(0, 2) - 1,
            _ => self.any() >> self.between(0, 63),
        }
    }
}
