//! Traces: the rates or delays of a link over time, in a file that the scenario names.
//!
//! The first line of a file decides its form, not its name: one number a line, or columns.
//!
//! A file is read line by line, and only what is kept of it is held in memory. A line has at most a
//! hundred characters and a file at most 256 MiB, so that neither a device nor a data set of
//! another kind is read for long.

mod columns;
mod lines;
mod opportunities;
mod series;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use firstflight_core::units::{Instant, Span};
use firstflight_link::{Element, Opportunities, RateSchedule, ScheduleProblem, Steps};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::complete::Line;
use crate::document::{Files, Node};
use crate::error::{Place, ScenarioError};
use crate::read::Read;
use crate::schema::Form;
use lines::{Lines, Problem};

/// A file and what is kept of it. Written in scenarios as its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace<T> {
    /// Its name as written, relative to the scenario's file.
    pub file: String,
    /// Identifies its content: the first half of its SHA-256, in hexadecimal digits.
    pub digest: String,
    /// What was read of it.
    pub content: T,
}

/// The rate of a link over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rates {
    /// At these milliseconds it can send so many times 1500 bytes; again and again.
    Opportunities(Arc<[(u64, u32)]>),
    /// Rates that change.
    Steps {
        /// From these times on, in nanoseconds, it has these rates, in bits per second.
        steps: Arc<[(u64, u64)]>,
        /// When they begin again, in nanoseconds.
        period_ns: Option<u64>,
    },
}

/// The delay of a link over time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delays {
    /// From these times on it has these delays, both in nanoseconds.
    pub steps: Arc<[(u64, u64)]>,
    /// When they begin again, in nanoseconds.
    pub period_ns: Option<u64>,
}

/// Delays that were recorded, in nanoseconds, without their times.
pub type Recorded = Arc<[u64]>;

/// What can be read of a file of lines, with the digest of the file.
pub(crate) trait Content: Sized {
    /// The first line that is no comment, and the lines behind it.
    fn read(first: String, lines: Lines) -> Result<(Self, String), Problem>;

    fn load(path: &Path, files: &Files) -> Result<(Self, String), String> {
        let read = Lines::open(path, files).and_then(|mut lines| {
            let first = lines.entry()?.unwrap_or_default();
            Self::read(first, lines)
        });
        let file = path.display();
        read.map_err(|problem| match problem {
            Problem::File(problem) => format!("{file}: {problem}"),
            Problem::Line(line, problem) => format!("{file}:{line}: {problem}"),
        })
    }
}

impl Content for Rates {
    fn read(first: String, lines: Lines) -> Result<(Self, String), Problem> {
        match has_columns(&first) {
            true => columns::rates(first, lines),
            false => opportunities::read(first, lines),
        }
    }
}

impl Content for Delays {
    fn read(first: String, lines: Lines) -> Result<(Self, String), Problem> {
        match has_columns(&first) {
            true => columns::delays(first, lines),
            false => series::delays(first, lines),
        }
    }
}

impl Content for Recorded {
    fn read(first: String, lines: Lines) -> Result<(Self, String), Problem> {
        series::recorded(first, lines)
    }
}

/// Whether a file whose first line this is has several columns.
fn has_columns(first: &str) -> bool {
    columns::fields(first).nth(1).is_some()
}

impl Rates {
    /// Reads a trace of rates in any of its forms.
    ///
    /// # Errors
    /// The file and the line at fault, what was found and what is accepted.
    pub fn load(path: &Path) -> Result<Self, String> {
        <Self as Content>::load(path, &Files::default()).map(|(rates, _)| rates)
    }

    /// What a link does with them; those without a period of their own begin again after `period`.
    ///
    /// # Errors
    /// They are no schedule.
    pub fn element(&self, period: Option<Span>) -> Result<Box<dyn Element>, ScheduleProblem> {
        Ok(match self {
            Self::Opportunities(trace) => Box::new(Opportunities::new(trace.clone())?),
            Self::Steps { steps, period_ns } => {
                let steps: Vec<_> = steps.iter().map(|(at, bps)| (Instant(*at), *bps)).collect();
                Box::new(RateSchedule::new(Steps::new(steps, period_ns.map(Span).or(period))?)?)
            }
        })
    }

    /// The mean rate, in bit/s: over the time after which they begin again, or until the last step.
    pub fn mean_bps(&self) -> u64 {
        Line::of_rates(self, None).own_mean_bps()
    }
}

impl<T> Trace<T> {
    /// Reads the file of this name, which stands at a node.
    pub(crate) fn load(name: &str, node: &Node) -> Result<Self, ScenarioError>
    where
        T: Content,
    {
        let read = T::load(&path_of(&node.place, name), &node.files);
        let (content, digest) = read.map_err(|problem| node.error(problem))?;
        Ok(Self { file: name.to_owned(), digest, content })
    }

    /// Its name and digest, for results.
    pub(crate) fn in_results(&self) -> Value {
        json!({ "file": self.file, "digest": self.digest })
    }
}

impl<T: Content> Read for Trace<T> {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        Self::load(&String::read(node)?, node)
    }

    fn form() -> Form {
        Form::Text
    }
}

impl<T> Serialize for Trace<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.file)
    }
}

/// The path of a file named at `place`, relative to the folder of the file that names it.
fn path_of(place: &Place, name: &str) -> PathBuf {
    let folder = match place {
        Place::Key { file, .. } => Path::new(file).parent(),
        Place::Flag(_) => None,
    };
    folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
}
