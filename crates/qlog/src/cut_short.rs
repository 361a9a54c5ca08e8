//! One JSON document that ends too early, because whoever wrote it was killed: what is complete.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The document with its traces and their events as far as they go, if there is an event.
pub(crate) fn complete_part(bytes: &[u8]) -> Option<Value> {
    let mut document = Map::new();
    let kept = Object { kept: &mut document, lists: &["traces", "events"] };
    // The error at the end is the one that is known already.
    let _ = kept.deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    let events = |trace: &Value| trace.get("events").and_then(Value::as_array).map_or(0, Vec::len);
    let traces = document.get("traces").and_then(Value::as_array)?;
    traces.iter().any(|trace| events(trace) > 0).then_some(document.into())
}

/// An object: its members are kept when they are complete, but the first of `lists` as it is read.
struct Object<'a> {
    kept: &'a mut Map<String, Value>,
    lists: &'static [&'static str],
}

/// A list: of objects with lists of their own, or of what is kept when it is complete.
struct List<'a> {
    kept: &'a mut Vec<Value>,
    lists: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match self.lists {
                [first, lists @ ..] if name == *first => {
                    let mut list = Vec::new();
                    let read = members.next_value_seed(List { kept: &mut list, lists });
                    self.kept.insert(name, list.into());
                    read?;
                }
                _ => {
                    self.kept.insert(name, members.next_value()?);
                }
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        if self.lists.is_empty() {
            while let Some(element) = elements.next_element()? {
                self.kept.push(element);
            }
            return Ok(());
        }
        loop {
            let mut object = Map::new();
            let read = elements.next_element_seed(Object { kept: &mut object, lists: self.lists });
            if !object.is_empty() {
                self.kept.push(object.into());
            }
            if read?.is_none() {
                return Ok(());
            }
        }
    }
}
