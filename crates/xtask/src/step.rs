//! Steps: programs that are named before they run, and whose failure ends the task.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use crate::Stop;

/// Says what runs next.
pub(crate) fn announce(name: &str) {
    println!("==> {name}");
}

/// A command of the cargo that runs this task, in the workspace.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root);
    command
}

/// Announces and runs one step to its end.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<(), Stop> {
    announce(name);
    let status = command.status().map_err(|error| unable(name, &error))?;
    if status.success() { Ok(()) } else { Err(Stop::failed(&format!("{name}: failed, {status}"))) }
}

/// The program of a step could not be started.
pub(crate) fn unable(name: &str, error: &std::io::Error) -> Stop {
    let message = format!("{name}: {error}");
    match error.kind() {
        ErrorKind::NotFound => Stop::lacks(&message),
        _ => Stop::failed(&message),
    }
}
