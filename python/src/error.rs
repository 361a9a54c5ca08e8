//! Errors as Python exceptions, with the command's messages.

use firstflight_cli::calls::Refused;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    firstflight,
    Error,
    PyValueError,
    "Wrong input: the message says what was found, and what is accepted."
);

/// Wrong input.
pub(crate) fn input(message: &str) -> PyErr {
    Error::new_err(message.to_owned())
}

/// By the command's exit code: 2 is wrong input, 130 an interruption.
pub(crate) fn refused(refused: impl Into<Refused>) -> PyErr {
    let refused = refused.into();
    match refused.code {
        2 => Error::new_err(refused.message),
        130 => PyKeyboardInterrupt::new_err(()),
        _ => PyRuntimeError::new_err(refused.message),
    }
}

/// A value as Python writes it, cut where it is long.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string());
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Characters of a value that a message shows.
const MOST: usize = 80;
