//! `completions`: what a shell needs to complete commands, flags and values.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;
use firstflight_scenario::keys::Kind;
use firstflight_scenario::{Flag, PathFlags};

use crate::args::Cli;
use crate::failure::{Failure, Status};
use crate::{list, output};
use firstflight_transports::TRANSPORTS;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  firstflight completions bash > ~/.local/share/bash-completion/completions/firstflight
  firstflight completions zsh > ~/.zfunc/_firstflight
  firstflight completions fish > ~/.config/fish/completions/firstflight.fish";

/// Runs the command.
pub(crate) fn completions(args: &Args) -> Result<Status, Failure> {
    let mut text = Vec::new();
    let mut command = with_values(Cli::command(), &list::names());
    clap_complete::generate(args.shell, &mut command, "firstflight", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Status::Done)
}

/// The command with the values that its arguments suggest. They are no check: more is accepted, as
/// a control with its knobs.
fn with_values(command: Command, names: &list::Names) -> Command {
    let of = command.get_name().to_owned();
    let command = command.mut_args(|arg| suggesting(&of, arg, names));
    command.mut_subcommands(|inner| with_values(inner, names))
}

fn suggesting(command: &str, arg: Arg, names: &list::Names) -> Arg {
    let value = arg.get_value_names().and_then(|all| all.first()).map(ToString::to_string);
    let value = value.unwrap_or_else(|| arg.get_id().as_str().to_uppercase());
    let words = |words: &[&'static str]| words.iter().map(PossibleValue::new).collect();
    let named = |named: &[(String, String)]| -> Vec<PossibleValue> {
        named.iter().map(|(name, what)| PossibleValue::new(name).help(what)).collect()
    };
    let flag = PathFlags::all().iter().find(|flag| flag.name == arg.get_id().as_str());
    let values: Vec<PossibleValue> = match (command, value.as_str()) {
        _ if flag.is_some() => words(flag.map_or(&[], accepted)),
        ("list", "NAME") => named(&names.all),
        ("scenarios", "NAME") => scenarios(),
        (_, "CONTROL" | "CONTROLS") => named(&names.controls),
        (_, "TRANSPORT") if arg.get_id() == "name" => words(&TRANSPORTS),
        _ => Vec::new(),
    };
    match (values.is_empty(), value.as_str()) {
        (false, _) => arg.value_parser(PossibleValuesParser::new(values)),
        (true, "DIR" | "FOLDER") => arg.value_hint(ValueHint::DirPath),
        (true, _) => arg,
    }
}

/// The words that a path flag takes.
fn accepted(flag: &Flag) -> &'static [&'static str] {
    match flag.kind {
        Kind::Word(words) => words,
        Kind::Switch => &["true", "false"],
        Kind::Count | Kind::Quantity => &[],
    }
}

/// The scenarios of the catalogue, as they are called.
fn scenarios() -> Vec<PossibleValue> {
    let entries = firstflight_judge::whole().unwrap_or_default();
    entries.iter().map(|it| PossibleValue::new(it.name).help(it.title().to_owned())).collect()
}
