//! What can be wrong with a scenario, in messages that say how to mend it.

use std::fmt;

/// Where a value stands: a line of a file, or a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A key of a file, such as `flow[0].rtt`.
    Key {
        /// The file as named by the user.
        file: String,
        /// The line, counted from 1; `None` for a value that a program set.
        line: Option<usize>,
        /// The dotted key, lists counted from 0; empty for the file as a whole.
        key: String,
    },
    /// A command-line flag with its dashes, or the word for an argument without.
    Flag(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line, key) = match self {
            Self::Flag(name) => return f.write_str(name),
            Self::Key { file, line, key } => (file, line, key),
        };
        f.write_str(file)?;
        if let Some(line) = line {
            write!(f, ":{line}")?;
        }
        if key.is_empty() { Ok(()) } else { write!(f, ": {key}") }
    }
}

/// Everything that can be wrong with a scenario. All of it is wrong input: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read as text.
    #[error("{file}: {problem}; accepted: a scenario file in TOML")]
    Unreadable {
        /// The file as named by the user.
        file: String,
        /// Why it cannot be read.
        problem: String,
    },
    /// The text is not TOML.
    #[error("{file}:{line}: {problem}; accepted: TOML, such as `rate = \"40Mbps\"`")]
    Syntax {
        /// The file as named by the user.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What the TOML parser says.
        problem: String,
    },
    /// A key that this table does not have.
    #[error("{place}: unknown key{hint}; accepted: {accepted}")]
    UnknownKey {
        /// Where it stands.
        place: Place,
        /// `, did you mean ...`, or nothing.
        hint: String,
        /// Every key accepted there.
        accepted: String,
    },
    /// A value that is wrong by itself or contradicts another.
    #[error("{}: {problem}", Found(place, found.as_deref()))]
    Value {
        /// Where it stands.
        place: Place,
        /// What was found, as written; `None` when something is missing.
        found: Option<String>,
        /// What is wrong, and what is accepted.
        problem: String,
    },
}

impl ScenarioError {
    /// Replaces the place of a value that a program set by the place from which it took the value,
    /// if `place_of` knows that.
    pub fn located(mut self, place_of: impl Fn(&str) -> Option<Place>) -> Self {
        if let Self::UnknownKey { place, .. } | Self::Value { place, .. } = &mut self
            && let Place::Key { line: None, key, .. } = place
            && let Some(found) = place_of(key)
        {
            *place = found;
        }
        self
    }
}

/// Prints as `file:3: path.rate = "40"` or `--rate 40`.
struct Found<'a>(&'a Place, Option<&'a str>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (place, None) => write!(f, "{place}"),
            (Place::Flag(name), Some(found)) => write!(f, "{name} {}", found.trim_matches('"')),
            (place, Some(found)) => write!(f, "{place} = {found}"),
        }
    }
}
