//! Random loss: each packet on its own, or in bursts.

use std::fmt;
use std::str::FromStr;

use super::number::{Kind, QuantityError};
use super::scalar::{FRACTION, Fraction};

/// How a link loses packets at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// `0.1%`: each packet on its own; `0%` is none.
    Independent(Fraction),
    /// `ge:0.5%,20%`: in bursts.
    Bursts(Bursts),
}

/// What makes bursts: a chain of a good state, in which it begins, and a bad one, after Gilbert
/// (1960) and Elliott (1963). Before every packet it may change its state. The mean is below 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bursts {
    /// Probability of a change from good to bad.
    pub to_bad: Fraction,
    /// Probability of a change from bad to good.
    pub to_good: Fraction,
    /// Share of packets lost in the good state.
    pub in_good: Fraction,
    /// Share of packets lost in the bad state.
    pub in_bad: Fraction,
}

impl Loss {
    /// Mean share of packets lost, to the nearest part per billion.
    pub fn mean(self) -> Fraction {
        match self {
            Self::Independent(share) => share,
            Self::Bursts(bursts) => bursts.mean(),
        }
    }
}

impl Bursts {
    fn mean(self) -> Fraction {
        let [to_bad, to_good] = [self.to_bad, self.to_good].map(Fraction::ppb);
        let [in_good, in_bad] = [self.in_good, self.in_bad].map(Fraction::ppb);
        if to_bad == 0 {
            return self.in_good;
        }
        // At most 2 * 10^18, which fits.
        let changes = to_bad + to_good;
        Fraction::from_ppb((to_bad * in_bad + to_good * in_good + changes / 2) / changes)
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::Independent(Fraction::ZERO)
    }
}

/// `0.1%`, or `ge:0.5%,20%` (good to bad, bad to good, all lost in bad), or with the loss in the
/// good and in the bad state as third and fourth: `ge:0.5%,20%,0%,50%`.
impl FromStr for Loss {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let Some(chain) = text.trim().strip_prefix("ge:") else {
            let share = text.parse().map(Self::Independent);
            return share.map_err(|error: QuantityError| QuantityError {
                accepted: ACCEPTED,
                problem: error.problem,
            });
        };
        let probability = |part: &str| PROBABILITY.read(part).map(Fraction::from_ppb);
        let parts = chain.split(',').map(probability).collect::<Result<Vec<_>, _>>()?;
        let bursts = match parts[..] {
            [to_bad, to_good] => {
                Bursts { to_bad, to_good, in_good: Fraction::ZERO, in_bad: Fraction::ALL }
            }
            [to_bad, to_good, in_good, in_bad] => Bursts { to_bad, to_good, in_good, in_bad },
            _ => return Err(PROBABILITY.error("bursts of loss take two probabilities or four")),
        };
        if bursts.mean() == Fraction::ALL {
            return Err(PROBABILITY.error("bursts of loss that never end carry nothing"));
        }
        Ok(Self::Bursts(bursts))
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Independent(share) => share.fmt(f),
            Self::Bursts(Bursts { to_bad, to_good, in_good, in_bad }) => {
                write!(f, "ge:{to_bad},{to_good}")?;
                if (in_good, in_bad) == (Fraction::ZERO, Fraction::ALL) {
                    return Ok(());
                }
                write!(f, ",{in_good},{in_bad}")
            }
        }
    }
}

const ACCEPTED: &str =
    "0%, 0.1%, 2.5%, 100ppm, or in bursts ge:0.5%,20% (good to bad, bad to good)";

const PROBABILITY: Kind = Kind {
    name: "a probability",
    accepted: "ge:0.5%,20% (good to bad, bad to good), ge:0.5%,20%,0%,50% (loss in good, in bad)",
    most: (Fraction::ALL.ppb(), "100%"),
    ..FRACTION
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bursts(text: &str) -> [u64; 4] {
        match text.parse() {
            Ok(Loss::Bursts(Bursts { to_bad, to_good, in_good, in_bad })) => {
                [to_bad, to_good, in_good, in_bad].map(Fraction::ppb)
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_share_is_independent_and_a_chain_is_bursts() {
        assert_eq!("0%".parse(), Ok(Loss::default()));
        assert_eq!("0.1%".parse(), Ok(Loss::Independent(Fraction::from_ppb(1_000_000))));
        assert_eq!(bursts("ge:0.5%,20%"), [5_000_000, 200_000_000, 0, 1_000_000_000]);
        assert_eq!(bursts(" ge: 100ppm, 100% ,0%,50%"), [100_000, 1_000_000_000, 0, 500_000_000]);
    }

    #[test]
    fn the_mean_is_that_of_the_states_by_the_time_in_them() {
        let mean = |text: &str| text.parse::<Loss>().unwrap().mean().to_string();
        assert_eq!(mean("0.3%"), "0.3%");
        // One packet in five is sent in the bad state.
        assert_eq!(mean("ge:5%,20%"), "20%");
        assert_eq!(mean("ge:5%,20%,1%,50%"), "10.8%");
        assert_eq!(mean("ge:0%,0%,1%,50%"), "1%");
        assert_eq!(mean("ge:1%,0%,0%,50%"), "50%");
    }

    #[test]
    fn what_is_no_loss_is_refused_with_what_is() {
        for (text, problem) in [
            ("0.1", "a loss needs a unit"),
            ("100%", "a loss is at most just under 100%"),
            ("ge:1%", "bursts of loss take two probabilities or four"),
            ("ge:1%,2%,3%", "bursts of loss take two probabilities or four"),
            ("ge:1%,2%,3%,4%,5%", "bursts of loss take two probabilities or four"),
            ("ge:1,2", "a probability needs a unit"),
            ("ge:", "nothing where a probability was expected"),
            ("ge:a,b", "a probability starts with a number"),
            ("ge:101%,2%", "a probability is at most 100%"),
            ("ge:1%,0%", "bursts of loss that never end"),
            ("ge:1%,1%,100%,100%", "bursts of loss that never end"),
            ("GE:1%,2%", "a loss starts with a number"),
        ] {
            let error = text.parse::<Loss>().unwrap_err().to_string();
            assert!(error.starts_with(problem), "{text}: {error}");
            assert!(error.contains("; accepted: ") && error.contains("ge:0.5%,20%"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(parts in prop::array::uniform4(0..1_000_000_000_u64)) {
            let [to_bad, to_good, in_good, in_bad] = parts.map(Fraction::from_ppb);
            let whole = (Fraction::ZERO, Fraction::ALL);
            for (in_good, in_bad) in [(in_good, in_bad), whole] {
                let loss = Loss::Bursts(Bursts { to_bad, to_good, in_good, in_bad });
                prop_assert_eq!(loss.to_string().parse(), Ok(loss));
            }
            let loss = Loss::Independent(to_bad);
            prop_assert_eq!(loss.to_string().parse(), Ok(loss));
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in ".*", parts in "(ge:)?[-0-9.,%pm]{0,40}") {
            let _ = (text.parse::<Loss>(), parts.parse::<Loss>());
        }
    }
}
