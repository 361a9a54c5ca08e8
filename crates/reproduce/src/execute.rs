//! Runs jobs on all cores, then those of the lab one by one, keeps the finished ones, and stops
//! when told to.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use firstflight_runner::{Options, Run, run, script};
use rayon::prelude::*;

use crate::cache::Cache;
use crate::check::Unfinished;
use crate::error::ReproduceError;
use crate::file::On;
use crate::job::Job;
use crate::lab::Lab;

/// A step of a reproduction: a run begins, is finished, or is found among those kept earlier.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Whether the run begins; it does not count as finished then.
    pub begins: bool,
    /// Runs finished so far, this one included unless it begins.
    pub done: usize,
    /// How many runs there are in all.
    pub total: usize,
    /// Whether the run was kept from an earlier reproduction.
    pub cached: bool,
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
    lab: Lab<'_>,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Executed, ReproduceError> {
    let asked = |on: On| on == On::Sim || !matches!(lab, Lab::NotAsked);
    let total = jobs.iter().filter(|job| asked(job.on)).count();
    let (done, cached) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (failure, failed) = (Mutex::new(None), AtomicBool::new(false));
    let tell = |begins: bool, kept: bool, name: &str| {
        let done = usize::from(!begins) + done.fetch_add(!begins as usize, Ordering::Relaxed);
        progress(Progress { begins, done, total, cached: kept, name });
    };
    let of = |on: On| (0..jobs.len()).filter(|i| jobs[*i].on == on).collect::<Vec<usize>>();
    let one = |index: usize| -> Option<Run> {
        let job = &jobs[index];
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        // Reading is quick: an interruption tells of everything there is, not only of what it read.
        let kept = cache.and_then(|cache| cache.load(&job.key));
        let was_kept = kept.is_some();
        if !was_kept {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            tell(true, false, &job.name);
        }
        let finished = kept.map_or_else(|| compute(job, cache), |run| Ok(Some(run)));
        match finished {
            Ok(run) => run.inspect(|_| {
                cached.fetch_add(usize::from(was_kept), Ordering::Relaxed);
                tell(false, was_kept, &job.name);
            }),
            Err(error) => {
                failed.store(true, Ordering::Relaxed);
                lock(&failure).get_or_insert(error);
                None
            }
        }
    };
    // One at a time to whoever is free: lengths differ by orders of magnitude.
    let order = longest_first(jobs, of(On::Sim)).into_par_iter();
    let finished: Vec<(usize, Option<Run>)> =
        order.with_max_len(1).map(|index| (index, one(index))).collect();
    if let Some(error) = lock(&failure).take() {
        return Err(error);
    }
    let mut runs = vec![Err(Unfinished::Interrupted); jobs.len()];
    finished.into_iter().for_each(|(at, run)| runs[at] = run.ok_or(Unfinished::Interrupted));
    let in_lab = |index: usize| -> Result<(usize, Result<Run, Unfinished>), ReproduceError> {
        let (job, asked) = (&jobs[index], asked(On::Linux));
        if asked {
            tell(true, false, &job.name);
        }
        let (run, was_kept) = lab.one(job, cache, stop)?;
        cached.fetch_add(usize::from(was_kept), Ordering::Relaxed);
        if asked && !matches!(run, Err(Unfinished::Interrupted)) {
            tell(false, was_kept, &job.name);
        }
        Ok((index, run))
    };
    for (index, run) in all(of(On::Linux), lab.is_virtual(), in_lab)? {
        runs[index] = run;
    }
    let interrupted = runs.iter().any(|run| matches!(run, Err(Unfinished::Interrupted)));
    Ok(Executed { runs, total, cached: cached.into_inner(), interrupted })
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

/// The order in which to run jobs, the longest first: otherwise one core would still run a long one
/// when the others have nothing left.
fn longest_first(jobs: &[Job], mut order: Vec<usize>) -> Vec<usize> {
    order.sort_by_key(|at| std::cmp::Reverse(weight(&jobs[*at])));
    order
}

/// What a thread that panicked left is as good as any.
fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
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
    Ok(Some(run))
}

/// Roughly how long a run takes, for sorting: the bits that its links could carry.
fn weight(job: &Job) -> u64 {
    job.scenario.resolve().map_or(0, |resolved| {
        let rate: u64 = resolved.links.iter().map(|link| link.rate_bps).sum();
        rate.saturating_mul(resolved.duration_ns / 1_000_000)
    })
}
