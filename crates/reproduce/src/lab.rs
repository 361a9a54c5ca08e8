//! Runs in the lab: Linux's TCP on an emulated link, in real time or in a guest with a clock of its
//! own, on machines that have what it takes.
//!
//! The caller hands in a transport, because this crate has no lab. Without one, the rows that read
//! its runs are `not-run` and say why; all others are unaffected.

use std::sync::atomic::{AtomicBool, Ordering};

use firstflight_runner::{Options, Run, RunError, Transport};

use crate::cache::Cache;
use crate::check::Unfinished;
use crate::error::ReproduceError;
use crate::job::Job;

/// The run of a job, kept or new, if the user asked for rows of the lab; a second value says
/// whether it was kept. One that the machine disturbed is repeated, and never kept.
///
/// # Errors
/// A run that broke, or a finished one that cannot be kept.
pub(crate) fn one(
    lab: Option<&dyn Transport>,
    job: &Job,
    cache: Option<&Cache>,
    stop: &AtomicBool,
) -> Result<(Result<Run, Unfinished>, bool), ReproduceError> {
    let Some(lab) = lab else { return Ok((Err(Unfinished::NotAsked), false)) };
    let version = match lab.version() {
        Ok(version) => version,
        Err(error) => return Ok((Err(unfinished(job, error)?), false)),
    };
    let key = format!("{} {version}", job.key);
    if let Some(kept) = cache.and_then(|cache| cache.load(&key)) {
        return Ok((Ok(kept), true));
    }
    let options = Options { samples: job.samples, stop: Some(stop), ..Options::default() };
    let mut disturbed = String::new();
    let tries = if lab.is_in_real_time() { TRIES } else { 1 };
    for _ in 0..tries {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let report = match lab.run(&job.scenario, &options) {
            Ok(report) => report,
            Err(RunError::Interrupted) => break,
            Err(error) => return Ok((Err(unfinished(job, error)?), false)),
        };
        let Some(run) = report.runs.into_iter().next() else { break };
        match disturbance(&run) {
            None => {
                if let Some(cache) = cache {
                    cache.store(&key, &run)?;
                }
                return Ok((Ok(run), false));
            }
            Some(how) => disturbed = how,
        }
    }
    let why = match stop.load(Ordering::Relaxed) || disturbed.is_empty() {
        true => Unfinished::Interrupted,
        false if tries == 1 => Unfinished::NotRun(disturbed),
        false => Unfinished::NotRun(format!("other work disturbed {TRIES} tries: {disturbed}")),
    };
    Ok((Err(why), false))
}

/// Why there is no run, where that is no failure.
fn unfinished(job: &Job, error: RunError) -> Result<Unfinished, ReproduceError> {
    match error {
        RunError::Lacks(why) => Ok(Unfinished::NotRun(why)),
        RunError::Interrupted => Ok(Unfinished::Interrupted),
        error => Err(ReproduceError::Lab { name: job.name.clone(), problem: error.to_string() }),
    }
}

/// Why a run cannot be used: the link was late, or a flow broke.
fn disturbance(run: &Run) -> Option<String> {
    let timing = run.result.lab.as_ref().map_or("unknown", |lab| lab.timing.as_str());
    let fine = ["valid", "unknown"].contains(&timing);
    let note = || run.result.note.clone().unwrap_or_else(|| format!("timing {timing}"));
    (!fine || run.result.note.is_some()).then(note)
}

const TRIES: u32 = 3;
/// The sentence that says how to get rows of the lab.
pub(crate) const HOW_TO_ASK: &str = "`reproduce --lab` measures it, `--virtual-time` in qemu";

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use firstflight_results::{LabFigures, RunResult};
    use firstflight_runner::Report;
    use firstflight_scenario::{Complete, ControlSpec, Scenario};

    use super::*;
    use crate::file::On;

    fn job() -> Job {
        let scenario = Scenario::parse("controls = ['linux-reno']", "x.toml").unwrap();
        let (name, key) = ("x".to_owned(), "x".to_owned());
        Job { name, scenario, samples: None, acks: None, on: On::Linux, key }
    }

    /// What the link says of a run, or why there is none.
    type Timing = Result<&'static str, fn(String) -> RunError>;

    /// A lab whose runs come out like this, one after the other.
    #[derive(Debug)]
    struct Played {
        timings: &'static [Timing],
        in_real_time: bool,
        tries: AtomicUsize,
    }

    impl Transport for Played {
        fn name(&self) -> &'static str {
            "linux"
        }

        fn full_name(&self, control: &ControlSpec) -> Result<String, RunError> {
            Ok(control.text.clone())
        }

        fn complete(&self, scenario: &Scenario) -> Result<Complete, RunError> {
            Ok(scenario.complete()?)
        }

        fn run(&self, scenario: &Scenario, _: &Options<'_>) -> Result<Report, RunError> {
            let timing = self.timings[self.tries.fetch_add(1, Ordering::Relaxed)];
            let timing = timing.map_err(|fault| fault("no root".to_owned()))?.to_owned();
            let lab = LabFigures { timing, ..Default::default() };
            let result = RunResult { lab: Some(lab), ..RunResult::default() };
            let run = Run::new(result, Vec::new(), Vec::new());
            Ok(Report::new(self.complete(scenario)?, vec![run], false))
        }

        fn is_in_real_time(&self) -> bool {
            self.in_real_time
        }
    }

    /// What comes of a job there, and after how many tries.
    fn played(
        timings: &'static [Timing],
        in_real_time: bool,
    ) -> (Result<Result<Run, Unfinished>, ReproduceError>, usize) {
        let lab = Played { timings, in_real_time, tries: AtomicUsize::new(0) };
        let outcome = one(Some(&lab), &job(), None, &AtomicBool::new(false));
        (outcome.map(|(outcome, _)| outcome), lab.tries.into_inner())
    }

    #[test]
    fn a_disturbed_run_is_repeated_and_in_the_end_not_judged() {
        let (outcome, tries) = played(&[Ok("degraded"), Ok("valid")], true);
        assert_eq!((outcome.unwrap().is_ok(), tries), (true, 2));
        let (outcome, tries) = played(&[Ok("invalid"), Ok("invalid"), Ok("invalid")], true);
        let Ok(Err(Unfinished::NotRun(why))) = outcome else { panic!("{outcome:?}") };
        assert_eq!((&*why, tries), ("other work disturbed 3 tries: timing invalid", 3));
    }

    #[test]
    fn in_virtual_time_nothing_is_repeated_because_it_would_be_the_same() {
        let (outcome, tries) = played(&[Ok("invalid"), Ok("valid")], false);
        assert_eq!(outcome.unwrap().unwrap_err(), Unfinished::NotRun("timing invalid".to_owned()));
        assert_eq!(tries, 1);
    }

    #[test]
    fn a_machine_without_a_lab_says_what_it_lacks() {
        let (outcome, _) = played(&[Err(RunError::Lacks)], true);
        assert_eq!(outcome.unwrap().unwrap_err(), Unfinished::NotRun("no root".to_owned()));
        let (outcome, _) = played(&[Err(RunError::Failed)], true);
        assert_eq!(outcome.unwrap_err().to_string(), "x: no root");
    }
}
