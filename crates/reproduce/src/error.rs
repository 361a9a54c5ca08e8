//! What can go wrong in a reproduction.

use firstflight_report::ReportError;
use firstflight_runner::RunError;
use firstflight_scenario::ScenarioError;

/// Why nothing was reproduced.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// No paper, experiment or claim has that name.
    #[error("nothing to reproduce is called `{found}`{hint}; accepted: {accepted}")]
    Unknown {
        /// The name as the user wrote it.
        found: String,
        /// The nearest name: `, did you mean ...`, or nothing.
        hint: String,
        /// What is accepted, in words.
        accepted: String,
    },
    /// A paper file is wrong; the mistake is its author's, not the user's.
    #[error("{file}: {problem}")]
    Paper {
        /// The file's path in the repository.
        file: String,
        /// What was found and what is accepted.
        problem: String,
    },
    /// A scenario of a paper file is wrong.
    #[error(transparent)]
    Scenario(Box<ScenarioError>),
    /// A run failed.
    #[error("{name}: {source}")]
    Run {
        /// File, case and control.
        name: String,
        /// Why the run failed.
        source: Box<RunError>,
    },
    /// A run in the lab broke.
    #[error("{name}: {problem}")]
    Lab {
        /// File, case and control.
        name: String,
        /// Why the run broke.
        problem: String,
    },
    /// The report cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The results cannot be written as JSON.
    #[error("rows.json: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<ScenarioError> for ReproduceError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}

impl ReproduceError {
    pub(crate) fn paper(file: &str, problem: impl Into<String>) -> Self {
        Self::Paper { file: file.to_owned(), problem: problem.into() }
    }
}
