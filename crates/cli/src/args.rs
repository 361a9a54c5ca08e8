//! What can be typed, and how it becomes an exit code.

use clap::{Parser, Subcommand};

use crate::failure::{Failure, Status};
use crate::{
    advise, command_line, compare, completions, judge, kernel, link, list, manual, measure,
    predict, recv, reproduce, run, scenarios, schema, self_check, send, show, sweep,
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
    #[command(flatten)]
    flags: firstflight_terminal::Flags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::Args),
    Compare(compare::Args),
    Run(run::Args),
    Sweep(sweep::Args),
    Scenarios(scenarios::Args),
    Judge(judge::Args),
    Advise(advise::Args),
    Predict(predict::Args),
    Show(show::Args),
    Send(send::Args),
    Recv(recv::Args),
    Measure(measure::Args),
    Link(link::Args),
    Kernel(kernel::Args),
    List(list::Args),
    Schema(schema::Args),
    SelfCheck(self_check::Args),
    Completions(completions::Args),
    Manual(manual::Args),
}

const EXAMPLES: &str = "\
Examples:
  firstflight reproduce                        every table and figure of the papers, with a report
  firstflight compare                          five controls side by side on one path
  firstflight compare newreno astart --rate 100Mbps --rtt 70ms --out report
  firstflight run scenario.toml --json
  firstflight sweep grid.toml                  one scenario at many points, on all cores
  firstflight judge hystart-pp                 the catalogue of paths, with a verdict for each rule
  firstflight scenarios wifi                   what a scenario of the catalogue asks, and why
  firstflight advise --rate 40Mbps --rtt 100ms    which control to take, and what it costs
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
    // Another program does not do what a guest asks of this one.
    if !command_line::is_inside_another() {
        match firstflight_transports::serve() {
            Ok(false) => {}
            served => {
                return firstflight_terminal::ended(
                    served.map(|_| Status::Done).map_err(Failure::from),
                );
            }
        }
    }
    firstflight_terminal::main(words, |cli: Cli| {
        cli.flags.apply();
        dispatch(cli.command)
    })
}

fn dispatch(command: Command) -> Result<Status, Failure> {
    match command {
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Scenarios(args) => scenarios::scenarios(&args),
        Command::Judge(args) => judge::judge(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Predict(args) => predict::predict(&args),
        Command::Show(args) => show::show(&args),
        Command::Send(args) => send::send(args),
        Command::Recv(args) => recv::recv(args),
        Command::Measure(args) => measure::measure(&args),
        Command::Link(args) => link::link(&args),
        Command::Kernel(args) => kernel::kernel(&args),
        Command::List(args) => list::list(&args),
        Command::Schema(args) => schema::schema(&args),
        Command::SelfCheck(args) => self_check::self_check(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Manual(args) => manual::manual(&args),
    }
}
