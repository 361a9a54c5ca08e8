//! Rows of lines of JSON, whose keys are the columns.

use serde_json::Value as Json;

use super::Table;
use crate::column::{Column, Kind, Value};

/// Appends the row of a line to a table of `columns`; `found` is the line's value of one.
pub(super) fn push<'a>(
    table: &mut Table,
    columns: &[Column],
    found: impl Fn(&str) -> &'a Json,
) -> Result<(), String> {
    let row = columns.iter().map(|column| cell(column, found(column.name)));
    let row = row.collect::<Result<Vec<Value<'_>>, String>>()?;
    table.push(row.into_iter()).map_err(|(name, found)| format!("{name} is {found}"))
}

fn cell<'a>(column: &Column, found: &'a Json) -> Result<Value<'a>, String> {
    if found.is_null() && column.nullable {
        return Ok(Value::Null);
    }
    let value = match column.kind {
        Kind::Text => found.as_str().map(Value::Text),
        Kind::Count => found.as_u64().map(Value::Count),
        Kind::Number => found.as_f64().map(Value::Number),
        Kind::Flag => found.as_bool().map(Value::Flag),
    };
    value.ok_or_else(|| format!("{} is {found}; accepted: {}", column.name, column.kind.json()))
}
