//! Flows of one control that begin together, or nearly so.

use std::error::Error;
use std::fmt::Write as _;

use firstflight_runner::{Run, Simulator};
use rayon::prelude::*;

use super::paths::{Path, eight};
use super::{PathRun, cell, head, row};
use crate::startups::runs;

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

/// A row for each group.
pub(super) fn table(controls: &[&str]) -> Result<String, Box<dyn Error>> {
    let paths = eight();
    let mut text = head("flows", controls);
    for group in &GROUPS {
        let runs = paths.par_iter().map(|path| group.run(path, controls));
        let runs: Vec<Vec<PathRun>> = runs.collect::<Result<_, String>>()?;
        row(&mut text, group.name, (0..controls.len()).map(|at| cell(&runs, at)));
    }
    Ok(text)
}

impl Group {
    /// What each control did: the mean time of its flows, and what all of them sent again.
    fn run(&self, path: &Path, controls: &[&str]) -> Result<Vec<PathRun>, String> {
        let (rate_kbps, rtt_us, buffer, _) = path.numbers();
        let count: u64 = self.flows.iter().map(|(count, ..)| count).sum();
        let bdp = rate_kbps * rtt_us / 8_000;
        let size = (8 * bdp / count).max(100_000);
        let limit = 60 + 40 * size * count / (rate_kbps * 125);
        let mut text = format!(
            "controls = {controls:?}\nduration = \"{limit}s\"\npacket = \"1448B\"\n\
             [path]\nrate = \"{rate_kbps}kbps\"\nrtt = \"{rtt_us}us\"\nbuffer = \"{buffer}bdp\"\n"
        );
        for (count, after, times) in self.flows {
            let (start, rtt) = (after * rtt_us / 1_000, times * rtt_us);
            let _ = write!(
                text,
                "[[flow]]\ncount = {count}\nstart = \"{start}us\"\nrtt = \"{rtt}us\"\n\
                 size = \"{size}B\"\n"
            );
        }
        let measured = |run: &Run| {
            let flows = &run.result.flows;
            let times = flows.iter().map(|flow| flow.completion_time_s.unwrap_or(limit as f64));
            let again: u64 = flows.iter().map(|flow| flow.counts.retransmitted_packets).sum();
            let delivered: u64 = flows.iter().map(|flow| flow.delivered_packets).sum();
            PathRun {
                completion_s: times.sum::<f64>() / flows.len() as f64,
                sent_again: 100.0 * again as f64 / delivered.max(1) as f64,
                queue_bdp: run.result.bottleneck.peak_queue_packets as f64 / path.bdp_packets(),
            }
        };
        Ok(runs(&text, Simulator::TCP, None)?.iter().map(measured).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_done() {
        let path = &eight()[1];
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
