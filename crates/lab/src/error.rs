//! Why an experiment could not be done; the kind is what a command's exit code is made of.

use firstflight_runner::RunError;
use firstflight_scenario::ScenarioError;

/// Displayed in one message that says what was found and what is accepted.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The machine lacks something: privilege, a device, a kernel feature, a program.
    #[error("{0}")]
    Lacks(String),
    /// The scenario or a flag asks for what real Linux cannot do.
    #[error("{0}")]
    Input(String),
    /// The scenario says what cannot be.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A run broke.
    #[error("{0}")]
    Failed(String),
    /// Told to stop before any run was finished.
    #[error("interrupted before anything was finished")]
    Interrupted,
}

impl From<RunError> for LabError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scenario(error) => Self::Scenario(error),
            RunError::Control(problem) => Self::Input(problem.to_string()),
            RunError::Foreign(problem) => Self::Input(problem),
            RunError::Interrupted => Self::Interrupted,
        }
    }
}
