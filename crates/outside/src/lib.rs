//! The rules for what comes from outside: files that a user names, to read and to write, words that
//! somebody else wrote, a disk that has no room, numbers for people, and the folders in which
//! finished work is kept. Each stands here once, for every crate.

mod atomic;
mod digits;
mod file;
mod hash;
mod names;
mod room;
mod store;
mod words;

pub use atomic::{AtomicFile, is_unfinished, is_written_through};
pub use digits::{count, digits, short};
pub use file::{Unread, open, read, standard_input, text, unread};
pub use hash::content_name;
pub use names::Names;
pub use room::{MAKE_ROOM, is_full};
pub use store::{FileFault, FileStore, Index, number};
pub use words::{file_name, plain, word};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
