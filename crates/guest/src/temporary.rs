//! The files that a guest needs in the temporary folder while it runs. They are removed even if
//! this program is killed. On Linux a file has no name, so that the kernel frees it when the last
//! process closes it. On other systems, and for folders, this program locks what it makes.
//! The kernel releases the lock when this program ends, and its next run removes the files and
//! folders that nobody has locked.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{Builder, TempDir};

use crate::error::GuestError;

/// A file for this program and those that it starts; gone when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    path: Place,
}

/// Where the file is found.
#[cfg(target_os = "linux")]
type Place = PathBuf;
/// Where the file is found until this is dropped.
#[cfg(not(target_os = "linux"))]
type Place = tempfile::TempPath;

/// A folder that is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// A new one in this folder, for what is not finished yet. Those of processes that were killed
    /// are removed.
    ///
    /// # Errors
    /// No room.
    pub(crate) fn for_unfinished(parent: &Path) -> Result<Self, GuestError> {
        remove_leftovers(parent, &[(UNFINISHED, true)], OLD_ENOUGH);
        Self::made_in(parent, UNFINISHED).map_err(|error| GuestError::file(parent, &error))
    }

    fn made_in(parent: &Path, prefix: &str) -> std::io::Result<Self> {
        let folder = Builder::new().prefix(prefix).tempdir_in(parent)?;
        let lock = File::open(folder.path())?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Scratch {
    /// A new one, empty.
    ///
    /// # Errors
    /// No room.
    pub(crate) fn new() -> Result<Self, GuestError> {
        let made = Self::made();
        made.map_err(|error: std::io::Error| GuestError::file(&std::env::temp_dir(), &error))
    }

    #[cfg(target_os = "linux")]
    fn made() -> std::io::Result<Self> {
        use std::os::fd::AsRawFd as _;
        let file = tempfile::tempfile()?;
        // The programs that are started have it under the same number.
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty())?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        Ok(Self { file, path })
    }

    #[cfg(not(target_os = "linux"))]
    fn made() -> std::io::Result<Self> {
        remove_leftovers(&std::env::temp_dir(), &[(SCRATCH, false)], OLD_ENOUGH);
        let file = Builder::new().prefix(SCRATCH).tempfile()?;
        file.as_file().lock()?;
        let (file, path) = file.into_parts();
        Ok(Self { file, path })
    }

    /// A path that leads to it in this program and in those that it starts.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// One initramfs of several parts in a row.
///
/// # Errors
/// No room, or a part that cannot be read.
pub fn concatenated(parts: &[&[u8]]) -> Result<Scratch, GuestError> {
    let mut scratch = Scratch::new()?;
    let written =
        parts.iter().try_for_each(|part| std::io::Write::write_all(&mut scratch.file, part));
    written.map_err(|error| GuestError::file(&std::env::temp_dir(), &error))?;
    Ok(scratch)
}

/// Removes the folders (`true`) and files with these prefixes that no living process has locked.
/// What is younger than `age` may be about to be locked. What cannot be removed takes room, no
/// more.
fn remove_leftovers(parent: &Path, kinds: &[(&str, bool)], age: Duration) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(about) = entry.metadata() else { continue };
        let is_old = about.modified().is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age));
        let is_ours = kinds.iter().any(|(prefix, is_folder)| {
            let is_kind = if *is_folder { about.is_dir() } else { about.is_file() };
            is_kind && name.starts_with(prefix)
        });
        let path = entry.path();
        // Locked until it is gone, so that two do not remove one.
        let free = || File::open(&path).ok().filter(|file| file.try_lock().is_ok());
        if is_ours
            && is_old
            && let Some(_lock) = free()
        {
            let _ = if about.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

/// The files of a guest, where they have names.
#[cfg(any(not(target_os = "linux"), test))]
const SCRATCH: &str = "firstflight-guest-";
/// An unfinished entry of the cache; finished ones are named by a hash.
const UNFINISHED: &str = ".firstflight-half-";
/// More than passes between the making of a file or folder and its lock.
const OLD_ENOUGH: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_is_removed_and_what_a_living_one_holds_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        // A dead process holds no lock.
        let dead = at(".firstflight-half-dead");
        fs::create_dir(&dead).unwrap();
        for file in [dead.join("initramfs"), at("firstflight-guest-dead"), at("another's")] {
            fs::write(file, "x").unwrap();
        }
        let living = Folder::made_in(parent.path(), UNFINISHED).unwrap();
        let kinds = [(UNFINISHED, true), (SCRATCH, false)];
        remove_leftovers(parent.path(), &kinds, OLD_ENOUGH);
        assert!(dead.is_dir(), "too young");
        remove_leftovers(parent.path(), &[(SCRATCH, false)], Duration::ZERO);
        assert!(dead.is_dir() && !at("firstflight-guest-dead").exists(), "of another kind");
        remove_leftovers(parent.path(), &kinds, Duration::ZERO);
        assert!(!dead.exists() && living.path().is_dir() && at("another's").is_file());
        drop(living);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_of_a_guest_has_no_name_and_a_program_that_is_started_reads_and_writes_it() {
        use std::process::Command;
        let scratch = concatenated(&[b"one ", b"two"]).unwrap();
        let target = fs::read_link(scratch.path()).unwrap();
        assert!(target.to_string_lossy().ends_with("(deleted)"), "{}", target.display());
        let read = Command::new("cat").arg(scratch.path()).output().unwrap();
        assert_eq!(read.stdout, b"one two");
        let script = format!("echo three > {}", scratch.path().display());
        assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
        assert_eq!(fs::read(scratch.path()).unwrap(), b"three\n");
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(fs::read_link(path).is_err());
    }
}
