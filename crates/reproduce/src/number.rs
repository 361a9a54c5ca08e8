//! Numbers as rows and pages write them.

use firstflight_report::digits;

/// Four significant digits and no more than it needs; what never happened is none.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() { digits(value, 6) } else { "none".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(95.5512, "95.55"), (0.384, "0.384"), (1992.0, "1992"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(123_456.0), "123456");
    }
}
