//! A transfer in the shared schema of results.
//!
//! Over sockets nobody knows the bottleneck: its part stays empty, `utilization` is 0, and `note`
//! says so. QUIC sends frames again, not packets, so `retransmitted_packets` are the packets lost.

use std::time::Duration;

use firstflight_control::Control;
use firstflight_core::hint::PathHint;
use firstflight_scenario::{Cost, FlowResult, Results, RunResult, Startup};
use serde_json::{Value, json};

use crate::Progress;
use crate::receive::Received;
use crate::record::Record;
use crate::send::Sent;

impl Sent {
    /// The document of `send --json`.
    pub fn results(&self, control: &str, version: &str) -> Results {
        let named = control_of(control);
        let full = named.as_ref().map_or(control, |named| &named.full).to_owned();
        let hint = self.told.map(PathHint::Own);
        let factory = firstflight_quic::control(control).map(|factory| factory.hinted(hint));
        let missing = factory.map(|factory| factory.missing());
        let path = self.stats.path;
        let mtu = self.record.mtu.max(1);
        let delivered = self.bytes - self.resumed;
        let lost = path.lost_packets;
        let flow = FlowResult {
            control: full.clone(),
            throughput_bps: rate(delivered, self.took),
            delivered_bytes: delivered,
            delivered_packets: path.sent_packets.saturating_sub(lost),
            sent_packets: path.sent_packets,
            retransmitted_packets: lost,
            fast_retransmits: path.congestion_events,
            completion_time_s: Some(self.took.as_secs_f64()),
            peak_cwnd_packets: self.record.peak_window / mtu,
            final_cwnd_packets: self.record.window / mtu,
            startup: startup(&self.record, mtu),
            ..FlowResult::default()
        };
        let mut note = UNKNOWN.to_owned();
        if let Some(missing) = missing.ok().filter(|missing| !missing.is_empty()) {
            note.push_str(&format!("; this control runs over QUIC without {missing}"));
        }
        let run = RunResult {
            control: full,
            alias: control.to_owned(),
            preset: named.map_or(String::new(), |named| named.preset),
            note: Some(note),
            ..run(flow, self.took)
        };
        Results::new(version, self.scenario(mtu), vec![run])
    }

    fn scenario(&self, mtu: u64) -> Value {
        json!({
            "transfer": "send",
            "to": self.to.to_string(),
            "file": self.name,
            "size_bytes": self.bytes,
            "resumed_from_bytes": self.resumed,
            "sha256": self.sha256,
            "handshake_s": self.handshake.as_secs_f64(),
            "rtt_s": self.stats.path.rtt.as_secs_f64(),
            "min_rtt_s": self.stats.path.min_rtt.as_secs_f64(),
            "packet_bytes": mtu,
            "lost_bytes": self.stats.path.lost_bytes,
            "told": self.told.map(|told| json!({
                "per_round_bytes": told.per_round.0,
                "min_rtt_s": told.min_rtt.0 as f64 / 1e9,
                "age_s": told.age.0 as f64 / 1e9,
            })),
        })
    }
}

/// A transfer that did not come to its end, as far as this side knows.
#[derive(Debug)]
pub struct Broken<'a> {
    /// `send` or `recv`.
    pub transfer: &'a str,
    /// The control as named, where this side had one.
    pub control: &'a str,
    /// What had arrived.
    pub progress: Progress,
    /// How long it was tried.
    pub took: Duration,
    /// What the user is told.
    pub why: &'a str,
}

impl Broken<'_> {
    /// The document of `send --json` and `recv --json`: nothing completed, and `note` says why.
    pub fn results(&self, version: &str) -> Results {
        let named = control_of(self.control);
        let control = named.as_ref().map_or(self.control, |named| &named.full).to_owned();
        let delivered = self.progress.bytes - self.progress.resumed;
        let flow = FlowResult {
            control: control.clone(),
            throughput_bps: rate(delivered, self.took),
            delivered_bytes: delivered,
            ..FlowResult::default()
        };
        let run = RunResult {
            control,
            alias: self.control.to_owned(),
            preset: named.map_or(String::new(), |named| named.preset),
            note: Some(format!("failed: {}", self.why)),
            ..run(flow, self.took)
        };
        let scenario = json!({
            "transfer": self.transfer,
            "size_bytes": self.progress.total,
            "resumed_from_bytes": self.progress.resumed,
        });
        Results::new(version, scenario, vec![run])
    }
}

impl Received {
    /// The document of `recv --json`. The congestion control is the sender's, and so not known.
    pub fn results(&self, version: &str) -> Results {
        let delivered = self.bytes - self.resumed;
        let flow = FlowResult {
            throughput_bps: rate(delivered, self.took),
            delivered_bytes: delivered,
            completion_time_s: Some(self.took.as_secs_f64()),
            ..FlowResult::default()
        };
        let note = format!("{UNKNOWN}; the sender knows its control and its losses");
        let run = RunResult { note: Some(note), ..run(flow, self.took) };
        let scenario = json!({
            "transfer": "recv",
            "from": self.from.to_string(),
            "file": self.path.as_ref().map(|path| path.display().to_string()),
            "size_bytes": self.bytes,
            "resumed_from_bytes": self.resumed,
            "sha256": self.sha256,
            "rtt_s": self.stats.path.rtt.as_secs_f64(),
        });
        Results::new(version, scenario, vec![run])
    }
}

/// The control of that name as QUIC runs it; `None` for quinn's own.
fn control_of(name: &str) -> Option<Control> {
    let mut control = Control::named(name).ok()?;
    control.suit_paced_or_thinned_acks();
    Some(control)
}

fn run(flow: FlowResult, took: Duration) -> RunResult {
    let packets = flow.delivered_packets as f64;
    let seconds = took.as_secs_f64();
    RunResult {
        transport: "quic".to_owned(),
        profile: PROFILE.to_owned(),
        duration_s: seconds,
        total_throughput_bps: flow.throughput_bps,
        jain_index: 1.0,
        cost: Cost {
            wall_s: seconds,
            delivered_packets_per_s: packets / seconds.max(f64::MIN_POSITIVE),
            ..Cost::default()
        },
        flows: vec![flow],
        ..RunResult::default()
    }
}

fn startup(record: &Record, mtu: u64) -> Startup {
    let Some(exit) = &record.exit else {
        return Startup { reprobes: record.reprobes, ..Startup::default() };
    };
    Startup {
        exit_time_s: Some(exit.after.as_secs_f64()),
        exit_reason: Some(exit.reason.to_owned()),
        exit_cwnd_packets: Some(exit.window / mtu),
        inflight_over_window_at_exit: Some(exit.in_flight as f64 / exit.window.max(1) as f64),
        reprobes: record.reprobes,
        ..Startup::default()
    }
}

fn rate(bytes: u64, took: Duration) -> f64 {
    bytes as f64 * 8.0 / took.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// The endpoints' constants are quinn's.
const PROFILE: &str = "quinn";
const UNKNOWN: &str = "over sockets: the bottleneck is not known, utilization and bottleneck are \
    empty; times count from the first packet, the handshake included";
