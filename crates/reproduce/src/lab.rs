//! Runs in the lab: Linux's TCP on an emulated link, in real time or in a guest with a clock of its
//! own, on machines that have what it takes.
//!
//! The caller hands in a lab, because this crate has none. Without one, the rows that read its runs
//! are `not-run` and say why; all others are unaffected.

use std::sync::atomic::{AtomicBool, Ordering};

use firstflight_runner::{Options, Report, Run};
use firstflight_scenario::Scenario;

use crate::cache::Cache;
use crate::check::Unfinished;
use crate::error::ReproduceError;
use crate::job::Job;

/// What carries the flows of runs in the lab.
#[derive(Clone, Copy, Default)]
pub enum Lab<'a> {
    /// The user did not ask for rows of the lab, which take real time.
    #[default]
    NotAsked,
    /// This machine's lab.
    Here {
        /// The kernel and the link. Runs kept under another version are not used.
        version: &'a str,
        /// Runs every plan of a scenario once, with the samples that the options ask for.
        run: &'a (dyn Fn(&Scenario, &Options<'_>) -> Result<Report, LabStop> + Sync),
        /// The machine is booted for each run and has a clock of its own: runs may go side by
        /// side, and a run that is repeated gives the same result.
        virtual_time: bool,
    },
}

/// Why a lab gave no result.
#[derive(Clone, Debug)]
pub enum LabStop {
    /// The machine lacks something; what, in a line.
    Lacks(String),
    /// A run broke, or its scenario cannot be run on Linux.
    Failed(String),
    /// It was told to stop.
    Interrupted,
}

impl Lab<'_> {
    /// Whether runs may go side by side without disturbing each other.
    pub(crate) fn is_virtual(self) -> bool {
        matches!(self, Self::Here { virtual_time: true, .. })
    }

    /// The run of a job, kept or new; a second value says whether it was kept. One that the machine
    /// disturbed is repeated, and never kept.
    ///
    /// # Errors
    /// A run that broke, or a finished one that cannot be kept.
    pub(crate) fn one(
        self,
        job: &Job,
        cache: Option<&Cache>,
        stop: &AtomicBool,
    ) -> Result<(Result<Run, Unfinished>, bool), ReproduceError> {
        let Self::Here { version, run, virtual_time } = self else {
            return Ok((Err(Unfinished::NotAsked), false));
        };
        let key = format!("{} {version}", job.key);
        if let Some(kept) = cache.and_then(|cache| cache.load(&key)) {
            return Ok((Ok(kept), true));
        }
        let options = Options { samples: job.samples, stop: Some(stop), ..Options::default() };
        let mut disturbed = String::new();
        let tries = if virtual_time { 1 } else { TRIES };
        for _ in 0..tries {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let report = match run(&job.scenario, &options) {
                Ok(report) => report,
                Err(LabStop::Lacks(why)) => return Ok((Err(Unfinished::NotRun(why)), false)),
                Err(LabStop::Interrupted) => break,
                Err(LabStop::Failed(problem)) => {
                    return Err(ReproduceError::Lab { name: job.name.clone(), problem });
                }
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
            false if virtual_time => Unfinished::NotRun(disturbed),
            false => Unfinished::NotRun(format!("other work disturbed {TRIES} tries: {disturbed}")),
        };
        Ok((Err(why), false))
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

    use super::*;
    use crate::file::On;

    fn job() -> Job {
        let scenario = Scenario::parse("controls = ['linux-reno']", "x.toml").unwrap();
        let (name, key) = ("x".to_owned(), "x".to_owned());
        Job { name, scenario, samples: None, acks: None, on: On::Linux, key }
    }

    /// A lab whose runs have these timings, one after the other.
    fn with(timings: &[&str], virtual_time: bool) -> (Result<Run, Unfinished>, usize) {
        let count = AtomicUsize::new(0);
        let run = |scenario: &Scenario, _: &Options<'_>| {
            let timing = timings[count.fetch_add(1, Ordering::Relaxed)].to_owned();
            let lab = LabFigures { timing, ..Default::default() };
            let result = RunResult { lab: Some(lab), ..RunResult::default() };
            let run = Run::new(result, Vec::new(), Vec::new());
            let resolved = scenario.resolve().unwrap();
            Ok(Report::new(resolved, vec![run], false))
        };
        let lab = Lab::Here { version: "6.18", run: &run, virtual_time };
        let (outcome, kept) = lab.one(&job(), None, &AtomicBool::new(false)).unwrap();
        assert!(!kept);
        (outcome, count.into_inner())
    }

    #[test]
    fn a_disturbed_run_is_repeated_and_in_the_end_not_judged() {
        let (outcome, tries) = with(&["degraded", "valid"], false);
        assert_eq!((outcome.is_ok(), tries), (true, 2));
        let (outcome, tries) = with(&["invalid"; 3], false);
        let Err(Unfinished::NotRun(why)) = outcome else { panic!("{outcome:?}") };
        assert_eq!((&*why, tries), ("other work disturbed 3 tries: timing invalid", 3));
    }

    #[test]
    fn in_virtual_time_nothing_is_repeated_because_it_would_be_the_same() {
        let (outcome, tries) = with(&["invalid"; 3], true);
        assert_eq!(outcome.unwrap_err(), Unfinished::NotRun("timing invalid".to_owned()));
        assert_eq!(tries, 1);
    }

    #[test]
    fn a_machine_without_a_lab_says_what_it_lacks() {
        let lacks = |_: &Scenario, _: &Options<'_>| Err(LabStop::Lacks("no root".to_owned()));
        let lab = Lab::Here { version: "", run: &lacks, virtual_time: false };
        let (outcome, _) = lab.one(&job(), None, &AtomicBool::new(false)).unwrap();
        assert_eq!(outcome.unwrap_err(), Unfinished::NotRun("no root".to_owned()));
        let broken = |_: &Scenario, _: &Options<'_>| Err(LabStop::Failed("no route".to_owned()));
        let lab = Lab::Here { version: "", run: &broken, virtual_time: false };
        let error = lab.one(&job(), None, &AtomicBool::new(false)).unwrap_err();
        assert_eq!(error.to_string(), "x: no route");
    }
}
