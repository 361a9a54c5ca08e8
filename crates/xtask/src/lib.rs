//! What the tasks of this repository and its studies share: steps, and why one ended early.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use firstflight_guest::GuestError;

pub mod step;

/// Why a task ended early: what to tell the user, and the exit code of the product's contract.
#[derive(Debug)]
pub struct Stop {
    /// What to tell the user.
    pub message: String,
    /// 1 for a failure, 2 for wrong usage, 3 where the machine lacks something.
    pub code: u8,
}

impl From<GuestError> for Stop {
    fn from(error: GuestError) -> Self {
        match error {
            GuestError::Lacks(message) => Self::lacks(&message),
            GuestError::Input(message) => Self::usage(&message),
            other => Self::failed(&other.to_string()),
        }
    }
}

impl Stop {
    /// A check failed.
    pub fn failed(message: &str) -> Self {
        Self { message: message.to_owned(), code: 1 }
    }

    /// Wrong usage or wrong input.
    pub fn usage(message: &str) -> Self {
        Self { message: message.to_owned(), code: 2 }
    }

    /// The machine lacks something.
    pub fn lacks(message: &str) -> Self {
        Self { message: message.to_owned(), code: 3 }
    }
}

/// Says why a task ended early, if it did. Returns the exit code.
pub fn ended(outcome: Result<(), Stop>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            if !stop.message.is_empty() {
                eprintln!("{}", stop.message);
            }
            ExitCode::from(stop.code)
        }
    }
}

/// Refuses arguments of a task that takes none.
pub fn no_arguments(task: &str, args: &[String]) -> Result<(), Stop> {
    match args.first() {
        None => Ok(()),
        Some(first) => Err(Stop::usage(&format!("{task} takes no arguments, found `{first}`"))),
    }
}

/// The workspace's directory: two above this crate's.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
