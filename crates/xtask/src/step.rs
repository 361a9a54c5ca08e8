//! Steps: programs that are named before they run, and whose failure ends the task.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

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

/// What a build for controls in the kernel takes, as arguments of cargo; nothing where this machine
/// cannot make one, which it says.
pub(crate) fn kernel_features() -> Result<&'static [&'static str], Stop> {
    let works = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let quiet = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    if works("clang", &["--version"]) && works("pkg-config", &["--exists", "libelf", "zlib"]) {
        return Ok(&["--features", "firstflight-cli/kernel"]);
    }
    let lack = "controls in the kernel need clang libelf-dev zlib1g-dev pkg-config to build";
    if std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_some() {
        return Err(Stop::lacks(lack));
    }
    println!("skipped: {lack}");
    Ok(&[])
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
