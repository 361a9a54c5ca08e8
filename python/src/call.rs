//! A call into the engine, without the interpreter: other threads go on, and Ctrl-C is heard.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use firstflight_answers::{Outcome as Runs, Request, run};
use firstflight_cli::calls::{self, Refused};
use firstflight_reproduce::Options as Papers;
use firstflight_runner::{Options, Simulator, Transport as _};
use firstflight_scenario::{PathFlags, Scenario};
use firstflight_sweep::weight_ns;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error;
use crate::result::{Ran, Reproduced};
use crate::startup::{self, Faults};

/// The arguments of a call beside its scenario.
pub(crate) struct Call {
    /// Keep about this many samples over time; `None` for none now, and the usual number when they
    /// are asked for.
    pub(crate) samples: Option<u32>,
    /// Called with the runs finished and all runs, now and then.
    pub(crate) progress: Option<Py<PyAny>>,
}

/// Runs finished, or another measure of the work, and all of them.
#[derive(Default)]
pub(crate) struct Reached {
    pub(crate) done: AtomicUsize,
    pub(crate) total: AtomicUsize,
}

impl Reached {
    /// Threads may report out of order, so the largest number stays.
    pub(crate) fn note(&self, done: usize, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        self.done.fetch_max(done, Ordering::Relaxed);
    }
}

impl Call {
    /// Runs the scenario.
    pub(crate) fn run(&self, py: Python<'_>, scenario: Scenario, on: &str) -> PyResult<Ran> {
        // By the time its series are asked for, a start-up in Python may have been defined anew.
        let samples = self.samples.or(has_python(&scenario).then_some(SAMPLES));
        let ran = self.simulate(py, &scenario, on, samples)?;
        Ok(Ran::new(scenario, on, ran, samples.is_some()))
    }

    /// Runs the scenario again for its series.
    pub(crate) fn again(py: Python<'_>, scenario: &Scenario, on: &str) -> PyResult<Runs> {
        Self { samples: None, progress: None }.simulate(py, scenario, on, Some(SAMPLES))
    }

    fn simulate(
        &self,
        py: Python<'_>,
        scenario: &Scenario,
        on: &str,
        samples: Option<u32>,
    ) -> PyResult<Runs> {
        // What start-ups in Python share, they use in one order then.
        let serial = is_forked() || has_python(scenario);
        let faults = Arc::new(Faults::default());
        let work = |stop: &AtomicBool, reached: &Reached| {
            let done = |done, total| {
                reached.note(done, total);
            };
            let options = Options {
                samples,
                stop: Some(stop),
                on_done: Some(&done),
                serial,
                ..Options::default()
            };
            startup::with(&faults, || -> Result<_, Refused> {
                Ok(run(scenario, &*calls::transport(on)?, &options)?)
            })
        };
        let ran = match on == "sim" && !serial && is_short(scenario) {
            true => self.within(py, &faults, work)?,
            false => self.in_thread(py, &faults, work)?,
        };
        ran.map_err(error::refused)
    }

    /// Judges a control on the catalogue.
    pub(crate) fn judge(
        &self,
        py: Python<'_>,
        request: &Request<'_>,
        on: &str,
    ) -> PyResult<String> {
        let own = |control: &str| {
            let name = control.split(['(', '+']).next().unwrap_or_default();
            startup::is_written_in_python(name.trim())
        };
        let others = request.against.iter().map(String::as_str);
        let serial = is_forked() || std::iter::once(request.control).chain(others).any(own);
        let faults = Arc::new(Faults::default());
        let judged = self.in_thread(py, &faults, |stop, reached| {
            let progress = |done, total| {
                reached.note(done, total);
            };
            let (stop, on_done) = (Some(stop), Some(&progress as _));
            let options = Options { stop, on_done, serial, ..Options::default() };
            startup::with(&faults, || -> Result<_, Refused> {
                Ok(firstflight_answers::judge(request, &*calls::transport(on)?, &options)?)
            })
        })?;
        judged.map_err(error::refused)
    }

    /// Says which control to take on a path.
    pub(crate) fn advise(
        &self,
        py: Python<'_>,
        path: &PathFlags,
        on: &str,
        shared: bool,
    ) -> PyResult<String> {
        // One that is written in Python can be among the controls.
        let serial = is_forked() || startup::is_any_written_in_python();
        let faults = Arc::new(Faults::default());
        let advised = self.in_thread(py, &faults, |stop, reached| {
            let progress = |done, total| {
                reached.note(done, total);
            };
            let (stop, on_done) = (Some(stop), Some(&progress as _));
            let options = Options { stop, on_done, serial, ..Options::default() };
            startup::with(&faults, || calls::advise(on, shared, path, &options))
        })?;
        advised.map_err(error::refused)
    }

    /// Reproduces what is selected.
    pub(crate) fn reproduce(
        &self,
        py: Python<'_>,
        select: &[String],
        out: Option<PathBuf>,
        cache: Option<PathBuf>,
        quick: bool,
    ) -> PyResult<Reproduced> {
        if is_forked() {
            let why = "reproduce: a forked process lacks the threads that it needs; accepted: the \
                       start method \"spawn\" or \"forkserver\" of multiprocessing";
            return Err(PyRuntimeError::new_err(why));
        }
        let outcome = self.in_thread(py, &Arc::default(), |stop, reached| {
            let progress = |run: firstflight_reproduce::Progress<'_>| {
                reached.note(run.done, run.total);
            };
            firstflight_reproduce::reproduce(&Papers {
                select,
                out: out.as_deref(),
                cache: cache.as_deref(),
                stop,
                figure_width: firstflight_report::Width::default(),
                progress: &progress,
                command_line: "firstflight.reproduce, from Python".to_owned(),
                quick,
                lab: None,
            })
        })?;
        outcome.map(Reproduced::new).map_err(error::refused)
    }

    /// Does `work` in this thread, without the interpreter. Ctrl-C is heard when it ends.
    fn within<T: Send>(
        &self,
        py: Python<'_>,
        faults: &Faults,
        work: impl FnOnce(&AtomicBool, &Reached) -> T + Send,
    ) -> PyResult<T> {
        let reached = Reached::default();
        let outcome = py.detach(|| work(&faults.stop, &reached));
        self.report(py, &reached, &mut 0).map(|()| outcome)
    }

    /// Does `work` in a thread of its own, while this one listens for Ctrl-C and reports progress.
    /// The work has ended when this returns.
    pub(crate) fn in_thread<T: Send>(
        &self,
        py: Python<'_>,
        faults: &Arc<Faults>,
        work: impl FnOnce(&AtomicBool, &Reached) -> T + Send,
    ) -> PyResult<T> {
        let stop = &faults.stop;
        let (reached, mut reported) = (&Reached::default(), 0);
        let (done_sender, done_receiver) = sync_channel(1);
        let mut interrupted = None;
        let (so_far, broken) = (&mut reported, &mut interrupted);
        let outcome = py.detach(move || {
            thread::scope(|scope| {
                let worker = scope.spawn(move || {
                    let outcome = work(stop, reached);
                    // Nobody listens after an interruption.
                    let _ = done_sender.send(());
                    outcome
                });
                // Until the work is done, or has panicked.
                while let Err(RecvTimeoutError::Timeout) = done_receiver.recv_timeout(LISTEN) {
                    if broken.is_some() {
                        continue;
                    }
                    let signals = Python::attach(|py| {
                        self.report(py, reached, so_far)?;
                        py.check_signals()
                    });
                    if let Err(problem) = signals {
                        *broken = Some(problem);
                        faults.end();
                    }
                }
                worker.join().unwrap_or_else(|panic| resume_unwind(panic))
            })
        });
        match interrupted.or_else(|| faults.take()) {
            Some(problem) => Err(problem),
            None => self.report(py, reached, &mut reported).map(|()| outcome),
        }
    }

    fn report(&self, py: Python<'_>, reached: &Reached, reported: &mut usize) -> PyResult<()> {
        let done = reached.done.load(Ordering::Relaxed);
        let Some(progress) = self.progress.as_ref().filter(|_| done != *reported) else {
            return Ok(());
        };
        *reported = done;
        progress.call1(py, (done, reached.total.load(Ordering::Relaxed))).map(drop)
    }
}

/// Whether the runs end before anybody would listen, though they took several times what is
/// estimated: to begin a thread for them costs a tenth of a short one.
fn is_short(scenario: &Scenario) -> bool {
    let complete = Simulator::TCP.complete(scenario);
    complete.is_ok_and(|complete| u128::from(weight_ns(&complete)) * 10 < LISTEN.as_nanos())
}

/// Whether a start-up in Python takes part.
pub(crate) fn has_python(scenario: &Scenario) -> bool {
    !python_in(scenario).is_empty()
}

/// The start-ups in Python that take part.
pub(crate) fn python_in(scenario: &Scenario) -> BTreeMap<String, Arc<Py<PyAny>>> {
    let plans = scenario.plans().unwrap_or_default();
    let names = plans.iter().flat_map(|plan| &plan.controls).map(|control| &control.startup.name);
    names.filter_map(|name| Some((name.clone(), startup::written_in_python(name)?))).collect()
}

/// Whether this process was forked from one that had called the engine: it lacks the threads over
/// which runs are spread.
pub(crate) fn is_forked() -> bool {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let me = std::process::id();
    *FIRST.get_or_init(|| me) != me
}

/// Between two looks for Ctrl-C.
const LISTEN: Duration = Duration::from_millis(50);
/// Samples over time where nobody says how many; as many as the command's traces have.
const SAMPLES: u32 = 2_000;
