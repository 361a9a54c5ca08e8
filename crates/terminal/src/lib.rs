//! What every command shares: the two streams, a bar for work that lasts, Ctrl-C, the command line
//! as it was typed, and the exit codes.

pub mod command_line;
mod failure;
pub mod interrupt;
pub mod output;
mod parse;
pub mod progress;
pub mod words;

/// The flag `--color`, which each program flattens into its own.
pub use colorchoice_clap::Color;
pub use failure::{Failure, Fault, Status};
pub use parse::{ended, main};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
