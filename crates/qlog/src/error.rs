//! What can be wrong with a file that should be a qlog.

use std::io;

use firstflight_outside::unread;

/// A file that cannot be read as qlog. Each message names the file and what was found.
#[derive(Debug, thiserror::Error)]
pub enum QlogError {
    /// The file cannot be read at all.
    #[error("{file}: {}; accepted: a qlog file (.sqlog, .qlog)", unread(source))]
    Unreadable {
        /// The file as named.
        file: String,
        /// The system's message.
        source: io::Error,
    },
    /// The file is something else.
    #[error(
        "{file}: {found}; accepted: qlog as JSON text sequences (.sqlog), as lines of JSON, \
         or as one JSON document with `traces` (.qlog)"
    )]
    NotQlog {
        /// The file as named.
        file: String,
        /// What it seems to be.
        found: String,
    },
    /// A connection that the file does not have.
    #[error("{file}: --connection {asked}: the log has {all}; accepted: 1 to {all}")]
    NoSuchConnection {
        /// The file as named.
        file: String,
        /// The number that was asked for.
        asked: usize,
        /// How many there are.
        all: usize,
    },
    /// A record that is needed cannot be used.
    #[error("{file}, record {record}: {problem}")]
    Record {
        /// The file as named.
        file: String,
        /// From 1, the header included.
        record: usize,
        /// What was found and what is accepted.
        problem: String,
    },
}
