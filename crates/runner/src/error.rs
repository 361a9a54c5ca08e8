//! Why a scenario was not run; the kind is what a command's exit code is made of.

use firstflight_control::ControlProblem;
use firstflight_scenario::ScenarioError;

/// Displayed in one message that says what was found and what is accepted.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario contradicts itself.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A control that does not exist or cannot be set so.
    #[error(transparent)]
    Control(Box<ControlProblem>),
    /// The scenario or a flag asks for what this transport cannot do.
    #[error("{0}")]
    Input(String),
    /// The machine lacks something: privilege, a device, a kernel feature, a program.
    #[error("{0}")]
    Lacks(String),
    /// A run broke.
    #[error("{0}")]
    Failed(String),
    /// Stopped by the user before any run was finished.
    #[error("interrupted before anything was finished")]
    Interrupted,
}

impl From<ControlProblem> for RunError {
    fn from(problem: ControlProblem) -> Self {
        Self::Control(Box::new(problem))
    }
}

impl RunError {
    /// Whether the request is at fault, and not the machine or the run.
    pub fn is_of_input(&self) -> bool {
        matches!(self, Self::Scenario(_) | Self::Control(_) | Self::Input(_))
    }
}
