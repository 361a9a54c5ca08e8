//! The rules for what comes from outside: files that a user names, to read and to write, words that
//! somebody else wrote, and a disk that has no room. Each stands here once, for every crate.

mod atomic;
mod file;
mod room;
mod words;

pub use atomic::{AtomicFile, is_unfinished, is_written_through};
pub use file::{Unread, open, read, text};
pub use room::{MAKE_ROOM, is_full};
pub use words::{file_name, plain};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
