//! What a run yields: one schema for every transport, printed as JSON.
//!
//! Keys are printed in the order of the fields. Numbers are finite: a NaN or an infinity is an
//! error when printed, never a `null` that a reader would take for "not measured".

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::FlowResult;
use crate::column::Kind::*;
use crate::column::{Column, Role};
use crate::measures::{Measure, Over, measures};
use crate::statistics::{jain_index, seconds, throughput_bps};

/// The name of the schema, first key of every document.
pub const SCHEMA: &str = "firstflight/results@1";

/// Everything measured for one scenario, one entry per run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program that measured.
    pub version: String,
    /// The complete scenario in base units (bit/s, ns, bytes, packets).
    pub scenario: serde_json::Value,
    /// The runs, in the order of the controls.
    pub runs: Vec<RunResult>,
    /// What was to be compared and the transport cannot carry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// How much of what was asked for is here, after an interruption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
}

/// What an interruption left of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    /// Runs that are here. With several seeds they are those of whole rounds: every control with
    /// the same seeds.
    pub runs: usize,
    /// Runs that were asked for.
    pub asked: usize,
}

/// A control that was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The control.
    pub control: String,
    /// Why, in one sentence.
    pub reason: String,
}

impl Results {
    /// Results of `scenario`, measured by `version` of the program.
    pub fn new(version: &str, scenario: serde_json::Value, runs: Vec<RunResult>) -> Self {
        let (schema, version) = (SCHEMA.to_owned(), version.to_owned());
        Self { schema, version, scenario, runs, refused: Vec::new(), partial: None }
    }

    /// These results without what the runs cost the machine: equal scenarios give equal bytes.
    #[must_use]
    pub fn without_cost(mut self) -> Self {
        self.runs.iter_mut().for_each(|run| run.cost = Cost::default());
        self
    }

    /// The document as indented JSON with a final newline.
    ///
    /// # Errors
    /// A number that is not finite; the message names it.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        crate::json(self)
    }
}

/// One control on one transport with one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The control in full: `astart+westwood`; several, joined by `, `, when the flows differ.
    pub control: String,
    /// The control as the user named it: `astart`.
    pub alias: String,
    /// The set of knobs: `figures`, `paper`.
    pub preset: String,
    /// `sim`, `quic`, `noq` or `linux`.
    pub transport: String,
    /// The endpoint's constants: `rfc`, `ns2`, `linux` or `quic`.
    pub profile: String,
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// Measured period, seconds.
    #[serde(serialize_with = "finite")]
    pub duration_s: f64,
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowResult>,
    /// The first bottleneck.
    pub bottleneck: Bottleneck,
    /// Sum over the flows, bit/s.
    #[serde(serialize_with = "finite")]
    pub total_throughput_bps: f64,
    /// [`jain_index`] of the flows' throughputs.
    #[serde(serialize_with = "finite")]
    pub jain_index: f64,
    /// The share that the flows have of what the network lets pass
    /// (`Complete::utilization` of the scenario).
    #[serde(default, serialize_with = "finite")]
    pub utilization: f64,
    /// What the run cost the machine; left out where it is not known.
    #[serde(default, skip_serializing_if = "Cost::is_none")]
    pub cost: Cost,
    /// Anything the reader must know, such as an unpaced control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// On real Linux: how it was measured, and whether the lab was in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<LabFigures>,
}

impl RunResult {
    /// What the flows of a run come to together over its length, and what it cost: `wall` of time
    /// and `events`. The names, the bottleneck and the notes are the transport's to add.
    pub fn of_flows(
        flows: Vec<FlowResult>,
        duration_ns: u64,
        (wall, events): (Duration, u64),
    ) -> Self {
        let delivered = flows.iter().map(|flow| flow.delivered_bytes).sum();
        let packets: u64 = flows.iter().map(|flow| flow.delivered_packets).sum();
        let rates: Vec<f64> = flows.iter().map(|flow| flow.throughput_bps).collect();
        let wall_s = wall.as_secs_f64();
        Self {
            duration_s: seconds(duration_ns),
            total_throughput_bps: throughput_bps(delivered, duration_ns),
            jain_index: jain_index(&rates),
            cost: Cost {
                wall_s,
                events,
                delivered_packets_per_s: if wall_s > 0.0 { packets as f64 / wall_s } else { 0.0 },
            },
            flows,
            ..Self::default()
        }
    }

    /// The note behind the control's name, as people read it.
    pub fn named_note(&self) -> Option<String> {
        self.note.as_ref().map(|note| format!("{}: {note}", self.alias))
    }
}

/// How a run on real Linux was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabFigures {
    /// Release of the kernel.
    pub kernel: String,
    /// `tun` or `netem`.
    pub link: String,
    /// `own`, `iperf3`, or `quinn`.
    pub generator: String,
    /// Whether the emulated link was in time. `valid`: 99 % of the packets were late by at most 1 %
    /// of the RTT, no packet by a quarter of it, and a hypervisor took at most 1 % of the
    /// processors' time. `degraded`: 99 % by at most 5 % of the RTT, no packet by a whole RTT, and
    /// at most 5 % of the time. Otherwise `invalid`. With netem, which does not report how late it
    /// was, `unknown` stands for `valid`.
    pub timing: String,
    /// How late the emulated link handed packets on: mean, microseconds.
    #[serde(serialize_with = "finite")]
    pub late_mean_us: f64,
    /// 99 % of the packets were at most this late.
    #[serde(serialize_with = "finite")]
    pub late_p99_us: f64,
    /// How late the latest packet was, microseconds.
    #[serde(serialize_with = "finite")]
    pub late_max_us: f64,
    /// Share of packets a millisecond late or more, 0 to 1.
    #[serde(serialize_with = "finite")]
    pub late_over_1ms: f64,
    /// Packets that the kernel dropped before the link could read them.
    pub overruns: u64,
    /// Share of the processors' time that a hypervisor gave to others, 0 to 1; 0 without one.
    #[serde(default, serialize_with = "finite")]
    pub stolen_share: f64,
    /// In virtual time: the machine that was booted for the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<GuestFigures>,
}

/// A machine in virtual time. Where all of these fields are equal, a scenario gives equal results
/// to the byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GuestFigures {
    /// What emulated it, with its version.
    pub machine: String,
    /// SHA-256 of the kernel's image.
    pub kernel_sha256: String,
    /// SHA-256 of the initramfs, which holds the program that measured.
    pub initramfs_sha256: String,
}

/// The bottleneck over the measured period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// Packets that did not leave it: dropped for want of room, or lost on it.
    pub drops: u64,
    /// Share of the time the link was sending, 0 to 1.
    #[serde(serialize_with = "finite")]
    pub utilization: f64,
    /// The largest number of packets waiting; `None` where nothing shows them (netem).
    pub peak_queue_packets: Option<u64>,
    /// The time average of packets waiting; `None` there too.
    #[serde(serialize_with = "finite_or_none")]
    pub mean_queue_packets: Option<f64>,
    /// How many of the drops are random losses or drops that the scenario asks for by number.
    #[serde(default)]
    pub random_losses: u64,
    /// Packets marked with congestion experienced; left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marks: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a run cost the machine; the only part that differs between equal runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Wall-clock seconds.
    #[serde(serialize_with = "finite")]
    pub wall_s: f64,
    /// Events that the simulator handled.
    pub events: u64,
    /// Delivered data packets per wall-clock second; 0 without a clock.
    #[serde(serialize_with = "finite")]
    pub delivered_packets_per_s: f64,
}

impl Cost {
    /// Nothing was measured.
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Serialises a number and refuses NaN and infinities, which JSON cannot say.
pub(crate) fn finite<S: serde::Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        return to.serialize_f64(*value);
    }
    Err(serde::ser::Error::custom(format_args!("a result is {value}, which is not a number")))
}

pub(crate) fn finite_or_none<S: serde::Serializer>(
    value: &Option<f64>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => finite(value, to),
        None => to.serialize_none(),
    }
}

measures! { run, _flow:
    Run Count "bottleneck_drops" ["packets"]
        "Of the run: packets that did not leave the slowest link"
        = run.bottleneck.drops;
    Run Count "bottleneck_random_losses" ["packets"]
        "Of the run: those of them that were lost at random or by number"
        = run.bottleneck.random_losses;
    Run Number "bottleneck_utilization" ["share"]
        "Of the run: the time the slowest link was sending"
        = run.bottleneck.utilization;
    Run Count or_null "peak_queue_packets" ["packets"]
        "Of the run: the most packets waiting there"
        = run.bottleneck.peak_queue_packets;
    Run Number or_null "mean_queue_packets" ["packets"]
        "Of the run: time average of packets waiting there"
        = run.bottleneck.mean_queue_packets;
    Run Number "total_throughput_bps" ["bit/s"]
        "Of the run: payload of all flows over `duration_s`"
        = run.total_throughput_bps;
    Run Number "jain_index" [""]
        "Of the run: Jain's fairness index of the flows' throughputs"
        = run.jain_index;
    Run Text or_null "note" [""]
        "Of the run: what the reader must know"
        = run.note.as_deref();
    Run Text or_null "lab_timing" [""]
        "On real Linux: was the link in time: `valid`, `degraded`, `invalid`, `unknown`"
        = run.lab.as_ref().map(|lab| &*lab.timing);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Startup;

    fn results() -> Results {
        let flow = FlowResult {
            control: "astart+westwood".to_owned(),
            throughput_bps: 3.75e7,
            startup: Startup { exit_reason: Some("loss".to_owned()), ..Startup::default() },
            ..FlowResult::default()
        };
        let cost = Cost { wall_s: 0.5, ..Cost::default() };
        let run =
            RunResult { flows: vec![flow], seed: 1, jain_index: 1.0, cost, ..Default::default() };
        Results::new("0.1.0", serde_json::json!({"rate_bps": 40_000_000}), vec![run])
    }

    /// The keys of the contract in their order; a reader may rely on both.
    #[test]
    fn keys_come_in_the_order_of_the_contract() {
        let json = results().to_json().unwrap();
        let contract = "schema version scenario runs control alias preset transport profile seed \
            duration_s flows id control start_s throughput_bps utilization delivered_bytes \
            delivered_packets sent_packets retransmitted_packets fast_retransmits timeouts \
            completion_time_s peak_cwnd_packets final_cwnd_packets startup exit_time_s \
            exit_reason exit_cwnd_packets exit_window_over_bdp inflight_over_window_at_exit \
            drops_in_exit_round reductions_next_10_rtt time_to_bdp_s 0.6 0.8 0.9 reprobes \
            bottleneck drops utilization peak_queue_packets mean_queue_packets random_losses \
            total_throughput_bps jain_index utilization cost wall_s events delivered_packets_per_s";
        let keys: Vec<&str> = json
            .lines()
            .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\":").map(|(k, _)| k))
            .filter(|key| *key != "rate_bps")
            .collect();
        assert_eq!(keys, contract.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn what_runs_cost_is_left_out_on_demand() {
        let json = results().without_cost().to_json().unwrap();
        assert!(!json.contains("cost"));
        assert!(serde_json::from_str::<Results>(&json).is_ok());
    }

    #[test]
    fn results_read_back_as_they_were_written() {
        let results = results();
        let back: Results = serde_json::from_str(&results.to_json().unwrap()).unwrap();
        assert_eq!(back, results);
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        let mut results = results();
        results.runs[0].jain_index = f64::NAN;
        assert!(results.to_json().unwrap_err().to_string().contains("NaN"));
        results.runs[0].jain_index = 1.0;
        results.runs[0].flows[0].completion_time_s = Some(f64::INFINITY);
        assert!(results.to_json().is_err());
    }
}
