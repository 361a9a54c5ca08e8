//! The command line of firstflight: scenarios, comparisons and reproductions from a terminal.
//!
//! With the feature `full` it has every command; without it `reproduce` alone, which needs neither
//! QUIC nor the lab and is built in half the time. Of another program's calls it has `calls`.

#![cfg_attr(not(feature = "full"), allow(dead_code, reason = "other commands use it"))]

use std::process::ExitCode;

mod args;
#[cfg(feature = "full")]
pub mod calls;
mod command_line;
#[cfg(feature = "full")]
mod compare;
#[cfg(feature = "full")]
mod completions;
mod digits;
#[cfg(feature = "full")]
mod endpoints;
#[cfg(feature = "full")]
mod expectations;
mod failure;
#[cfg(feature = "full")]
mod figures;
#[cfg(feature = "full")]
mod in_turn;
mod interrupt;
#[cfg(feature = "full")]
mod kernel;
#[cfg(feature = "full")]
mod list;
#[cfg(feature = "full")]
mod logs;
#[cfg(feature = "full")]
mod manual;
#[cfg(feature = "full")]
mod measure;
mod output;
#[cfg(feature = "full")]
mod page;
#[cfg(feature = "full")]
mod path_args;
#[cfg(feature = "full")]
mod predict;
mod progress;
#[cfg(feature = "full")]
mod reading;
#[cfg(feature = "full")]
mod recv;
mod reproduce;
#[cfg(feature = "full")]
mod run;
#[cfg(feature = "full")]
mod secret;
#[cfg(feature = "full")]
mod seldom;
#[cfg(feature = "full")]
mod send;
#[cfg(feature = "full")]
mod show;
#[cfg(feature = "full")]
mod summary;
#[cfg(feature = "full")]
mod sweep;
#[cfg(feature = "full")]
mod trace;
#[cfg(feature = "full")]
mod transfer;
#[cfg(feature = "full")]
mod transport;
#[cfg(feature = "full")]
mod virtual_time;
#[cfg(feature = "full")]
mod words;

#[cfg(all(feature = "full", target_os = "linux"))]
mod guest;

#[cfg(all(feature = "full", target_os = "linux"))]
mod link;
#[cfg(all(feature = "full", target_os = "linux"))]
mod real_time;
#[cfg(all(feature = "full", target_os = "linux"))]
use firstflight_lab as lab;

#[cfg(all(feature = "full", not(target_os = "linux")))]
mod elsewhere;
#[cfg(all(feature = "full", not(target_os = "linux")))]
use elsewhere::{lab, link, real_time};

/// Reads the command line, runs the command, and says how it went.
pub fn main() -> ExitCode {
    ExitCode::from(args::main())
}
