//! Receivers that lie in their ACKs: what they gain from a start-up.

use std::error::Error;

use rayon::prelude::*;

use super::paths::{Lie, eight};
use super::{head, row};

const LIES: [(&str, Lie); 5] = [
    ("split in 2", Lie::Split(2)),
    ("split in 10", Lie::Split(10)),
    ("held back, 8 times per RTT", Lie::Held(8)),
    ("held back, twice per RTT", Lie::Held(2)),
    ("early", Lie::Early),
];

/// A row for each lie: how much sooner the sender believes that all has arrived.
pub(super) fn table(controls: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut text = head("ACKs", controls);
    for (name, lie) in LIES {
        let gains = gains(lie, controls)?.into_iter();
        row(&mut text, name, gains.map(|(mean, most)| format!("{mean:.2} ({most:.2})")));
    }
    Ok(text)
}

/// The time with an honest receiver over that with this one: geometric mean and most.
fn gains(lie: Lie, controls: &[&str]) -> Result<Vec<(f64, f64)>, String> {
    let gains = eight().into_par_iter().map(|path| {
        let (honest, lying) = (path.run(controls)?, path.lying(lie).run(controls)?);
        let both = honest.iter().zip(&lying);
        Ok(both.map(|(honest, lying)| honest.completion_s / lying.completion_s).collect())
    });
    let gains: Vec<Vec<f64>> = gains.collect::<Result<_, String>>()?;
    let of = |at: usize| {
        let of_paths = gains.iter().map(|gains| gains[at]);
        let mean = (of_paths.clone().map(f64::ln).sum::<f64>() / gains.len() as f64).exp();
        (mean, of_paths.fold(0.0, f64::max))
    };
    Ok((0..controls.len()).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::super::LIED_TO;
    use super::*;

    #[test]
    fn acks_that_are_split_or_held_back_gain_no_more_from_scout_than_from_slow_start() {
        for (name, lie) in LIES.into_iter().filter(|(_, lie)| *lie != Lie::Early) {
            let gains = gains(lie, &LIED_TO).unwrap();
            let (slow_start, scout) = (of(&gains, "slow-start+cubic"), of(&gains, "scout"));
            assert!(scout.0 <= slow_start.0.max(1.0) * 1.02, "{name}: {gains:?}");
        }
    }

    #[test]
    fn splitting_acks_is_an_attack_on_who_counts_them() {
        let gains = gains(Lie::Split(10), &LIED_TO).unwrap();
        let (slow_start, ack_counting) =
            (of(&gains, "slow-start+cubic"), of(&gains, "ack-counting"));
        assert!(slow_start.1 < 1.01 && ack_counting.0 > 1.05, "{gains:?}");
    }

    /// What they gain is the round trips that a start-up takes on a fast path.
    #[test]
    fn early_acks_gain_more_from_what_begins_with_more_and_grows_faster() {
        let gains = gains(Lie::Early, &LIED_TO).unwrap();
        let of = |control| of(&gains, control).0;
        let [slow_start, twice] = ["slow-start+cubic", "slow-start(iw=20pkt)+cubic"].map(of);
        let [scout, once, doubling] = ["scout", "scout(first=1)", "scout(first=1,look=2)"].map(of);
        assert!(slow_start > 1.5, "whoever believes them sends too much: {gains:?}");
        assert!(slow_start < twice && once < scout, "{gains:?}");
        assert!(doubling < slow_start && doubling < once, "{gains:?}");
    }

    fn of(gains: &[(f64, f64)], control: &str) -> (f64, f64) {
        gains[LIED_TO.iter().position(|name| *name == control).unwrap()]
    }
}
