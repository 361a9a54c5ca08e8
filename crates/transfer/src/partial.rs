//! A file while it arrives: under another name, and only one writer at a time.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::error::TransferError;
use crate::hash::{Hashing, Sha256};
use crate::name::PART;

/// What has arrived of a file.
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    target: PathBuf,
    replace: bool,
    bytes: u64,
    hashing: Hashing,
}

impl Partial {
    /// Opens or makes the partial file of `target`, and hashes what it has of `size` bytes. Only
    /// with `replace` may a file of its name be there.
    pub(crate) fn open(
        target: &Path,
        size: Option<u64>,
        replace: bool,
    ) -> Result<Self, TransferError> {
        check_free(target, replace)?;
        let path = partial_path(target);
        let fault = |source: io::Error| TransferError::File { path: path.clone(), source };
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fault)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let problem = "another recv is writing it".to_owned();
                return Err(TransferError::BadFile { path, problem });
            }
            // A file system without locks: the user has to see to it.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        let there = file.metadata().map_err(fault)?.len();
        // More than the whole file is of another one.
        let bytes = if size.is_some_and(|size| there > size) { 0 } else { there };
        let mut hashing = Hashing::default();
        hashing.read(&mut file, bytes).map_err(fault)?;
        Ok(Self { file, path, target: target.to_owned(), replace, bytes, hashing })
    }

    /// How many bytes are there.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The SHA-256 of what is there; none of nothing.
    pub(crate) fn prefix(&self) -> Option<Sha256> {
        (self.bytes > 0).then(|| self.hashing.clone().finish())
    }

    /// Keeps the first `bytes`, which are all or none.
    pub(crate) fn restart(&mut self, bytes: u64) -> Result<(), TransferError> {
        if bytes == 0 {
            self.bytes = 0;
            self.hashing = Hashing::default();
        }
        let cut = self.file.set_len(self.bytes);
        let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(self.bytes)));
        cut.map(|_| ()).map_err(|source| self.fault(source))
    }

    /// Adds what came next.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        self.file.write_all(bytes).map_err(|source| self.fault(source))?;
        self.hashing.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// All is there: gives it its name if the hash is right, and removes it if not.
    pub(crate) fn finish(self, bytes: u64, sha256: &Sha256) -> Result<PathBuf, TransferError> {
        let fault = |source: io::Error| TransferError::File { path: self.path.clone(), source };
        if self.bytes != bytes || self.hashing.finish() != *sha256 {
            fs::remove_file(&self.path).map_err(fault)?;
            return Err(TransferError::Corrupt);
        }
        // Somebody else may have taken the name meanwhile.
        check_free(&self.target, self.replace)?;
        // The name must not be there before the content is.
        self.file.sync_all().map_err(fault)?;
        fs::rename(&self.path, &self.target).map_err(fault)?;
        Ok(self.target)
    }

    /// Nothing has arrived: leaves no empty file behind.
    pub(crate) fn discard_if_empty(self) {
        if self.bytes == 0 {
            // A file that cannot be removed is empty and hurts nobody.
            let _ = fs::remove_file(&self.path);
        }
    }

    fn fault(&self, source: io::Error) -> TransferError {
        TransferError::File { path: self.path.clone(), source }
    }
}

/// Nothing has the name, or only what may be replaced.
fn check_free(target: &Path, replace: bool) -> Result<(), TransferError> {
    let problem = match target.symlink_metadata() {
        Err(_) => return Ok(()),
        Ok(there) if there.is_dir() => "a directory; send --name calls the file otherwise",
        Ok(_) if replace => return Ok(()),
        Ok(_) => "there already; recv --force replaces it, send --name calls it otherwise",
    };
    Err(TransferError::BadFile { path: target.to_owned(), problem: problem.to_owned() })
}

/// `big.iso` arrives as `big.iso.part`.
pub(crate) fn partial_path(target: &Path) -> PathBuf {
    let mut name: OsString = target.as_os_str().to_owned();
    name.push(PART);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of the test's own.
    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("firstflight-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(place: &Path) -> Vec<OsString> {
        fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn wrong_content_gets_no_name_and_is_not_kept() {
        let place = place("wrong");
        let right = Sha256::of(b"right");
        for (content, bytes) in [(&b"wrong"[..], 5), (b"righ", 5), (b"right", 6)] {
            let mut partial = Partial::open(&place.join("f"), Some(5), false).unwrap();
            partial.write(content).unwrap();
            let error = partial.finish(bytes, &right).unwrap_err();
            assert!(matches!(error, TransferError::Corrupt), "{error}");
            assert_eq!(names(&place), [""; 0]);
        }
        let mut partial = Partial::open(&place.join("f"), Some(5), false).unwrap();
        partial.write(b"right").unwrap();
        assert_eq!(partial.finish(5, &right).unwrap(), place.join("f"));
        assert_eq!(names(&place), ["f"]);
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn what_was_written_is_there_for_the_next_attempt_and_for_one_writer() {
        let place = place("again");
        let target = place.join("f");
        let mut first = Partial::open(&target, Some(5), false).unwrap();
        first.write(b"rig").unwrap();
        let error = Partial::open(&target, Some(5), false).err().unwrap().to_string();
        assert!(error.contains("another recv is writing it"), "{error}");
        drop(first);
        let mut next = Partial::open(&target, Some(5), false).unwrap();
        assert_eq!((next.bytes(), next.prefix()), (3, Some(Sha256::of(b"rig"))));
        next.restart(3).unwrap();
        next.write(b"ht").unwrap();
        next.finish(5, &Sha256::of(b"right")).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"right");
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_is_kept_and_so_is_what_arrived() {
        let place = place("taken");
        let target = place.join("f");
        for (replace, there) in [(false, &b"other"[..]), (true, b"right")] {
            fs::remove_file(&target).or_else(|_| fs::remove_file(partial_path(&target))).ok();
            let mut partial = Partial::open(&target, Some(5), replace).unwrap();
            partial.restart(0).unwrap();
            partial.write(b"right").unwrap();
            fs::write(&target, b"other").unwrap();
            let finished = partial.finish(5, &Sha256::of(b"right"));
            assert_eq!(finished.is_ok(), replace);
            assert_eq!(fs::read(&target).unwrap(), there);
            assert_eq!(partial_path(&target).exists(), !replace);
        }
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn a_directory_is_not_replaced() {
        let place = place("directory");
        fs::create_dir(place.join("f")).unwrap();
        let error = Partial::open(&place.join("f"), None, true).err().unwrap().to_string();
        assert!(error.contains("a directory"), "{error}");
        assert_eq!(names(&place), ["f"]);
        fs::remove_dir_all(place).unwrap();
    }
}
