//! The command line of firstflight: scenarios, comparisons and reproductions from a terminal.

use std::process::ExitCode;

mod args;
mod command_line;
mod compare;
mod completions;
mod digits;
mod expectations;
mod failure;
mod figures;
mod interrupt;
mod kernel;
mod list;
mod logs;
mod measure;
mod output;
mod page;
mod path_args;
mod predict;
mod progress;
mod reading;
mod recv;
mod reproduce;
mod run;
mod send;
mod show;
mod summary;
mod trace;
mod transfer;
mod transport;
mod words;

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

fn main() -> ExitCode {
    args::main()
}
