//! A folder of results, each in a file named by what it is of.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::SweepError;
use crate::store::Part;

/// Files that appear whole or not at all. The name of each, which begins with two digits of a hash
/// ([`content_name`](crate::content_name)), says what it is of.
#[derive(Clone, Debug)]
pub struct Shelf {
    dir: PathBuf,
    ending: &'static str,
}

impl Shelf {
    /// The shelf in a folder, which need not be there yet; its files end in `.ending`.
    pub fn new(dir: impl Into<PathBuf>, ending: &'static str) -> Self {
        Self { dir: dir.into(), ending }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the file of a name is, or will be.
    pub fn path(&self, name: &str) -> PathBuf {
        // A folder for each two digits: no file system likes a million files in one.
        let two = name.get(..2).unwrap_or("00");
        self.dir.join(two).join(format!("{name}.{}", self.ending))
    }

    /// Puts a text there.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn put(&self, name: &str, text: &str) -> Result<(), SweepError> {
        let path = self.path(name);
        let part = Part::create(&path)?;
        part.file()?.write_all(text.as_bytes()).map_err(SweepError::write(&path))?;
        part.rename()
    }
}
