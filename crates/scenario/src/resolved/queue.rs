//! A link's queue in base units.

use firstflight_link::{Buffer, Discipline};
use serde::{Serialize, Serializer};

use super::ResolvedBuffer;

/// A queue that is not drop-tail.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedQueue {
    /// The discipline and its settings as written.
    pub text: String,
    /// Its rules.
    pub discipline: Discipline,
}

impl ResolvedQueue {
    /// What may wait.
    pub(crate) fn room(&self) -> ResolvedBuffer {
        match self.discipline.room() {
            Buffer::Packets(packets) => ResolvedBuffer::Packets(packets),
            Buffer::Bytes(bytes) => ResolvedBuffer::Bytes(bytes),
            Buffer::Unlimited => ResolvedBuffer::Packets(u64::MAX),
        }
    }
}

impl Serialize for ResolvedQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
