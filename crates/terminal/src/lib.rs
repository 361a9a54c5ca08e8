//! What every command shares: the two streams, a bar for work that lasts, Ctrl-C, the command line
//! as it was typed, and the exit codes.

pub mod command_line;
mod failure;
mod flags;
pub mod interrupt;
pub mod output;
mod parse;
pub mod progress;
pub mod words;

pub use failure::{Failure, Fault, Status};
pub use flags::Flags;
pub use parse::{ended, main};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
