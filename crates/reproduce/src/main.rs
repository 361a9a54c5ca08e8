//! The program of `cargo reproduce`: `firstflight` with that command alone, which needs neither
//! QUIC nor the lab and is built in half the time.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use firstflight_reproduce::command::Args;
use firstflight_terminal::{Failure, Flags, Status, command_line};

/// Start-up algorithms of TCP, measured: scenarios, comparisons and the papers' experiments.
#[derive(Debug, Parser)]
#[command(
    name = "firstflight",
    version,
    after_help = WITHOUT,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(flatten)]
    flags: Flags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(Args),
}

fn main() -> ExitCode {
    let words = command_line::words();
    let code = firstflight_terminal::main(&words, |Cli { flags, command }| {
        flags.apply();
        let Command::Reproduce(args) = command;
        reproduce(&args)
    });
    ExitCode::from(code)
}

fn reproduce(args: &Args) -> Result<Status, Failure> {
    if args.check()? {
        return Err(Failure::Lacks(WITHOUT_LAB.to_owned()));
    }
    args.run(None)
}

const WITHOUT: &str = "\
This program was built for `reproduce` alone; `cargo build --release` makes the one with every
command, target/release/firstflight.";

const WITHOUT_LAB: &str = "this program was built without the lab; `cargo build --release` makes \
    one with it, target/release/firstflight";
