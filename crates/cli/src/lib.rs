//! The command line of firstflight: scenarios, comparisons and reproductions from a terminal.
//!
//! What another program asks of the commands stands in [`calls`].

use std::process::ExitCode;

mod args;
pub mod calls;
mod compare;
mod completions;
mod endpoints;
mod expectations;
mod failure;
mod figures;
mod in_turn;
mod judge;
mod kernel;
mod labels;
mod list;
mod logs;
mod manual;
mod page;
mod path_args;
mod predict;
mod reading;
mod recv;
mod reproduce;
mod run;
mod scenarios;
mod secret;
mod seldom;
mod send;
mod shared;
mod show;
mod socket_buffers;
mod summary;
mod sweep;
mod trace;
mod transfer;
mod transport;
mod virtual_time;

#[cfg(target_os = "linux")]
mod guest;

#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
mod real_time;
#[cfg(target_os = "linux")]
use firstflight_lab as lab;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere::{lab, link, real_time};

use firstflight_terminal::{command_line, interrupt, output, progress, words};

/// Reads the command line, runs the command, and says how it went.
pub fn main() -> ExitCode {
    ExitCode::from(args::main())
}
