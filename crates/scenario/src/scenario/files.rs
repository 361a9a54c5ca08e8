//! Files one after the other, each on a connection of its own, a source of short transfers; or all
//! on one, which rests between them.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::{Size, Time};
use serde::Serialize;

use crate::document::Node;
use crate::error::ScenarioError;
use crate::read::Read;

/// `files = { size = "100KB..1MB", pause = "0s..5s" }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Files {
    /// How large a file is.
    pub size: Between<Size>,
    /// How long a source waits from the last ACK of a file to the next one; no pause when
    /// not written.
    pub pause: Option<Between<Time>>,
    /// All files on the one connection: `true`, or `false` when not written.
    pub keep_alive: Option<bool>,
}

/// A value, or two between which one is drawn at random, both included: `5MB`, `100KB..1MB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Between<T> {
    /// The smallest value.
    pub from: T,
    /// The largest value, not below the smallest.
    pub until: T,
}

impl<T: FromStr<Err: ToString> + PartialOrd + Copy> FromStr for Between<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = |text: &str| text.trim().parse::<T>().map_err(|error| error.to_string());
        let (from, until) = match text.split_once("..") {
            Some((from, until)) => (value(from)?, value(until)?),
            None => (value(text)?, value(text)?),
        };
        if from > until {
            return Err("the larger value comes first; accepted: smallest..largest".to_owned());
        }
        Ok(Self { from, until })
    }
}

impl<T: fmt::Display + PartialEq> fmt::Display for Between<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.until {
            return self.from.fmt(f);
        }
        write!(f, "{}..{}", self.from, self.until)
    }
}

impl<T: fmt::Display + PartialEq> Serialize for Between<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Read for Files {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let size = fields.read("size")?;
        let pause = fields.read("pause")?;
        let keep_alive = fields.read("keep_alive")?;
        let size = size.ok_or_else(|| fields.missing("size", "size = \"100KB..1MB\""));
        fields.finish()?;
        Ok(Self { size: size?, pause, keep_alive })
    }
}
