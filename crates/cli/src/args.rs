//! What can be typed, and how it becomes an exit code.

use std::ffi::OsString;

use clap::error::{Error, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::failure::{Failure, Status};
use crate::{command_line, output, reproduce};
#[cfg(feature = "full")]
use crate::{
    compare, completions, in_turn, kernel, link, list, manual, predict, recv, run, send, show,
    sweep,
};

/// Start-up algorithms of TCP, measured: scenarios, comparisons and the papers' experiments.
#[derive(Debug, Parser)]
#[command(
    name = "firstflight",
    version,
    after_help = EXAMPLES,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::Args),
    #[cfg(feature = "full")]
    Compare(compare::Args),
    #[cfg(feature = "full")]
    Run(run::Args),
    #[cfg(feature = "full")]
    Sweep(sweep::Args),
    #[cfg(feature = "full")]
    Predict(predict::Args),
    #[cfg(feature = "full")]
    Show(show::Args),
    #[cfg(feature = "full")]
    Send(send::Args),
    #[cfg(feature = "full")]
    Recv(recv::Args),
    #[cfg(feature = "full")]
    Measure(in_turn::Args),
    #[cfg(feature = "full")]
    Link(link::Args),
    #[cfg(feature = "full")]
    Kernel(kernel::Args),
    #[cfg(feature = "full")]
    List(list::Args),
    #[cfg(feature = "full")]
    Completions(completions::Args),
    #[cfg(feature = "full")]
    Manual(manual::Args),
}

#[cfg(not(feature = "full"))]
const EXAMPLES: &str = "\
This program was built for `reproduce` alone; `cargo build --release` makes the one with every
command, target/release/firstflight.";

#[cfg(feature = "full")]
const EXAMPLES: &str = "\
Examples:
  firstflight reproduce                        every table and figure of the papers, with a report
  firstflight compare                          five controls side by side on one path
  firstflight compare newreno astart --rate 100Mbps --rtt 70ms --out report
  firstflight run scenario.toml --json
  firstflight sweep grid.toml                  one scenario at many points, on all cores
  firstflight predict --buffer 0.25bdp         where slow start overflows, what is safe
  firstflight compare linux-cubic astart --on linux    the running kernel's own TCP (root)
  firstflight kernel load astart               a start-up for the running kernel (root)
  firstflight send 4433 FILE --trust recv.pem  a file over QUIC, with `firstflight recv` there
  firstflight measure --to HOST:4433 --controls cubic,astart --trust recv.pem    before and after
  firstflight show connection.sqlog            a connection's start-up, drawn from its qlog
  firstflight list astart

Exit codes: 0 done, 1 a verdict or a run failed, 2 wrong usage or input, 3 the machine lacks
something, 130 interrupted (what was finished is kept).";

/// Reads the command line, runs the command, and says how it went by the exit code.
pub(crate) fn main() -> u8 {
    let words = &command_line::words();
    #[cfg(all(feature = "full", target_os = "linux"))]
    if crate::guest::is_guest() {
        return ended(crate::guest::guest());
    }
    ended(match Cli::try_parse_from(words) {
        Ok(cli) => dispatch(cli.command),
        Err(error) => answer(&error, words),
    })
}

fn ended(outcome: Result<Status, Failure>) -> u8 {
    match outcome {
        Ok(status) => status.code(),
        Err(failure) => {
            output::complain(&failure);
            failure.code()
        }
    }
}

fn dispatch(command: Command) -> Result<Status, Failure> {
    match command {
        Command::Reproduce(args) => reproduce::reproduce(&args),
        #[cfg(feature = "full")]
        Command::Compare(args) => compare::compare(&args),
        #[cfg(feature = "full")]
        Command::Run(args) => run::run(&args),
        #[cfg(feature = "full")]
        Command::Sweep(args) => sweep::sweep(&args),
        #[cfg(feature = "full")]
        Command::Predict(args) => predict::predict(&args),
        #[cfg(feature = "full")]
        Command::Show(args) => show::show(&args),
        #[cfg(feature = "full")]
        Command::Send(args) => send::send(args),
        #[cfg(feature = "full")]
        Command::Recv(args) => recv::recv(args),
        #[cfg(feature = "full")]
        Command::Measure(args) => in_turn::measure(&args),
        #[cfg(feature = "full")]
        Command::Link(args) => link::link(&args),
        #[cfg(feature = "full")]
        Command::Kernel(args) => kernel::kernel(&args),
        #[cfg(feature = "full")]
        Command::List(args) => list::list(&args),
        #[cfg(feature = "full")]
        Command::Completions(args) => completions::completions(&args),
        #[cfg(feature = "full")]
        Command::Manual(args) => manual::manual(&args),
    }
}

/// Help and version are answers; everything else is wrong usage, told in one line.
fn answer(error: &Error, words: &[OsString]) -> Result<Status, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render();
            let colored = output::screen().color;
            output::print(&if colored { text.ansi().to_string() } else { text.to_string() })?;
            Ok(Status::Done)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::Usage(format!("a command is missing\n\n{}", error.render())))
        }
        _ => Err(Failure::Usage(one_line(&error.render().to_string(), words))),
    }
}

/// The parser's message without its layout: what is wrong, then what may have been meant.
fn one_line(message: &str, words: &[OsString]) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let mut text = String::new();
    for line in message.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("Usage: ") || line.starts_with("For more information") {
            continue;
        }
        if !text.is_empty() {
            text.push_str(if text.ends_with(':') { " " } else { "; " });
        }
        text.push_str(line);
    }
    let first = words.get(1).cloned().unwrap_or_default();
    let first = first.to_string_lossy();
    let known = Cli::command().get_subcommands().any(|command| *command.get_name() == *first);
    let command = if known { format!("firstflight {first}") } else { "firstflight".to_owned() };
    format!("{text}; see `{command} --help`")
}
