//! How unsteady the samples of a rate are, against the worst of the newest: `U/Umax` of the
//! Eligible Rate Estimate, `U = 0.6 U + 0.4 |s - s'|` (Globecom 2002).
//!
//! The largest of the last values is known without a look at all of them. The window spans two
//! blocks of its own length. Values leave the older block one by one, so the ring holds for each of
//! them the largest from there to the block's end. No value leaves the newer block before it
//! becomes the older one, so one number is enough for it.

use crate::estimate::ere::Blend;

/// `U` and the largest of its last values.
#[derive(Clone, Debug)]
pub(crate) struct Instability {
    /// The newest value.
    last: u64,
    /// The largest of the newer block.
    newer: u64,
    /// How many values the newer block still takes. The next one goes to this place; below it the
    /// older block, as the largest of each place and those below, and zero at the bottom.
    left: u32,
    /// `Umax` is taken over so many values, or over all for 0.
    window: u32,
    /// The older block, and behind its end the newer one as it fills.
    places: [u64; PLACES + 1],
}

impl Instability {
    /// Nothing has changed yet; `Umax` is to be taken over `window` values, or over all for 0.
    pub(crate) const fn over(window: u64) -> Self {
        Self { last: 0, newer: 0, left: 1, window: window as u32, places: [0; PLACES + 1] }
    }

    /// From the next full block on, it is taken over so many.
    pub(crate) const fn set_window(&mut self, window: u64) {
        self.window = window as u32;
    }

    /// Takes in a change of the sample; returns `U/Umax` in 2^-64, zero while nothing has changed.
    /// What the new value is compared with does not depend on it, so its reciprocal is ready when
    /// the value is.
    #[inline(always)]
    pub(crate) fn observe(&mut self, change: u64) -> u64 {
        if self.left == 0 {
            self.turn();
        }
        self.left -= 1;
        let place = self.left as usize % PLACES;
        let others = self.newer.max(self.places[place]).max(1);
        let part = u64::MAX / others;
        let value = Blend::keeping(EPS).of(change, self.last);
        self.last = value;
        self.places[place + 1] = value;
        self.newer = self.newer.max(value);
        if value < others { value * part } else { u64::MAX }
    }

    /// The newer block is full and becomes the older one. A window of 0 has no blocks: its count of
    /// 2^32 - 1 values begins anew.
    #[cold]
    #[inline(never)]
    fn turn(&mut self) {
        if self.window == 0 {
            self.left = u32::MAX;
            return;
        }
        self.left = self.window;
        self.newer = 0;
        // For the longest window, whatever the window is: places beyond its own are never read.
        for place in 1..LONGEST_WINDOW {
            self.places[place + 1] = self.places[place + 1].max(self.places[place]);
        }
    }
}

/// The longest window.
pub(crate) const LONGEST_WINDOW: usize = 10;

/// A power of two beyond the longest window and the zero below it.
const PLACES: usize = 16;

/// Weight of the old value, in millionths (Globecom 2002).
const EPS: u64 = 600_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_largest_is_that_of_the_last_values(
            changes in prop::collection::vec(0u64..1 << 44, 1..200),
            window in 0..=LONGEST_WINDOW,
        ) {
            let mut instability = Instability::over(window as u64);
            let mut values = [0; 201];
            for (i, change) in changes.into_iter().enumerate() {
                let value = Blend::keeping(EPS).of(change, values[i]);
                let first = if window == 0 { 0 } else { (i + 2).saturating_sub(window) };
                let others = values[first..=i].iter().copied().max().unwrap_or(0);
                values[i + 1] = value;
                let expected = match value {
                    0 => 0,
                    _ if value >= others => u64::MAX,
                    _ => value * (u64::MAX / others),
                };
                prop_assert_eq!(instability.observe(change), expected);
            }
        }
    }

    #[test]
    fn a_value_as_large_as_the_largest_counts_in_full() {
        let mut instability = Instability::over(10);
        assert_eq!(instability.observe(1_000), u64::MAX);
        let largest = instability.last;
        let same = (0..1_000).find(|it| Blend::keeping(EPS).of(*it, largest) == largest);
        assert_eq!(instability.observe(same.unwrap_or_default()), u64::MAX);
        assert_eq!(instability.last, largest);
    }
}
