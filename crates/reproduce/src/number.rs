//! The text of numbers in rows and on pages.

use firstflight_report::digits;

/// Four significant digits and no more than it needs; what never happened is none.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() { digits(value, 6) } else { "none".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_what_never_happened_is_none() {
        assert_eq!([95.5512, 123_456.0].map(number), ["95.55", "123456"]);
        assert_eq!([f64::NAN, f64::INFINITY].map(number), ["none", "none"]);
    }
}
