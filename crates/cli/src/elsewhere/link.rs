//! `link`, where there is no Linux.

use super::lab::needs_linux;
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
    Err(needs_linux("link"))
}
