//! `completions`: what a shell needs to complete commands and flags.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::{Failure, Status};
use crate::output;

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
    clap_complete::generate(args.shell, &mut Cli::command(), "firstflight", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Status::Done)
}
