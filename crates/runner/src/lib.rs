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
#[cfg(test)]
mod every_row;
mod foreign;
mod keys;
mod network;
mod ns2;
mod ns2_clocks;
mod outcome;
mod script;
mod trace;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use firstflight_core::units::Span;
use firstflight_results::{Partial, Refused, Results, RunResult, Series};
use firstflight_scenario::{
    ControlSpec, Plan, Profile, Recovery, Resolved, Scenario, ScenarioError,
};
use firstflight_sim::{FastPaths, Interrupted, run_with};
use rayon::prelude::*;

pub use endpoint::own_recovery;
pub use firstflight_control::{Control, ControlProblem, accepted};
pub use firstflight_sim::Ends;
pub use foreign::{Foreign, ForeignFlow, On};
pub use keys::check_keys;
pub use network::{files, link, losses, start, traced};
pub use outcome::files_result;
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
    /// Another transport for flows that ask for it, or for all.
    pub on: Option<On<'a>>,
    /// Run one after the other in this thread: for callers that spread work themselves, and for
    /// children of a fork, which have none of the threads of rayon's pool.
    pub serial: bool,
}

/// What running a scenario yields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The scenario in base units.
    pub resolved: Resolved,
    /// In the order of the controls, those of one control in the order of their seeds; after an
    /// interruption those of whole rounds, of which each has every control with one seed. If there
    /// is no whole round, those that were finished.
    pub runs: Vec<Run>,
    /// What was to be compared and is not, because the transport does not carry it.
    pub refused: Vec<Refused>,
    /// The run was told to stop before all was done.
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
}

/// Why a scenario did not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario contradicts itself.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A control that does not exist or cannot be set so.
    #[error("{0}")]
    Control(#[from] ControlProblem),
    /// A flow that its transport cannot carry.
    #[error("{0}")]
    Foreign(String),
    /// The command was told to stop before any run was finished.
    #[error("interrupted")]
    Interrupted,
}

impl Run {
    /// A run with its traces: one per flow and one per link, or none.
    pub fn new(result: RunResult, flows: Vec<Series>, queues: Vec<Series>) -> Self {
        Self { result, flows, queues }
    }
}

impl Report {
    /// The runs of a scenario, seed by seed and all of them unless they were interrupted.
    pub fn new(resolved: Resolved, runs: Vec<Run>, interrupted: bool) -> Self {
        let asked = resolved.controls.len().max(1) * resolved.seeds().count();
        let runs = by_control(match interrupted {
            true => whole_rounds(runs, resolved.controls.len().max(1)),
            false => runs,
        });
        Self { resolved, runs, refused: Vec::new(), interrupted, asked }
    }

    /// What an interruption left, if there was one.
    pub fn partial(&self) -> Option<Partial> {
        let Self { runs, asked, .. } = self;
        self.interrupted.then_some(Partial { runs: runs.len(), asked: *asked })
    }

    /// The document of `--json`.
    pub fn results(&self) -> Results {
        let scenario = serde_json::to_value(&self.resolved).unwrap_or_default();
        let runs = self.runs.iter().map(|run| run.result.clone()).collect();
        let mut results = Results::new(env!("CARGO_PKG_VERSION"), scenario, runs);
        results.refused.clone_from(&self.refused);
        results.partial = self.partial();
        results
    }
}

/// The runs of the seeds with which every control was done, if there is such a seed: means over
/// different seeds compare nothing.
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

/// Runs every plan of the scenario with every seed on the simulator, in parallel over the cores.
///
/// # Errors
/// A contradictory scenario, an unknown control or knob, a flow that its transport cannot carry, or
/// an interruption before any run was finished; a later one leaves what was finished in the report.
pub fn run(scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
    let (resolved, prepared) = prepare(scenario, options.on)?;
    // Seed by seed, so that an interruption leaves rounds in which every control has its run.
    let runs: Vec<(u64, &(Plan, Vec<Control>))> = resolved
        .seeds()
        .flat_map(|seed| prepared.iter().map(move |prepared| (seed, prepared)))
        .collect();
    let total = runs.len();
    let done = AtomicUsize::new(0);
    let one = |(seed, (plan, controls)): &(u64, &(Plan, Vec<Control>))| {
        if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(None);
        }
        let run = match run_plan(&resolved, *seed, plan, controls, options) {
            Ok(run) => run,
            Err(RunError::Interrupted) => return Ok(None),
            Err(problem) => return Err(problem),
        };
        let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(report) = options.on_done {
            report(finished, total);
        }
        Ok(Some(run))
    };
    // One run gains nothing from other threads, and to wake them takes longer than a short one.
    let runs: Vec<Option<Run>> = match options.serial || total == 1 {
        true => runs.iter().map(one).collect::<Result<_, RunError>>()?,
        false => in_order(&runs, one)?,
    };
    let runs: Vec<Run> = runs.into_iter().flatten().collect();
    let interrupted = runs.len() < total;
    if interrupted && runs.is_empty() {
        return Err(RunError::Interrupted);
    }
    let resolved = foreign::shown(scenario, resolved, options.on)?;
    Ok(Report::new(resolved, runs, interrupted))
}

/// Does one for each over the cores, each taken in its turn: a parallel iterator over the list
/// would begin at several places of it.
fn in_order<T: Sync, R: Send>(
    each: &[T],
    one: impl Fn(&T) -> Result<R, RunError> + Sync,
) -> Result<Vec<R>, RunError> {
    let mut done: Vec<(usize, R)> = each
        .iter()
        .enumerate()
        .par_bridge()
        .map(|(at, each)| Ok((at, one(each)?)))
        .collect::<Result<_, RunError>>()?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}

/// Checks that [`run`] can run a scenario, without running it.
///
/// # Errors
/// As [`run`], but for what a foreign transport only finds when it runs.
pub fn check(scenario: &Scenario, on: Option<On<'_>>) -> Result<(), RunError> {
    prepare(scenario, on).map(drop)
}

/// A plan with the control of each group of flows.
type Prepared = Vec<(Plan, Vec<Control>)>;

/// The scenario in base units, and its plans with their controls as the profile adapts them.
fn prepare(scenario: &Scenario, on: Option<On<'_>>) -> Result<(Resolved, Prepared), RunError> {
    let scenario = &foreign::fitting(scenario, on)?;
    let resolved = scenario.resolve()?;
    let with_controls = |plan: Plan| {
        let control = |spec| foreign::control(on, spec);
        let mut controls: Vec<Control> =
            plan.controls.iter().map(control).collect::<Result<_, _>>()?;
        if resolved.endpoint.profile == Profile::Ns2 {
            controls.iter_mut().for_each(ns2::adapt);
        }
        let groups = scenario.groups();
        let flows = groups.iter().zip(&resolved.flows).zip(&plan.controls);
        for (control, ((group, flow), spec)) in controls.iter_mut().zip(flows) {
            let foreign = foreign::carrier(on, group.transport, spec)?.is_some();
            let quic = flow.recovery.value == Recovery::Quic;
            if foreign || quic || flow.delayed_ack.value > 1 {
                control.suggest_weights_per_packet();
            }
            if !foreign {
                endpoint::carries(resolved.endpoint.profile, flow, control)?;
                network::bears(&resolved, flow, control)?;
            }
        }
        Ok((plan, controls))
    };
    let plans = scenario.plans()?.into_iter();
    let prepared = plans.map(with_controls).collect::<Result<_, RunError>>()?;
    Ok((resolved, prepared))
}

/// The scenario in base units as [`run`] runs it.
///
/// # Errors
/// A contradictory scenario, or a flow that its transport cannot carry.
pub fn resolve(scenario: &Scenario, on: Option<On<'_>>) -> Result<Resolved, RunError> {
    let scenario = foreign::fitting(scenario, on)?;
    foreign::shown(&scenario, scenario.resolve()?, on)
}

/// A control in full, as results name it: one of the core's, or one that only `on` has.
///
/// # Errors
/// What is wrong, with the nearest name and what is accepted.
pub fn full_name(spec: &ControlSpec, on: Option<On<'_>>) -> Result<String, ControlProblem> {
    foreign::control(on, spec).map(|control| control.full)
}

fn run_plan(
    resolved: &Resolved,
    seed: u64,
    plan: &Plan,
    controls: &[Control],
    options: &Options<'_>,
) -> Result<Run, RunError> {
    let mut resolved = resolved.clone();
    resolved.seed = seed;
    let resolved = &resolved;
    let sample_every = options
        .samples
        .map(|samples| Span((resolved.duration_ns / u64::from(samples.max(1))).max(1)));
    let network = network::build(resolved, controls, sample_every);
    let (ends, transport) = foreign::all_ends(resolved, plan, &network, options.on)?;
    let never = AtomicBool::new(false);
    let before = Instant::now();
    let outcome = run_with(&network, ends, FastPaths::On, options.stop.unwrap_or(&never))
        .map_err(|Interrupted| RunError::Interrupted)?;
    let wall = before.elapsed();
    let mut result = outcome::result(resolved, plan, controls, &network, &outcome, wall);
    result.transport = transport;
    let notes =
        [result.note.take(), foreign::cautions(&plan.controls, &resolved.flows, options.on)];
    result.note = notes.into_iter().flatten().reduce(|all, more| format!("{all}; {more}"));
    let (flows, queues) = match options.samples {
        Some(_) => (trace::flows(&network, &outcome), trace::queues(&outcome)),
        None => (Vec::new(), Vec::new()),
    };
    Ok(Run { result, flows, queues })
}

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
