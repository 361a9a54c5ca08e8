//! What can be wrong with a record. Each message names the file, the place and what is accepted.

use std::io;

use firstflight_outside::unread;
use firstflight_qlog::QlogError;

/// A file that cannot be read as a record of a connection.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read at all.
    #[error("{file}: {}; accepted: {ACCEPTED}", unread(source))]
    Unreadable {
        /// The file as named.
        file: String,
        /// The system's message.
        source: io::Error,
    },
    /// There is no room for what came through a pipe, or was packed.
    #[error("{file}: no room to unpack or to keep it in {folder}: {source}")]
    NoRoom {
        /// The file as named.
        file: String,
        /// The folder for temporary files.
        folder: String,
        /// The system's message.
        source: io::Error,
    },
    /// The file is something else, or more than is read of its kind.
    #[error("{file}: {found}; accepted: {accepted}")]
    Refused {
        /// The file as named.
        file: String,
        /// What it is.
        found: String,
        /// What is read instead, and how to get it.
        accepted: String,
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
    /// A file without a connection to show.
    #[error("{file}: {problem}")]
    Nothing {
        /// The file as named.
        file: String,
        /// What was found and what is accepted.
        problem: String,
    },
    /// A connection that the file does not have.
    #[error("{file}: --connection {asked}: the file has {all}; accepted: 1 to {all}")]
    NoSuchConnection {
        /// The file as named.
        file: String,
        /// The number that was asked for.
        asked: usize,
        /// How many there are.
        all: usize,
    },
    /// What the reader of qlogs says.
    #[error(transparent)]
    Qlog(#[from] QlogError),
}

impl RecordError {
    /// Makes the error of a failed read of `file`.
    pub(crate) fn unreadable(file: &str) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| Self::Unreadable { file: file.to_owned(), source }
    }
}

/// Every kind of file that is read.
pub(crate) const ACCEPTED: &str = "a qlog (.sqlog, .qlog), a capture (pcap, pcapng), the output of \
    `date +%s.%N; ss -tin` again and again, or the JSON of iperf3; each also as .gz or .zst";
