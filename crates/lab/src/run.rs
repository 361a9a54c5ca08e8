//! Runs scenarios on the running kernel: one control after the other, each in new namespaces.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use firstflight_runner::{Options, Report, Run};
use firstflight_scenario::{Complete, Plan, Scenario};

use crate::control::{LinuxControl, Loaded};
use crate::job::{self, Job};
use crate::netem::has_netem;
use crate::outcome::LabRun;
use crate::path::far_address;
use crate::testbed::{LinkKind, Testbed};
use crate::traffic::own::Own;
use crate::traffic::udp::Source;
use crate::traffic::{ConnectionOutcome, Schedule, iperf, shorten_problems};
use crate::{routes, trace};
use firstflight_runner::RunError;

/// How to run on real Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lab {
    /// How the bottleneck is made; by default netem if the kernel has it.
    pub link: Option<LinkKind>,
    /// What sends.
    pub generator: Generator,
    /// The machine's clock counts its instructions, so that nobody need spin to be in time.
    pub virtual_time: bool,
}

impl Lab {
    /// firstflight's own link and its own source: the same on every kernel.
    pub const TUN: Self =
        Self { link: Some(LinkKind::Tun), generator: Generator::Own, virtual_time: false };

    /// The values of the flags `--link` and `--generator`, if given.
    ///
    /// # Errors
    /// A word that is none of theirs.
    pub fn read(link: Option<&str>, generator: Option<&str>) -> Result<Self, RunError> {
        let wrong = |flag: &'static str| {
            move |problem: String| RunError::Input(format!("{flag}: {problem}"))
        };
        let link = link.map(str::parse).transpose().map_err(wrong("--link"))?;
        let generator = generator.map(str::parse).transpose().map_err(wrong("--generator"))?;
        Ok(Self { link, generator: generator.unwrap_or_default(), virtual_time: false })
    }
}

/// Who makes the connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// firstflight, with samples of `TCP_INFO` every 10 ms.
    #[default]
    Own,
    /// iperf3, with its own samples every 100 ms.
    Iperf3,
}

impl Generator {
    /// As results name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Iperf3 => "iperf3",
        }
    }
}

impl FromStr for Generator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "own" => Ok(Self::Own),
            "iperf3" => Ok(Self::Iperf3),
            _ => Err(format!("found `{text}`; accepted: own, iperf3")),
        }
    }
}

/// Runs every plan of the scenario with every seed, one after the other.
///
/// # Errors
/// The machine lacks something, the scenario asks for what a kernel cannot do, a run broke, or an
/// interruption came before any was finished; a later one leaves what was finished.
pub fn run(scenario: &Scenario, options: &Options<'_>, lab: Lab) -> Result<Report, RunError> {
    let complete = job::complete(scenario)?;
    let plans = prepare(scenario)?;
    let kind = match lab.link {
        Some(kind) => kind,
        // Who cannot ask has none.
        None if has_netem().unwrap_or(false) => LinkKind::Netem,
        None => LinkKind::Tun,
    };
    let never = AtomicBool::new(false);
    let stop = options.stop.unwrap_or(&never);
    let total = plans.len() * complete.seeds().count();
    let mut runs = Vec::new();
    // Seed by seed, so that an interruption leaves rounds in which every control has its run.
    for seed in complete.seeds() {
        for Prepared { plan, controls, .. } in &plans {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let one = One { complete: &complete, plan, controls, seed, kind, lab };
            let Some(run) = one.run(options.samples, stop)? else { break };
            runs.push(run);
            if let Some(report) = options.on_done {
                report(runs.len(), total);
            }
        }
    }
    let interrupted = runs.len() < total;
    if interrupted && runs.is_empty() {
        return Err(RunError::Interrupted);
    }
    Ok(Report::new(complete, runs, interrupted))
}

/// A plan whose controls the kernel has.
struct Prepared {
    plan: Plan,
    controls: Vec<LinuxControl>,
    _loaded: Loaded,
}

/// All plans: what this machine cannot run is found before the first has run.
fn prepare(scenario: &Scenario) -> Result<Vec<Prepared>, RunError> {
    let flows = scenario.complete()?.flows;
    let prepare = |plan: Plan| {
        let controls = plan.controls.iter().zip(&flows);
        let mut controls: Vec<LinuxControl> = controls
            .map(|(spec, flow)| LinuxControl::resolve(spec, flow.delayed_ack.value > 1))
            .collect::<Result<_, _>>()?;
        let loaded = Loaded::load(&mut controls)?;
        Ok(Prepared { plan, controls, _loaded: loaded })
    };
    scenario.plans()?.into_iter().map(prepare).collect()
}

struct One<'a> {
    complete: &'a Complete,
    plan: &'a Plan,
    controls: &'a [LinuxControl],
    seed: u64,
    kind: LinkKind,
    lab: Lab,
}

impl One<'_> {
    /// One run; `None` if `stop` became true.
    fn run(&self, samples: Option<u32>, stop: &AtomicBool) -> Result<Option<Run>, RunError> {
        let begun = Instant::now();
        let mut job = Job::new(self.complete, self.controls, self.seed);
        job.link = job.link.measured(samples, job.duration_ns);
        if self.lab.virtual_time {
            job.link.spin_ns = 0;
        }
        let mut bed = Testbed::new(self.kind, &job.link)?;
        routes::set_up(bed.near(), bed.far(), &job)?;
        let Some(mut flows) = self.carry(&job, &mut bed, stop)? else { return Ok(None) };
        shorten_problems(&mut flows);
        let link = bed.finish();
        if self.lab.generator == Generator::Own {
            check_thresholds(&job, &flows)?;
        }
        let measured = LabRun {
            complete: self.complete,
            plan: self.plan,
            controls: self.controls,
            job: &job,
            flows: &flows,
            link: &link,
            kind: self.kind,
            generator: self.lab.generator.name(),
            wall: begun.elapsed(),
        };
        let result = measured.result();
        let part = self.lab.generator == Generator::Iperf3;
        let traces = samples.map(|most| {
            let flows = flows.iter().enumerate();
            flows.map(|(id, flow)| trace::flow(id, &flow.samples, most, part)).collect()
        });
        let queues = match samples {
            Some(_) if self.kind == LinkKind::Tun => vec![trace::queue_series(&link.forward.depth)],
            _ => Vec::new(),
        };
        Ok(Some(Run::new(result, traces.unwrap_or_default(), queues)))
    }

    /// Sends all the traffic and waits for its end.
    fn carry(
        &self,
        job: &Job,
        bed: &mut Testbed,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<ConnectionOutcome>>, RunError> {
        let clock = bed.clock();
        let sources = job.udp.iter().enumerate().map(|(index, udp)| {
            Source::new(bed.near(), (bed.far(), far_address(0)), index, udp)
                .map_err(|error| RunError::Failed(format!("cross traffic {index}: {error}")))
        });
        let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
        if self.lab.generator == Generator::Iperf3 && job.flows.iter().any(|f| f.files.is_some()) {
            let problem = "--generator: iperf3 sends no files; accepted with them: own";
            return Err(RunError::Input(problem.to_owned()));
        }
        if self.lab.generator == Generator::Iperf3 && job.groups.iter().any(|it| it.reverse) {
            let problem = "--generator: iperf3 sends along the path; accepted with `reverse`: own";
            return Err(RunError::Input(problem.to_owned()));
        }
        let own = match self.lab.generator {
            Generator::Own => Some(Own::new(bed.near(), bed.far(), job, clock)?),
            Generator::Iperf3 => None,
        };
        let from = clock.now() + LEAD;
        let samples = job.duration_ns / MOST_SAMPLES * (1 + job.flows.len() as u64 / 100);
        let until = from + job.duration_ns;
        let cross = job.udp.iter().map(|udp| from.saturating_add(udp.stop.ns())).max();
        let quiet = cross.unwrap_or(from).min(until);
        let schedule = Schedule { from, until, quiet, every: SAMPLE.max(samples) };
        bed.measure(schedule.from, schedule.until);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for source in &sources {
                scope.spawn(|| source.run(schedule, clock, &over));
            }
            let flows = match &own {
                Some(own) => Ok(own.run(schedule, stop)),
                None => iperf::run(bed.near(), bed.far(), job, schedule, clock, stop),
            };
            over.store(true, Ordering::Relaxed);
            flows
        })
    }
}

/// Whether the kernel took the thresholds of the routes: it does so by a way round.
fn check_thresholds(job: &Job, flows: &[ConnectionOutcome]) -> Result<(), RunError> {
    for (flow, outcome) in job.flows.iter().zip(flows) {
        let Some((_, first)) = outcome.samples.first() else { continue };
        let wanted = job.groups[flow.group].ssthresh_packets;
        if let Some(wanted) = wanted
            && !flow.control.sets_its_own_threshold()
            // A loss may have changed it before the first sample.
            && first.total_retrans == 0
            && u64::from(first.ssthresh) > wanted
        {
            return Err(RunError::Failed(format!(
                "flow {}: its ssthresh began at {}, not at the route's {wanted} packets",
                flow.id, first.ssthresh
            )));
        }
    }
    Ok(())
}

const MILLISECOND: u64 = 1_000_000;
/// Before the run starts, for threads to be there.
const LEAD: u64 = 50 * MILLISECOND;
const SAMPLE: u64 = 10 * MILLISECOND;
/// Samples kept of one flow, so that long runs do not take the memory.
const MOST_SAMPLES: u64 = 20_000;
