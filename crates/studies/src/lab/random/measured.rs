//! What is compared of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Sums over the flows, as far as nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Each flow's over its own time, so that of a transfer it tells how long it took.
    pub(super) mbps: f64,
    /// At the bottleneck, lost ones among them.
    pub(super) drops: u64,
    /// Packets sent again.
    pub(super) sent_again: u64,
    /// Retransmission timeouts.
    pub(super) timeouts: u64,
    /// When start-up was left, mean over the flows that left it; seconds.
    pub(super) exit_s: Option<f64>,
    /// The kernel's release; of the simulator nothing.
    pub(super) kernel: String,
    /// What the run said of itself.
    pub(super) note: Option<String>,
}

impl Measured {
    /// The first run of a document of results.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let results: Value = serde_json::from_slice(text).ok()?;
        let run = results.get("runs")?.get(0)?;
        let flows = run.get("flows")?.as_array()?;
        let count = |key: &str| flows.iter().filter_map(|flow| flow[key].as_u64()).sum();
        let exits = flows.iter().filter_map(|flow| flow["startup"]["exit_time_s"].as_f64());
        let exits: Vec<f64> = exits.collect();
        let bps: f64 = flows.iter().filter_map(|flow| flow["throughput_bps"].as_f64()).sum();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            mbps: bps / 1e6,
            drops: run.get("bottleneck")?.get("drops")?.as_u64()?,
            sent_again: count("retransmitted_packets"),
            timeouts: count("timeouts"),
            exit_s: (!exits.is_empty()).then(|| exits.iter().sum::<f64>() / exits.len() as f64),
            kernel: text(&run["lab"]["kernel"]).unwrap_or_default(),
            note: text(&run["note"]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_summed_and_exits_are_their_mean() {
        let text = br#"{"runs":[{"bottleneck":{"drops":3},"lab":{"kernel":"6.1"},"flows":[
            {"throughput_bps":2e6,"retransmitted_packets":1,"timeouts":0,
             "startup":{"exit_time_s":0.5}},
            {"throughput_bps":1e6,"retransmitted_packets":2,"timeouts":1,
             "startup":{"exit_time_s":null}}]}]}"#;
        let measured = Measured::read(text).unwrap();
        assert_eq!((measured.mbps, measured.drops, measured.sent_again), (3.0, 3, 3));
        assert_eq!((measured.timeouts, measured.exit_s), (1, Some(0.5)));
        assert_eq!((measured.kernel.as_str(), measured.note), ("6.1", None));
        assert!(Measured::read(b"{}").is_none());
    }
}
