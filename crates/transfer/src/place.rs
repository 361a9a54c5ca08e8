//! The directory into which files go, open from the start: whatever happens to its path, nothing is
//! written elsewhere.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, fstatvfs, openat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::error::TransferError;

/// An open directory.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    directory: Arc<File>,
    path: PathBuf,
    /// Bytes of the disk that transfers here were promised and have not filled yet.
    promised: Arc<Mutex<u64>>,
}

/// Room on the disk that one transfer has to itself; given back when dropped.
#[derive(Debug)]
pub(crate) struct Room {
    promised: Arc<Mutex<u64>>,
    bytes: u64,
}

impl Place {
    pub(crate) fn open(path: &Path) -> Result<Self, TransferError> {
        let fault = |source| TransferError::File { path: path.to_owned(), source };
        let directory = File::open(path).map_err(fault)?;
        if !directory.metadata().map_err(fault)?.is_dir() {
            return Err(fault(Errno::NOTDIR.into()));
        }
        let (directory, path) = (Arc::new(directory), path.to_owned());
        Ok(Self { directory, path, promised: Arc::default() })
    }

    /// What a file here is called in messages and results.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Room for so many bytes, of what a user without privileges may still store and nobody else
    /// was promised here.
    ///
    /// # Errors
    /// There is less: so much, in the second result.
    pub(crate) fn room(&self, bytes: u64) -> io::Result<Result<Room, u64>> {
        let mut promised = lock(&self.promised);
        let about = fstatvfs(&self.directory)?;
        let free = about.f_bavail.saturating_mul(about.f_frsize).saturating_sub(*promised);
        if bytes > free {
            return Ok(Err(free));
        }
        *promised += bytes;
        Ok(Ok(Room { promised: Arc::clone(&self.promised), bytes }))
    }

    /// Opens or makes a file for reading and writing that only this user can read; `new` demands
    /// that there is none.
    ///
    /// # Errors
    /// Whatever is no plain file of this user with this one name, too.
    pub(crate) fn file(&self, name: &str, new: bool) -> Result<File, TransferError> {
        let mut flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags.set(OFlags::EXCL, new);
        let fault = |source| TransferError::File { path: self.path(name), source };
        let strange = |problem: &str| {
            let problem = format!("{problem}; remove it, or send --name calls the file otherwise");
            TransferError::BadFile { path: self.path(name), problem }
        };
        let file = match open_beneath(&self.directory, name, flags) {
            Ok(file) => file,
            Err(Errno::LOOP) => return Err(strange("a symbolic link, which is not followed")),
            Err(error) => return Err(fault(error.into())),
        };
        let about = file.metadata().map_err(fault)?;
        // A file of somebody else's could be changed after it was checked, and one with a second
        // name is a file elsewhere.
        if !about.is_file() || about.nlink() != 1 {
            return Err(strange("not a plain file with one name"));
        }
        if about.uid() != rustix::process::geteuid().as_raw() {
            return Err(strange("a file of another user"));
        }
        file.set_permissions(Permissions::from_mode(0o600)).map_err(fault)?;
        Ok(file)
    }

    /// Whether the name leads to this open file.
    pub(crate) fn leads_to(&self, name: &str, file: &File) -> io::Result<bool> {
        let about = file.metadata()?;
        let there = self.stat(name)?;
        Ok(there.is_some_and(|there| {
            // Their types differ between systems.
            there.st_ino == about.ino() && i128::from(there.st_dev) == i128::from(about.dev())
        }))
    }

    /// Nothing has the name, or only what may be replaced.
    pub(crate) fn check_free(&self, name: &str, replace: bool) -> Result<(), TransferError> {
        let there = self
            .stat(name)
            .map_err(|source| TransferError::File { path: self.path(name), source })?;
        let problem = match there {
            None => return Ok(()),
            Some(there) if FileType::from_raw_mode(there.st_mode).is_dir() => {
                "a directory; send --name calls the file otherwise"
            }
            Some(_) if replace => return Ok(()),
            Some(_) => TAKEN,
        };
        Err(TransferError::BadFile { path: self.path(name), problem: problem.to_owned() })
    }

    /// Gives a file another name, which nothing has unless `replace`.
    pub(crate) fn rename(&self, from: &str, to: &str, replace: bool) -> Result<(), TransferError> {
        self.check_free(to, replace)?;
        let here = &self.directory;
        let renamed = match replace {
            true => renameat(here, from, here, to),
            // Somebody may take the name just now.
            false => match renameat_with(here, from, here, to, RenameFlags::NOREPLACE) {
                // A file system that cannot rename only if the target does not exist.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => renameat(here, from, here, to),
                renamed => renamed,
            },
        };
        renamed.map_err(|error| match error {
            Errno::EXIST => {
                TransferError::BadFile { path: self.path(to), problem: TAKEN.to_owned() }
            }
            error => TransferError::File { path: self.path(from), source: error.into() },
        })
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        match statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok(Some(there)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Room {
    /// Notes that `bytes` of it are on the disk now.
    pub(crate) fn fill(&mut self, bytes: u64) {
        let filled = bytes.min(self.bytes);
        self.bytes -= filled;
        *lock(&self.promised) -= filled;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.fill(self.bytes);
    }
}

fn lock(promised: &Mutex<u64>) -> MutexGuard<'_, u64> {
    promised.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a file by a name without slashes. The kernel is asked to hold to that
/// (`RESOLVE_BENEATH` of openat2, Linux 5.6); where it cannot be, `O_NOFOLLOW` says as much of such
/// a name.
fn open_beneath(directory: &File, name: &str, flags: OFlags) -> Result<File, Errno> {
    if name.contains('/') || [".", ".."].contains(&name) {
        return Err(Errno::INVAL);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(directory, name, flags, MODE, beneath) {
            // An older kernel, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened.map(File::from),
        }
    }
    open_here(directory, name, flags)
}

fn open_here(directory: &File, name: &str, flags: OFlags) -> Result<File, Errno> {
    openat(directory, name, flags | OFlags::NOFOLLOW, MODE).map(File::from)
}

const MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const TAKEN: &str = "there already; recv --force replaces it, send --name calls it otherwise";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// As where there is no openat2.
    #[test]
    fn without_the_newer_call_a_link_is_not_followed_either() {
        let path = std::env::temp_dir().join(format!("firstflight-here-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        // One that another run left serves as well.
        let _ = symlink("elsewhere", path.join("link"));
        let directory = File::open(&path).unwrap();
        for open in [open_here, open_beneath] {
            let opened = open(&directory, "link", OFlags::RDWR | OFlags::CREATE);
            assert_eq!(opened.err(), Some(Errno::LOOP));
            assert!(open(&directory, "plain", OFlags::RDWR | OFlags::CREATE).is_ok());
        }
        assert!(!path.join("elsewhere").exists());
        std::fs::remove_dir_all(path).unwrap();
    }
}
