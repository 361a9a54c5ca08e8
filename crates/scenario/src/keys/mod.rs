//! The keys of endpoints, a row each: type, meaning, value per profile, and what supports them.
//!
//! From a row come the reader and the flag of its key with its default text, the constant of each
//! profile, the complete value, what results and headers say of it, and the refusal where nothing
//! supports it. The tables of `KEYS.md`, of the Python stub and the fuzzer's dictionary are held to
//! the rows by `tests/rows.rs`, which also writes them.

mod rows;
mod support;
mod table;

pub use rows::{FLOW_KEYS, FlowKeys, FlowValues, SWITCHES, SwitchKeys, Switches};
pub use support::{Condition, KeyInUse, Stack, StackInUse, Support};
pub(crate) use table::Typed;

use crate::profile::{Constants, Profile};
use crate::scenario::Endpoint;

/// A key of the endpoints.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// What it means: one sentence, then perhaps a paragraph of details, in Markdown.
    pub doc: &'static str,
    /// The form of its values.
    pub kind: Kind,
    /// Which flows it has an effect on.
    pub support: Support,
    /// Its value in a profile, as text.
    pub(crate) value: fn(&Constants) -> String,
    /// What a scenario or a flow sets, as text.
    pub(crate) given: fn(&Endpoint) -> Option<String>,
}

/// The form of a key's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Count,
    /// A text with a unit.
    Quantity,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Key {
    /// All of them: those that a group of flows can set for itself, then those of all endpoints.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        FLOW_KEYS.iter().chain(SWITCHES)
    }

    /// Its value under these constants, as a file has it.
    pub fn value(&self, constants: &Constants) -> String {
        (self.value)(constants)
    }

    /// The first sentence of its doc, without the full stop.
    pub fn meaning(&self) -> String {
        let first = self.doc.split("\n\n").next().unwrap_or_default();
        joined(first).trim_end_matches('.').to_owned()
    }

    /// The whole doc on one line.
    pub fn explained(&self) -> String {
        joined(self.doc)
    }

    /// The value of the default profile, and in parentheses those of the others that differ:
    /// `10pkt (rfc: 1pkt, ns2: 2pkt)`.
    pub(crate) fn default(&self) -> String {
        let usual = self.value(Profile::default().constants());
        let mut others: Vec<(String, Vec<String>)> = Vec::new();
        for profile in Profile::ALL {
            let value = self.value(profile.constants());
            match others.iter_mut().find(|(other, _)| *other == value) {
                _ if value == usual => {}
                Some((_, profiles)) => profiles.push(profile.to_string()),
                None => others.push((value, vec![profile.to_string()])),
            }
        }
        let others = others.iter().map(|(value, of)| format!("{}: {value}", of.join(", ")));
        match others.collect::<Vec<_>>().join(", ") {
            differing if differing.is_empty() => usual,
            differing => format!("{usual} ({differing})"),
        }
    }
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
