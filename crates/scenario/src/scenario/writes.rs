//! What an application writes on one connection, by the clock.

use firstflight_control::quantity::{Size, Time};
use serde::{Serialize, Serializer};

use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::{Fields, Read};

/// `{ at = "1s", size = "200KB", every = "1s", count = 10 }`: one write, or several at equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Write {
    /// When, from the start of the flow.
    pub at: Time,
    /// How much at once.
    pub size: Size,
    /// Time between two of several.
    #[serde(skip_serializing_if = "is_no_time")]
    pub every: Time,
    /// How many; one when not written.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u64,
}

fn is_no_time(time: &Time) -> bool {
    *time == Time::ZERO
}

fn is_one(count: &u64) -> bool {
    *count == 1
}

impl Write {
    /// Each of them, by its time from the start of the flow.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Time, Size)> + use<> {
        let Self { at, size, every, count } = *self;
        (0..count).map(move |i| (Time::from_ns(at.ns() + i * every.ns()), size))
    }

    /// In base units, for results.
    pub(crate) fn in_results<S: Serializer>(
        writes: &[Self],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct InResults {
            at_ns: u64,
            size_bytes: u64,
            every_ns: u64,
            count: u64,
        }
        serializer.collect_seq(writes.iter().map(|it| InResults {
            at_ns: it.at.ns(),
            size_bytes: it.size.bytes(),
            every_ns: it.every.ns(),
            count: it.count,
        }))
    }
}

impl Read for Write {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields: Fields<'_> = node.fields()?;
        let (at, size) = (fields.read("at")?, fields.read("size")?);
        let every = fields.read("every")?;
        let count = fields.count("count", 1..=MOST_WRITES)?;
        let size = size.ok_or_else(|| fields.missing("size", "size = \"200KB\""));
        let both = every.is_some() == count.is_some_and(|count| count > 1);
        let unclear = (!both).then(|| fields.missing("every", "`every` and `count` together"));
        fields.finish()?;
        match unclear {
            Some(problem) => Err(problem),
            None => {
                let (at, every) = (at.unwrap_or_default(), every.unwrap_or_default());
                Ok(Self { at, size: size?, every, count: count.unwrap_or(1) })
            }
        }
    }
}

/// Each becomes an event.
pub(crate) const MOST_WRITES: u64 = 100_000;
