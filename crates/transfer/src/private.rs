//! Files with keys and secrets: read only if nobody but their owner can read them.

use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::error::TransferError;

/// All of such a file. `what` it holds is for the message.
///
/// # Errors
/// A file that cannot be read, or that others can.
pub(crate) fn read(path: &Path, what: &str) -> Result<Vec<u8>, TransferError> {
    let wrong = |problem: String| {
        let accepted = format!("accepted: {what} in a file that only its owner can read");
        TransferError::Input(format!("{}: {problem}; {accepted}", path.display()))
    };
    // To open a FIFO would wait for its writer.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(wrong("no regular file".to_owned()));
    }
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let about = file.metadata().map_err(|error| wrong(error.to_string()))?;
    if let Some(mode) = open_to_others(&about) {
        let path = path.display();
        return Err(wrong(format!("others can read it (mode {mode:03o}; chmod 600 {path})")));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(bytes)
}

/// The permissions of a file that its group or everybody has any for.
fn open_to_others(about: &Metadata) -> Option<u32> {
    let mode = about.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Longer than any key.
const LONGEST: u64 = 64 * 1024;
