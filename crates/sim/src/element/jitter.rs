//! Jitter: a link delays each packet by a time of its own, and keeps their order, as a radio link
//! does that sends a frame again until it has come over. Linux's `netem` draws its jitter alike,
//! but lets packets overtake each other.

use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use super::{Crossing, Element};
use crate::network::Uniform;

/// An additional delay, drawn for each packet on its own, every value equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The most it adds to the link's delay; the least is 0.
    pub most: Span,
}

impl Element for Jitter {
    fn pass_on(&mut self, _packet: &Crossing, at: Instant, random: &mut Pcg64Mcg) -> Instant {
        at + Span(Uniform { from: 0, until: self.most.0 }.draw(random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// None of 1000 draws is above the most, and their mean is half of it.
    #[test]
    fn the_delay_is_uniform() {
        let mut jitter = Jitter { most: Span::from_millis(10) };
        let mut random = stream(1, 0);
        let packet = Crossing::of(Instant(0), 1_000, 0);
        let mut added = || jitter.pass_on(&packet, Instant(5), &mut random).0 - 5;
        let added: Vec<u64> = std::iter::repeat_with(&mut added).take(1_000).collect();
        assert!(added.iter().all(|added| *added <= 10_000_000));
        let mean = added.iter().sum::<u64>() / 1_000;
        // A standard deviation of 2.9 ms: 0.09 ms of the mean.
        assert!(mean.abs_diff(5_000_000) < 300_000, "{mean}");
    }
}
