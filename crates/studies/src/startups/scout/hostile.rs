//! Receivers that lie in their ACKs: what they gain from a start-up.

use std::error::Error;

use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;
use rayon::prelude::*;

use super::{head, row};

const RATES_MBPS: [u64; 2] = [10, 50];
const RTTS_MS: [u64; 2] = [40, 150];
const BUFFERS: [f64; 2] = [0.25, 1.0];

/// What a receiver does with its ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    None,
    /// Every ACK comes in so many parts.
    Split(u64),
    /// ACKs are held back and released together, so many times per RTT.
    Held(u64),
    /// What has not come yet is acknowledged: the sender sees neither the bottleneck's rate nor its
    /// losses.
    Early,
}

const LIES: [(&str, Lie); 5] = [
    ("split in 2", Lie::Split(2)),
    ("split in 10", Lie::Split(10)),
    ("held back, 8 times per RTT", Lie::Held(8)),
    ("held back, twice per RTT", Lie::Held(2)),
    ("early", Lie::Early),
];

#[derive(Clone, Copy)]
struct Path {
    rate_mbps: u64,
    rtt_ms: u64,
    buffer: f64,
}

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
    let paths = paths();
    let gains: Result<Vec<Vec<f64>>, String> = paths
        .par_iter()
        .map(|path| {
            let (honest, lying) = (path.run(Lie::None, controls)?, path.run(lie, controls)?);
            Ok(honest.iter().zip(&lying).map(|(honest, lying)| honest / lying).collect())
        })
        .collect();
    let gains = gains?;
    let of = |at: usize| {
        let of_paths = gains.iter().map(|gains| gains[at]);
        let mean = (of_paths.clone().map(f64::ln).sum::<f64>() / gains.len() as f64).exp();
        (mean, of_paths.fold(0.0, f64::max))
    };
    Ok((0..controls.len()).map(of).collect())
}

fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for rate_mbps in RATES_MBPS {
        for rtt_ms in RTTS_MS {
            paths.extend(BUFFERS.map(|buffer| Path { rate_mbps, rtt_ms, buffer }));
        }
    }
    paths
}

impl Path {
    /// When the sender believes that all has arrived, under each control.
    fn run(&self, lie: Lie, controls: &[&str]) -> Result<Vec<f64>, String> {
        let Self { rate_mbps, rtt_ms, buffer } = self;
        let size = (4 * rate_mbps * rtt_ms * 125).max(1_000_000);
        let (mut keys, mut back) = (String::new(), String::new());
        let mut link = format!("rate = \"{rate_mbps}Mbps\"\nbuffer = \"{buffer}bdp\"");
        match lie {
            Lie::None => {}
            Lie::Split(parts) => keys = format!("split_acks = {parts}\n"),
            Lie::Held(times) => {
                back = format!("[path.back]\nrelease = \"{}us\"\n", rtt_ms * 1_000 / times);
            }
            Lie::Early => "rate = \"1Gbps\"\nbuffer = \"1bdp\"".clone_into(&mut link),
        }
        let text = format!(
            "controls = {controls:?}\nduration = \"300s\"\npacket = \"1448B\"\n{keys}\
             [path]\n{link}\nrtt = \"{rtt_ms}ms\"\n{back}[[flow]]\nsize = \"{size}B\"\n"
        );
        let scenario =
            Scenario::parse(&text, "hostile.toml").map_err(|problem| problem.to_string())?;
        let report = run(&scenario, &Options::default()).map_err(|problem| problem.to_string())?;
        let done = |run: &firstflight_runner::Run| {
            run.result.flows[0].completion_time_s.ok_or_else(|| "not done".to_owned())
        };
        report.runs.iter().map(done).collect()
    }
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
