//! A scenario as a `dict`: the keys of a scenario file.

use firstflight_scenario::Document;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::error::input;
use crate::flags::{text, with_unit};

/// The document that a file of the same keys would be.
pub(crate) fn document(tree: &Bound<'_, PyDict>) -> PyResult<Document> {
    let mut document = Document::new("scenario");
    table(&mut document, "", tree, 0)?;
    Ok(document)
}

fn table(
    document: &mut Document,
    key: &str,
    tree: &Bound<'_, PyDict>,
    depth: usize,
) -> PyResult<()> {
    for (name, value) in tree {
        let Ok(name) = name.extract::<String>() else {
            return Err(input(&format!("scenario: {key}: a key is no text: {name}")));
        };
        let key = if key.is_empty() { name } else { format!("{key}.{name}") };
        node(document, &key, &value, depth)?;
    }
    Ok(())
}

fn node(
    document: &mut Document,
    key: &str,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> PyResult<()> {
    if depth > DEEPEST {
        return Err(input(&format!("scenario: {key}: more than {DEEPEST} levels of tables")));
    }
    if let Ok(tree) = value.cast::<PyDict>() {
        return table(document, key, tree, depth + 1);
    }
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if is_list && with_unit(value).is_none() {
        for (place, item) in value.try_iter()?.enumerate() {
            node(document, &format!("{key}[{place}]"), &item?, depth + 1)?;
        }
        return Ok(());
    }
    if value.is_none() {
        return Ok(());
    }
    let written = document.set(key, &text(key, value)?);
    written.map_err(|problem| input(&problem.to_string()))
}

/// No scenario has as many levels; a `dict` that holds itself has more.
const DEEPEST: usize = 8;
