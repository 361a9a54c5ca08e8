//! What another program calls of the command line, as the Python package does: its transports by
//! name, what it prints, its exit codes. What the commands answer is in `firstflight-answers`.

use std::ffi::OsString;
use std::sync::Arc;

use firstflight_answers::json;
use firstflight_report::terminal::Screen;
use firstflight_reproduce::ReproduceError;
use firstflight_runner::{Options, Report, RunError};
use firstflight_scenario::PathFlags;
use firstflight_sweep::SweepError;
use firstflight_transports::{On, Transport};

use crate::failure::{Failure, Fault as _};
use crate::{advise, args, command_line, list, summary};

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

impl From<RunError> for Refused {
    fn from(error: RunError) -> Self {
        Failure::from(error).into()
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

/// A transport by its name: `sim`, `quic` or `noq`, in virtual time.
///
/// # Errors
/// Another name.
pub fn transport(on: &str) -> Result<Arc<dyn Transport>, Refused> {
    let transport = On::named(on).transport().map_err(Failure::from)?;
    match transport.is_in_real_time() {
        false => Ok(transport),
        true => Err(Failure::Usage(format!(
            "on = \"{on}\": needs root and a process of its own; accepted here: sim, quic, noq; \
             else the command `firstflight`"
        ))
        .into()),
    }
}

/// What `compare` and `run` print of it: tables and sentences, `width` columns wide.
pub fn summary(report: &Report, width: usize) -> String {
    summary::text(report, Screen::plain(width))
}

/// The document of `advise --json`: which control to take on a path of which the flags tell what is
/// known. `on` is a stack, `linux`, `quinn` or `quic`.
///
/// # Errors
/// As the command's.
pub fn advise(
    on: &str,
    shared: bool,
    path: &PathFlags,
    options: &Options<'_>,
) -> Result<String, Refused> {
    let request = advise::request(Some(on), shared, path)?;
    let controls = advise::controls(request.stack);
    Ok(json(&firstflight_advise::advise(&request, &controls, options)?)?)
}

/// The document of `list --json`, of everything or of one name.
///
/// # Errors
/// As the command's.
pub fn list(name: Option<&str>) -> Result<String, Refused> {
    Ok(json(&list::catalogue(name)?)?)
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
