//! A link's queue in base units.

use firstflight_link::Discipline;
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
        match self.discipline {
            Discipline::Tbf(rules) => ResolvedBuffer::Bytes(rules.limit_bytes),
            Discipline::Red(rules) => ResolvedBuffer::Bytes(rules.limit_bytes),
            Discipline::Codel(rules) => ResolvedBuffer::Packets(rules.limit_packets),
            Discipline::FqCodel(rules) => ResolvedBuffer::Packets(rules.codel.limit_packets),
            Discipline::Pie(rules) => ResolvedBuffer::Packets(rules.limit_packets),
            Discipline::DualPi2(rules) => ResolvedBuffer::Packets(rules.limit_packets),
        }
    }
}

impl Serialize for ResolvedQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
