//! Files with keys and secrets: read only if nobody but their owner can read them.

use std::fs::Metadata;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use firstflight_outside::open;

use crate::error::TransferError;

/// All of such a file. The `flag` that names it and `what` it holds are for the message.
///
/// # Errors
/// A file that cannot be read, or that others can.
pub(crate) fn read(path: &Path, flag: &str, what: &str) -> Result<Vec<u8>, TransferError> {
    let wrong = |problem: String| {
        let accepted = format!("accepted: {what} in a file that only its owner can read");
        TransferError::Input(format!("{flag} {}: {problem}; {accepted}", path.display()))
    };
    let mut file = open(path, LONGEST).map_err(|unread| wrong(unread.to_string()))?;
    let about = file.get_ref().metadata().map_err(|error| wrong(error.to_string()))?;
    if let Some(mode) = open_to_others(&about) {
        let path = path.display();
        return Err(wrong(format!("others can read it (mode {mode:03o}; chmod 600 {path})")));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(bytes)
}

/// The permissions of a file that its group or everybody has any for.
fn open_to_others(about: &Metadata) -> Option<u32> {
    let mode = about.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Longer than any key, and than what is learned of 200 paths.
const LONGEST: u64 = 128 * 1024;
