//! What another program calls instead of starting this one, as the Python package does: the checks,
//! the defaults and the messages of the commands, without the terminal.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firstflight_judge::Transports;
use firstflight_report::terminal::Screen;
use firstflight_reproduce::ReproduceError;
use firstflight_results::RunResult;
use firstflight_runner::{Options, Report};
use firstflight_scenario::{Document, PathFlags, Scenario, Unmet};
use firstflight_sweep::SweepError;
use firstflight_transports::{On, Transport};

use crate::failure::{Failure, Fault as _};
use crate::{args, command_line, compare, expectations, list, predict, summary};

pub use firstflight_judge::Asked;

/// A call that could not do what was asked: the message of the command, and its exit code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refused {
    /// 2 for wrong input, 3 where the machine lacks something, 130 after an interruption, else 1.
    pub code: u8,
    /// What was found, and what is accepted.
    pub message: String,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code(), message: failure.to_string() }
    }
}

impl From<ReproduceError> for Refused {
    fn from(error: ReproduceError) -> Self {
        Failure::from(error).into()
    }
}

impl From<SweepError> for Refused {
    fn from(error: SweepError) -> Self {
        Failure::from(error).into()
    }
}

/// What came of a scenario, and which of its expectations do not hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ran {
    /// The runs.
    pub report: Report,
    /// The conditions of `[expect]` that do not hold, in words.
    pub unmet: Vec<String>,
}

/// The scenario of `compare`: the path flags, and controls that `on` can run; the command's own
/// five if none is named. `on` is `sim` or `quic`, in virtual time.
///
/// # Errors
/// As the command's.
pub fn compare(controls: &[String], path: &PathFlags, on: &str) -> Result<Scenario, Refused> {
    Ok(compare::scenario(controls, path, &*virtual_time(on)?)?)
}

/// The scenario of `run`: a document with the flags in it.
///
/// # Errors
/// As the command's.
pub fn scenario(document: Document, path: &PathFlags, on: &str) -> Result<Scenario, Refused> {
    Ok(crate::run::scenario(document, path, &*virtual_time(on)?)?)
}

/// A transport by its name: `sim` or `quic`, in virtual time.
///
/// # Errors
/// Another name.
pub fn transport(on: &str) -> Result<Arc<dyn Transport>, Refused> {
    Ok(virtual_time(on)?)
}

/// Runs a scenario that [`compare`] or [`scenario`] has made for the same `on`.
///
/// # Errors
/// An interruption before any run was finished, or a flow that its transport cannot carry.
pub fn run(scenario: &Scenario, on: &str, options: &Options<'_>) -> Result<Ran, Refused> {
    let report = virtual_time(on)?.run(scenario, options).map_err(Failure::from)?;
    let runs: Vec<&RunResult> = report.runs.iter().map(|run| &run.result).collect();
    let checked = expectations::check(scenario, &runs);
    let unmet = checked.map(|checked| checked.unmet.iter().map(Unmet::to_string).collect());
    Ok(Ran { report, unmet: unmet.unwrap_or_default() })
}

/// What `compare` and `run` print of it: tables and sentences, `width` columns wide.
pub fn summary(report: &Report, width: usize) -> String {
    summary::text(report, Screen::plain(width))
}

/// The document of `judge --json`: a control on the scenarios of the catalogue. `on` is `sim` or
/// `quic`, in virtual time; `progress` hears how many runs are finished, of how many. `in_turn`
/// leaves all of them to the calling thread.
///
/// # Errors
/// As the command's.
pub fn judge(
    asked: &Asked<'_>,
    on: &str,
    in_turn: bool,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<String, Refused> {
    let transport = virtual_time(on)?;
    let transports = Transports::all(&*transport);
    let question = asked.question(&transports).map_err(Failure::from)?;
    let options = Options {
        stop: Some(stop),
        on_done: Some(progress),
        serial: in_turn,
        ..Options::default()
    };
    let judgement = question.judge(&transports, None, &options).map_err(Failure::from)?;
    Ok(judgement.to_json().map_err(Failure::from)?)
}

/// The document of `predict --json`.
///
/// # Errors
/// As the command's.
pub fn predict(path: &PathFlags) -> Result<String, Refused> {
    let (resolved, conditions, found) = predict::prediction(path)?;
    Ok(predict::json(&resolved, &conditions, &found)?)
}

/// The document of `list --json`, of everything or of one name.
///
/// # Errors
/// As the command's.
pub fn list(name: Option<&str>) -> Result<String, Refused> {
    Ok(list::json(&list::catalogue(name)?)?)
}

/// The whole command line, inside another program; `words` begins with the program's name. Returns
/// the exit code. A program calls it once.
pub fn command(words: Vec<OsString>) -> u8 {
    command_line::hand_in(words);
    args::main()
}

/// Every flag that takes a secret, by its command and its name, from the definition of the command
/// line.
pub fn secret_flags() -> Vec<(String, String)> {
    use clap::CommandFactory as _;
    command_line::secret_flags(&args::Cli::command())
}

/// The transports that take no root and no clock.
fn virtual_time(on: &str) -> Result<Arc<dyn Transport>, Failure> {
    let transport = On::named(on).transport()?;
    match transport.is_in_real_time() {
        false => Ok(transport),
        true => Err(Failure::Usage(format!(
            "on = \"{on}\": needs root and a process of its own; accepted here: sim, quic; else \
             the command `firstflight`"
        ))),
    }
}
