//! A file while it arrives: under another name, and only one writer at a time.

use std::fs::{File, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use ring::rand::{SecureRandom as _, SystemRandom};

use crate::endpoint::machine;
use crate::error::TransferError;
use crate::hash::{Hashing, Sha256};
use crate::name::PART;
use crate::place::{Place, Room};

/// What a file is to become.
pub(crate) struct Target {
    pub(crate) place: Place,
    pub(crate) name: String,
    /// Bytes that it will have.
    pub(crate) size: u64,
    /// Whether a file of that name may be there.
    pub(crate) replace: bool,
    /// Whether what arrived stays for the next attempt. If not, its name is nobody else's, and it
    /// goes when the attempt ends: a stranger neither learns of a file nor changes one.
    pub(crate) keep: bool,
}

/// What has arrived of a file.
pub(crate) struct Partial {
    target: Target,
    file: File,
    /// What it is called until all of it is there; empty once it has its name.
    name: String,
    /// Bytes of it that are there.
    bytes: u64,
    /// The checksum of them.
    hashing: Hashing,
    /// Room for what is to come.
    room: Option<Room>,
}

impl Partial {
    /// Opens or makes the partial file of the target, and hashes what it has.
    ///
    /// # Errors
    /// The name is taken, the disk has no room, or what is there is not ours to write.
    pub(crate) fn open(target: Target) -> Result<Self, TransferError> {
        let place = &target.place;
        place.check_free(&target.name, target.replace)?;
        let name = match target.keep {
            true => format!("{}{PART}", target.name),
            false => format!("{}.{:08x}{PART}", target.name, random()?),
        };
        let path = place.path(&name);
        let fault = |source: io::Error| TransferError::File { path: path.clone(), source };
        let file = place.file(&name, !target.keep)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(busy(path)),
            // A file system without locks: the user has to see to it.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        // Who had it before may have finished it just now.
        if !place.leads_to(&name, &file).map_err(fault)? {
            return Err(busy(path));
        }
        let there = file.metadata().map_err(fault)?.len();
        let hashing = Hashing::default();
        let mut partial = Self { target, file, name, bytes: 0, hashing, room: None };
        // More than the whole file is of another one.
        if there <= partial.target.size {
            partial.hashing.read(&mut partial.file, there).map_err(fault)?;
            partial.bytes = there;
        }
        partial.room = Some(partial.find_room(there)?);
        Ok(partial)
    }

    /// Whether the disk has room for the rest, after what is `there` now.
    fn find_room(&self, there: u64) -> Result<Room, TransferError> {
        let Target { place, size, .. } = &self.target;
        let wanted = size.saturating_sub(there);
        let room = place.room(wanted).map_err(|source| self.fault(source))?;
        room.map_err(|free| TransferError::NoRoom { path: self.path(), wanted, free })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> PathBuf {
        self.target.place.path(&self.name)
    }

    /// How many bytes are there.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether what is there stays when this attempt ends.
    pub(crate) fn stays(&self) -> bool {
        self.target.keep && self.bytes > 0
    }

    /// The SHA-256 of what is there; none of nothing.
    pub(crate) fn prefix(&self) -> Option<Sha256> {
        (self.bytes > 0).then(|| self.hashing.clone().finish())
    }

    /// Keeps the first `bytes`, which are all or none.
    pub(crate) fn restart(&mut self, bytes: u64) -> Result<(), TransferError> {
        if bytes == 0 {
            self.bytes = 0;
            self.hashing = Hashing::default();
        }
        let cut = self.file.set_len(self.bytes);
        let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(self.bytes)));
        cut.map_err(|source| self.fault(source))?;
        // What was cut off has to come again.
        self.room = None;
        self.room = Some(self.find_room(self.bytes)?);
        Ok(())
    }

    /// Adds what came next.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        self.file.write_all(bytes).map_err(|source| self.fault(source))?;
        self.hashing.update(bytes);
        self.bytes += bytes.len() as u64;
        if let Some(room) = &mut self.room {
            room.fill(bytes.len() as u64);
        }
        Ok(())
    }

    /// All is there: gives it its name if the hash is right, and removes it if not.
    pub(crate) fn finish(mut self, bytes: u64, sha256: &Sha256) -> Result<PathBuf, TransferError> {
        if self.bytes != bytes || self.hashing.clone().finish() != *sha256 {
            self.target.keep = false;
            return Err(TransferError::Corrupt);
        }
        // The name must not be there before the content is.
        self.file.sync_all().map_err(|source| self.fault(source))?;
        let Target { place, name, replace, .. } = &self.target;
        place.rename(&self.name, name, *replace)?;
        self.name.clear();
        Ok(place.path(name))
    }

    fn fault(&self, source: io::Error) -> TransferError {
        TransferError::File { path: self.path(), source }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let is_empty = self.file.metadata().is_ok_and(|about| about.len() == 0);
        if !self.name.is_empty() && (is_empty || !self.target.keep) {
            // One that cannot be removed lies there and hurts nobody.
            let _ = self.target.place.remove(&self.name);
        }
    }
}

fn busy(path: PathBuf) -> TransferError {
    TransferError::BadFile { path, problem: "another transfer is writing it".to_owned() }
}

fn random() -> Result<u32, TransferError> {
    let mut bytes = [0; 4];
    SystemRandom::new().fill(&mut bytes).map_err(|_| machine("no randomness"))?;
    Ok(u32::from_ne_bytes(bytes))
}

#[cfg(test)]
#[path = "partial/tests.rs"]
mod tests;
