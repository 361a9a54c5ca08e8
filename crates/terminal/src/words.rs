//! Small words around numbers.

use std::str::FromStr;

/// `1 drop`, `2 drops`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A whole number that somebody typed.
pub fn whole<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "accepted: a whole number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!((count(1, "drop"), count(0, "drop")), ("1 drop".into(), "0 drops".into()));
    }
}
