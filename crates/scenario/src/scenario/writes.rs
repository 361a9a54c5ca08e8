//! What an application writes on one connection, by the clock.

use firstflight_control::quantity::{Size, Time};
use serde::Serialize;

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
    pub every: Option<Time>,
    /// How many; one when not written.
    pub count: Option<u64>,
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
            None => Ok(Self { at: at.unwrap_or(Time::ZERO), size: size?, every, count }),
        }
    }
}

/// Each becomes an event.
pub(crate) const MOST_WRITES: u64 = 100_000;
