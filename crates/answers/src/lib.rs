//! What the commands are asked and what they answer, without a terminal, QUIC and files: the
//! command line, the Python package and a page in a browser ask the same functions.
//!
//! [`comparison`] and [`scenario`] check what `compare` and `run` are asked, and [`run`] runs it on
//! a [`Transport`]. [`judge`], [`predict`] and [`show`] make the documents of those commands.

mod checks;
pub mod endpoints;
mod expected;
mod judged;
pub mod measure;
mod predict;
pub mod reading;
pub mod show;
mod socket_buffers;

use firstflight_judge::Transports;
use firstflight_results::RunResult;
use firstflight_runner::{Options, Report, RunError, Transport};
use firstflight_scenario::{Scenario, Unmet};
use serde::Serialize;

pub use checks::{COMPARED, Carried, comparison, scenario};
pub use expected::{Checked, Expectation, check};
pub use firstflight_judge::Request;
pub use judged::{Judged, KnownPath, StartUp};
pub use predict::{Predicted, predict};
pub use socket_buffers::{Allowed, Needed};

/// What came of a scenario, and which of its expectations do not hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The runs.
    pub report: Report,
    /// The conditions of `[expect]` that do not hold, in words.
    pub unmet: Vec<String>,
}

impl Outcome {
    /// What came of a scenario, as it is known from before.
    pub fn of(report: Report, unmet: Vec<String>) -> Self {
        Self { report, unmet }
    }
}

/// Runs a scenario that [`comparison`] or [`scenario`] has checked for the same transport.
///
/// # Errors
/// As [`Transport::run`].
pub fn run(
    scenario: &Scenario,
    transport: &dyn Transport,
    options: &Options<'_>,
) -> Result<Outcome, RunError> {
    let report = transport.run(scenario, options)?;
    let runs: Vec<&RunResult> = report.runs.iter().map(|run| &run.result).collect();
    let unmet = check(scenario, &runs).map(|checked| checked.unmet).unwrap_or_default();
    Ok(Outcome { unmet: unmet.iter().map(Unmet::to_string).collect(), report })
}

/// The document of `judge --json`: a control on the scenarios of the catalogue, all of them run on
/// one transport. Of the options `on_done` hears of all runs, and `serial` leaves them to the
/// calling thread.
///
/// # Errors
/// A control or a scenario that is none, an interruption, or what a run says.
pub fn judge(
    request: &Request<'_>,
    transport: &dyn Transport,
    options: &Options<'_>,
) -> Result<String, RunError> {
    let transports = Transports::all(transport);
    json(&request.question(&transports)?.judge(&transports, None, options)?)
}

/// A document as indented JSON with a final newline.
///
/// # Errors
/// A number that is none.
pub fn json(document: &impl Serialize) -> Result<String, RunError> {
    firstflight_results::json(document).map_err(unprintable)
}

fn unprintable(error: serde_json::Error) -> RunError {
    RunError::Failed(format!("the results cannot be printed: {error}"))
}

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
