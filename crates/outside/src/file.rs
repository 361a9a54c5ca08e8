//! Files that a user names.

use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::path::Path;

/// Why a file is not read: what was found, without its name and without what is accepted, which the
/// caller knows.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// No file has the name.
    #[error("no such file")]
    Missing,
    /// This user may not read it.
    #[error("no permission to read it")]
    Forbidden,
    /// A directory has the name.
    #[error("this is a directory")]
    Directory,
    /// A device, a FIFO or a socket has the name: it may have no end, or no beginning.
    #[error("no regular file")]
    Irregular,
    /// It has more bytes than the bound.
    #[error("the file is larger than {}", size(*.most))]
    TooLarge {
        /// The bound in bytes.
        most: u64,
    },
    /// This line, from 1, has bytes that are no text.
    #[error("line {line} is not UTF-8 text")]
    NotText {
        /// The line.
        line: usize,
    },
    /// The operating system says something else.
    #[error("{0}")]
    Other(#[from] io::Error),
}

/// Opens a regular file of at most `most` bytes. Whoever reads it gets one byte more than the bound
/// at most, should it grow.
///
/// # Errors
/// What is no such file is refused before it is opened, since to open a FIFO waits for its writer.
pub fn open(path: &Path, most: u64) -> Result<Take<File>, Unread> {
    let found = fs::metadata(path).map_err(from_io)?;
    if found.is_dir() {
        return Err(Unread::Directory);
    }
    if !found.is_file() {
        return Err(Unread::Irregular);
    }
    let file = File::open(path).map_err(from_io)?;
    if found.len() > most {
        return Err(Unread::TooLarge { most });
    }
    Ok(file.take(most.saturating_add(1)))
}

/// All bytes of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`], and what reading says.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    whole(open(path, most)?, most)
}

fn whole(mut from: impl Read, most: u64) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(Unread::TooLarge { most }),
        false => Ok(bytes),
    }
}

/// The text of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`read`], and a line that is not UTF-8.
pub fn text(path: &Path, most: u64) -> Result<String, Unread> {
    utf8(read(path, most)?)
}

/// The text that comes through standard input, at most `most` bytes.
///
/// # Errors
/// More than that, a line that is not UTF-8, and what reading says.
pub fn standard_input(most: u64) -> Result<String, Unread> {
    utf8(whole(io::stdin().lock().take(most.saturating_add(1)), most)?)
}

fn utf8(bytes: Vec<u8>) -> Result<String, Unread> {
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Unread::NotText { line: before.iter().filter(|byte| **byte == b'\n').count() + 1 }
    })
}

fn from_io(error: io::Error) -> Unread {
    common(&error).unwrap_or(Unread::Other(error))
}

/// Why a file is not read, the commonest reasons without the system's number.
pub fn unread(error: &io::Error) -> String {
    common(error).map_or_else(|| error.to_string(), |reason| reason.to_string())
}

fn common(error: &io::Error) -> Option<Unread> {
    match error.kind() {
        io::ErrorKind::NotFound => Some(Unread::Missing),
        io::ErrorKind::IsADirectory => Some(Unread::Directory),
        io::ErrorKind::PermissionDenied => Some(Unread::Forbidden),
        _ => None,
    }
}

/// A bound, which is a whole number of its unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &str, most: u64) -> String {
        text(Path::new(path), most).unwrap_err().to_string()
    }

    #[test]
    fn what_has_no_end_or_no_beginning_is_refused_before_it_is_read() {
        assert_eq!(refused("/dev/zero", 4 << 20), "no regular file");
        assert_eq!(refused("/dev/urandom", 4 << 20), "no regular file");
        assert_eq!(refused("/", 4 << 20), "this is a directory");
        assert_eq!(refused("/there/is/none", 4 << 20), "no such file");
    }

    #[test]
    fn a_file_has_its_bound_whatever_size_it_reports() {
        let own = file!().replace("crates/outside/", "");
        assert_eq!(refused(&own, 1 << 10), "the file is larger than 1 KiB");
        let whole = read(Path::new(&own), 1 << 20).unwrap();
        let exact = whole.len() as u64;
        assert_eq!(read(Path::new(&own), exact).unwrap(), whole);
        assert!(refused(&own, exact - 1).starts_with("the file is larger than "));
        // Its size says 0.
        assert_eq!(refused("/proc/self/status", 64), "the file is larger than 64 bytes");
    }

    #[test]
    fn a_line_that_is_no_text_is_named() {
        let path = std::env::temp_dir().join(format!("firstflight-{}", std::process::id()));
        fs::write(&path, b"one\ntwo\xff\n").unwrap();
        let refused = text(&path, 64).unwrap_err().to_string();
        fs::remove_file(&path).unwrap();
        assert_eq!(refused, "line 2 is not UTF-8 text");
    }
}
