//! A folder of results, each in a file named by the hash of its inputs and the checksum of its
//! bytes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::room::is_full;
use crate::{AtomicFile, hash};

/// A store of files that appear whole or not at all. A file's name is a hash of what decides its
/// content ([`content_name`](crate::content_name)) and, behind a dot, a checksum of its bytes, so
/// that a file that was changed, truncated or renamed is detected.
#[derive(Clone, Debug)]
pub struct FileStore {
    dir: PathBuf,
    ending: &'static str,
}

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {}: {source}", path.display())]
pub struct FileFault {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl FileFault {
    /// A file that cannot be read.
    pub fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        Self::at("read", path)
    }

    /// A file that cannot be written.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        Self::at("write", path)
    }

    /// A file to which something could not be done.
    pub fn at(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { what, path, source }
    }

    /// Whether the file could not be written because the disk is full.
    pub fn is_full(&self) -> bool {
        is_full(&self.source)
    }
}

/// The files of a store: by the name of what each is of, its checksum.
pub type Index = HashMap<u128, u128>;

impl FileStore {
    /// The store in a folder, which need not be there yet; its files end in `.ending`.
    pub fn new(dir: impl Into<PathBuf>, ending: &'static str) -> Self {
        Self { dir: dir.into(), ending }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Puts a text there, in place of an older one of that name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn put(&self, name: &str, text: &str) -> Result<(), FileFault> {
        let file = self.begin(name)?;
        file.write(text.as_bytes()).map_err(FileFault::write(file.path()))?;
        self.keep(name, file).map(drop)
    }

    /// The text of a name, if it is there as it was put.
    pub fn get(&self, name: &str) -> Option<String> {
        self.files(name).find_map(|file| {
            let text = crate::text(&file, MOST).ok()?;
            let sum = checksum(name, &mut text.as_bytes()).ok()?;
            (self.path(name, sum) == file).then_some(text)
        })
    }

    /// A file that is to be of that name.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn begin(&self, name: &str) -> Result<AtomicFile, FileFault> {
        let path = self.folder(name).join(format!("{name}.{}", self.ending));
        AtomicFile::create(&path).map_err(FileFault::write(&path))
    }

    /// Gives a finished file its name, removes older files of that name, and returns its checksum.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn keep(&self, name: &str, new: AtomicFile) -> Result<u128, FileFault> {
        let written = File::open(new.hidden()).and_then(|mut file| checksum(name, &mut file));
        let sum = written.map_err(FileFault::read(new.path()))?;
        let path = self.path(name, sum);
        let older: Vec<PathBuf> = self.files(name).filter(|file| *file != path).collect();
        new.finish_as(&path).map_err(FileFault::write(&path))?;
        for file in older {
            fs::remove_file(&file).map_err(FileFault::write(&file))?;
        }
        Ok(sum)
    }

    /// Whether a file is as it was put there.
    pub fn is_whole(&self, name: &str, sum: u128) -> bool {
        let file = File::open(self.path(name, sum));
        file.and_then(|mut file| checksum(name, &mut file)).is_ok_and(|found| found == sum)
    }

    /// Where the file of a name with that checksum is.
    pub fn path(&self, name: &str, sum: u128) -> PathBuf {
        self.folder(name).join(format!("{name}.{sum:032x}.{}", self.ending))
    }

    /// Every file that is there now.
    pub fn index(&self) -> Index {
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
        let files = entries(&self.dir).flat_map(|folder| {
            entries(&folder.path()).filter_map(|file| self.parsed(file.file_name().to_str()?))
        });
        files.collect()
    }

    /// Name and checksum of a file of the store.
    fn parsed(&self, file: &str) -> Option<(u128, u128)> {
        let (name, sum) = file.strip_suffix(self.ending)?.strip_suffix('.')?.split_once('.')?;
        Some((number(name)?, number(sum)?))
    }

    /// The files that begin with this name.
    fn files(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let begins = format!("{name}.");
        let files = fs::read_dir(self.folder(name)).into_iter().flatten().flatten();
        files
            .filter(move |file| file.file_name().to_string_lossy().starts_with(&begins))
            .map(|file| file.path())
    }

    fn folder(&self, name: &str) -> PathBuf {
        // A folder for each two digits: no file system likes a million files in one.
        self.dir.join(name.get(..2).unwrap_or("00"))
    }
}

/// Bytes of a text, far more than any run has.
const MOST: u64 = 256 << 20;

/// A name of 32 hexadecimal digits as a number.
pub fn number(name: &str) -> Option<u128> {
    u128::from_str_radix(name, 16).ok().filter(|_| name.len() == 32)
}

/// A checksum of a name and the bytes under it: two files that are swapped are noticed, too.
fn checksum(name: &str, bytes: &mut impl Read) -> io::Result<u128> {
    let sum = hash::of(name.as_bytes(), bytes)?;
    Ok(number(&sum).unwrap_or_default())
}
