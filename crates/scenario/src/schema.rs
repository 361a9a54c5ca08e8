//! The keys of a scenario file as a JSON Schema, for editors.
//!
//! It is made by the readers themselves: each reads a table that notes which keys it asks for, so
//! that no list of keys stands here. What a schema cannot say, such as which keys exclude each
//! other, only `run` checks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use firstflight_core::registry::{ALIASES, STARTUPS};
use firstflight_results::measures;
use serde_json::{Map, Value, json};

use crate::document::{Files, Node, Raw};
use crate::error::Place;
use crate::flags::PathFlags;
use crate::keys::Key;
use crate::read::Read;
use crate::scenario::Scenario;

/// What is written at a key.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// A value that is read by other code.
    Any,
    /// A text, such as a quantity with its unit.
    Text,
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Count(RangeInclusive<u64>),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A control.
    Control,
    /// Values in brackets, or tables.
    List(Box<Form>),
    /// A table, by the name of its type, and the keys that it may have.
    Table(&'static str, fn() -> Vec<(&'static str, Form)>),
    /// A table of this key, and the keys that it may have.
    Named(&'static str, Vec<(&'static str, Form)>),
}

/// A table without values, which notes what its reader asks for.
#[derive(Debug, Default)]
pub(crate) struct Probe(Mutex<Vec<(&'static str, Form)>>);

impl Probe {
    pub(crate) fn note(&self, key: &'static str, form: Form) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((key, form));
    }
}

impl Form {
    /// That of a table which `T` reads.
    pub(crate) fn table<T: Read>() -> Self {
        let name = std::any::type_name::<T>();
        Self::Table(name.rsplit("::").next().unwrap_or(name), keys::<T>)
    }
}

fn keys<T: Read>() -> Vec<(&'static str, Form)> {
    let probe = Arc::new(Probe::default());
    let place = Place::Key { file: String::new(), line: None, key: String::new() };
    // The read fails for lack of values, after it has asked for all keys.
    let _ = T::read(&Node { place, raw: Raw::Probe(Arc::clone(&probe)), files: Files::default() });
    let probe = probe.0.lock().unwrap_or_else(PoisonError::into_inner);
    probe.clone()
}

/// The keys of a scenario file and the forms of their values (JSON Schema, draft 2020-12).
pub fn schema() -> Value {
    let mut defined = Map::new();
    let scenario = table("", &keys::<Scenario>(), &mut defined);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "firstflight/scenario",
        "title": "A scenario of firstflight",
    });
    if let (Value::Object(whole), Value::Object(scenario)) = (&mut schema, scenario) {
        whole.extend(scenario);
        whole.insert("$defs".to_owned(), defined.into());
    }
    schema
}

/// A table; `above` is the dotted key at which it stands, `defined` has those it names.
fn table(above: &str, keys: &[(&str, Form)], defined: &mut Map<String, Value>) -> Value {
    let descriptions = descriptions();
    let mut properties = Map::new();
    for (key, form) in keys {
        let mut value = match (above, *key) {
            ("", "expect") => expect(),
            _ => value(key, form, defined),
        };
        let about = [format!("{above}{key}"), (*key).to_owned()];
        let about = about.iter().find_map(|key| descriptions.get(key.as_str()));
        if let (Value::Object(value), Some(about)) = (&mut value, about) {
            value.insert("description".to_owned(), json!(about));
        }
        properties.insert((*key).to_owned(), value);
    }
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn value(key: &str, form: &Form, defined: &mut Map<String, Value>) -> Value {
    match form {
        Form::Any => json!({}),
        Form::Text => json!({ "type": "string" }),
        Form::Switch => json!({ "type": "boolean" }),
        Form::Count(range) => {
            json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() })
        }
        Form::Words(words) => json!({ "enum": words }),
        Form::Control => {
            let startups = STARTUPS.iter().map(|card| card.name);
            let known: BTreeSet<&str> =
                ALIASES.iter().map(|alias| alias.name).chain(startups).collect();
            json!({ "anyOf": [{ "enum": known }, { "type": "string" }] })
        }
        Form::List(item) => json!({ "type": "array", "items": value(key, item, defined) }),
        Form::Named(key, keys) => {
            let name = format!("{}{}", key[..1].to_uppercase(), &key[1..]);
            let made = table(&format!("{key}."), keys, defined);
            defined.entry(name.as_str()).or_insert(made);
            json!({ "$ref": format!("#/$defs/{name}") })
        }
        Form::Table(name, keys) => {
            if !defined.contains_key(*name) {
                // Before its keys, among which it may be again.
                defined.insert((*name).to_owned(), Value::Null);
                let above =
                    if *name == "FlowGroup" { "flow[0].".to_owned() } else { format!("{key}.") };
                let made = table(&above, &keys(), defined);
                defined.insert((*name).to_owned(), made);
            }
            json!({ "$ref": format!("#/$defs/{name}") })
        }
    }
}

/// Conditions of the measures; fields of results may be named too.
fn expect() -> Value {
    let measures = measures::all().map(|measure| measure.column);
    let condition = |about: &str| json!({ "type": "string", "description": about });
    let all = measures.map(|column| (column.name.to_owned(), condition(column.meaning)));
    let control =
        ("control".to_owned(), condition("The control whose runs are meant; all without"));
    let properties: Map<String, Value> = all.chain([control]).collect();
    let one = json!({ "type": "object", "properties": properties });
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

/// What the help and the reference say of keys.
fn descriptions() -> BTreeMap<&'static str, String> {
    let flags = PathFlags::all().iter().map(|flag| (flag.key, flag.help.clone()));
    flags.chain(Key::all().map(|key| (key.name, key.explained()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_name_their_keys() {
        let schema = schema();
        let at = |pointer: &str| schema.pointer(pointer).unwrap_or(&Value::Null);
        assert_eq!(at("/additionalProperties"), false);
        assert_eq!(at("/properties/duration/type"), "string");
        assert_eq!(at("/properties/path/$ref"), "#/$defs/Dumbbell");
        assert_eq!(at("/$defs/Dumbbell/properties/rate/description"), "Bottleneck rate");
        assert_eq!(at("/$defs/Link/properties/drop/items/minimum"), 1);
        assert_eq!(at("/$defs/Back/properties/back/$ref"), "#/$defs/Back", "its own kind");
        assert_eq!(at("/$defs/Files/properties/size/type"), "string", "though it is missing");
        let words = at("/properties/recovery/enum").as_array().unwrap();
        assert!(words.contains(&json!("rack")), "{words:?}");
        for key in Key::all() {
            let description = at(&format!("/properties/{}/description", key.name)).clone();
            assert_eq!(description, key.explained(), "{}", key.name);
        }
    }
}
