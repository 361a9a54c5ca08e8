//! How a command can end, and with which exit code.

#[cfg(feature = "kernel")]
use firstflight_kernel::LoadError;
use firstflight_kernel::{knobs::NotInKernel, requirements::Lack};
use firstflight_qlog::QlogError;
use firstflight_record::RecordError;
use firstflight_report::ReportError;
use firstflight_reproduce::ReproduceError;
use firstflight_results::TableError;
use firstflight_runner::{ControlProblem, RunError};
use firstflight_scenario::ScenarioError;
pub(crate) use firstflight_terminal::{Fault, Status};
use firstflight_transfer::{Kind, TransferError};

/// A command that could not do what was asked. Displayed in one message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Wrong usage or input.
    #[error("{0}")]
    Usage(String),
    /// A run broke, or a result cannot be said.
    #[error("{0}")]
    Broke(String),
    /// The machine lacks something.
    #[error("{0}")]
    Lacks(String),
    /// Stopped by the user before anything was finished.
    #[error("interrupted before anything was finished")]
    Interrupted,
    /// A transfer that came to nothing.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// What any command can meet.
    #[error(transparent)]
    Terminal(#[from] firstflight_terminal::Failure),
}

impl Fault for Failure {
    fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Broke(_) => 1,
            Self::Lacks(_) => 3,
            Self::Interrupted => 130,
            Self::Transfer(error) => match error.kind() {
                Kind::Input => 2,
                Kind::Lacks => 3,
                Kind::Interrupted => 130,
                Kind::Broke => 1,
            },
            Self::Terminal(failure) => failure.code(),
        }
    }
}

/// Errors whose message is the whole failure.
macro_rules! from_message {
    ($($error:ty => $variant:ident $prefix:literal),+ $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$variant(format!(concat!($prefix, "{}"), error))
            }
        }
    )+};
}

from_message! {
    ScenarioError => Usage "",
    ControlProblem => Usage "",
    QlogError => Usage "",
    NotInKernel => Usage "",
    Lack => Lacks "kernel: ",
    serde_json::Error => Broke "the results cannot be printed: ",
    TableError => Broke "the results cannot be written: ",
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::NoRoom { .. } => Self::Lacks(error.to_string()),
            _ => Self::Usage(error.to_string()),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        firstflight_terminal::Failure::from(error).into()
    }
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Self {
        firstflight_terminal::Failure::from(error).into()
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

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scenario(error) => error.into(),
            RunError::Control(problem) => (*problem).into(),
            RunError::Input(problem) => Self::Usage(problem),
            RunError::Lacks(problem) => Self::Lacks(problem),
            RunError::Failed(problem) => Self::Broke(problem),
            RunError::Interrupted => Self::Interrupted,
        }
    }
}
