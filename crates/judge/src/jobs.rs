//! The runs of a judgement: which they are, where finished ones are kept, and how they are run on
//! all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use firstflight_control::stack::OF_LINUX;
use firstflight_outside::{FileFault, FileStore, MAKE_ROOM, content_name};
use firstflight_runner::{Options, RunError, Transport, in_order};
use firstflight_scenario::{ControlSpec, Scenario};

use crate::catalogue::Entry;
use crate::measured::KeptRun;

/// The transports of a judgement.
#[derive(Clone, Copy)]
pub struct Transports<'a> {
    /// Runs the control under judgement.
    pub judged: &'a dyn Transport,
    /// Runs the references.
    pub references: &'a dyn Transport,
    /// Runs those that are Linux's own.
    pub linux: &'a dyn Transport,
}

/// Where finished runs are kept.
pub struct Keep<'a> {
    /// The folder.
    pub store: &'a FileStore,
    /// The program, and the transports in words. Another build's results are not used: it may
    /// decide otherwise.
    pub who: String,
}

impl<'a> Transports<'a> {
    /// One for all.
    pub fn all(transport: &'a dyn Transport) -> Self {
        Self { judged: transport, references: transport, linux: transport }
    }

    /// What runs a control, beside the one under judgement.
    pub(crate) fn of(&self, spec: &ControlSpec, judged: &str) -> &'a dyn Transport {
        match spec.startup.name.starts_with(OF_LINUX) {
            _ if spec.text == judged => self.judged,
            true => self.linux,
            false => self.references,
        }
    }
}

/// A run of one scenario with one control and one seed, or at one point of its matrix.
struct Job<'a> {
    entry: &'a Entry,
    control: &'a str,
    transport: &'a dyn Transport,
    scenario: Scenario,
    /// The run is drawn: of a matrix none is.
    drawn: bool,
    /// The hash of all that decides its result, under which that is kept.
    name: String,
}

/// What came of one.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Measured(Box<KeptRun>),
    NotCarried(String),
}

/// Outcomes by scenario and control, in the order of the seeds or points.
pub(crate) type Outcomes = BTreeMap<(String, String), Vec<Outcome>>;

impl<'a> Job<'a> {
    fn new(
        entry: &'a Entry,
        spec: &'a ControlSpec,
        transport: &'a dyn Transport,
        mut scenario: Scenario,
        who: &str,
    ) -> Self {
        let drawn = entry.head.matrix.is_none();
        scenario.controls = vec![spec.clone()];
        scenario.runs = Some(1);
        // What is for readers does not decide the result.
        (scenario.title, scenario.notes, scenario.source) = (None, None, None);
        scenario.catalogue = None;
        scenario.expect.clear();
        let content = format!("{FORM}\n{who}\n{SAMPLES}\n{}", scenario.to_toml());
        let name = content_name(content.as_bytes());
        Self { entry, control: &spec.text, transport, scenario, drawn, name }
    }

    fn run(&self, options: &Options<'_>) -> Result<Outcome, RunError> {
        let ran = self.transport.check_keys(&self.scenario);
        match ran.and_then(|()| self.transport.run(&self.scenario, options)) {
            Ok(report) if report.interrupted => Err(RunError::Interrupted),
            Ok(report) => Ok(match KeptRun::of(&self.scenario, &report) {
                Some(kept) if self.drawn => Outcome::Measured(Box::new(kept)),
                Some(kept) => Outcome::Measured(Box::new(kept.without_curves())),
                None => Outcome::NotCarried("it has no flow of its own".to_owned()),
            }),
            // A scenario that this transport cannot run does not stop the others.
            Err(error) if error.is_of_input() => Ok(Outcome::NotCarried(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

/// Runs all scenarios with all controls, the first of which is under judgement, but what is kept.
///
/// # Errors
/// An interruption, or what a run or the folder says; what was finished is kept.
pub(crate) fn outcomes(
    entries: &[Entry],
    controls: &[ControlSpec],
    runs: &(dyn Fn(&Entry) -> Vec<Scenario> + Sync),
    transports: &Transports<'_>,
    keep: Option<&Keep<'_>>,
    options: &Options<'_>,
) -> Result<Outcomes, RunError> {
    let judged = controls.first().map_or("", |spec| &spec.text);
    let who = keep.map_or("", |keep| &keep.who);
    let mut jobs = Vec::new();
    for entry in entries {
        let runs = runs(entry);
        for control in controls {
            let on = transports.of(control, judged);
            jobs.extend(runs.iter().cloned().map(|run| Job::new(entry, control, on, run, who)));
        }
    }
    let (total, finished) = (jobs.len(), AtomicUsize::new(0));
    let of_run = Options { samples: Some(SAMPLES), on_done: None, serial: true, ..*options };
    let one = |job: &Job<'_>| {
        if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(RunError::Interrupted);
        }
        let kept = keep.and_then(|keep| found(keep.store, &job.name));
        let outcome = match kept {
            Some(kept) => Outcome::Measured(Box::new(kept)),
            None => {
                let outcome = job.run(&of_run)?;
                // A run that broke is not kept: a limit on this machine's time may have ended it.
                if let (Some(keep), Outcome::Measured(kept)) = (keep, &outcome)
                    && kept.broken.is_none()
                {
                    // A run with NaN does not read back, and is measured again.
                    let text = serde_json::to_string(kept).unwrap_or_default();
                    keep.store.put(&job.name, &text).map_err(of_folder)?;
                }
                outcome
            }
        };
        if let Some(progress) = options.on_done {
            progress(finished.fetch_add(1, Ordering::Relaxed) + 1, total);
        }
        Ok(outcome)
    };
    let one_by_one = options.serial || jobs.iter().any(|job| job.transport.is_in_real_time());
    let outcomes: Vec<Outcome> = match one_by_one {
        true => jobs.iter().map(one).collect::<Result<_, _>>()?,
        false => in_order(&jobs, one)?,
    };
    let mut all = Outcomes::new();
    for (job, outcome) in jobs.iter().zip(outcomes) {
        let place = (job.entry.id.clone(), job.control.to_owned());
        all.entry(place).or_default().push(outcome);
    }
    Ok(all)
}

/// What is kept there; a file that was changed or does not read counts as none.
fn found(store: &FileStore, name: &str) -> Option<KeptRun> {
    serde_json::from_str(&store.get(name)?).ok()
}

/// Why a run could not be kept.
fn of_folder(error: FileFault) -> RunError {
    match error.is_full() {
        true => RunError::Lacks(format!("{error}; {MAKE_ROOM}")),
        false => RunError::Input(error.to_string()),
    }
}

/// Samples over time of every flow and queue.
const SAMPLES: u32 = 2000;
/// The form of what is kept.
const FORM: &str = "firstflight/judged@1";
