//! Fields of JSON objects, as loosely typed as QUIC stacks write them.

use firstflight_outside::word;
use serde_json::Value;

/// The first of the names that the object has with a value.
pub(crate) fn any<'a>(object: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| object.get(name)).filter(|value| !value.is_null())
}

/// A number that may be written as a string; finite and not negative.
pub(crate) fn real(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// A count that may be written as a string or with a fraction.
pub(crate) fn count(value: &Value) -> Option<u64> {
    if let Some(count) = value.as_u64() {
        return Some(count);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by real")]
    real(value).map(|number| number as u64)
}

/// A count by any of its names.
pub(crate) fn count_of(object: &Value, names: &[&str]) -> Option<u64> {
    any(object, names).and_then(count)
}

/// A number by any of its names.
pub(crate) fn real_of(object: &Value, names: &[&str]) -> Option<f64> {
    any(object, names).and_then(real)
}

/// A text by any of its names, as it may be shown.
pub(crate) fn text_of(object: &Value, names: &[&str]) -> Option<String> {
    any(object, names).and_then(Value::as_str).map(word)
}
