//! Where the data go: a thread of its own, because writing may wait for a disk.

use std::path::PathBuf;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::TransferError;
use crate::hash::{Hashing, Sha256};
use crate::partial::Partial;

/// Where the receiver puts what comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    /// Into this directory, under the name that the sender gives; `replace` an older file.
    Directory {
        /// The directory.
        path: PathBuf,
        /// Whether a file of that name may be there.
        replace: bool,
    },
    /// Nowhere: it is counted and checked.
    Discard,
}

/// One transfer's data.
pub(crate) enum Sink {
    File(Partial),
    Discard { bytes: u64, hashing: Hashing },
}

impl Sink {
    pub(crate) fn discard() -> Self {
        Self::Discard { bytes: 0, hashing: Hashing::default() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::File(partial) => partial.bytes(),
            Self::Discard { bytes, .. } => *bytes,
        }
    }

    fn write(&mut self, data: &[u8]) -> Result<(), TransferError> {
        match self {
            Self::File(partial) => partial.write(data),
            Self::Discard { bytes, hashing } => {
                *bytes += data.len() as u64;
                hashing.update(data);
                Ok(())
            }
        }
    }

    /// Checks what is there against what was sent; where the file is now.
    pub(crate) fn finish(
        self,
        sent: u64,
        sha256: Option<&Sha256>,
    ) -> Result<Option<PathBuf>, TransferError> {
        match (self, sha256) {
            (Self::File(partial), Some(sha256)) => partial.finish(sent, sha256).map(Some),
            (Self::Discard { bytes, hashing }, sha256) => {
                let right = sha256.is_none_or(|sha256| hashing.finish() == *sha256);
                if right && bytes == sent { Ok(None) } else { Err(TransferError::Corrupt) }
            }
            (Self::File(_), None) => Err(TransferError::Corrupt),
        }
    }
}

/// The thread that writes.
pub(crate) struct Writing {
    pub(crate) to: mpsc::Sender<Bytes>,
    thread: JoinHandle<(Sink, Result<(), TransferError>)>,
}

impl Writing {
    pub(crate) fn new(mut sink: Sink) -> Self {
        let (to, mut from) = mpsc::channel::<Bytes>(WAITING);
        let thread = spawn_blocking(move || {
            while let Some(bytes) = from.blocking_recv() {
                if let Err(error) = sink.write(&bytes) {
                    return (sink, Err(error));
                }
            }
            (sink, Ok(()))
        });
        Self { to, thread }
    }

    /// Nothing comes any more: waits for the disk.
    pub(crate) async fn end(self) -> (Option<Sink>, Result<(), TransferError>) {
        drop(self.to);
        match self.thread.await {
            Ok((sink, outcome)) => (Some(sink), outcome),
            Err(error) => (None, Err(TransferError::Machine(error.to_string()))),
        }
    }
}

/// Pieces that wait for the disk at most; a piece is what one packet or a few brought.
const WAITING: usize = 1_024;
