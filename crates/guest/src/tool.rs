//! Programs of the host.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

use crate::error::GuestError;

/// Where a program is on the PATH, or where only root looks for programs.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|place| place.is_file())
}

/// What a command prints, if it succeeds; `package` is Debian's that has it.
///
/// # Errors
/// No such command, or what it complains about.
pub(crate) fn output(command: &mut Command, package: &str) -> Result<Vec<u8>, GuestError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            GuestError::Lacks(format!("`{name}` is missing: on Debian `apt install {package}`"))
        }
        _ => GuestError::Failed(format!("{name}: {error}")),
    })?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let complaint = String::from_utf8_lossy(&done.stderr);
    let last = complaint.trim().lines().last().unwrap_or("it failed").to_owned();
    Err(GuestError::Failed(format!("{name}: {last}")))
}
