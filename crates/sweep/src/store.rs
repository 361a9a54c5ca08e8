//! The folder of a sweep: what it is, and the chunks that are finished.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use firstflight_outside::{AtomicFile, FileStore, Index, Unread, is_unfinished, number};
use firstflight_results::Table;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::run::Shard;
use crate::{Format, Sweep, SweepError, VERSION, transport};

/// A folder with the finished chunks of one sweep. It is locked as long as this lives.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    chunks: FileStore,
    /// The chunks that are there and, as far as is known, whole.
    index: RwLock<Index>,
    format: Format,
    _lock: File,
}

/// `sweep.json`: of which sweep the folder is.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct About {
    schema: String,
    version: String,
    /// The transport, and what runs in its guests; empty for the simulator.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    on: String,
    /// Hash of scenario, points and transport.
    hash: String,
    /// The format of the tables.
    format: String,
    /// How many points there are.
    points: u64,
    /// How many chunks they make.
    chunks: u64,
    /// The keys that vary.
    keys: Vec<String>,
    /// The scenario as TOML.
    scenario: String,
}

const SCHEMA: &str = "firstflight/sweep@1";

impl Store {
    /// Opens the folder of a sweep, which is made if it is missing, for one shard of it.
    ///
    /// # Errors
    /// A folder that cannot be written, holds another sweep or one of another version or format, or
    /// in which the same shard runs already.
    pub fn open(
        dir: &Path,
        sweep: &Sweep,
        format: Format,
        shard: Shard,
    ) -> Result<Self, SweepError> {
        if let Some(report) = REPORT.iter().find(|name| dir.join(name).exists()) {
            let problem = format!("found a report ({report}); accepted: another folder");
            return Err(SweepError::Folder { path: dir.to_owned(), problem });
        }
        fs::create_dir_all(dir.join(CHUNKS)).map_err(SweepError::write(dir))?;
        let about = About {
            schema: SCHEMA.to_owned(),
            version: VERSION.to_owned(),
            on: sweep.on.clone(),
            hash: sweep.hash().to_owned(),
            format: format.name().to_owned(),
            points: sweep.points(),
            chunks: sweep.chunks(),
            keys: sweep.keys().to_vec(),
            scenario: sweep.base.clone(),
        };
        match About::read(dir)? {
            Some(found) => found.fits(&about, dir)?,
            None => about.write(dir)?,
        }
        let path = dir.join(format!(".lock-{}-of-{}", shard.number, shard.of));
        let lock = File::create(&path).map_err(SweepError::write(&path))?;
        match lock.try_lock() {
            Ok(()) => {
                let chunks = FileStore::new(dir.join(CHUNKS), format.name());
                let index = RwLock::new(chunks.index());
                Ok(Self { dir: dir.to_owned(), chunks, index, format, _lock: lock })
            }
            Err(TryLockError::WouldBlock) => Err(SweepError::Folder {
                path: dir.to_owned(),
                problem: "another program runs this sweep here now; accepted: another folder, or \
                          to wait for its end"
                    .to_owned(),
            }),
            Err(TryLockError::Error(error)) => Err(SweepError::write(&path)(error)),
        }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The form of its files.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether a chunk is finished, by its name.
    pub fn has(&self, name: &str) -> bool {
        self.file(name).is_some()
    }

    /// Keeps the rows of a chunk: the file appears whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn put(&self, name: &str, rows: Table) -> Result<(), SweepError> {
        let mut file = self.format.rows(self.chunks.begin(name)?, rows.columns())?;
        file.write(rows)?;
        let sum = self.chunks.keep(name, file.whole()?)?;
        if let Some(number) = number(name) {
            self.index.write().unwrap_or_else(PoisonError::into_inner).insert(number, sum);
        }
        Ok(())
    }

    /// Reads the finished chunks of a shard, and no longer counts those whose bytes are not the
    /// ones that were written: their files, in order.
    pub fn recheck(&self, sweep: &Sweep, shard: Shard) -> Vec<PathBuf> {
        let mine = (0..sweep.chunks()).into_par_iter().filter(|chunk| shard.has(*chunk));
        let mut damaged: Vec<(String, PathBuf)> = mine
            .filter_map(|chunk| {
                let name = sweep.chunk(chunk)?.name();
                let sum = self.sum(&name)?;
                let file = self.chunks.path(&name, sum);
                (!self.chunks.is_whole(&name, sum)).then_some((name, file))
            })
            .collect();
        damaged.sort();
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        for (name, _) in &damaged {
            number(name).map(|number| index.remove(&number));
        }
        damaged.into_iter().map(|(_, file)| file).collect()
    }

    /// Looks which chunks are there: other programs may have finished some.
    pub(crate) fn look(&self) {
        *self.index.write().unwrap_or_else(PoisonError::into_inner) = self.chunks.index();
    }

    /// The file of a finished chunk.
    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        self.sum(name).map(|sum| self.chunks.path(name, sum))
    }

    fn sum(&self, name: &str) -> Option<u128> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.get(&number(name)?).copied()
    }

    /// Removes what killed programs have left unfinished; only when nothing is left to do.
    pub(crate) fn tidy(&self) {
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
        let folders = entries(self.chunks.dir()).map(|folder| folder.path());
        let of_chunks = folders.flat_map(|folder| entries(&folder));
        // Another program may be merging, too: what it writes is not old.
        let of_merges = entries(&self.dir).filter(is_old);
        for file in of_chunks.chain(of_merges) {
            let name = file.file_name().to_string_lossy().into_owned();
            if is_unfinished(&name) {
                // It does no harm where it is.
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

impl About {
    fn read(dir: &Path) -> Result<Option<Self>, SweepError> {
        let path = dir.join(ABOUT);
        let wrong = |problem: String| SweepError::Folder {
            path: path.clone(),
            problem: format!("{problem}; accepted: what `firstflight sweep` writes"),
        };
        let text = match firstflight_outside::text(&path, MOST) {
            Err(Unread::Missing) => return Ok(None),
            text => text.map_err(|unread| wrong(unread.to_string()))?,
        };
        serde_json::from_str(&text).map(Some).map_err(|error| wrong(error.to_string()))
    }

    fn write(&self, dir: &Path) -> Result<(), SweepError> {
        let path = dir.join(ABOUT);
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        let file = AtomicFile::create(&path);
        let written =
            file.and_then(|file| file.write(text.as_bytes()).and_then(|()| file.finish()));
        written.map_err(SweepError::write(&path))
    }

    /// Whether the folder is that of this sweep, and otherwise what differs.
    fn fits(&self, wanted: &Self, dir: &Path) -> Result<(), SweepError> {
        let differs = if self.version != wanted.version {
            format!("a sweep of version {}, this is version {}", self.version, wanted.version)
        } else if self.format != wanted.format {
            format!("a sweep as {}, this one is as {}", self.format, wanted.format)
        } else if self.schema != wanted.schema {
            format!("a sweep as {}, this one is as {}", self.schema, wanted.schema)
        } else if self.on != wanted.on {
            let [found, this] = [self, wanted].map(|about| transport::shown(&about.on));
            format!("a sweep on {found}, this one is on {this}")
        } else if self.hash != wanted.hash {
            let (found, points) = (self.points, wanted.points);
            format!(
                "another sweep ({found} points), this one ({points} points) differs in \
                     scenario, keys or values"
            )
        } else {
            return Ok(());
        };
        let problem = format!("found {differs}; accepted: another folder");
        Err(SweepError::Folder { path: dir.to_owned(), problem })
    }
}

/// Which format the sweep of a folder has.
///
/// # Errors
/// A folder without a sweep.
pub(crate) fn format_of(dir: &Path) -> Result<Format, SweepError> {
    let folder = |problem| SweepError::Folder { path: dir.to_owned(), problem };
    let about = About::read(dir)?
        .ok_or_else(|| folder("found no sweep.json; accepted: the folder of a sweep".to_owned()))?;
    Format::named(&about.format).map_err(folder)
}

/// Nobody has written to it for an hour.
fn is_old(file: &fs::DirEntry) -> bool {
    let modified = file.metadata().and_then(|about| about.modified());
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= HOUR))
}

/// Bytes of `sweep.json`, which has the scenario in it.
const MOST: u64 = 16 << 20;
const HOUR: Duration = Duration::from_secs(3_600);
/// What tells that a folder holds a report of `run`, `compare` or `reproduce`.
const REPORT: [&str; 2] = ["report.html", "results.json"];
const ABOUT: &str = "sweep.json";
const CHUNKS: &str = "chunks";
