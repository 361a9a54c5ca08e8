//! Random loss: each packet on its own, or in bursts.
//!
//! Bursts come from a chain of two states. That of E. N. Gilbert, "Capacity of a Burst-Noise
//! Channel" (Bell System Technical Journal 39, 1960), loses nothing in the good one; that of E. O.
//! Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels" (Bell System Technical
//! Journal 42, 1963), loses in both. Where all is lost in the bad state, the mean burst is as long
//! as the mean stay in it. Independent loss is the chain that never leaves the good state.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// How packets get lost at random; probabilities in parts per billion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossSpec {
    /// Probability of a change before a packet, from the good state to the bad one.
    pub to_bad_ppb: u64,
    /// Probability of a change from the bad state to the good one.
    pub to_good_ppb: u64,
    /// Probability of loss in the good state, in which it begins.
    pub in_good_ppb: u64,
    /// Probability of loss in the bad state.
    pub in_bad_ppb: u64,
}

/// Random loss while it runs.
#[derive(Debug)]
pub struct LossChain {
    spec: LossSpec,
    bad: bool,
    rng: Pcg64Mcg,
}

impl LossSpec {
    /// No loss at all.
    pub const NONE: Self = Self::independent(0);

    /// Each packet on its own, with this probability.
    pub const fn independent(ppb: u64) -> Self {
        Self { to_bad_ppb: 0, to_good_ppb: 0, in_good_ppb: ppb, in_bad_ppb: 0 }
    }
}

impl LossChain {
    /// In the good state, before the first packet.
    pub fn new(spec: LossSpec, rng: Pcg64Mcg) -> Self {
        Self { spec, bad: false, rng }
    }

    /// Whether the next packet is lost.
    pub fn loses_next(&mut self) -> bool {
        let LossSpec { to_bad_ppb, to_good_ppb, in_good_ppb, in_bad_ppb } = self.spec;
        self.bad ^= self.happens(if self.bad { to_good_ppb } else { to_bad_ppb });
        self.happens(if self.bad { in_bad_ppb } else { in_good_ppb })
    }

    /// What never happens draws no number, so that independent loss draws one per packet.
    fn happens(&mut self, ppb: u64) -> bool {
        ppb > 0 && self.rng.next_u64() % PARTS_PER_BILLION < ppb
    }
}

const PARTS_PER_BILLION: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// Which of so many packets are lost.
    fn lost(spec: LossSpec, packets: usize) -> Vec<bool> {
        let mut chain = LossChain::new(spec, stream(1, 7));
        (0..packets).map(|_| chain.loses_next()).collect()
    }

    fn chain(percent: [u64; 4]) -> LossSpec {
        let [to_bad_ppb, to_good_ppb, in_good_ppb, in_bad_ppb] =
            percent.map(|percent| percent * PARTS_PER_BILLION / 100);
        LossSpec { to_bad_ppb, to_good_ppb, in_good_ppb, in_bad_ppb }
    }

    /// Mean share of packets lost, and mean length of what is lost in a row.
    fn share_and_burst(lost: &[bool]) -> (f64, f64) {
        let total = lost.iter().filter(|lost| **lost).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        (total / lost.len() as f64, total / bursts)
    }

    #[test]
    fn independent_loss_draws_one_number_per_packet_and_none_draws_nothing() {
        let mut numbers = stream(1, 7);
        let expected = || numbers.next_u64() % PARTS_PER_BILLION < 20_000_000;
        let expected: Vec<bool> = std::iter::repeat_with(expected).take(100_000).collect();
        let lost = lost(LossSpec::independent(20_000_000), 100_000);
        assert_eq!(lost, expected);
        let (share, burst) = share_and_burst(&lost);
        assert!((share - 0.02).abs() < 0.002 && (burst - 1.02).abs() < 0.02, "{share} {burst}");
        let mut none = LossChain::new(LossSpec::NONE, stream(1, 7));
        assert!((0..100).all(|_| !none.loses_next()));
        assert_eq!(none.rng.next_u64(), stream(1, 7).next_u64());
    }

    #[test]
    fn bursts_have_the_mean_share_and_the_mean_length_of_the_chain() {
        // 1 % into the bad state and 25 % out of it: 1/26 of the packets, four in a row.
        let (share, burst) = share_and_burst(&lost(chain([1, 25, 0, 100]), 1_000_000));
        assert!((share - 1.0 / 26.0).abs() < 0.002, "{share}");
        assert!((burst - 4.0).abs() < 0.1, "{burst}");
        // A state that ends with every packet: none follows another.
        let (share, burst) = share_and_burst(&lost(chain([1, 100, 0, 100]), 1_000_000));
        assert!((share - 1.0 / 101.0).abs() < 0.001 && burst == 1.0, "{share} {burst}");
    }

    #[test]
    fn either_state_has_its_own_share() {
        // A fifth of the packets meets the bad state.
        let (share, _) = share_and_burst(&lost(chain([5, 20, 1, 50]), 1_000_000));
        assert!((share - (0.8 * 0.01 + 0.2 * 0.5)).abs() < 0.003, "{share}");
        // As it never gets better, the loss is the bad state's alone after a while.
        let (share, _) = share_and_burst(&lost(chain([50, 0, 0, 30]), 1_000_000));
        assert!((share - 0.3).abs() < 0.003, "{share}");
    }
}
