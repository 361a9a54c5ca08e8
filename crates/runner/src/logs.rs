//! Files for the log that another stack writes of every flow of every run.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firstflight_outside::{MAKE_ROOM, Names, file_name, is_full};

use crate::{OtherFlow, RunError};

/// A directory and the files opened in it.
#[derive(Debug)]
pub struct Logs {
    directory: PathBuf,
    names: Names,
    /// Whether a file had no room.
    full: Arc<AtomicBool>,
}

/// A file that notes when the disk is full: a log cut short fails no run.
struct WatchedFile {
    file: File,
    full: Arc<AtomicBool>,
}

/// Where a log goes.
pub type LogFile = Box<dyn Write + Send + Sync>;

impl Logs {
    /// Logs in a directory, which is made when the first is opened.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, names: Names::default(), full: Arc::default() }
    }

    /// The file of a flow: `astart.flow-0.quinn.sqlog`, with the seed where there are several.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(&self, flow: &OtherFlow<'_>) -> Result<LogFile, String> {
        let seed = (flow.complete.runs > 1).then_some(flow.complete.seed);
        let path = self.path(flow.run, seed, flow.place)?;
        let file = note_full(&self.full, File::create(&path));
        let file = file.map_err(|error| format!("--qlog {}: {error}", path.display()))?;
        Ok(Box::new(BufWriter::new(WatchedFile { file, full: Arc::clone(&self.full) })))
    }

    /// Whether every log could be written whole.
    ///
    /// # Errors
    /// A log had no room.
    pub fn check_room(&self) -> Result<(), RunError> {
        match self.full.load(Ordering::Relaxed) {
            true => Err(RunError::Lacks(format!(
                "--qlog {}: no space left on device; {MAKE_ROOM}",
                self.directory.display()
            ))),
            false => Ok(()),
        }
    }

    /// Its place, in a directory that is there.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn path(
        &self,
        run: &str,
        seed: Option<u64>,
        flow: impl Display,
    ) -> Result<PathBuf, String> {
        let mut name = file_name(run);
        if let Some(seed) = seed {
            name = format!("{name}.seed-{seed}");
        }
        let name = self.names.take(&name, &format!(".flow-{flow}.quinn.sqlog"));
        let path = self.directory.join(name);
        fs::create_dir_all(&self.directory)
            .map_err(|error| format!("--qlog {}: {error}", self.directory.display()))?;
        Ok(path)
    }

    /// A line for the user: how many there are, and where.
    pub fn summary(&self) -> String {
        match self.names.count() {
            0 => "qlogs: none, because no flow goes over QUIC (--on quic)".to_owned(),
            files => format!("qlogs: {files} in {}", self.directory.display()),
        }
    }
}

impl Write for WatchedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        note_full(&self.full, self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        note_full(&self.full, self.file.flush())
    }
}

fn note_full<T>(full: &AtomicBool, outcome: io::Result<T>) -> io::Result<T> {
    outcome.inspect_err(|error| {
        full.fetch_or(is_full(error), Ordering::Relaxed);
    })
}
