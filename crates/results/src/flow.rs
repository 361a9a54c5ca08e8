//! A flow of a run: what a transport knows of it, in base units; what results say of it, in the
//! schema of all transports; and its columns. Results of every transport are made here.

use std::ops::Add;

use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};
use serde::{Deserialize, Serialize};

use crate::column::Kind::*;
use crate::column::{Column, Role};
use crate::measures::{Measure, Over, measures};
use crate::run::{finite, finite_or_none};
use crate::series::FlowSample;
use crate::statistics::{mean_and_error, ratio, seconds, throughput_bps};

/// What a transport knows of a flow when the run is over; times are those of the run. What it
/// cannot know stays as in the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowOutcome {
    /// Packets delivered in order to the receiver until the flow stopped or the run was over.
    pub delivered_packets: u64,
    /// Their payload.
    pub delivered_bytes: Bytes,
    /// What the sender counted.
    pub counts: Counts,
    /// Packets lost at links.
    pub drops: u64,
    /// When the last packet of a sized flow was delivered.
    pub finished_at: Option<Instant>,
    /// Why a flow of another protocol ended before its time.
    pub failure: Option<String>,
    /// Files whose last ACK came within the run, in order.
    pub files: Vec<FileOutcome>,
    /// Largest cwnd.
    pub peak_cwnd: Bytes,
    /// cwnd at the end.
    pub final_cwnd: Bytes,
    /// How the first start-up went.
    pub startup: StartupOutcome,
    /// When the flight first reached which size, in growing order; empty where the BDP was known
    /// while the flow ran.
    pub flights: Vec<(Instant, Bytes)>,
    /// How often start-up began again because the avoidance asked for it.
    pub reprobes: u64,
    /// Samples over time, if asked for.
    pub series: Vec<FlowSample>,
    /// When packets were lost at links, in order; kept where samples are.
    pub lost_at: Vec<Instant>,
    /// Names of the values in [`FlowSample::gauges`].
    pub gauge_names: Vec<&'static str>,
}

/// What a sender counts, under the names that results have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets sent again.
    pub retransmitted_packets: u64,
    /// Recoveries begun without a timeout.
    pub fast_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times the window was cut; no part of the results.
    #[serde(skip)]
    pub cuts: u64,
}

/// How the first start-up of a flow went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartupOutcome {
    /// How it ended, if it did.
    pub exit: Option<StartupExit>,
    /// Packets dropped in the round of the end.
    pub drops_in_exit_round: Option<u64>,
    /// Cuts of the window in the ten smoothed RTTs after the end, the one that ended it excepted.
    pub reductions_next_10_rtt: Option<u64>,
    /// When the flight first reached 60, 80 and 90 % of the BDP.
    pub time_to_bdp: [Option<Instant>; 3],
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOutcome {
    /// Its size.
    pub packets: u32,
    /// Data packets sent for it, retransmissions included.
    pub sent: u64,
    /// When its connection was opened.
    pub began: Instant,
    /// When its last packet was delivered.
    pub delivered: Instant,
}

/// When a flow was measured, and what its path is, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowContext {
    /// When it started.
    pub start: Instant,
    /// For how long it was measured.
    pub period: Span,
    /// Bytes of a packet in which windows are counted.
    pub packet_bytes: u64,
    /// The most that its path lets pass in that time, bit/s.
    pub rate_bps: Option<u64>,
    /// What fills its path, bytes; `None` too of a path that holds less than a packet, which is
    /// full before anything is sent.
    pub bdp_bytes: Option<u64>,
}

/// One flow of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// The flow's number from 0, in the order of the scenario.
    pub id: u64,
    /// Its control in full: `astart+westwood`.
    pub control: String,
    /// When the flow started, seconds of the run.
    #[serde(serialize_with = "finite")]
    pub start_s: f64,
    /// Payload newly delivered in order to the receiver, times 8, over the flow's time: until it
    /// stops, is done, or the run ends.
    #[serde(serialize_with = "finite")]
    pub throughput_bps: f64,
    /// `throughput_bps` over what the path lets pass in that time.
    #[serde(serialize_with = "finite")]
    pub utilization: f64,
    /// Payload delivered in order until then, bytes.
    pub delivered_bytes: u64,
    /// Packets delivered in order until then.
    pub delivered_packets: u64,
    /// What was counted, each under its own name.
    #[serde(flatten)]
    pub counts: Counts,
    /// Seconds from the flow's start to the delivery of the last byte; `None` for a flow without an
    /// end or not done.
    #[serde(serialize_with = "finite_or_none")]
    pub completion_time_s: Option<f64>,
    /// The largest cwnd, packets.
    pub peak_cwnd_packets: u64,
    /// cwnd at the end, packets.
    pub final_cwnd_packets: u64,
    /// How start-up went.
    pub startup: Startup,
    /// The files, for a source of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesResult>,
}

/// The start-up phase of one flow; `None` is "did not happen" or "could not be measured".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Startup {
    /// When start-up was left for the first time, seconds after the flow's start.
    #[serde(serialize_with = "finite_or_none")]
    pub exit_time_s: Option<f64>,
    /// Why it was left, in a word: `loss`, `timeout`, `ssthresh`, `heuristic` or `ecn`.
    pub exit_reason: Option<String>,
    /// cwnd in packets when start-up was left, before a loss or mark reduced it.
    pub exit_cwnd_packets: Option<u64>,
    /// cwnd at the exit, divided by the path's BDP.
    #[serde(serialize_with = "finite_or_none")]
    pub exit_window_over_bdp: Option<f64>,
    /// Packets in flight at the exit, divided by cwnd.
    #[serde(serialize_with = "finite_or_none")]
    pub inflight_over_window_at_exit: Option<f64>,
    /// Packets dropped at the bottleneck in the round of the exit.
    pub drops_in_exit_round: Option<u64>,
    /// Window reductions in the ten RTTs after the exit.
    pub reductions_next_10_rtt: Option<u64>,
    /// When the packets in flight first reached these shares of the BDP, seconds after the flow's
    /// start: a window that is not used fills no path.
    pub time_to_bdp_s: TimeToBdp,
    /// How often start-up began again because the avoidance asked for it, as Load Gauge does.
    #[serde(default)]
    pub reprobes: u64,
}

/// Seconds until the packets in flight first reached a share of the BDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeToBdp {
    /// Seconds until 60 % of the BDP.
    #[serde(rename = "0.6", serialize_with = "finite_or_none")]
    pub at_60: Option<f64>,
    /// Seconds until 80 % of the BDP.
    #[serde(rename = "0.8", serialize_with = "finite_or_none")]
    pub at_80: Option<f64>,
    /// Seconds until 90 % of the BDP.
    #[serde(rename = "0.9", serialize_with = "finite_or_none")]
    pub at_90: Option<f64>,
}

/// The files of one source that were sent and acknowledged within the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesResult {
    /// How many files.
    pub count: u64,
    /// Mean over the files of their payload, times 8, over the time from opening the connection to
    /// the delivery of the last byte, bit/s; 0 without a file.
    #[serde(serialize_with = "finite")]
    pub mean_throughput_bps: f64,
    /// Standard error of that mean, bit/s; `None` for fewer than two files.
    #[serde(serialize_with = "finite_or_none")]
    pub standard_error_bps: Option<f64>,
    /// Mean over the files of that time, seconds; 0 without a file.
    #[serde(serialize_with = "finite")]
    pub mean_time_s: f64,
    /// That time of the last of them, seconds; 0 without a file.
    #[serde(default, serialize_with = "finite")]
    pub last_time_s: f64,
    /// Packets that the files have.
    pub unique_packets: u64,
    /// Packets sent for them, retransmissions included.
    pub sent_packets: u64,
}

impl FlowResult {
    /// What results say of a flow, without its names and its files.
    pub fn of(flow: &FlowOutcome, context: FlowContext) -> Self {
        let throughput_bps = throughput_bps(flow.delivered_bytes.0, context.period.0);
        Self {
            start_s: seconds(context.start.0),
            throughput_bps,
            utilization: context.rate_bps.map_or(0.0, |rate| throughput_bps / rate.max(1) as f64),
            delivered_bytes: flow.delivered_bytes.0,
            delivered_packets: flow.delivered_packets,
            counts: flow.counts,
            completion_time_s: flow.finished_at.map(|at| context.since_start(at)),
            peak_cwnd_packets: context.packets(flow.peak_cwnd),
            final_cwnd_packets: context.packets(flow.final_cwnd),
            startup: Startup::of(flow, context),
            ..Self::default()
        }
    }
}

impl Startup {
    fn of(flow: &FlowOutcome, context: FlowContext) -> Self {
        let StartupOutcome { exit, drops_in_exit_round, reductions_next_10_rtt, .. } = flow.startup;
        let share = |part: Bytes, whole: u64| part.0 as f64 / whole.max(1) as f64;
        let reached = flow.reached(context.bdp_bytes);
        let [at_60, at_80, at_90] = reached.map(|at| at.map(|at| context.since_start(at)));
        Self {
            exit_time_s: exit.map(|exit| context.since_start(exit.at)),
            exit_reason: exit.map(|exit| exit.why.name().to_owned()),
            exit_cwnd_packets: exit.map(|exit| context.packets(exit.cwnd)),
            exit_window_over_bdp: exit.zip(context.bdp_bytes).map(|(it, bdp)| share(it.cwnd, bdp)),
            inflight_over_window_at_exit: exit.map(|exit| share(exit.in_flight, exit.cwnd.0)),
            drops_in_exit_round,
            reductions_next_10_rtt,
            time_to_bdp_s: TimeToBdp { at_60, at_80, at_90 },
            reprobes: flow.reprobes,
        }
    }
}

impl FlowOutcome {
    /// When 60, 80 and 90 % of the BDP were in flight for the first time.
    fn reached(&self, bdp: Option<u64>) -> [Option<Instant>; 3] {
        let Some(bdp) = bdp.map(Bytes) else { return [None; 3] };
        if self.flights.is_empty() {
            return self.startup.time_to_bdp;
        }
        [60, 80, 90].map(|percent| {
            let enough = |(_, flight): &&(Instant, Bytes)| *flight >= bdp.scaled(percent, 100);
            self.flights.iter().find(enough).map(|(at, _)| *at)
        })
    }
}

impl FlowContext {
    fn since_start(&self, at: Instant) -> f64 {
        seconds(at.since(self.start).0)
    }

    fn packets(&self, bytes: Bytes) -> u64 {
        bytes.0 / self.packet_bytes.max(1)
    }
}

impl FilesResult {
    /// The result of files whose packets carry `packet_bytes`.
    pub fn of(packet_bytes: u64, files: &[FileOutcome]) -> Self {
        let time = |file: &FileOutcome| seconds(file.delivered.since(file.began).0);
        let times: Vec<f64> = files.iter().map(time).collect();
        let rate = |(file, time): (&FileOutcome, &f64)| {
            ratio((u64::from(file.packets) * packet_bytes) as f64 * 8.0, *time)
        };
        let rates: Vec<f64> = files.iter().zip(&times).map(rate).collect();
        let (mean_rate, standard_error_bps) = mean_and_error(&rates);
        Self {
            count: files.len() as u64,
            mean_throughput_bps: mean_rate.unwrap_or_default(),
            standard_error_bps,
            mean_time_s: mean_and_error(&times).0.unwrap_or_default(),
            last_time_s: times.last().copied().unwrap_or_default(),
            unique_packets: files.iter().map(|file| u64::from(file.packets)).sum(),
            sent_packets: files.iter().map(|file| file.sent).sum(),
        }
    }

    /// The mean of a value over all files of several sources; `None` if none was done.
    pub fn mean_over<'a>(
        sources: impl Iterator<Item = &'a FlowResult>,
        value: impl Fn(&Self) -> f64,
    ) -> Option<f64> {
        let (sum, count) = sources.filter_map(|flow| flow.files).fold((0.0, 0), |sum, files| {
            (sum.0 + files.count as f64 * value(&files), sum.1 + files.count)
        });
        (count > 0).then(|| sum / count as f64)
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            sent_packets: self.sent_packets + other.sent_packets,
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            fast_retransmits: self.fast_retransmits + other.fast_retransmits,
            timeouts: self.timeouts + other.timeouts,
            cuts: self.cuts + other.cuts,
        }
    }
}

measures! { _run, flow:
    Mean Number "throughput_bps" ["bit/s"]
        "Payload newly delivered in order, from the flow's start until it stops or is done"
        = flow.throughput_bps;
    Mean Number "utilization" ["share"]
        "`throughput_bps` over what the path lets pass in that time"
        = flow.utilization;
    Mean Number or_null "completion_time_s" ["s"]
        "From the flow's start to the delivery of its last byte; null if that did not come"
        = flow.completion_time_s;
    Sum Count "delivered_bytes" ["bytes"]
        "Payload delivered in order until then"
        = flow.delivered_bytes;
    Sum Count "delivered_packets" ["packets"]
        "Packets delivered in order until then"
        = flow.delivered_packets;
    Sum Count "sent_packets" ["packets"]
        "Data packets sent, retransmissions included"
        = flow.counts.sent_packets;
    Sum Count "retransmitted_packets" ["packets"]
        "Data packets sent again"
        = flow.counts.retransmitted_packets;
    Sum Count "fast_retransmits" [""]
        "Entries into recovery"
        = flow.counts.fast_retransmits;
    Sum Count "timeouts" [""]
        "Retransmission timeouts"
        = flow.counts.timeouts;
    Largest Count "peak_cwnd_packets" ["packets"]
        "The largest cwnd"
        = flow.peak_cwnd_packets;
    Mean Count "final_cwnd_packets" ["packets"]
        "cwnd at the end"
        = flow.final_cwnd_packets;
    Mean Number or_null "exit_time_s" ["s"]
        "When start-up was left for the first time, after the flow's start"
        = flow.startup.exit_time_s;
    Mean Text or_null "exit_reason" [""]
        "Why: `loss`, `timeout`, `ssthresh`, `heuristic`, `ecn`"
        = flow.startup.exit_reason.as_deref();
    Mean Count or_null "exit_cwnd_packets" ["packets"]
        "cwnd at the exit, before any cut"
        = flow.startup.exit_cwnd_packets;
    Mean Number or_null "exit_window_over_bdp" [""]
        "cwnd at the exit over the BDP, of a rate that changes its mean until then"
        = flow.startup.exit_window_over_bdp;
    Mean Number or_null "inflight_over_window_at_exit" [""]
        "Packets in flight at the exit over cwnd"
        = flow.startup.inflight_over_window_at_exit;
    Mean Count or_null "drops_in_exit_round" ["packets"]
        "Packets dropped in the round of the exit"
        = flow.startup.drops_in_exit_round;
    Mean Count or_null "reductions_next_10_rtt" [""]
        "Window reductions in the ten RTTs after the exit"
        = flow.startup.reductions_next_10_rtt;
    Mean Number or_null "time_to_60_percent_bdp_s" ["s"]
        "When what was in flight first reached 60 % of the BDP, after the flow's start"
        = flow.startup.time_to_bdp_s.at_60;
    Mean Number or_null "time_to_80_percent_bdp_s" ["s"]
        "When what was in flight first reached 80 % of the BDP, after the flow's start"
        = flow.startup.time_to_bdp_s.at_80;
    Mean Number or_null "time_to_90_percent_bdp_s" ["s"]
        "When what was in flight first reached 90 % of the BDP, after the flow's start"
        = flow.startup.time_to_bdp_s.at_90;
    Sum Count "reprobes" [""]
        "How often start-up began again because the avoidance asked for it"
        = flow.startup.reprobes;
    Mean Count or_null "files" [""]
        "Files sent by a source of files"
        = flow.files.map(|files| files.count);
    Mean Number or_null "files_mean_throughput_bps" ["bit/s"]
        "Mean over the files of their payload over their time"
        = flow.files.map(|files| files.mean_throughput_bps);
    Mean Number or_null "files_mean_time_s" ["s"]
        "Mean time of a file, from opening its connection to its last byte"
        = flow.files.map(|files| files.mean_time_s);
}

/// The words of [`Startup::exit_reason`].
pub const EXIT_REASONS: [&str; 5] = ["loss", "timeout", "ssthresh", "heuristic", "ecn"];
