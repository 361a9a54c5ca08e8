//! What can go wrong in a reproduction.

use firstflight_report::ReportError;
use firstflight_runner::RunError;
use firstflight_scenario::ScenarioError;

/// Why nothing was reproduced.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// Nothing of that name can be reproduced.
    #[error("nothing to reproduce is called `{found}`{hint}; accepted: {accepted}")]
    Unknown {
        /// As the user named it.
        found: String,
        /// The nearest name: `, did you mean ...`, or nothing.
        hint: String,
        /// What is accepted, in words.
        accepted: String,
    },
    /// A paper file does not say what it must: an error of whoever wrote it.
    #[error("{file}: {problem}")]
    Paper {
        /// The file's path in the repository.
        file: String,
        /// What was found and what is accepted.
        problem: String,
    },
    /// A scenario of a paper file cannot be.
    #[error(transparent)]
    Scenario(Box<ScenarioError>),
    /// A run failed.
    #[error("{name}: {source}")]
    Run {
        /// File, case and control.
        name: String,
        /// Why.
        source: Box<RunError>,
    },
    /// A run in the lab broke.
    #[error("{name}: {problem}")]
    Lab {
        /// File, case and control.
        name: String,
        /// Why.
        problem: String,
    },
    /// The report cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The results are no numbers.
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
