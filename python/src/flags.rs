//! Keyword arguments as path flags: `access_delay="5ms"` is `--access-delay 5ms`.

use firstflight_scenario::{PathFlags, hint};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

use crate::error::{input, shown};

/// The flags of a call. Values go on as text, so that quantities are judged in one place.
pub(crate) fn path(given: &Bound<'_, PyDict>) -> PyResult<PathFlags> {
    let mut flags = PathFlags::default();
    for (name, value) in given {
        let name: String = name.extract()?;
        let flag = format!("--{}", name.replace('_', "-"));
        let known = PathFlags::all().iter().any(|known| known.name == flag);
        if !known {
            return Err(unknown(&name));
        }
        if !value.is_none() {
            flags.set(&flag, text(&name, &value)?);
        }
    }
    Ok(flags)
}

/// A value as it would be typed; `(40, "Mbps")` is "40Mbps".
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Some((number, unit)) = with_unit(value) {
        return Ok(text(name, &number)? + &unit);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.to_string());
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_string());
    }
    // The parser refuses what needs a unit, and says which.
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.to_string());
    }
    // The whole numbers of other libraries.
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.to_string());
    }
    let found = shown(value);
    Err(input(&format!(
        "{name}: found {found}; accepted: text with a unit, such as \"40Mbps\", or (40, \"Mbps\")"
    )))
}

/// A number and its unit, of a pair.
pub(crate) fn with_unit<'py>(value: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, String)> {
    let pair = value.cast::<PyTuple>().ok()?;
    let (number, unit) = pair.extract::<(Bound<'_, PyAny>, String)>().ok()?;
    let is_number = number.extract::<f64>().is_ok() && !number.is_instance_of::<PyBool>();
    is_number.then_some((number, unit))
}

/// `--access-delay` as a keyword.
pub(crate) fn keyword(flag: &str) -> String {
    flag.trim_start_matches('-').replace('-', "_")
}

fn unknown(name: &str) -> PyErr {
    let known: Vec<String> = PathFlags::all().iter().map(|flag| keyword(&flag.name)).collect();
    let hint = hint(name, known.iter().map(String::as_str));
    input(&format!("unknown argument `{name}`{hint}; accepted: {}", known.join(", ")))
}
