//! Controls on one path, with their curves.

use firstflight_answers::measure::{bottleneck_bps, conditions};
use firstflight_answers::reading::sentences;
use firstflight_answers::{Expectation, check};
use firstflight_results::Results;
use firstflight_runner::{Moment, Options, Report, Run, RunError, Simulator};
use firstflight_scenario::{Rate, Scenario, Time, complete};
use serde::Serialize;

use crate::curves::Columns;
use crate::question::{alone, compact};

/// What came of a scenario, as a picture and in words.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    /// The document of `--json`.
    results: Results,
    /// What the numbers say.
    words: Vec<String>,
    /// The path and the endpoints.
    conditions: String,
    /// What the bottleneck holds.
    path: PathSize,
    /// A run of every control, with the first seed.
    runs: Vec<Drawn>,
    /// What the scenario expects, and whether it is so.
    expectations: Vec<Expectation>,
    /// The scenario as TOML.
    toml: String,
}

/// The path in packets.
#[derive(Debug, Serialize)]
struct PathSize {
    bdp_packets: f64,
    buffer_packets: f64,
    rate_bps: u64,
    rtt_s: f64,
    duration_s: f64,
    packet_bytes: u64,
}

/// A run over time.
#[derive(Debug, Serialize)]
pub(crate) struct Drawn {
    name: String,
    flows: Vec<Columns>,
    queue: Columns,
    moments: Vec<Vec<Moment>>,
}

/// Runs a scenario with so many samples.
pub(crate) fn compared(scenario: &Scenario, samples: u32) -> Result<String, RunError> {
    let run = |samples| {
        let options = Options { samples: Some(samples), ..alone() };
        Ok::<_, RunError>(firstflight_answers::run(scenario, &Simulator::TCP, &options)?.report)
    };
    let samples = samples.clamp(10, MOST_SAMPLES);
    let mut report = run(samples)?;
    // Samples part the whole time, of which transfers that are soon done take a little.
    if let Some(finer) = finer(&report, samples) {
        report = run(finer)?;
    }
    let runs: Vec<_> = report.runs.iter().map(|run| &run.result).collect();
    let checked = check(scenario, &runs);
    compact(&Compared {
        words: sentences(&report),
        conditions: conditions(&report),
        path: PathSize::of(&report),
        runs: drawn(&report),
        expectations: checked.map_or_else(Vec::new, |checked| checked.expectations),
        toml: scenario.to_toml(),
        results: report.results(),
    })
}

/// How many samples the time until all is done takes; `None` if that is most of the whole.
fn finer(report: &Report, samples: u32) -> Option<u32> {
    let flows = || report.runs.iter().flat_map(|run| &run.result.flows);
    let done = flows().map(|flow| Some(flow.start_s + flow.completion_time_s?));
    let last = done.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
    let whole = report.scenario.duration.seconds();
    (last > 0.0 && last < whole / 2.0).then(|| over(whole, last, samples))
}

/// The samples of the `whole` of which `part` has so many.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn over(whole: f64, part: f64, samples: u32) -> u32 {
    ((whole / part * f64::from(samples)) as u32).min(MOST_OVER)
}

/// The first run of every control.
pub(crate) fn drawn(report: &Report) -> Vec<Drawn> {
    let slowest = report.scenario.slowest_link();
    let one = |run: &Run| Drawn {
        name: run.result.alias.clone(),
        flows: run.flows.iter().take(MOST_FLOWS).map(Columns::of_flow).collect(),
        queue: run.queues.get(slowest).map(Columns::of_link).unwrap_or_default(),
        moments: run.moments.iter().take(MOST_FLOWS).cloned().collect(),
    };
    let first = report.runs.iter().filter(|run| run.result.seed == report.scenario.seed);
    first.map(one).collect()
}

impl PathSize {
    fn of(report: &Report) -> Self {
        let complete = &report.scenario;
        let rtt = complete.flows.first().map_or(Time::ZERO, |flow| flow.rtt);
        let rate_bps = bottleneck_bps(report);
        let wire_bytes = complete.wire_bytes().max(1);
        let buffer = complete.links.get(complete.slowest_link()).map(|link| match link.buffer {
            complete::Buffer::Packets(packets) => packets as f64,
            complete::Buffer::Bytes(bytes) => bytes as f64 / wire_bytes as f64,
            complete::Buffer::Unlimited => f64::INFINITY,
        });
        Self {
            bdp_packets: complete.bdp_packets(Rate::from_bps(rate_bps), rtt) as f64,
            buffer_packets: buffer.unwrap_or(0.0),
            rate_bps,
            rtt_s: rtt.seconds(),
            duration_s: complete.duration.seconds(),
            packet_bytes: complete.packet.bytes(),
        }
    }
}

/// A wide screen has as many dots.
const MOST_SAMPLES: u32 = 4_000;
/// The bound where a part of a long time is drawn.
const MOST_OVER: u32 = 2_000_000;
/// Curves of more flows hide each other.
const MOST_FLOWS: usize = 4;
