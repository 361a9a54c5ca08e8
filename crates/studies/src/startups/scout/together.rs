//! Flows of one control that begin together, or nearly so.

use std::error::Error;
use std::fmt::Write as _;

use firstflight_runner::{Options, Run, run};
use firstflight_scenario::Scenario;
use rayon::prelude::*;

use super::{Measured, cell, head, row};

const RATES_MBPS: [u64; 2] = [10, 50];
const RTTS_MS: [u64; 2] = [40, 150];
const BUFFERS: [f64; 2] = [0.25, 1.0];
const PACKET: u64 = 1_448;

/// Flows of one control: each begins so many thousandths of an RTT after the first, and its RTT is
/// so many times the path's.
struct Group {
    name: &'static str,
    /// Each of how many.
    flows: &'static [(u64, u64, u64)],
}

const GROUPS: [Group; 8] = [
    Group { name: "2, together", flows: &[(2, 0, 1)] },
    Group { name: "2, 0.3 RTT apart", flows: &[(1, 0, 1), (1, 300, 1)] },
    Group { name: "2, 1.5 RTT apart", flows: &[(1, 0, 1), (1, 1_500, 1)] },
    Group { name: "2, one with three times the RTT", flows: &[(1, 0, 1), (1, 0, 3)] },
    Group { name: "5, together", flows: &[(5, 0, 1)] },
    Group { name: "10, together", flows: &[(10, 0, 1)] },
    Group { name: "20, together", flows: &[(20, 0, 1)] },
    Group { name: "50, together", flows: &[(50, 0, 1)] },
];

/// A path of a group.
#[derive(Clone, Copy)]
struct Path {
    rate_mbps: u64,
    rtt_ms: u64,
    buffer: f64,
}

/// A row for each group.
pub(super) fn table(controls: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut paths = Vec::new();
    for rate_mbps in RATES_MBPS {
        for rtt_ms in RTTS_MS {
            paths.extend(BUFFERS.map(|buffer| Path { rate_mbps, rtt_ms, buffer }));
        }
    }
    let mut text = head("flows", controls);
    for group in &GROUPS {
        let runs = paths.par_iter().map(|path| group.run(*path, controls));
        let runs: Vec<Vec<Measured>> = runs.collect::<Result<_, String>>()?;
        row(&mut text, group.name, (0..controls.len()).map(|at| cell(&runs, at)));
    }
    Ok(text)
}

impl Group {
    /// What each control did: the mean time of its flows, and what all of them sent again.
    fn run(&self, path: Path, controls: &[&str]) -> Result<Vec<Measured>, String> {
        let Path { rate_mbps, rtt_ms, buffer } = path;
        let count: u64 = self.flows.iter().map(|(count, ..)| count).sum();
        let bdp = rate_mbps * rtt_ms * 125;
        let size = (8 * bdp / count).max(100_000);
        let limit = 60 + 40 * size * count / (rate_mbps * 125_000);
        let mut text = format!(
            "controls = {controls:?}\nduration = \"{limit}s\"\npacket = \"{PACKET}B\"\n\
             [path]\nrate = \"{rate_mbps}Mbps\"\nrtt = \"{rtt_ms}ms\"\nbuffer = \"{buffer}bdp\"\n"
        );
        for (count, after, times) in self.flows {
            let (start, rtt) = (after * rtt_ms / 1_000, times * rtt_ms);
            let _ = write!(
                text,
                "[[flow]]\ncount = {count}\nstart = \"{start}ms\"\nrtt = \"{rtt}ms\"\n\
                 size = \"{size}B\"\n"
            );
        }
        let scenario =
            Scenario::parse(&text, "together.toml").map_err(|problem| problem.to_string())?;
        let report = run(&scenario, &Options::default()).map_err(|problem| problem.to_string())?;
        let bdp_packets = bdp as f64 / PACKET as f64;
        let measured = |run: &Run| {
            let flows = &run.result.flows;
            let times = flows.iter().map(|flow| flow.completion_time_s.unwrap_or(limit as f64));
            let again: u64 = flows.iter().map(|flow| flow.counts.retransmitted_packets).sum();
            let delivered: u64 = flows.iter().map(|flow| flow.delivered_packets).sum();
            Measured {
                completion_s: times.sum::<f64>() / flows.len() as f64,
                sent_again: 100.0 * again as f64 / delivered.max(1) as f64,
                queue_bdp: run.result.bottleneck.peak_queue_packets as f64 / bdp_packets,
            }
        };
        Ok(report.runs.iter().map(measured).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_done() {
        let path = Path { rate_mbps: 10, rtt_ms: 40, buffer: 1.0 };
        for group in &GROUPS {
            let runs = group.run(path, &["hystart-pp", "scout"]).unwrap();
            // 400 kB, or 50 times 100 kB, at 10 Mbit/s.
            assert!(
                runs.iter().all(|run| (0.2..30.0).contains(&run.completion_s)),
                "{}",
                group.name
            );
        }
    }
}
