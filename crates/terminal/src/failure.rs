//! How a command can end, and with which exit code.

use std::fmt::Display;
use std::io;

use firstflight_outside::{MAKE_ROOM, is_full};
use firstflight_report::ReportError;

/// A command that did what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All well: 0.
    Done,
    /// A verdict or an expectation failed: 1.
    Unmet,
    /// Stopped by the user, with what was finished printed: 130.
    Interrupted,
}

impl Status {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Unmet => 1,
            Self::Interrupted => 130,
        }
    }
}

/// Why a command could not do what was asked, in one message, with an exit code.
pub trait Fault: Display {
    /// The exit code.
    fn code(&self) -> u8;
}

/// The faults that any command can have.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong usage or input: 2.
    #[error("{0}")]
    Usage(String),
    /// A run broke, or a result cannot be said: 1.
    #[error("{0}")]
    Broke(String),
    /// The machine lacks something: 3.
    #[error("{0}")]
    Lacks(String),
    /// Standard output takes nothing more: 3 if the disk behind it is full, else 2.
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    /// Stopped by the user before anything was finished: 130.
    #[error("interrupted before anything was finished")]
    Interrupted,
}

impl Fault for Failure {
    fn code(&self) -> u8 {
        match self {
            Self::Broke(_) => 1,
            Self::Lacks(_) => 3,
            Self::Stdout(error) if is_full(error) => 3,
            Self::Usage(_) | Self::Stdout(_) => 2,
            Self::Interrupted => 130,
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error.is_full() {
            true => Self::Lacks(format!("{error}; {MAKE_ROOM}")),
            false => Self::Usage(error.to_string()),
        }
    }
}
