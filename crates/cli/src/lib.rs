//! The command line of firstflight: scenarios, comparisons and reproductions from a terminal.
//!
//! What another program asks of the commands stands in [`calls`].

use std::process::ExitCode;

mod advise;
mod args;
pub mod calls;
mod captures;
mod compare;
mod completions;
mod document;
mod failure;
mod figures;
mod judge;
mod kernel;
mod labels;
mod list;
mod log_limit;
mod manual;
mod measure;
mod page;
mod path_args;
mod predict;
mod recv;
mod reproduce;
mod run;
mod scenarios;
mod schema;
mod secret;
mod self_check;
mod send;
mod shared;
mod show;
mod socket_buffers;
mod summary;
mod sweep;
mod tables;
mod trace;
mod transfer;

#[cfg(target_os = "linux")]
mod link;
#[cfg(not(target_os = "linux"))]
mod no_link;
#[cfg(not(target_os = "linux"))]
use no_link as link;

use firstflight_terminal::{command_line, interrupt, output, progress, words};

/// Reads the command line, runs the command, and says how it went.
pub fn main() -> ExitCode {
    ExitCode::from(args::main())
}
