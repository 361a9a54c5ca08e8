//! A transfer in the shared schema of results.
//!
//! Over sockets nobody knows the bottleneck: its part stays empty, `utilization` is 0, and `note`
//! says so. QUIC sends frames again, not packets, so `retransmitted_packets` are the packets lost.

use std::time::Duration;

use firstflight_control::Control;
use firstflight_core::hint::PathHint;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_results::{
    Counts, FlowContext, FlowOutcome, FlowResult, Results, RunResult, StartupOutcome,
};
use serde_json::{Value, json};

use crate::Progress;
use crate::receive::Received;
use crate::send::Sent;

impl Sent {
    /// The document of `send --json`.
    pub fn results(&self, control: &str, version: &str) -> Results {
        let named = control_of(control);
        let full = named.as_ref().map_or(control, |named| &named.full).to_owned();
        let hint = self.hint.map(PathHint::Own);
        let factory = firstflight_quic::quinn::control(control).map(|factory| factory.hinted(hint));
        let missing = factory.map(|factory| factory.missing());
        let mtu = self.record.mtu.max(1);
        let (flow, context) = self.flow();
        let flow = FlowResult { control: full.clone(), ..FlowResult::of(&flow, context) };
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

    /// What is known of the flow without its path; times count from the first packet.
    pub fn flow(&self) -> (FlowOutcome, FlowContext) {
        let (record, path) = (&self.record, self.stats.path);
        let (done, context) = done(self.bytes - self.resumed, self.took);
        let flow = FlowOutcome {
            delivered_packets: path.sent_packets.saturating_sub(path.lost_packets),
            counts: Counts {
                sent_packets: path.sent_packets,
                retransmitted_packets: path.lost_packets,
                fast_retransmits: path.congestion_events,
                ..Counts::default()
            },
            peak_cwnd: Bytes(record.peak_window),
            final_cwnd: Bytes(record.window),
            startup: StartupOutcome { exit: record.exit, ..StartupOutcome::default() },
            reprobes: record.reprobes,
            ..done
        };
        (flow, FlowContext { packet_bytes: record.mtu, ..context })
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
            "told": self.hint.map(|hint| json!({
                "per_round_bytes": hint.per_round.0,
                "min_rtt_s": hint.min_rtt.0 as f64 / 1e9,
                "age_s": hint.age.0 as f64 / 1e9,
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
    /// The message for the user.
    pub why: &'a str,
}

impl Broken<'_> {
    /// The document of `send --json` and `recv --json`: nothing completed, and `note` says why.
    pub fn results(&self, version: &str) -> Results {
        let named = control_of(self.control);
        let control = named.as_ref().map_or(self.control, |named| &named.full).to_owned();
        let delivered = self.progress.bytes - self.progress.resumed;
        let (done, context) = done(delivered, self.took);
        let flow = FlowOutcome { finished_at: None, ..done };
        let flow = FlowResult { control: control.clone(), ..FlowResult::of(&flow, context) };
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
        let (done, context) = done(self.bytes - self.resumed, self.took);
        let flow = FlowResult::of(&done, context);
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
    control.suggest_weights_per_packet();
    Some(control)
}

/// A flow that delivered so many bytes in that time.
fn done(delivered: u64, took: Duration) -> (FlowOutcome, FlowContext) {
    let took = ns(took);
    let (delivered_bytes, finished_at) = (Bytes(delivered), Some(Instant(took)));
    let flow = FlowOutcome { delivered_bytes, finished_at, ..FlowOutcome::default() };
    (flow, FlowContext { period: Span(took), ..FlowContext::default() })
}

fn run(flow: FlowResult, took: Duration) -> RunResult {
    RunResult {
        transport: "quic".to_owned(),
        profile: PROFILE.to_owned(),
        ..RunResult::of_flows(vec![flow], ns(took), (took, 0))
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The endpoints' constants are quinn's.
const PROFILE: &str = "quinn";
const UNKNOWN: &str = "over sockets: the bottleneck is not known, utilization and bottleneck are \
    empty; times count from the first packet, the handshake included";
