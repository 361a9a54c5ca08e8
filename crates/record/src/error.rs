//! What can be wrong with a record. Each message names the file, the place and what is accepted.

use std::io;

/// A file that cannot be read as a record of TCP.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read at all.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file as named.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A place in a capture where reading cannot go on.
    #[error("{file}, byte {offset}: {problem}")]
    Capture {
        /// The file as named.
        file: String,
        /// The byte, from 0.
        offset: u64,
        /// What was found and what is accepted.
        problem: String,
    },
    /// A line of a text that cannot be used.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file as named.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What was found and what is accepted.
        problem: String,
    },
    /// A file without a connection to show, or without the one asked for.
    #[error("{file}: {problem}")]
    Nothing {
        /// The file as named.
        file: String,
        /// What was found and what is accepted.
        problem: String,
    },
}
