//! Small words around numbers.

use std::str::FromStr;

pub use firstflight_outside::count;

/// A whole number that somebody typed.
pub fn whole<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "accepted: a whole number")
}
