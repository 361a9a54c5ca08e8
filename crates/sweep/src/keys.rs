//! Keys of a scenario and their values, as tables of TOML have them.

use std::collections::BTreeMap;

use firstflight_scenario::{Document, ScenarioError};
use toml::{Table, Value};

/// A scenario with other values at these keys, as TOML and as a document; its controls are a list,
/// and `scenario` is no key of it.
///
/// # Errors
/// The first that is no key, or no value of it.
pub(crate) fn differing(
    mut document: Document,
    keys: &Table,
) -> Result<(String, Document), ScenarioError> {
    let mut flattened = BTreeMap::new();
    flat("", keys, &mut flattened);
    for (key, value) in flattened.into_iter().filter(|(key, _)| key != "scenario") {
        match value {
            Value::Array(values) if key == "controls" => {
                let controls: Vec<String> = values.iter().filter_map(written).collect();
                document.set_controls(&controls)?;
            }
            value => document.set(&key, &written(value).unwrap_or_else(|| value.to_string()))?,
        }
    }
    Ok((document.scenario()?.to_toml(), document))
}

/// Nested tables as dotted keys; a table with `from` is a range.
pub(crate) fn flat<'a>(above: &str, table: &'a Table, all: &mut BTreeMap<String, &'a Value>) {
    for (name, value) in table {
        let key = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        match value {
            Value::Table(below) if !below.contains_key("from") => flat(&key, below, all),
            value => {
                all.insert(key, value);
            }
        }
    }
}

/// A single value as text, as `Document::set` reads it.
pub(crate) fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
        _ => None,
    }
}
