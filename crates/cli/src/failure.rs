//! How a command can end, and with which exit code.

use std::io;

#[cfg(feature = "full")]
use firstflight_guest::GuestError;
#[cfg(feature = "kernel")]
use firstflight_kernel::LoadError;
#[cfg(feature = "full")]
use firstflight_kernel::{knobs::NotInKernel, requirements::Lack};
#[cfg(all(feature = "full", target_os = "linux"))]
use firstflight_lab::LabError;
#[cfg(feature = "full")]
use firstflight_qlog::QlogError;
use firstflight_report::ReportError;
use firstflight_reproduce::ReproduceError;
use firstflight_runner::{ControlProblem, RunError};
use firstflight_scenario::ScenarioError;
#[cfg(feature = "full")]
use firstflight_table::TableError;
#[cfg(feature = "full")]
use firstflight_transfer::TransferError;

/// A command that did what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All well: 0.
    Done,
    /// A verdict or an expectation failed: 1.
    Unmet,
    /// Stopped by the user, with what was finished printed: 130.
    Interrupted,
}

/// A command that could not do what was asked. Displayed in one message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line does not read.
    #[error("{0}")]
    Usage(String),
    /// A scenario or a path flag that cannot be.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A control that does not exist or cannot be set so.
    #[error(transparent)]
    Control(#[from] ControlProblem),
    /// A file that is no qlog.
    #[cfg(feature = "full")]
    #[error(transparent)]
    Qlog(#[from] QlogError),
    /// A transfer that came to nothing.
    #[cfg(feature = "full")]
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// A report that cannot be made or written.
    #[error(transparent)]
    Report(ReportError),
    /// A reproduction that cannot be made.
    #[error(transparent)]
    Reproduce(Box<ReproduceError>),
    /// A directory that cannot take files.
    #[error("{flag} {path}: {problem}; accepted: a directory that can be written, or made")]
    Directory {
        /// The flag that named it.
        flag: &'static str,
        /// The directory as typed.
        path: String,
        /// Why not.
        problem: String,
    },
    /// Standard output takes nothing more.
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    /// A measured number that is not finite.
    #[error("the results cannot be printed: {0}")]
    Json(#[from] serde_json::Error),
    /// A measured number that no table can hold.
    #[cfg(feature = "full")]
    #[error("the results cannot be written: {0}")]
    Table(#[from] TableError),
    /// The machine lacks something.
    #[error("{0}")]
    Lacks(String),
    /// A run broke.
    #[error("{0}")]
    Broke(String),
    /// A control that the kernel has no version of.
    #[cfg(feature = "full")]
    #[error(transparent)]
    NotInKernel(#[from] NotInKernel),
    /// Stopped by the user before anything was finished.
    #[error("interrupted before anything was finished")]
    Interrupted,
}

impl Status {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Unmet => 1,
            Self::Interrupted => 130,
        }
    }
}

impl Failure {
    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Json(_) | Self::Broke(_) => 1,
            #[cfg(feature = "full")]
            Self::Table(_) => 1,
            Self::Reproduce(error) => match **error {
                // Input and output are the user's, all else is the program's own.
                ReproduceError::Unknown { .. } | ReproduceError::Report(_) => 2,
                _ => 1,
            },
            #[cfg(feature = "full")]
            Self::Transfer(error) => transfer_code(error),
            Self::Lacks(_) => 3,
            Self::Stdout(error) if error.kind() == io::ErrorKind::StorageFull => 3,
            Self::Interrupted => 130,
            _ => 2,
        }
    }
}

#[cfg(feature = "full")]
impl From<Lack> for Failure {
    fn from(lack: Lack) -> Self {
        Self::Lacks(format!("kernel: {lack}"))
    }
}

#[cfg(all(feature = "full", target_os = "linux"))]
impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Scenario(error) => error.into(),
            LabError::Interrupted => Self::Interrupted,
            LabError::Input(problem) => Self::Usage(problem),
            LabError::Lacks(problem) => Self::Lacks(problem),
            LabError::Failed(problem) => Self::Broke(problem),
        }
    }
}

#[cfg(feature = "full")]
impl From<GuestError> for Failure {
    fn from(error: GuestError) -> Self {
        match error {
            GuestError::Interrupted => Self::Interrupted,
            GuestError::Input(problem) => Self::Usage(problem),
            GuestError::Lacks(problem) => Self::Lacks(problem),
            GuestError::Failed(problem) => Self::Broke(problem),
        }
    }
}

#[cfg(feature = "kernel")]
impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Lack(lack) => lack.into(),
            LoadError::Control(problem) => problem.into(),
            LoadError::NotInKernel(problem) => problem.into(),
            LoadError::Name(_) => Self::Usage(format!("kernel load: {error}")),
            LoadError::Taken(_) => Self::Broke(format!("kernel load: {error}")),
            LoadError::Refused { .. } => Self::Lacks(format!("kernel load: {error}")),
        }
    }
}

/// Mistakes in what the user gave are wrong usage; what failed later is a failure of the transfer.
#[cfg(feature = "full")]
fn transfer_code(error: &TransferError) -> u8 {
    match error {
        TransferError::Control(_)
        | TransferError::Input(_)
        | TransferError::Address { .. }
        | TransferError::Listen { .. } => 2,
        TransferError::Machine(_) => 3,
        TransferError::Interrupted { .. } => 130,
        _ => 1,
    }
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Self {
        match error {
            ReproduceError::Report(error) if error.is_full() => error.into(),
            other => Self::Reproduce(Box::new(other)),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error.is_full() {
            true => Self::Lacks(format!("{error}; make room there, or write elsewhere")),
            false => Self::Report(error),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scenario(error) => error.into(),
            RunError::Control(problem) => problem.into(),
            RunError::Foreign(problem) => Self::Usage(problem),
            RunError::Interrupted => Self::Interrupted,
        }
    }
}
