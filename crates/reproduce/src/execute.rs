//! Runs jobs on all cores, then those of the lab one by one, keeps the finished ones, and stops
//! when told to.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use firstflight_runner::{Options, Run, Transport, run, script};
use rayon::prelude::*;

use crate::cache::Cache;
use crate::check::Unfinished;
use crate::error::ReproduceError;
use crate::file::On;
use crate::job::Job;
use crate::lab;
use crate::samples::kept;

/// A step of a reproduction: a run begins, or is finished.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Whether the run begins; it does not count as finished then.
    pub begins: bool,
    /// Runs finished so far, this one included unless it begins, and those kept from earlier ones.
    pub done: usize,
    /// How many runs there are in all.
    pub total: usize,
    /// The work of the runs that were finished now, in parts of `work_total`.
    pub work_done: u64,
    /// The work of all runs that were not kept from an earlier reproduction. Runs differ by orders
    /// of magnitude, so the time left follows from this and not from their number.
    pub work_total: u64,
    /// The run's name: file, case, control and seed.
    pub name: &'a str,
}

/// The finished runs.
pub(crate) struct Executed {
    /// The runs, in the order of the jobs.
    pub runs: Vec<Result<Run, Unfinished>>,
    /// How many of them were asked for.
    pub total: usize,
    /// How many came from the cache.
    pub cached: usize,
    /// Whether it was told to stop before all were finished.
    pub interrupted: bool,
}

/// Runs every job that is not kept yet. A simulation that had begun when `stop` became true is
/// finished and kept, since the longest take seconds; one in the lab is given up.
/// The lab waits until the simulator has done: it may measure in real time, and then one by one.
///
/// # Errors
/// The first run that fails, or a finished one that cannot be kept.
pub(crate) fn execute(
    jobs: &[Job],
    cache: Option<&Cache>,
    lab: Option<&dyn Transport>,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Executed, ReproduceError> {
    let asked = |on: On| on == On::Sim || lab.is_some();
    let total = jobs.iter().filter(|job| asked(job.on)).count();
    let of = |on: On| (0..jobs.len()).filter(|i| jobs[*i].on == on).collect::<Vec<usize>>();
    // Reading is quick: an interruption tells of everything there is, not only of what it read.
    let mut runs: Vec<Result<Run, Unfinished>> = jobs
        .par_iter()
        .map(|job| cache.filter(|_| job.on == On::Sim)?.load(&job.key).map(kept))
        .map(|kept| kept.ok_or(Unfinished::Interrupted))
        .collect();
    let found = runs.iter().flatten().count();
    let missing = of(On::Sim).into_iter().filter(|at| runs[*at].is_err()).collect();
    let reporter = JobReporter::new(found, total, progress);
    for (at, run) in simulated(jobs, missing, cache, stop, &reporter)? {
        runs[at] = Ok(run);
    }
    let side_by_side = lab.is_some_and(|lab| !lab.is_in_real_time());
    let read = AtomicUsize::new(found);
    let in_lab = |index: usize| -> Result<(usize, Result<Run, Unfinished>), ReproduceError> {
        let (job, asked) = (&jobs[index], asked(On::Linux));
        if asked {
            reporter.begins(job);
        }
        let (run, was_kept) = lab::one(lab, job, cache, stop)?;
        read.fetch_add(usize::from(was_kept), Ordering::Relaxed);
        if asked && !matches!(run, Err(Unfinished::Interrupted)) {
            reporter.finished(job, 0);
        }
        Ok((index, run.map(kept)))
    };
    for (index, run) in all(of(On::Linux), side_by_side, in_lab)? {
        runs[index] = run;
    }
    let interrupted = runs.iter().any(|run| matches!(run, Err(Unfinished::Interrupted)));
    Ok(Executed { runs, total, cached: read.into_inner(), interrupted })
}

/// Runs the simulations of some jobs, the longest first: otherwise one core would still run a long
/// one when the others have nothing left.
fn simulated(
    jobs: &[Job],
    of: Vec<usize>,
    cache: Option<&Cache>,
    stop: &AtomicBool,
    reporter: &JobReporter<'_>,
) -> Result<Vec<(usize, Run)>, ReproduceError> {
    let mut order: Vec<(u64, usize)> = of.into_iter().map(|at| (weight(&jobs[at]), at)).collect();
    order.sort_by_key(|(weight, at)| (Reverse(*weight), *at));
    reporter.work_total.store(order.iter().map(|(weight, _)| weight).sum(), Ordering::Relaxed);
    let failed = AtomicBool::new(false);
    let one = |(weight, at): (u64, usize)| -> Result<Option<(usize, Run)>, ReproduceError> {
        if failed.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        reporter.begins(&jobs[at]);
        let run = compute(&jobs[at], cache);
        failed.fetch_or(run.is_err(), Ordering::Relaxed);
        reporter.finished(&jobs[at], weight);
        Ok(run?.map(|run| (at, run)))
    };
    // A bridge hands them out one by one in their order; a parallel iterator over the list would
    // begin at several places of it.
    order.into_iter().par_bridge().filter_map(|each| one(each).transpose()).collect()
}

/// How far a reproduction has come.
struct JobReporter<'a> {
    done: AtomicUsize,
    total: usize,
    work_done: AtomicU64,
    work_total: AtomicU64,
    progress: &'a (dyn Fn(Progress<'_>) + Sync),
}

impl<'a> JobReporter<'a> {
    fn new(kept: usize, total: usize, progress: &'a (dyn Fn(Progress<'_>) + Sync)) -> Self {
        let (work_done, work_total) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { done: AtomicUsize::new(kept), total, work_done, work_total, progress }
    }

    fn begins(&self, job: &Job) {
        self.say(job, true);
    }

    fn finished(&self, job: &Job, weight: u64) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.work_done.fetch_add(weight, Ordering::Relaxed);
        self.say(job, false);
    }

    fn say(&self, job: &Job, begins: bool) {
        (self.progress)(Progress {
            begins,
            done: self.done.load(Ordering::Relaxed),
            total: self.total,
            work_done: self.work_done.load(Ordering::Relaxed),
            work_total: self.work_total.load(Ordering::Relaxed),
            name: &job.name,
        });
    }
}

/// Does one for each, side by side or one after the other.
fn all<T: Send>(
    each: Vec<usize>,
    side_by_side: bool,
    one: impl Fn(usize) -> Result<T, ReproduceError> + Send + Sync,
) -> Result<Vec<T>, ReproduceError> {
    match side_by_side {
        true => each.into_par_iter().with_max_len(1).map(one).collect(),
        false => each.into_iter().map(one).collect(),
    }
}

fn compute(job: &Job, cache: Option<&Cache>) -> Result<Option<Run>, ReproduceError> {
    let options = Options { samples: job.samples, ..Options::default() };
    let runs = match job.acks {
        Some(acks) => script(&job.scenario, acks).map(|run| vec![run]),
        None => run(&job.scenario, &options).map(|report| report.runs),
    };
    let runs = match runs {
        Ok(runs) => runs,
        Err(source) => {
            let source = Box::new(source);
            return Err(ReproduceError::Run { name: job.name.clone(), source });
        }
    };
    let Some(run) = runs.into_iter().next() else { return Ok(None) };
    if let Some(cache) = cache {
        cache.store(&job.key, &run)?;
    }
    Ok(Some(kept(run)))
}

/// Roughly how long a run takes, for sorting: the bits that its links could carry.
fn weight(job: &Job) -> u64 {
    job.scenario.complete().map_or(0, |complete| {
        let rate: u64 = complete.links.iter().map(|link| link.rate.bps()).sum();
        rate.saturating_mul(complete.duration.ns() / 1_000_000)
    })
}
