//! Where the bytes come from: a file, or a temporary one into which a pipe or a packed file was
//! read; what is short stays in memory.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, Write as _};
use std::path::Path;

use tempfile::SpooledTempFile;

use crate::RecordError;

/// A file that can be read again from its begin.
pub(crate) struct Rewindable {
    pub(crate) content: SpooledTempFile,
    /// What was packed breaks off.
    pub(crate) truncated: bool,
}

/// Opens what is named; `-` is standard input. What is no regular file, as a pipe, is read once and
/// whole, so that the readers can begin again.
///
/// Its name for messages comes first.
pub(crate) fn open(path: &Path) -> Result<(Cow<'_, str>, File), RecordError> {
    let is_stdin = path.as_os_str() == "-";
    let file = if is_stdin { "standard input".into() } else { path.to_string_lossy() };
    let opened = match is_stdin {
        true => kept_file(&file, io::stdin().lock()),
        false => open_named(&file, path),
    };
    opened.map(|opened| (file, opened))
}

fn open_named(file: &str, path: &Path) -> Result<File, RecordError> {
    let unreadable = RecordError::unreadable(file);
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if found.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let opened = File::open(path).map_err(unreadable)?;
    match found.is_file() {
        true => Ok(opened),
        false => kept_file(file, opened),
    }
}

fn kept_file(file: &str, from: impl Read) -> Result<File, RecordError> {
    keep(file, from)?.content.into_file().map_err(RecordError::unreadable(file))
}

/// The first bytes, at most `most`; the source then stands at its begin.
pub(crate) fn first(
    file: &str,
    source: &mut (impl Read + Seek + ?Sized),
    most: u64,
) -> Result<Vec<u8>, RecordError> {
    let mut bytes = Vec::new();
    let read = source.rewind().and_then(|()| source.take(most).read_to_end(&mut bytes));
    let read = read.and_then(|_| source.rewind());
    read.map(|()| bytes).map_err(RecordError::unreadable(file))
}

/// Reads all into a temporary file that has no name. What breaks off is kept as far as it goes.
pub(crate) fn keep(file: &str, from: impl Read) -> Result<Rewindable, RecordError> {
    keep_at_most(MOST, file, from)
}

fn keep_at_most(most: u64, file: &str, mut from: impl Read) -> Result<Rewindable, RecordError> {
    let no_room = |source| RecordError::NoRoom {
        file: file.to_owned(),
        folder: std::env::temp_dir().display().to_string(),
        source,
    };
    let mut content = SpooledTempFile::new(IN_MEMORY);
    let (mut kept, mut truncated) = (0_u64, false);
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) if kept > 0 => {
                truncated = true;
                break;
            }
            Err(source) => return Err(RecordError::unreadable(file)(source)),
        };
        kept += length as u64;
        if kept > most {
            return Err(RecordError::Refused {
                file: file.to_owned(),
                found: format!("more than {} MiB through a pipe, or packed", most >> 20),
                accepted: "at most so many; a longer record as a file that is not packed"
                    .to_owned(),
            });
        }
        content.write_all(&buffer[..length]).map_err(no_room)?;
    }
    content.rewind().map_err(no_room)?;
    Ok(Rewindable { content, truncated })
}

/// Bytes at a time.
pub(crate) const BUFFER: usize = 64 << 10;
/// What is no longer stays in memory, bytes.
const IN_MEMORY: usize = 1 << 20;
/// The most that comes through a pipe or out of what is packed, bytes.
const MOST: u64 = 512 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_bound_is_refused_with_the_bound() {
        let message = keep_at_most(1 << 20, "x", io::repeat(7)).err().unwrap().to_string();
        assert!(
            message.starts_with("x: more than 1 MiB through") && message.contains("accepted"),
            "{message}"
        );
    }
}
