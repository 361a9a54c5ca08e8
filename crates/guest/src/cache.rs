//! What is kept between runs: unpacked kernels and images, each in a folder or file named by a
//! hash of what it was made of.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::GuestError;
use crate::temporary::Folder;

/// A folder of the user's that may be deleted at any time.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's: `firstflight` in `XDG_CACHE_HOME`, `~/Library/Caches` or `~/.cache`; below the
    /// temporary folder for who has no home.
    pub fn of_user() -> Self {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let of_home = |home: PathBuf| match cfg!(target_os = "macos") {
            true => home.join("Library/Caches"),
            false => home.join(".cache"),
        };
        let given = std::env::var_os("XDG_CACHE_HOME").filter(|given| !given.is_empty());
        let folder = given.map(PathBuf::from).or(home.map(of_home));
        Self::at(&folder.unwrap_or_else(std::env::temp_dir).join("firstflight"))
    }

    /// One in a folder, which is made when something is kept.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The entry of this kind and name, made by `make` in an empty folder if it does not exist.
    /// Processes that make it at the same time make the same, and the first one stays.
    ///
    /// # Errors
    /// Those of `make`, or a folder that cannot be written.
    pub(crate) fn entry(
        &self,
        kind: &str,
        name: &str,
        make: impl FnOnce(&Path) -> Result<(), GuestError>,
    ) -> Result<PathBuf, GuestError> {
        let parent = self.folder.join(kind);
        let entry = parent.join(name);
        if entry.is_dir() {
            return Ok(entry);
        }
        fs::create_dir_all(&parent).map_err(|error| GuestError::file(&parent, &error))?;
        let unfinished = Folder::for_unfinished(&parent)?;
        let fresh = unfinished.path().join("entry");
        fs::create_dir(&fresh).map_err(|error| GuestError::file(&fresh, &error))?;
        make(&fresh)?;
        forget_oldest(&parent);
        match fs::rename(&fresh, &entry) {
            // Somebody else was first.
            Err(_) if entry.is_dir() => Ok(entry),
            renamed => renamed.map(|()| entry).map_err(|error| GuestError::file(&fresh, &error)),
        }
    }
}

/// Removes the oldest entries, to make room for one more: every build of a program is a new image,
/// and few are used again.
fn forget_oldest(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let aged = entries.filter_map(|entry| {
        let is_unfinished = entry.file_name().to_string_lossy().starts_with('.');
        let at = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
        (!is_unfinished).then(|| (at, entry.path()))
    });
    let mut aged: Vec<_> = aged.collect();
    aged.sort();
    for (_, old) in aged.iter().take((aged.len() + 1).saturating_sub(MOST_ENTRIES)) {
        // What cannot be removed only takes room.
        let _ = fs::remove_dir_all(old);
    }
}

/// Entries kept of one kind.
const MOST_ENTRIES: usize = 6;

/// The SHA-256 of these bytes in hexadecimal, as `sha256sum` prints it.
pub fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_made_once_and_an_unfinished_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("made"));
        let broken = cache.entry("kernels", "x", |_| Err(GuestError::Failed("no".to_owned())));
        assert!(broken.is_err());
        let make =
            |at: &Path| fs::write(at.join("file"), "1").map_err(|e| GuestError::file(at, &e));
        let made = cache.entry("kernels", "x", make).unwrap();
        assert_eq!(fs::read_to_string(made.join("file")).unwrap(), "1");
        let again = cache.entry("kernels", "x", |_| panic!("it exists")).unwrap();
        assert_eq!(made, again);
        let left: Vec<_> = fs::read_dir(made.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        for name in 0..MOST_ENTRIES + 2 {
            cache.entry("images", &name.to_string(), |_| Ok(())).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let left = |name: usize| folder.path().join("images").join(name.to_string()).is_dir();
        assert_eq!([0, 1, 2, MOST_ENTRIES + 1].map(left), [false, false, true, true]);
    }

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn the_hash_is_that_of_the_standard() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), known);
    }
}
