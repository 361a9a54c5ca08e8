//! The packet simulator as a transport, alone or with another stack's flows in its network.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use firstflight_control::Control;
use firstflight_core::units::Span;
use firstflight_scenario::{Complete, ControlSpec, Plan, Profile, Recovery, Scenario};
use firstflight_sim::{FastPaths, Interrupted, run_recorded, run_with};
use rayon::prelude::*;

use crate::other_stack::{self, OtherStack};
use crate::{
    Options, Report, Run, RunError, Transport, endpoint, keys, network, ns2, outcome, trace,
};

/// The simulator's TCP, and the stack of another protocol for the flows that ask for it.
#[derive(Clone, Copy, Debug)]
pub struct Simulator<'a> {
    /// The other stack, if there is one.
    pub other_stack: Option<&'a dyn OtherStack>,
    /// It carries every flow that does not name TCP.
    pub by_default: bool,
}

impl Simulator<'_> {
    /// TCP alone.
    pub const TCP: Self = Self { other_stack: None, by_default: false };

    fn run_plan(
        &self,
        complete: &Complete,
        seed: u64,
        plan: &Plan,
        controls: &[Control],
        options: &Options<'_>,
    ) -> Result<Run, RunError> {
        let mut complete = complete.clone();
        complete.seed = seed;
        let complete = &complete;
        let sample_every = options
            .samples
            .map(|samples| Span((complete.duration.ns() / u64::from(samples.max(1))).max(1)));
        let network = network::build(complete, controls, sample_every);
        let (ends, transport) =
            other_stack::all_ends(complete, plan, &network, *self, options.logs)?;
        // A page in a browser has no clock of the machine.
        let before = (!cfg!(target_family = "wasm")).then(Instant::now);
        let go_on = &mut || options.stop.is_none_or(|stop| !stop.load(Ordering::Relaxed));
        let ran = match options.on_packets {
            None => run_with(&network, ends, FastPaths::On, go_on).map(|ran| (ran, Vec::new())),
            Some(_) => run_recorded(&network, ends, go_on),
        };
        let (outcome, passed) = ran.map_err(|Interrupted| RunError::Interrupted)?;
        let wall = before.map_or(Duration::ZERO, |before| before.elapsed());
        let mut result = outcome::result(complete, plan, controls, &network, &outcome, wall);
        result.transport = transport;
        let notes =
            [result.note.take(), other_stack::cautions(&plan.controls, &complete.flows, *self)];
        result.note = notes.into_iter().flatten().reduce(|all, more| format!("{all}; {more}"));
        options.on_packets.map_or(Ok(()), |take| take(complete, &result, &passed))?;
        let Some(every) = sample_every else { return Ok(Run::new(result, Vec::new(), Vec::new())) };
        let (flows, queues) = (trace::flows(&network, &outcome), trace::queues(&outcome));
        let moments = outcome.flows.iter().map(|flow| trace::moments(flow, every)).collect();
        Ok(Run { moments, ..Run::new(result, flows, queues) })
    }
}

impl Transport for Simulator<'_> {
    fn name(&self) -> &'static str {
        self.other_stack.filter(|_| self.by_default).map_or("sim", OtherStack::name)
    }

    fn full_name(&self, control: &ControlSpec) -> Result<String, RunError> {
        Ok(other_stack::control(*self, control)?.full)
    }

    fn complete(&self, scenario: &Scenario) -> Result<Complete, RunError> {
        let (complete, _) = prepare(scenario, *self)?;
        other_stack::with_quic_recovery(scenario, complete, *self)
    }

    fn check_keys(&self, scenario: &Scenario) -> Result<(), RunError> {
        Ok(keys::check_keys(scenario, *self)?)
    }

    fn run(&self, scenario: &Scenario, options: &Options<'_>) -> Result<Report, RunError> {
        let (complete, prepared) = prepare(scenario, *self)?;
        // Seed by seed, so that an interruption leaves rounds in which every control has its run.
        let runs: Vec<(u64, &(Plan, Vec<Control>))> = complete
            .seeds()
            .flat_map(|seed| prepared.iter().map(move |prepared| (seed, prepared)))
            .collect();
        let total = runs.len();
        let done = AtomicUsize::new(0);
        let one = |(seed, (plan, controls)): &(u64, &(Plan, Vec<Control>))| {
            if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(None);
            }
            let run = match self.run_plan(&complete, *seed, plan, controls, options) {
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
        let complete = other_stack::with_quic_recovery(scenario, complete, *self)?;
        Ok(Report::new(complete, runs, interrupted))
    }
}

/// Maps a list over the cores, its elements taken in order: a parallel iterator over the list would
/// begin at several places of it.
///
/// # Errors
/// The first of `one`.
pub fn in_order<T: Sync, R: Send>(
    each: &[T],
    one: impl Fn(&T) -> Result<R, RunError> + Sync,
) -> Result<Vec<R>, RunError> {
    // A page has one thread, and need not hold what starts others.
    if cfg!(target_family = "wasm") {
        return each.iter().map(one).collect();
    }
    let mut done: Vec<(usize, R)> = each
        .iter()
        .enumerate()
        .par_bridge()
        .map(|(at, each)| Ok((at, one(each)?)))
        .collect::<Result<_, RunError>>()?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}

/// A plan with the control of each group of flows.
pub(crate) type Prepared = Vec<(Plan, Vec<Control>)>;

/// The complete scenario, and its plans with their controls as the profile adapts them.
pub(crate) fn prepare(
    scenario: &Scenario,
    on: Simulator<'_>,
) -> Result<(Complete, Prepared), RunError> {
    let scenario = &other_stack::with_packet_size(scenario, on)?;
    let complete = scenario.complete()?;
    let with_controls = |plan: Plan| {
        let control = |spec| other_stack::control(on, spec);
        let mut controls: Vec<Control> =
            plan.controls.iter().map(control).collect::<Result<_, _>>()?;
        if complete.endpoint.profile == Profile::Ns2 {
            controls.iter_mut().for_each(ns2::adapt);
        }
        let groups = scenario.groups();
        let flows = groups.iter().zip(&complete.flows).zip(&plan.controls);
        for (control, ((group, flow), spec)) in controls.iter_mut().zip(flows) {
            let other = other_stack::carrier(on, group.transport, spec)?;
            other.map_or(Ok(()), |other| other.check(spec))?;
            let other = other.is_some();
            let quic = flow.recovery.value == Recovery::Quic;
            if other || quic || flow.delayed_ack.value > 1 {
                control.suggest_weights_per_packet();
            }
            if !other {
                endpoint::check_recovery(complete.endpoint.profile, flow, control)?;
                network::check_path(&complete, flow, control)?;
            }
        }
        Ok((plan, controls))
    };
    let plans = scenario.plans()?.into_iter();
    let prepared = plans.map(with_controls).collect::<Result<_, RunError>>()?;
    Ok((complete, prepared))
}
