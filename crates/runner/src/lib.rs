//! From a scenario to results: names become controls, base units become a network, the transport
//! runs it, and what came out is measured in one schema.
//!
//! A [`Transport`] runs scenarios. The packet [`Simulator`] is one; the others are in crates of
//! their own.
//!
//! ```
//! use firstflight_runner::{Options, run};
//! use firstflight_scenario::Scenario;
//!
//! let text = "controls = ['newreno']\nduration = '5s'";
//! let scenario = Scenario::parse(text, "example.toml").unwrap();
//! let report = run(&scenario, &Options::default()).unwrap();
//! assert!(report.runs[0].result.flows[0].utilization > 0.05);
//! ```

mod endpoint;
mod error;
mod follow;
mod keys;
mod logs;
mod network;
mod ns2;
mod ns2_clocks;
mod other_stack;
mod outcome;
mod script;
mod simulator;
mod trace;
mod transport;
#[cfg(test)]
mod unread_keys;

use std::sync::atomic::AtomicBool;

use firstflight_results::{Partial, Refused, Results, RunResult, Series};
use firstflight_scenario::{Complete, Scenario};
use serde::Serialize;

pub use endpoint::own_recovery;
pub use error::RunError;
pub use firstflight_control::{Control, ControlProblem, accepted};
pub use firstflight_sim::{AckJourney, Ends, Journal, Journey, Passed, Segment};
pub use follow::{Followed, follow};
pub use logs::{LogFile, Logs};
pub use network::{files, link, losses, start};
pub use other_stack::{OtherFlow, OtherStack};
pub use script::{SCRIPT_COLUMNS, script};
pub use simulator::{Simulator, in_order};
pub use transport::Transport;

/// How to run.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Keep about this many samples over time of every flow and queue.
    pub samples: Option<u32>,
    /// Becomes true when the run is to stop.
    pub stop: Option<&'a AtomicBool>,
    /// Called after every finished run with its place and the number of runs.
    pub on_done: Option<&'a (dyn Fn(usize, usize) + Sync)>,
    /// Where a QUIC stack writes the qlog of each flow.
    pub logs: Option<&'a Logs>,
    /// Called with what passed the sender of each flow of a run, packet by packet, perhaps from
    /// several threads; the simulator's TCP alone records it.
    pub on_packets: Option<&'a OnPackets<'a>>,
    /// Called with a few words on what the run does now, such as booting a kernel.
    pub say: Option<&'a (dyn Fn(&str) + Sync)>,
    /// Run one after the other, the simulator in this thread: for callers that spread work
    /// themselves, and for children of a fork, which have none of the threads of rayon's pool.
    pub serial: bool,
}

/// Takes the packets of a run: of the scenario, with that result, flow by flow.
pub type OnPackets<'a> =
    dyn Fn(&Complete, &RunResult, &[Vec<Passed>]) -> Result<(), RunError> + Sync + 'a;

/// What running a scenario yields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The scenario that ran, complete.
    pub scenario: Complete,
    /// In the order of the controls, those of one control in the order of their seeds; after an
    /// interruption those of whole rounds, of which each has every control with one seed. If there
    /// is no whole round, those that were finished.
    pub runs: Vec<Run>,
    /// What was to be compared and is not, because the transport does not carry it.
    pub refused: Vec<Refused>,
    /// The run was stopped before all was done.
    pub interrupted: bool,
    /// How many runs were asked for.
    pub asked: usize,
}

/// One run: its results and, if asked for, its traces.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// In the shared schema.
    pub result: RunResult,
    /// One per flow, in the order of the results; empty without samples.
    pub flows: Vec<Series>,
    /// One per link, in the order of the scenario; empty without samples.
    pub queues: Vec<Series>,
    /// When flows lost packets, timed out and left start-up, one list per flow; only the simulator
    /// has them, with samples.
    pub moments: Vec<Vec<Moment>>,
}

/// Something that happened to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// When, seconds of the run.
    pub time_s: f64,
    /// What.
    pub what: MomentKind,
    /// How many times within a sample's interval.
    pub count: u64,
}

/// What happens to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MomentKind {
    /// A link lost a packet.
    Lost,
    /// A retransmission timer fired.
    Timeout,
    /// Start-up ended.
    Exit,
}

impl Run {
    /// A run with its traces: one per flow and one per link, or none.
    pub fn new(result: RunResult, flows: Vec<Series>, queues: Vec<Series>) -> Self {
        Self { result, flows, queues, moments: Vec::new() }
    }
}

impl Report {
    /// The runs of a scenario, seed by seed and all of them unless they were interrupted.
    pub fn new(scenario: Complete, runs: Vec<Run>, interrupted: bool) -> Self {
        let asked = scenario.controls.len().max(1) * scenario.seeds().count();
        let runs = by_control(match interrupted {
            true => whole_rounds(runs, scenario.controls.len().max(1)),
            false => runs,
        });
        Self { scenario, runs, refused: Vec::new(), interrupted, asked }
    }

    /// What an interruption left, if there was one.
    pub fn partial(&self) -> Option<Partial> {
        let Self { runs, asked, .. } = self;
        self.interrupted.then_some(Partial { runs: runs.len(), asked: *asked })
    }

    /// The document of `--json`.
    pub fn results(&self) -> Results {
        let scenario = serde_json::to_value(&self.scenario).unwrap_or_default();
        let runs = self.runs.iter().map(|run| run.result.clone()).collect();
        let mut results = Results::new(env!("CARGO_PKG_VERSION"), scenario, runs);
        results.refused.clone_from(&self.refused);
        results.partial = self.partial();
        results
    }
}

/// The runs of the seeds with which every control was run, if there is such a seed: means over
/// different seeds cannot be compared.
fn whole_rounds(runs: Vec<Run>, controls: usize) -> Vec<Run> {
    let done = |seed: u64| runs.iter().filter(|run| run.result.seed == seed).count();
    let whole: Vec<u64> =
        runs.iter().map(|run| run.result.seed).filter(|seed| done(*seed) == controls).collect();
    match whole.is_empty() {
        true => runs,
        false => runs.into_iter().filter(|run| whole.contains(&run.result.seed)).collect(),
    }
}

/// Runs that came seed by seed, by control.
fn by_control(mut runs: Vec<Run>) -> Vec<Run> {
    let mut controls: Vec<String> = Vec::new();
    for run in &runs {
        if !controls.contains(&run.result.alias) {
            controls.push(run.result.alias.clone());
        }
    }
    runs.sort_by_key(|run| controls.iter().position(|alias| *alias == run.result.alias));
    runs
}

/// Runs every plan of the scenario with every seed on the simulator's TCP, in parallel over the
/// cores.
///
/// # Errors
/// As [`Transport::run`].
pub fn run(scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
    Simulator::TCP.run(scenario, options)
}

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
