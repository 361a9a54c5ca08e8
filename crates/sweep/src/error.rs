//! What can be wrong with a sweep, its folder or one of its points.

use std::io;
use std::path::{Path, PathBuf};

use firstflight_outside::FileFault;
use firstflight_results::TableError;
use firstflight_results::table::io_error;
use firstflight_runner::{ControlProblem, RunError};
use firstflight_scenario::{Place, ScenarioError};

/// Why a sweep cannot be read, run, kept or merged.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The grid file cannot be read as text.
    #[error("{file}: {problem}; accepted: a grid file in TOML (docs/sweep.md)")]
    Unreadable {
        /// The file as named by the user.
        file: String,
        /// Why it cannot be read.
        problem: String,
    },
    /// A key of the grid file that is wrong.
    #[error("{place}: {problem}")]
    Grid {
        /// The file as named by the user, the line and the dotted key.
        place: Place,
        /// What was found, and what is accepted.
        problem: String,
    },
    /// The scenario of the grid file is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A control that does not exist or cannot be set so.
    #[error(transparent)]
    Control(#[from] ControlProblem),
    /// A point that cannot be run.
    #[error("at {point}: {problem}")]
    Point {
        /// Its keys and values.
        point: String,
        /// What is wrong.
        problem: String,
    },
    /// A chunk of work that does not read, or comes from another version.
    #[error("chunk: {0}")]
    Chunk(String),
    /// A folder that holds something else, or is in use.
    #[error("{}: {problem}", path.display())]
    Folder {
        /// The folder or the file in it.
        path: PathBuf,
        /// What was found, and what is accepted.
        problem: String,
    },
    /// Chunks are missing.
    #[error(
        "{}: {missing} of {total} chunks are missing; accepted: all of them, from \
         `firstflight sweep` with this grid and folder, or from every shard of it",
        dir.display()
    )]
    Incomplete {
        /// The folder.
        dir: PathBuf,
        /// How many are not there.
        missing: u64,
        /// How many chunks the sweep has.
        total: u64,
    },
    /// Chunks that are not as they were written.
    #[error(
        "{}: {}; accepted: the chunk as it was written, or the same sweep without --merge, which \
         makes it anew",
        .0.first().unwrap_or(&PathBuf::new()).display(),
        changed(.0)
    )]
    Damaged(Vec<PathBuf>),
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A measured number that is not finite.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The machine lacks something, or a run broke.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The sweep was told to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What happened to the first of these files, and which others are like it.
fn changed(files: &[PathBuf]) -> String {
    let others: Vec<String> = files.iter().skip(1).map(|file| file.display().to_string()).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" (and those of {})", others.join(", ")),
    };
    format!("its bytes{others} are not those that were written")
}

impl SweepError {
    /// Whether there is no room for what was to be written.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::File(fault) if fault.is_full())
    }

    /// A file that cannot be read.
    pub fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let fault = FileFault::read(path);
        |source| fault(source).into()
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let fault = FileFault::write(path);
        |source| fault(source).into()
    }

    /// What was to become CSV.
    pub(crate) fn csv(path: &Path) -> impl FnOnce(csv::Error) -> Self {
        let fault = FileFault::write(path);
        |error| fault(io_error(error)).into()
    }

    /// What a table could not be written or read for, at a file.
    pub(crate) fn table(what: &'static str, path: &Path) -> impl FnOnce(TableError) -> Self {
        let path = path.to_owned();
        move |error| match error {
            TableError::Write(source) => FileFault::at(what, &path)(source).into(),
            TableError::Unreadable(problem) => Self::Folder { path, problem },
            error => Self::Table(error),
        }
    }

    /// A run at a point; `stands` knows where the values of keys stand.
    pub(crate) fn at(
        point: String,
        error: RunError,
        stands: impl Fn(&str) -> Option<Place>,
    ) -> Self {
        let problem = match error {
            RunError::Interrupted => return Self::Interrupted,
            RunError::Lacks(why) => return RunError::Lacks(format!("at {point}: {why}")).into(),
            RunError::Failed(why) => return RunError::Failed(format!("at {point}: {why}")).into(),
            RunError::Scenario(error) => error.located(stands).to_string(),
            error => error.to_string(),
        };
        Self::Point { point, problem }
    }
}
