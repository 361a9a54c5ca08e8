//! The command line of firstflight: scenarios, comparisons and reproductions from a terminal.

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
mod link;
mod list;
mod measure;
mod output;
mod page;
mod path_args;
mod predict;
mod progress;
mod real_time;
mod recv;
mod reproduce;
mod run;
mod send;
mod show;
mod summary;
mod trace;
mod transfer;
mod transport;

use std::process::ExitCode;

fn main() -> ExitCode {
    args::main()
}
