//! Elements that a few numbers describe. A card says all that a link's table in a scenario, its
//! results and its headers need to know of one.

use std::fmt::Debug;

use super::Element;

/// An element under its key.
#[derive(Debug)]
pub struct Card {
    /// The key in the table of a link.
    pub key: &'static str,
    /// What is written there: a table, or one value without a name.
    pub values: &'static [Value],
    /// Its place among a link's elements as packets cross them ([`Entry::place`]).
    pub place: u8,
    /// Why a reverse path has none of its own, if so.
    pub not_back: Option<&'static str>,
    /// A few words for headers, of the values and of how people write them.
    pub words: fn(&[u64], &[String]) -> String,
    /// The element on a link on which a full packet takes so many bytes.
    pub build: fn(&[u64], u64) -> Built,
}

/// A value of an element, 0 where it is not written.
#[derive(Debug)]
pub struct Value {
    /// Its name in the element's table; empty at the key itself.
    pub name: &'static str,
    /// What it is.
    pub kind: ValueKind,
    /// One as written, where it is needed.
    pub example: Option<&'static str>,
}

/// What a value is, and in which unit it is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// More than none and at most an hour, in nanoseconds.
    Time,
    /// In bits per second.
    Rate,
    /// In bytes.
    Size,
    /// A part of 10^9.
    Share,
    /// 1 for true, 0 for false.
    Switch,
}

/// An element, or what is wrong with its values.
pub(crate) type Built = Result<Box<dyn Element>, Problem>;

/// What is wrong with the values of an element, and what is accepted; of one of them by its name,
/// or of all.
pub type Problem = (Option<&'static str>, String);

/// A kind of element.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// One that has a card.
    Card(&'static Card),
    /// [`Jitter`](crate::Jitter), which has a form of its own.
    Jitter,
    /// Rates over time, from a schedule or a trace.
    Rates,
    /// Delays over time, from a schedule or a trace.
    Delays,
}

impl Entry {
    /// A packet crosses the elements of a link by ascending place; elements of equal place in the
    /// order of [`ELEMENTS`](super::ELEMENTS).
    pub fn place(self) -> u8 {
        match self {
            Self::Card(card) => card.place,
            Self::Rates => 2,
            Self::Delays => 3,
            Self::Jitter => 5,
        }
    }
}

impl Value {
    /// The value at the key itself.
    pub(super) const fn only(kind: ValueKind) -> [Self; 1] {
        [Self { name: "", kind, example: None }]
    }

    /// One that an element needs.
    pub(super) const fn needed(name: &'static str, kind: ValueKind, example: &'static str) -> Self {
        Self { name, kind, example: Some(example) }
    }

    /// One that may be left out.
    pub(super) const fn perhaps(name: &'static str, kind: ValueKind) -> Self {
        Self { name, kind, example: None }
    }
}
