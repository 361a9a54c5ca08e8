//! Random loss on the wire: independent, or in bursts after Gilbert (1960) and Elliott (1963).

use std::str::FromStr;

use firstflight_scenario::Fraction;
use firstflight_sim::stream;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

/// How packets get lost after they were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// Not at all.
    #[default]
    None,
    /// Each on its own with this probability, in parts per billion.
    Random(u64),
    /// A chain of two states; probabilities in parts per billion, decided once per packet.
    GilbertElliott {
        /// From good to bad.
        to_bad: u64,
        /// From bad to good.
        to_good: u64,
        /// Loss in the good state.
        in_good: u64,
        /// Loss in the bad state.
        in_bad: u64,
    },
}

/// A loss process while it runs.
#[derive(Debug)]
pub(crate) struct LossState {
    loss: Loss,
    bad: bool,
    random: Pcg64Mcg,
}

impl Loss {
    /// Mean share of packets lost, 0 to 1.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Random(ppb) => ppb as f64 / BILLION as f64,
            Self::GilbertElliott { to_bad, to_good, in_good, in_bad } => {
                let [to_bad, to_good, in_good, in_bad] =
                    [to_bad, to_good, in_good, in_bad].map(|ppb| ppb as f64 / BILLION as f64);
                let bad = if to_bad == 0.0 { 0.0 } else { to_bad / (to_bad + to_good) };
                bad * in_bad + (1.0 - bad) * in_good
            }
        }
    }
}

/// `0.1%`, or `ge:0.5%,20%` (good to bad, bad to good, all lost in bad), or with the loss in the
/// good and in the bad state as third and fourth: `ge:0.5%,20%,0%,50%`.
impl FromStr for Loss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let accepted = "accepted: 0.1%, or ge:0.5%,20% (good to bad, bad to good), or \
            ge:0.5%,20%,0%,50% (then loss in good and in bad)";
        let ppb = |part: &str| {
            let share = part.trim().parse::<Fraction>().map(Fraction::ppb);
            share.map_err(|_| format!("found `{text}`; {accepted}"))
        };
        let Some(chain) = text.strip_prefix("ge:") else {
            return Ok(match ppb(text)? {
                0 => Self::None,
                share => Self::Random(share),
            });
        };
        let parts = chain.split(',').map(ppb).collect::<Result<Vec<u64>, String>>()?;
        let (to_bad, to_good, in_good, in_bad) = match parts[..] {
            [to_bad, to_good] => (to_bad, to_good, 0, BILLION),
            [to_bad, to_good, in_good, in_bad] => (to_bad, to_good, in_good, in_bad),
            _ => return Err(format!("found `{text}`; {accepted}")),
        };
        Ok(Self::GilbertElliott { to_bad, to_good, in_good, in_bad })
    }
}

impl LossState {
    /// In the good state, with the random stream of `element` of a run.
    pub(crate) fn new(loss: Loss, seed: u64, element: u64) -> Self {
        Self { loss, bad: false, random: stream(seed, element) }
    }

    /// Whether the next packet is lost.
    pub(crate) fn next(&mut self) -> bool {
        match self.loss {
            Loss::None => false,
            Loss::Random(ppb) => self.happens(ppb),
            Loss::GilbertElliott { to_bad, to_good, in_good, in_bad } => {
                let change = if self.bad { to_good } else { to_bad };
                self.bad ^= self.happens(change);
                self.happens(if self.bad { in_bad } else { in_good })
            }
        }
    }

    fn happens(&mut self, ppb: u64) -> bool {
        let draw = (u128::from(self.random.next_u64()) * u128::from(BILLION)) >> 64;
        draw < u128::from(ppb)
    }
}

const BILLION: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(loss: Loss, packets: usize) -> Vec<bool> {
        let mut state = LossState::new(loss, 1, 7);
        (0..packets).map(|_| state.next()).collect()
    }

    #[test]
    fn random_loss_has_its_share_and_the_same_seed_loses_the_same_packets() {
        let loss: Loss = "2%".parse().unwrap();
        let run = lost(loss, 100_000);
        let share = run.iter().filter(|lost| **lost).count() as f64 / 1e5;
        assert!((share - 0.02).abs() < 0.002, "{share}");
        assert_eq!(run, lost(loss, 100_000));
    }

    #[test]
    fn gilbert_elliott_loses_in_bursts_of_the_mean_length() {
        let loss: Loss = "ge:1%,25%".parse().unwrap();
        let run = lost(loss, 200_000);
        let total = run.iter().filter(|lost| **lost).count() as f64;
        let bursts = run.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((total / 2e5 - loss.mean()).abs() < 0.004, "{}", total / 2e5);
        // A burst ends with probability 1/4 per packet.
        assert!((total / bursts - 4.0).abs() < 0.3, "{}", total / bursts);
    }

    #[test]
    fn what_is_no_loss_is_refused_with_what_is() {
        assert_eq!("0%".parse(), Ok(Loss::None));
        for wrong in ["2", "ge:1%", "ge:1%,2%,3%", "ge:a,b", "200%"] {
            let problem = wrong.parse::<Loss>().unwrap_err();
            assert!(problem.starts_with(&format!("found `{wrong}`; accepted:")), "{problem}");
        }
    }
}
