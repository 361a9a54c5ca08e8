//! rustfmt for every Rust file of the repository. `cargo fmt` follows `mod` lines, and so misses
//! the modules that a macro declares, which all policies of the core are.

use std::path::Path;
use std::process::Command;

use crate::step::run;
use crate::{Stop, no_arguments, tidy};

/// Formats the files.
pub(crate) fn format(root: &Path, args: &[String]) -> Result<(), Stop> {
    no_arguments("fmt", args)?;
    run("rustfmt", &mut rustfmt(root)?)
}

/// The command that says what is not formatted.
pub(crate) fn check(root: &Path) -> Result<Command, Stop> {
    let mut command = rustfmt(root)?;
    command.arg("--check");
    Ok(command)
}

/// rustfmt on every Rust file that tidy looks at.
fn rustfmt(root: &Path) -> Result<Command, Stop> {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024", "--config-path"]).arg(root).current_dir(root);
    let files = tidy::files(root)?;
    command.args(files.iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs")));
    Ok(command)
}
