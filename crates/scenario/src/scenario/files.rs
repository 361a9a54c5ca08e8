//! Files one after the other, each on a connection of its own, a source of short transfers; or all
//! on one, which rests between them.

use std::fmt;
use std::str::FromStr;

use firstflight_control::quantity::{Size, Time};
use serde::{Serialize, Serializer};

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
    #[serde(skip_serializing_if = "Between::is_no_time")]
    pub pause: Between<Time>,
    /// All files on the one connection: `true`, or `false` when not written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_alive: bool,
}

impl Files {
    /// In base units, for results.
    pub(crate) fn in_results<S: Serializer>(
        files: &Option<Self>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct InResults {
            size_from_bytes: u64,
            size_until_bytes: u64,
            pause_from_ns: u64,
            pause_until_ns: u64,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            keep_alive: bool,
        }
        let in_results = |Self { size, pause, keep_alive }: Self| InResults {
            size_from_bytes: size.from.bytes(),
            size_until_bytes: size.until.bytes(),
            pause_from_ns: pause.from.ns(),
            pause_until_ns: pause.until.ns(),
            keep_alive,
        };
        files.map(in_results).serialize(serializer)
    }
}

impl Between<Time> {
    const NO_TIME: Self = Self { from: Time::ZERO, until: Time::ZERO };

    fn is_no_time(&self) -> bool {
        *self == Self::NO_TIME
    }
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
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Read for Files {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let size = fields.read("size")?;
        let pause = fields.read("pause")?.unwrap_or(Between::NO_TIME);
        let keep_alive = fields.read("keep_alive")?.unwrap_or(false);
        let size = size.ok_or_else(|| fields.missing("size", "size = \"100KB..1MB\""));
        fields.finish()?;
        Ok(Self { size: size?, pause, keep_alive })
    }
}
