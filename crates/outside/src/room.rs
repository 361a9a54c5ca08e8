//! A disk that has no room.

use std::io::{Error, ErrorKind};

/// Whether a file cannot grow, which is no fault of its name: its device is full, or its owner or
/// it may have no more.
pub fn is_full(error: &Error) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// What the user can do then, for the end of a message.
pub const MAKE_ROOM: &str = "make room there, or write elsewhere";
