//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file under another name in its folder until it is whole, and removed unless it gets its own.
///
/// The other name is random, and the file is made new: where somebody else may write to the folder,
/// no link of theirs is followed.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: NamedTempFile<File>,
}

impl AtomicFile {
    /// Begins a file. Its folder is made if it is missing.
    ///
    /// # Errors
    /// A name without a file's, or a folder that cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::with_mode(path, 0o666)
    }

    /// [`create`](Self::create) for a file that its owner alone may read.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn private(path: &Path) -> io::Result<Self> {
        Self::with_mode(path, 0o600)
    }

    fn with_mode(path: &Path, mode: u32) -> io::Result<Self> {
        let name = path.file_name().ok_or(ErrorKind::IsADirectory)?.to_string_lossy();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let file = Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(ENDING)
            .make_in(folder, |hidden| open_new(hidden, mode))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.file.as_file().write_all(bytes)
    }

    /// A handle to the file, for a writer that takes ownership.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn file(&self) -> io::Result<File> {
        self.file.as_file().try_clone()
    }

    /// Where the file is until it is whole.
    pub fn hidden(&self) -> &Path {
        self.file.path()
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name once the disk has it, in place of an older file.
    ///
    /// # Errors
    /// The disk cannot take it, or a directory has the name.
    pub fn finish(self) -> io::Result<()> {
        let path = self.path.clone();
        self.finish_as(&path)
    }

    /// [`finish`](Self::finish) under another name in its folder.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_as(self, path: &Path) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(path).map(drop).map_err(|refused| refused.error)
    }
}

/// Makes a file where there is none, nor a link to one (`O_EXCL`).
fn open_new(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    // A page in a browser has neither modes nor files.
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

/// Whether a file of this name is one that a program left unfinished when it was killed.
pub fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(ENDING)
}

/// Whether a result there is written to what exists, instead of taking its place: to a device, a
/// FIFO, or what a link leads to.
pub fn is_written_through(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

const ENDING: &str = ".part";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_is_hidden_until_it_is_whole_and_gone_if_it_never_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/x.csv");
        let file = AtomicFile::create(&path).unwrap();
        file.write(b"whole").unwrap();
        let hidden = file.hidden().to_owned();
        assert!(is_unfinished(hidden.file_name().unwrap().to_str().unwrap()));
        assert!(!path.exists() && hidden.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        drop(AtomicFile::create(&path).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_planted_under_the_name_of_a_part_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["x.csv", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "of somebody else").unwrap();
        let planted = folder.path().join(format!(".x.csv.{}.part", std::process::id()));
        symlink(&other, &planted).unwrap();
        // The name is random, and one who guesses it gains nothing.
        assert_eq!(open_new(&planted, 0o666).unwrap_err().kind(), ErrorKind::AlreadyExists);
        let file = AtomicFile::create(&path).unwrap();
        file.write(b"ours").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"of somebody else");
        assert!(!path.is_symlink());
    }

    #[test]
    fn a_file_is_as_readable_as_the_user_has_files_and_a_private_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let [usual, ours, private] = ["usual", "ours", "private"].map(|n| folder.path().join(n));
        fs::write(&usual, "").unwrap();
        AtomicFile::create(&ours).unwrap().finish().unwrap();
        AtomicFile::private(&private).unwrap().finish().unwrap();
        assert_eq!((mode(&ours), mode(&private)), (mode(&usual), 0o600));
    }
}
