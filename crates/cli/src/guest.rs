//! The inside of a run in virtual time: this program as the first process of a machine that has
//! nothing else to do. It reads its job, does it, says what came out, and ends the machine.

mod logged;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use firstflight_guest::JOB;
use firstflight_lab::guest::{Port, power_off, set_up};
use firstflight_runner::{Options, Report};
use firstflight_scenario::Scenario;

use crate::failure::{Failure, Status};
use crate::lab::{self, Lab};
use crate::virtual_time::{Job, Measured, Said, Task};

/// Whether this is the first process of a machine that was booted for a job.
pub(crate) fn is_guest() -> bool {
    std::process::id() == 1 && Path::new("/").join(JOB).exists()
}

/// Does the job, which ends the machine.
pub(crate) fn guest() -> Result<Status, Failure> {
    let task = read()?;
    let seed = match &task {
        Task::Measure(job) => job.seed,
        Task::Script(_) => 1,
    };
    if let Err(error) = set_up(seed) {
        // Without this the kernel would call the end of its first process a panic.
        crate::output::complain(&error);
        power_off();
        return Err(error.into());
    }
    let mut port = Port::open()?;
    match task {
        Task::Measure(job) => port = measure_saying(port, &job)?,
        Task::Script(words) => port.run(Command::new("sh").arg("-c").arg(words))?,
    }
    port.power_off();
    Ok(Status::Done)
}

fn measure_saying(port: Port, job: &Job) -> Result<Port, Failure> {
    let port = Mutex::new(port);
    let over = AtomicBool::new(false);
    let measured = thread::scope(|scope| {
        scope.spawn(|| tell_time(&port, &over));
        let measured = measure(job);
        over.store(true, Ordering::Relaxed);
        measured
    });
    let said = match measured {
        Ok(measured) => Said::Measured(Box::new(measured)),
        Err(Failure::Lacks(why)) => Said::Lacks(why),
        Err(Failure::Broke(why)) => Said::Broke(why),
        Err(other) => Said::Wrong(other.to_string()),
    };
    let mut port = port.into_inner().unwrap_or_else(PoisonError::into_inner);
    port.say(&serde_json::to_string(&said)?);
    Ok(port)
}

fn read() -> Result<Task, Failure> {
    let text = std::fs::read_to_string(Path::new("/").join(JOB))
        .map_err(|error| Failure::Broke(format!("/{JOB}: {error}")))?;
    Ok(serde_json::from_str(&text)?)
}

fn measure(job: &Job) -> Result<Measured, Failure> {
    let scenario = Scenario::parse(&job.scenario, "the scenario")?;
    if let Some(programs) = &job.programs {
        let never = AtomicBool::new(false);
        let mut report = lab::programs::run(&scenario, job.seed, job.samples, programs, &never)?;
        logged::add(Path::new(lab::programs::QLOGS), &mut report);
        return measured(report);
    }
    let lab = Lab::read(job.link.as_deref(), job.generator.as_deref())?;
    let options = Options { samples: job.samples, ..Options::default() };
    let report = lab::run(&scenario, &options, Lab { virtual_time: true, ..lab })?;
    measured(report)
}

/// The only run of a report.
fn measured(report: Report) -> Result<Measured, Failure> {
    let run = report.runs.into_iter().next();
    let run = run.ok_or_else(|| Failure::Broke("the guest measured nothing".to_owned()))?;
    Ok(Measured { result: run.result, flows: run.flows, queues: run.queues })
}

/// A line for every second of the guest's time: for people, and as a sign of life.
fn tell_time(port: &Mutex<Port>, over: &AtomicBool) {
    let begun = Instant::now();
    for second in 1_u64.. {
        // In parts, so that the end of the run does not wait for a second.
        while begun.elapsed() < Duration::from_secs(second) {
            if over.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(PART);
        }
        let Ok(line) = serde_json::to_string(&Said::At(second)) else { return };
        port.lock().unwrap_or_else(PoisonError::into_inner).say(&line);
    }
}

const PART: Duration = Duration::from_millis(100);
