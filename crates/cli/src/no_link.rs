//! `link`, where there is no Linux.

use crate::failure::{Failure, Status};

/// Emulate a link between two network namespaces, or around commands (Linux only)
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The arguments that the command has on Linux
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Says what it needs.
pub(crate) fn link(_: &Args) -> Result<Status, Failure> {
    let found = std::env::consts::OS;
    Err(Failure::Lacks(format!("link needs Linux, and this is {found}")))
}
