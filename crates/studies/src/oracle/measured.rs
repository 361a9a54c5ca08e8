//! What a simulator measured at a point, in quantities that all three have.

use firstflight_results::{FlowResult, RunResult};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Utilisation and losses of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OracleRun {
    /// Data delivered in order, as a share of what the bottleneck could carry, in percent.
    pub(crate) utilization_percent: f64,
    /// Packets dropped at the bottleneck.
    pub(crate) drops: u64,
    /// Packets sent again.
    pub(crate) retransmitted: u64,
    /// Retransmission timeouts.
    pub(crate) timeouts: u64,
    /// Jain's fairness index over the flows.
    pub(crate) jain: f64,
}

/// Reads the last line of JSON that an oracle program prints.
pub(crate) fn json_line<T: DeserializeOwned>(output: &str) -> Result<T, String> {
    let line = output.lines().rfind(|line| line.starts_with('{'));
    serde_json::from_str(line.ok_or("no line of JSON")?).map_err(|error| error.to_string())
}

/// What it says.
#[derive(Deserialize)]
struct Line {
    util: f64,
    received_util: Option<f64>,
    drops: u64,
    rtx: u64,
    timeouts: u64,
    jain: f64,
}

impl OracleRun {
    /// Reads the JSON line of `ns2-dumbbell.tcl` or `ns3-dumbbell.cc`.
    pub(crate) fn from_line(output: &str) -> Result<Self, String> {
        let line: Line = json_line(output)?;
        Ok(Self {
            utilization_percent: line.received_util.unwrap_or(line.util) * 100.0,
            drops: line.drops,
            retransmitted: line.rtx,
            timeouts: line.timeouts,
            jain: line.jain,
        })
    }

    /// Reads a run of firstflight. A flow's own utilisation there is over its life, so that of the
    /// link over the whole run is counted from the bytes.
    pub(crate) fn of(run: &RunResult, rate_mbps: f64) -> Self {
        let sum = |count: fn(&FlowResult) -> u64| run.flows.iter().map(count).sum::<u64>();
        let bytes = sum(|flow| flow.delivered_bytes) as f64;
        Self {
            utilization_percent: bytes * 8e-4 / (rate_mbps * run.duration_s),
            drops: run.bottleneck.drops,
            retransmitted: sum(|flow| flow.counts.retransmitted_packets),
            timeouts: sum(|flow| flow.counts.timeouts),
            jain: run.jain_index,
        }
    }
}

#[cfg(test)]
mod tests {
    use firstflight_results::Counts;

    use super::*;

    #[test]
    fn the_receivers_count_is_preferred_to_the_senders() {
        let line = r#"{"util":0.5,"received_util":0.51,"drops":3,"rtx":4,"timeouts":1,"jain":1}"#;
        let measured = OracleRun::from_line(&format!("a warning\n{line}\n")).unwrap();
        assert!((measured.utilization_percent - 51.0).abs() < 1e-9);
        assert_eq!((measured.drops, measured.retransmitted, measured.timeouts), (3, 4, 1));
        assert!(OracleRun::from_line("nothing").is_err());
    }

    #[test]
    fn a_late_flow_counts_over_the_whole_run() {
        let flow = || FlowResult {
            delivered_bytes: 12_500_000,
            counts: Counts { retransmitted_packets: 2, timeouts: 1, ..Counts::default() },
            ..FlowResult::default()
        };
        let mut run = RunResult { duration_s: 20.0, jain_index: 1.0, ..RunResult::default() };
        (run.flows, run.bottleneck.drops) = (vec![flow(), flow()], 4);
        let measured = OracleRun::of(&run, 40.0);
        assert!((measured.utilization_percent - 25.0).abs() < 1e-9);
        assert_eq!((measured.drops, measured.retransmitted, measured.timeouts), (4, 4, 2));
    }
}
