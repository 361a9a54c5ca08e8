//! One record of an event, taken apart without a look at its data.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::fields;

/// An event as it stands in a log.
pub(crate) enum Record<'a> {
    /// Its fields by name.
    Named(Named<'a>),
    /// Its fields by place, as draft-00 and -01 have them.
    Listed(Vec<&'a RawValue>),
    /// An empty object or list: some writers end a list so, for the sake of the comma before it.
    Empty,
}

/// The fields of an event that matter; others are passed over. Of a name that comes twice the last
/// one counts.
#[derive(Default)]
pub(crate) struct Named<'a> {
    pub(crate) time: Option<f64>,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) group: Option<&'a RawValue>,
    pub(crate) path: Option<&'a RawValue>,
    pub(crate) data: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Record<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Self::Value, M::Error> {
        let mut named = Named::default();
        let mut empty = true;
        while let Some(Name(name)) = members.next_key()? {
            empty = false;
            match &*name {
                "time" | "relative_time" => {
                    named.time = number(members.next_value()?).or(named.time);
                }
                "name" | "type" => {
                    let value: &RawValue = members.next_value()?;
                    named.name = text(value).or(named.name);
                }
                "group_id" => named.group = Some(members.next_value()?),
                "path_id" | "path" | "tuple" => named.path = Some(members.next_value()?),
                "data" => named.data = Some(members.next_value()?),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(if empty { Record::Empty } else { Record::Named(named) })
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<Self::Value, S::Error> {
        let mut cells = Vec::new();
        while let Some(cell) = elements.next_element()? {
            cells.push(cell);
        }
        Ok(if cells.is_empty() { Record::Empty } else { Record::Listed(cells) })
    }
}

/// A name that borrows from the log where nothing in it is escaped.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(text.to_owned().into()))
            }
        }
        deserializer.deserialize_str(Borrowing)
    }
}

/// A number, which may be written as a string; finite and not negative.
pub(crate) fn number(value: &RawValue) -> Option<f64> {
    match value.get().parse::<f64>() {
        Ok(number) => Some(number).filter(|number| number.is_finite() && *number >= 0.0),
        Err(_) => fields::real(&serde_json::from_str(value.get()).ok()?),
    }
}

/// A text; `None` for any other value.
pub(crate) fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(value.get()).ok().map(|Name(text)| text)
}
