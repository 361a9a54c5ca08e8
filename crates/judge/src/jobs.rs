//! The runs of a judgement: which they are, where finished ones are kept, and how they are run on
//! all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use firstflight_runner::{Options, Report};
use firstflight_scenario::{ControlSpec, Scenario};
use firstflight_sweep::{Shelf, SweepError, content_name};
use rayon::prelude::*;

use crate::catalogue::Entry;
use crate::measured::Kept;

/// Why a transport has no result of a run.
#[derive(Debug)]
pub enum Refusal<E> {
    /// It does not carry this scenario or this control, and says why: the others go on.
    NotCarried(String),
    /// It was told to stop.
    Interrupted,
    /// The work cannot go on.
    Failed(E),
}

/// Runs a scenario of one control and one seed.
pub type RunOne<'a, E> = dyn Fn(&Scenario, &Options<'_>) -> Result<Report, Refusal<E>> + Sync + 'a;

/// How the runs are carried out.
pub struct Carrier<'a, E> {
    /// Carries out a run.
    pub run: &'a RunOne<'a, E>,
    /// The program and the transport in words. What one has measured is no other's: a program that
    /// was built anew may decide otherwise.
    pub who: String,
    /// One run after the other, where runs disturb each other.
    pub in_turn: bool,
    /// Becomes true when the work is to stop.
    pub stop: &'a AtomicBool,
    /// Hears how many runs are finished, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// A run of one scenario with one control and one seed, or at one point of its matrix.
struct Job<'a> {
    entry: &'a Entry,
    control: &'a str,
    scenario: Scenario,
    /// The run is drawn: of a matrix none is.
    drawn: bool,
    /// The hash of all that decides its result, under which that is kept.
    name: String,
}

/// What came of one.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Measured(Box<Kept>),
    NotCarried(String),
}

/// Outcomes by scenario and control, in the order of the seeds or points.
pub(crate) type Outcomes = BTreeMap<(String, String), Vec<Outcome>>;

impl<'a> Job<'a> {
    fn new(entry: &'a Entry, spec: &'a ControlSpec, mut scenario: Scenario, who: &str) -> Self {
        let drawn = entry.head.matrix.is_none();
        scenario.controls = vec![spec.clone()];
        scenario.runs = Some(1);
        // What is for readers does not decide the result.
        (scenario.title, scenario.notes, scenario.source) = (None, None, None);
        scenario.catalogue = None;
        scenario.expect.clear();
        let content = format!("{FORM}\n{who}\n{SAMPLES}\n{}", scenario.to_toml());
        let name = content_name(content.as_bytes());
        Self { entry, control: &spec.text, scenario, drawn, name }
    }

    fn run<E>(&self, carrier: &Carrier<'_, E>) -> Result<Outcome, Refusal<E>> {
        let options = Options {
            samples: Some(SAMPLES),
            stop: Some(carrier.stop),
            serial: true,
            ..Options::default()
        };
        match (carrier.run)(&self.scenario, &options) {
            Ok(report) => Ok(match Kept::of(&self.scenario, &report) {
                Some(kept) if self.drawn => Outcome::Measured(Box::new(kept)),
                Some(kept) => Outcome::Measured(Box::new(kept.without_curves())),
                None => Outcome::NotCarried("it has no flow of its own".to_owned()),
            }),
            Err(Refusal::NotCarried(why)) => Ok(Outcome::NotCarried(why)),
            Err(stopped) => Err(stopped),
        }
    }
}

/// Runs all scenarios with all controls, but what the shelf has.
///
/// # Errors
/// An interruption, or what a run or the shelf says; what was finished is kept.
pub(crate) fn outcomes<E: Send + From<SweepError>>(
    entries: &[Entry],
    controls: &[ControlSpec],
    runs: &(dyn Fn(&Entry) -> Vec<Scenario> + Sync),
    shelf: Option<&Shelf>,
    carrier: &Carrier<'_, E>,
) -> Result<Outcomes, Refusal<E>> {
    let mut jobs = Vec::new();
    for entry in entries {
        let runs = runs(entry);
        for control in controls {
            let runs = runs.iter().cloned();
            jobs.extend(runs.map(|run| Job::new(entry, control, run, &carrier.who)));
        }
    }
    let (total, finished) = (jobs.len(), AtomicUsize::new(0));
    let one = |job: &Job<'_>| {
        if carrier.stop.load(Ordering::Relaxed) {
            return Err(Refusal::Interrupted);
        }
        let kept = shelf.and_then(|shelf| found(shelf, &job.name));
        let outcome = match kept {
            Some(kept) => Outcome::Measured(Box::new(kept)),
            None => {
                let outcome = job.run(carrier)?;
                // What broke may do so by a limit of this machine's time.
                if let (Some(shelf), Outcome::Measured(kept)) = (shelf, &outcome)
                    && kept.broken.is_none()
                {
                    // Numbers that are no number would not read back, and are measured again.
                    let text = serde_json::to_string(kept).unwrap_or_default();
                    let put = shelf.put(&job.name, &text);
                    put.map_err(|error| Refusal::Failed(error.into()))?;
                }
                outcome
            }
        };
        (carrier.progress)(finished.fetch_add(1, Ordering::Relaxed) + 1, total);
        Ok(outcome)
    };
    let outcomes: Vec<Outcome> = match carrier.in_turn {
        true => jobs.iter().map(one).collect::<Result<_, _>>()?,
        false => jobs.par_iter().with_max_len(1).map(one).collect::<Result<_, _>>()?,
    };
    let mut all = Outcomes::new();
    for (job, outcome) in jobs.iter().zip(outcomes) {
        let place = (job.entry.id.clone(), job.control.to_owned());
        all.entry(place).or_default().push(outcome);
    }
    Ok(all)
}

/// What is kept there; a file that was changed or does not read counts as none.
fn found(shelf: &Shelf, name: &str) -> Option<Kept> {
    serde_json::from_str(&shelf.get(name)?).ok()
}

/// Samples over time of every flow and queue.
const SAMPLES: u32 = 2000;
/// The form of what is kept.
const FORM: &str = "firstflight/judged@1";
