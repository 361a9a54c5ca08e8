//! The inside of a run in virtual time: this program as the first process of a machine that has
//! nothing else to do. It reads its job, does it, writes the outcome to a port, and ends the
//! machine.

mod qlog;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use firstflight_guest::JOB;
use firstflight_lab::guest::{Port, power_off, set_up};
use firstflight_runner::{Options, Report, RunError};
use firstflight_scenario::Scenario;

use crate::lab::{self, Lab};
use crate::virtual_time::{GuestRun, Job, Message, Task, not_json};

/// Does the job of this machine, if this is the first process of one that was booted for a job;
/// that ends the machine. Otherwise there is nothing to do, and a guest may be given this program.
///
/// A program calls it before all else.
///
/// # Errors
/// The machine is not as it should be.
pub fn serve() -> Result<bool, RunError> {
    CAN_SERVE.store(true, Ordering::Relaxed);
    let is_guest = std::process::id() == 1 && Path::new("/").join(JOB).exists();
    is_guest.then(work).transpose().map(|done| done.is_some())
}

/// Whether this program, as it is on the disk, would do a guest's job.
pub(crate) fn can_serve() -> bool {
    CAN_SERVE.load(Ordering::Relaxed)
}

static CAN_SERVE: AtomicBool = AtomicBool::new(false);

fn work() -> Result<(), RunError> {
    let task = read()?;
    let seed = match &task {
        Task::Measure(job) => job.seed,
        Task::Script(_) => 1,
    };
    if let Err(error) = set_up(seed) {
        // Without this the kernel would call the end of its first process a panic.
        let _ = writeln!(std::io::stderr(), "firstflight: {error}");
        power_off();
        return Err(error);
    }
    let mut port = Port::open()?;
    match task {
        Task::Measure(job) => port = measure_and_report(port, &job)?,
        Task::Script(words) => port.run(Command::new("sh").arg("-c").arg(words))?,
    }
    port.power_off();
    Ok(())
}

fn measure_and_report(port: Port, job: &Job) -> Result<Port, RunError> {
    let port = Mutex::new(port);
    let over = AtomicBool::new(false);
    let measured = thread::scope(|scope| {
        scope.spawn(|| report_time(&port, &over));
        let measured = measure(job);
        over.store(true, Ordering::Relaxed);
        measured
    });
    let message = match measured {
        Ok(measured) => Message::Measured(Box::new(measured)),
        Err(RunError::Lacks(why)) => Message::Lacks(why),
        Err(RunError::Failed(why)) => Message::Failed(why),
        Err(other) => Message::Input(other.to_string()),
    };
    let mut port = port.into_inner().unwrap_or_else(PoisonError::into_inner);
    port.write_line(&serde_json::to_string(&message).map_err(not_json)?);
    Ok(port)
}

fn read() -> Result<Task, RunError> {
    let text = std::fs::read_to_string(Path::new("/").join(JOB))
        .map_err(|error| RunError::Failed(format!("/{JOB}: {error}")))?;
    serde_json::from_str(&text).map_err(not_json)
}

fn measure(job: &Job) -> Result<GuestRun, RunError> {
    let scenario = Scenario::parse(&job.scenario, "the scenario")?;
    if let Some(programs) = &job.programs {
        let never = AtomicBool::new(false);
        let mut report = lab::programs::run(&scenario, job.seed, job.samples, programs, &never)?;
        qlog::add(Path::new(lab::programs::QLOGS), &mut report);
        return measured(report);
    }
    let lab = Lab::read(job.link.as_deref(), job.generator.as_deref())?;
    let options = Options { samples: job.samples, ..Options::default() };
    let report = lab::run(&scenario, &options, Lab { virtual_time: true, ..lab })?;
    measured(report)
}

/// The only run of a report.
fn measured(report: Report) -> Result<GuestRun, RunError> {
    let run = report.runs.into_iter().next();
    let run = run.ok_or_else(|| RunError::Failed("the guest measured nothing".to_owned()))?;
    Ok(GuestRun { result: run.result, flows: run.flows, queues: run.queues })
}

/// A line for every second of the guest's time: for people, and as a sign of life.
fn report_time(port: &Mutex<Port>, over: &AtomicBool) {
    let begun = Instant::now();
    for second in 1_u64.. {
        // In parts, so that the end of the run does not wait for a second.
        while begun.elapsed() < Duration::from_secs(second) {
            if over.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(PART);
        }
        let Ok(line) = serde_json::to_string(&Message::Time(second)) else { return };
        port.lock().unwrap_or_else(PoisonError::into_inner).write_line(&line);
    }
}

const PART: Duration = Duration::from_millis(100);
