//! The lines of `kernel watch --json`.

use serde::Deserialize;

use super::{Parsed, PathEvidence, Transfer};

/// The keys that matter; `crates/cli/src/kernel/watch.rs` writes them.
#[derive(Deserialize)]
struct Line {
    duration_s: f64,
    control: String,
    slow_start_end: String,
    slow_start_ended: bool,
    end_rate_bps: Option<f64>,
    acked_bytes: u64,
    sent_again_bytes: u64,
    mss_bytes: u64,
    longest_cwnd_packets: u64,
    min_rtt_s: f64,
    srtt_s: f64,
}

/// Whether a line has no connection: a summary.
pub(super) fn is_none(line: &str) -> bool {
    line.is_empty() || line.contains("\"firstflight/watch@")
}

/// The connection of a line; a summary has none.
pub(super) fn transfer(line: &str) -> Parsed {
    if is_none(line) {
        return Ok(None);
    }
    let line: Line = serde_json::from_str(line)
        .map_err(|error| format!("{error}; accepted: a line of kernel watch --json"))?;
    let left = line.slow_start_ended;
    let shown = PathEvidence {
        delivered_bps: line.end_rate_bps,
        longest_window_bytes: line.longest_cwnd_packets.saturating_mul(line.mss_bytes),
        min_rtt_s: line.min_rtt_s,
        srtt_s: line.srtt_s,
        left,
    };
    Ok(Some(Transfer {
        bytes: line.acked_bytes,
        rtt_s: Some(line.min_rtt_s).filter(|rtt| *rtt > 0.0),
        rate: shown.rate(),
        duration_s: Some(line.duration_s),
        control: Some(line.control),
        left: Some(left),
        held: matches!(line.slow_start_end.as_str(), "receiver-window" | "send-buffer"),
        again_bytes: Some(line.sent_again_bytes),
    }))
}
