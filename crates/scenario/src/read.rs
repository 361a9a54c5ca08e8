//! From the tree of a document to typed values, with an error for every unknown key.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use firstflight_control::nearest;

use crate::document::{Node, Raw};
use crate::error::ScenarioError;
use crate::flags::PathFlags;
use crate::schema::Form;

/// A value that can be read from a document.
pub(crate) trait Read: Sized {
    fn read(node: &Node) -> Result<Self, ScenarioError>;

    /// The form of its values; a table's if it says nothing else.
    fn form() -> Form {
        Form::table::<Self>()
    }
}

impl Node {
    /// An error about this value.
    pub(crate) fn error(&self, problem: impl Into<String>) -> ScenarioError {
        let found = Some(self.shown());
        ScenarioError::Value { place: self.place.clone(), found, problem: problem.into() }
    }

    /// The text as it is written, if it is one.
    pub(crate) fn words(&self) -> Option<&str> {
        if let Raw::Text(text) = &self.raw { Some(text) } else { None }
    }

    /// The fields of a table.
    pub(crate) fn fields(&self) -> Result<Fields<'_>, ScenarioError> {
        match &self.raw {
            Raw::Table(entries) => {
                Ok(Fields { node: self, entries: Some(entries), known: Vec::new() })
            }
            Raw::Probe(_) => Ok(Fields { node: self, entries: None, known: Vec::new() }),
            _ => Err(self.error("not a table; accepted: keys with values under a [header]")),
        }
    }

    /// A value written as text. A bare number is handed on too, to be refused for its lost unit.
    pub(crate) fn text<T: FromStr<Err: ToString>>(&self) -> Result<T, ScenarioError> {
        let text = match &self.raw {
            Raw::Text(text) => text.clone(),
            Raw::Integer(_) | Raw::Other(_) => self.shown(),
            _ => return Err(self.error("not a text; accepted: a value in quotes")),
        };
        text.parse().map_err(|error: T::Err| self.error(error.to_string()))
    }
}

/// The fields of one table; remembers which were asked for, so that the rest are unknown keys.
pub(crate) struct Fields<'a> {
    node: &'a Node,
    entries: Option<&'a BTreeMap<String, Node>>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The node at `key`, if written.
    pub(crate) fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        self.entry(key, || Form::Any)
    }

    /// The value at `key`, if written.
    pub(crate) fn read<T: Read>(&mut self, key: &'static str) -> Result<Option<T>, ScenarioError> {
        self.entry(key, T::form).map(T::read).transpose()
    }

    /// The whole number at `key`, if written, which must lie in `range`.
    pub(crate) fn count(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, ScenarioError> {
        let form = || Form::Count(range.clone());
        self.entry(key, form).map(|node| count(node, range)).transpose()
    }

    /// A list at `key`, empty if not written.
    pub(crate) fn list<T: Read>(&mut self, key: &'static str) -> Result<Vec<T>, ScenarioError> {
        let form = || Form::List(Box::new(T::form()));
        let node = self.entry(key, form);
        node.map_or(Ok(Vec::new()), |node| items(node)?.iter().map(T::read).collect())
    }

    /// The node at `key`, if written, whose values have this form.
    pub(crate) fn entry(
        &mut self,
        key: &'static str,
        form: impl FnOnce() -> Form,
    ) -> Option<&'a Node> {
        if let Raw::Probe(probe) = &self.node.raw {
            probe.note(key, form());
        }
        self.known.push(key);
        self.entries?.get(key)
    }

    /// Refuses every key that was not asked for.
    pub(crate) fn finish(self) -> Result<(), ScenarioError> {
        let unknown = |(name, _): &(&String, &Node)| !self.known.contains(&name.as_str());
        match self.entries.into_iter().flatten().find(unknown) {
            None => Ok(()),
            Some((name, node)) => Err(unknown_key(node, name, &self.known)),
        }
    }

    /// An error for a key that must be written and is not.
    pub(crate) fn missing(&self, key: &str, accepted: &str) -> ScenarioError {
        let problem = format!("`{key}` is missing; accepted: {accepted}");
        ScenarioError::Value { place: self.node.place.clone(), found: None, problem }
    }
}

/// An error for `name`, which is none of `accepted`.
pub(crate) fn unknown_key(node: &Node, name: &str, accepted: &[&str]) -> ScenarioError {
    // A key that is right but stands in the wrong table is the commonest slip of all.
    let of_another_table = || {
        let mut keys = PathFlags::all().iter().map(|flag| flag.key);
        keys.find(|key| key.rsplit_once('.').is_some_and(|(_, last)| last == name))
    };
    let hint = nearest(name, accepted.iter().copied()).or_else(of_another_table);
    ScenarioError::UnknownKey {
        place: node.place.clone(),
        hint: hint.map_or(String::new(), |key| format!(", did you mean `{key}`")),
        accepted: accepted.join(", "),
    }
}

/// The items of a list.
pub(crate) fn items(node: &Node) -> Result<&[Node], ScenarioError> {
    match &node.raw {
        Raw::List(items) => Ok(items),
        _ => Err(node.error("not a list; accepted: values in [brackets], or [[tables]]")),
    }
}

/// A whole number in `range`.
pub(crate) fn count(node: &Node, range: RangeInclusive<u64>) -> Result<u64, ScenarioError> {
    let Raw::Integer(number) = node.raw else {
        let (from, to) = range.into_inner();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let what = match &node.raw {
            Raw::Text(text) | Raw::Other(text) if digits(text) => "out of range",
            _ => "no number",
        };
        return Err(node.error(format!("{what}; accepted: a whole number from {from} to {to}")));
    };
    u64::try_from(number).ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let (from, to) = range.into_inner();
        node.error(format!("out of range; accepted: a whole number from {from} to {to}"))
    })
}

/// Values written as text, read by `FromStr`.
macro_rules! read_as_text {
    ($($type:ty),+ $(,)?) => {$(
        impl Read for $type {
            fn read(node: &Node) -> Result<Self, ScenarioError> {
                node.text()
            }

            fn form() -> Form {
                Form::Text
            }
        }
    )+};
}

read_as_text!(
    crate::scenario::Between<crate::Size>,
    crate::scenario::Between<crate::Time>,
    crate::scenario::QueueSpec,
    crate::scenario::RateOrNone,
    crate::scenario::Rule,
    crate::scenario::SafeBy,
    crate::scenario::Starts,
    crate::Buffer,
    crate::Fraction,
    crate::MarkFrom,
    crate::Loss,
    crate::Rate,
    crate::Size,
    crate::Threshold,
    crate::Time,
    crate::Window,
);

/// Values that are one of some words.
macro_rules! read_as_word {
    ($($type:ident),+ $(,)?) => {$(
        impl Read for crate::$type {
            fn read(node: &Node) -> Result<Self, ScenarioError> {
                node.text()
            }

            fn form() -> Form {
                Form::Words(Self::NAMES)
            }
        }
    )+};
}

read_as_word!(
    Carrier,
    EcnFeedback,
    FastOpen,
    LinuxRelease,
    Ns2Release,
    Pacer,
    Profile,
    Receiver,
    Recovery,
    Timer,
);

impl Read for String {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        match &node.raw {
            Raw::Text(text) => Ok(text.clone()),
            _ => Err(node.error("not a text; accepted: a text in quotes")),
        }
    }

    fn form() -> Form {
        Form::Text
    }
}

impl Read for bool {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        match node.raw {
            Raw::Flag(flag) => Ok(flag),
            _ => Err(node.error("neither true nor false; accepted: true, false")),
        }
    }

    fn form() -> Form {
        Form::Switch
    }
}

impl Read for crate::ControlSpec {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        node.text()
    }

    fn form() -> Form {
        Form::Control
    }
}
