//! What a guest needs in the temporary folder while it runs. A process that is killed leaves it
//! there; the next one to need some removes it. Whose process lives is told by a lock on it, which
//! ends with the process, however that ends.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile, TempDir};

use crate::error::GuestError;

/// A folder that is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// A new one, empty.
    ///
    /// # Errors
    /// No room.
    pub(crate) fn new() -> Result<Self, GuestError> {
        let parent = std::env::temp_dir();
        remove_leftovers(&parent, &[(FOLDER, true), (FILE, false)], OLD_ENOUGH);
        Self::made_in(&parent, FOLDER).map_err(|error| GuestError::file(&parent, &error))
    }

    /// A new one in this folder, for an entry that is not whole yet. Those of processes that were
    /// killed are removed.
    ///
    /// # Errors
    /// No room.
    pub(crate) fn of_half(parent: &Path) -> Result<Self, GuestError> {
        remove_leftovers(parent, &[(HALF, true)], OLD_ENOUGH);
        Self::made_in(parent, HALF).map_err(|error| GuestError::file(parent, &error))
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

/// A file in the temporary folder that is one initramfs made of several parts; gone when dropped.
///
/// # Errors
/// No room, or a part that cannot be read.
pub fn kept(parts: &[&[u8]]) -> Result<NamedTempFile, GuestError> {
    let made = || {
        let mut file = Builder::new().prefix(FILE).tempfile()?;
        file.as_file().lock()?;
        parts.iter().try_for_each(|part| std::io::Write::write_all(&mut file, part))?;
        Ok(file)
    };
    made().map_err(|error: std::io::Error| GuestError::file(&std::env::temp_dir(), &error))
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

const FOLDER: &str = "firstflight-machine-";
const FILE: &str = "firstflight-initrd-";
/// Half an entry of the cache never has the name of one.
const HALF: &str = ".half-";
/// Between the making of something and its lock is less than this.
const OLD_ENOUGH: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_is_removed_and_what_a_living_one_holds_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        // A dead process holds no lock.
        let dead = at("firstflight-machine-dead");
        fs::create_dir(&dead).unwrap();
        for file in [dead.join("console"), at("firstflight-initrd-dead"), at("another's")] {
            fs::write(file, "x").unwrap();
        }
        fs::create_dir(at(".half-dead")).unwrap();
        let living = Folder::made_in(parent.path(), FOLDER).unwrap();
        let half = Folder::made_in(parent.path(), HALF).unwrap();
        let kinds = [(FOLDER, true), (FILE, false)];
        remove_leftovers(parent.path(), &kinds, OLD_ENOUGH);
        assert!(dead.is_dir(), "too young");
        remove_leftovers(parent.path(), &kinds, Duration::ZERO);
        assert!(at(".half-dead").is_dir(), "of another kind");
        remove_leftovers(parent.path(), &[(HALF, true)], Duration::ZERO);
        assert!(!at(".half-dead").exists() && half.path().is_dir());
        drop(half);
        assert!(!dead.exists() && !at("firstflight-initrd-dead").exists());
        assert!(living.path().is_dir() && at("another's").is_file());
        drop(living);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
