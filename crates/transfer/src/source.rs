//! Where the data come from: a file, or memory for measurements.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use firstflight_outside::open;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::TransferError;
use crate::hash::{Hashing, Sha256};

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// This many bytes, which belong to no file.
    Memory(u64),
    /// Bytes that belong to no file, for so long.
    Duration(Duration),
}

/// A file that is open, and how far it has been hashed.
pub(crate) struct Opened {
    file: File,
    path: PathBuf,
    pub(crate) size: u64,
    /// When it was last written to, if the file system records it.
    written: Option<SystemTime>,
    /// The checksum of what has been read.
    hashing: Hashing,
}

impl Opened {
    pub(crate) fn new(path: PathBuf) -> Result<Self, TransferError> {
        let wrong = |problem: String| {
            let accepted = "accepted: a file that can be read and whose size is known";
            TransferError::Input(format!("FILE {}: {problem}; {accepted}", path.display()))
        };
        // Of any size: it is never in memory as a whole.
        let file = open(&path, u64::MAX).map_err(|unread| wrong(unread.to_string()))?;
        let mut file = file.into_inner();
        let from_io = |error: io::Error| wrong(error.to_string());
        let about = file.metadata().map_err(from_io)?;
        let (size, written) = (about.len(), about.modified().ok());
        // As the files of /proc do.
        if size == 0 && file.read(&mut [0]).map_err(from_io)? > 0 {
            return Err(wrong("its size says 0, and its content does not".to_owned()));
        }
        Ok(Self { file, path, size, written, hashing: Hashing::default() })
    }

    /// Whether it is still the file that was opened: parts of two contents are neither.
    fn unchanged(&self) -> Result<(), TransferError> {
        let about = self.file.metadata().map_err(|source| self.fault(source))?;
        if about.len() == self.size && about.modified().ok() == self.written {
            return Ok(());
        }
        let problem = "it changed while it was being sent".to_owned();
        Err(TransferError::BadFile { path: self.path.clone(), problem })
    }

    /// Where to go on: after the first `from` bytes if that is what the receiver has, else at 0.
    pub(crate) fn resume(
        &mut self,
        from: u64,
        prefix: Option<&Sha256>,
    ) -> Result<u64, TransferError> {
        let Some(prefix) = prefix.filter(|_| from > 0 && from <= self.size) else { return Ok(0) };
        let hashed = self.hashing.read(&mut self.file, from);
        hashed.map_err(|source| self.fault(source))?;
        if self.hashing.clone().finish() == *prefix {
            return Ok(from);
        }
        self.hashing = Hashing::default();
        self.file.rewind().map_err(|source| self.fault(source))?;
        Ok(0)
    }

    fn fault(&self, source: io::Error) -> TransferError {
        if source.kind() == io::ErrorKind::UnexpectedEof {
            let problem = "it became shorter while it was being sent".to_owned();
            return TransferError::BadFile { path: self.path.clone(), problem };
        }
        TransferError::File { path: self.path.clone(), source }
    }
}

/// What was read, and its SHA-256 if it is a file's.
pub(crate) struct Whole {
    pub(crate) bytes: u64,
    pub(crate) sha256: Option<Sha256>,
}

/// The thread that reads.
pub(crate) struct Reading {
    pub(crate) from: mpsc::Receiver<Bytes>,
    thread: JoinHandle<Result<Whole, TransferError>>,
}

impl Reading {
    /// Reads a file from where it stands, after `from` bytes, to its end.
    pub(crate) fn file(mut opened: Opened, from: u64) -> Self {
        Self::new(move |to| {
            let mut left = opened.size.saturating_sub(from);
            while left > 0 {
                let wanted = usize::try_from(left).map_or(BLOCK, |left| left.min(BLOCK));
                let mut block = vec![0; wanted];
                let read = opened.file.read_exact(&mut block);
                read.map_err(|source| opened.fault(source))?;
                opened.hashing.update(&block);
                left -= wanted as u64;
                if to.blocking_send(block.into()).is_err() {
                    break; // The connection is gone, and says so itself.
                }
            }
            opened.unchanged()?;
            Ok(Whole { bytes: opened.size, sha256: Some(opened.hashing.finish()) })
        })
    }

    /// Makes bytes, until so many are made or the time is over. What is in them does not matter:
    /// they leave encrypted.
    pub(crate) fn memory(size: u64, duration: Option<Duration>) -> Self {
        Self::new(move |to| {
            let block = Bytes::from(vec![0; BLOCK]);
            let began = Instant::now();
            let over = || duration.is_some_and(|duration| began.elapsed() >= duration);
            let mut made = 0;
            while made < size && !over() {
                let wanted = usize::try_from(size - made).map_or(BLOCK, |left| left.min(BLOCK));
                if to.blocking_send(block.slice(..wanted)).is_err() {
                    break;
                }
                made += wanted as u64;
            }
            Ok(Whole { bytes: made, sha256: None })
        })
    }

    fn new(
        work: impl FnOnce(mpsc::Sender<Bytes>) -> Result<Whole, TransferError> + Send + 'static,
    ) -> Self {
        let (to, from) = mpsc::channel(WAITING);
        Self { from, thread: spawn_blocking(move || work(to)) }
    }

    /// What was read, once all of it has been taken.
    pub(crate) async fn end(self) -> Result<Whole, TransferError> {
        drop(self.from);
        self.thread.await.unwrap_or_else(|error| Err(TransferError::Machine(error.to_string())))
    }
}

const BLOCK: usize = 256 * 1024;
/// Blocks that wait for the network at most.
const WAITING: usize = 4;
