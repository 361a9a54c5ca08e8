//! The rules for what comes from outside: files that a user names, words that somebody else wrote,
//! and a disk that has no room. Each stands here once, for every crate.

mod file;
mod room;
mod words;

pub use file::{Unread, open, read, text};
pub use room::{MAKE_ROOM, is_full};
pub use words::plain;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
