//! Keys of a scenario and their values, as tables of TOML have them.

use std::collections::BTreeMap;

use firstflight_scenario::{Document, ScenarioError};
use toml::{Table, Value};

/// A scenario with other values at these keys, as TOML and as a document; its controls are a list,
/// and what a grid file says beside its scenario is no key of it.
///
/// # Errors
/// The first that is no key, or no value of it.
pub(crate) fn differing(
    mut document: Document,
    keys: &Table,
) -> Result<(String, Document), ScenarioError> {
    let mut flattened = BTreeMap::new();
    flat("", keys, &mut flattened);
    let is_key = |key: &str| !OF_GRID_FILES.contains(&key.split('.').next().unwrap_or(key));
    // Whole lists first: keys of their items may differ further.
    let (lists, single): (Vec<_>, Vec<_>) = flattened
        .into_iter()
        .filter(|(key, _)| is_key(key))
        .partition(|(_, value)| matches!(value, Value::Array(_)));
    for (key, value) in lists.into_iter().chain(single) {
        match value {
            Value::Array(values) if key == "controls" => {
                let controls: Vec<String> = values.iter().filter_map(written).collect();
                document.set_controls(&controls)?;
            }
            Value::Array(values) if values.iter().all(Value::is_table) => {
                let list = Table::from_iter([(key, value.clone())]).to_string();
                document.replace(&Document::parse(&list, document.file())?);
            }
            value => document.set(&key, &written(value).unwrap_or_else(|| value.to_string()))?,
        }
    }
    Ok((document.scenario()?.to_toml(), document))
}

/// What says which points a sweep has.
pub(crate) const OF_POINTS: [&str; 3] = ["grid", "sample", "points"];
/// Keys of a grid file that a side may have and that are none of its scenario.
const OF_GRID_FILES: [&str; 4] = ["scenario", OF_POINTS[0], OF_POINTS[1], OF_POINTS[2]];

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
