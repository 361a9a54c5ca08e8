//! From a scenario to results: names become controls, base units become a network, the transport
//! runs it, and what came out is measured in one schema.
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
mod measure;
mod network;
mod ns2;
mod script;
mod trace;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use firstflight_core::units::Span;
use firstflight_scenario::{
    ControlSpec, Plan, Profile, Resolved, Results, RunResult, Scenario, ScenarioError, Series,
};
use firstflight_sim::{Interrupted, Pace, run_until};
use rayon::prelude::*;

pub use firstflight_control::{Control, ControlProblem, accepted};
pub use network::start;
pub use script::{SCRIPT_COLUMNS, script};

/// How to run.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Keep about this many samples over time of every flow and queue.
    pub samples: Option<u32>,
    /// Becomes true when the run is to stop.
    pub stop: Option<&'a AtomicBool>,
    /// Called after every finished run with its place and the number of runs.
    pub on_done: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

/// What running a scenario yields.
#[derive(Clone, Debug)]
pub struct Report {
    /// The scenario in base units.
    pub resolved: Resolved,
    /// In the order of the controls, those of one control in the order of their seeds; after an
    /// interruption only those that were finished.
    pub runs: Vec<Run>,
    /// The run was told to stop before all was done.
    pub interrupted: bool,
}

/// One run: its results and, if asked for, its traces.
#[derive(Clone, Debug)]
pub struct Run {
    /// In the shared schema.
    pub result: RunResult,
    /// One per flow, in the order of the results; empty without samples.
    pub flows: Vec<Series>,
    /// One per link, in the order of the scenario; empty without samples.
    pub queues: Vec<Series>,
}

/// Why a scenario did not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario says what cannot be.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A control that does not exist or cannot be set so.
    #[error("{0}")]
    Control(#[from] ControlProblem),
    /// Told to stop before any run was finished.
    #[error("interrupted")]
    Interrupted,
}

impl Report {
    /// The document of `--json`.
    pub fn results(&self) -> Results {
        let scenario = serde_json::to_value(&self.resolved).unwrap_or_default();
        let runs = self.runs.iter().map(|run| run.result.clone()).collect();
        Results::new(env!("CARGO_PKG_VERSION"), scenario, runs)
    }
}

/// Runs every plan of the scenario with every seed on the simulator, in parallel over the cores.
///
/// # Errors
/// A contradictory scenario, an unknown control or knob, or an interruption before any run was
/// finished; a later one leaves what was finished in the report.
pub fn run(scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
    let resolved = scenario.resolve()?;
    let plans = scenario.plans()?;
    let prepared: Vec<(Plan, Vec<Control>)> = plans
        .into_iter()
        .map(|plan| {
            let mut controls: Vec<Control> =
                plan.controls.iter().map(Control::resolve).collect::<Result<_, _>>()?;
            if resolved.endpoint.profile == Profile::Ns2 {
                controls.iter_mut().for_each(ns2::adapt);
            }
            Ok((plan, controls))
        })
        .collect::<Result<_, ControlProblem>>()?;
    let runs: Vec<(u64, &(Plan, Vec<Control>))> = prepared
        .iter()
        .flat_map(|prepared| resolved.seeds().map(move |seed| (seed, prepared)))
        .collect();
    let total = runs.len();
    let done = AtomicUsize::new(0);
    let runs: Vec<Option<Run>> = runs
        .par_iter()
        .map(|(seed, (plan, controls))| {
            if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return None;
            }
            let run = run_plan(&resolved, *seed, plan, controls, options).ok()?;
            let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(report) = options.on_done {
                report(finished, total);
            }
            Some(run)
        })
        .collect();
    let runs: Vec<Run> = runs.into_iter().flatten().collect();
    let interrupted = runs.len() < total;
    if interrupted && runs.is_empty() {
        return Err(RunError::Interrupted);
    }
    Ok(Report { resolved, runs, interrupted })
}

/// Checks that a control exists and that its knobs can be set so, without running anything.
///
/// # Errors
/// What is wrong, with the nearest name and what is accepted.
pub fn check_control(spec: &ControlSpec) -> Result<(), ControlProblem> {
    Control::resolve(spec).map(|_| ())
}

fn run_plan(
    resolved: &Resolved,
    seed: u64,
    plan: &Plan,
    controls: &[Control],
    options: &Options<'_>,
) -> Result<Run, Interrupted> {
    let resolved = &Resolved { seed, ..resolved.clone() };
    let sample_every = options
        .samples
        .map(|samples| Span((resolved.duration_ns / u64::from(samples.max(1))).max(1)));
    let network = network::build(resolved, controls, sample_every);
    let never = AtomicBool::new(false);
    let before = Instant::now();
    let outcome = run_until(&network, Pace::Ahead, options.stop.unwrap_or(&never))?;
    let wall = before.elapsed();
    let result = measure::result(resolved, plan, controls, &network, &outcome, wall);
    let (flows, queues) = match options.samples {
        Some(_) => (trace::flows(&network, &outcome), trace::queues(&outcome)),
        None => (Vec::new(), Vec::new()),
    };
    Ok(Run { result, flows, queues })
}
