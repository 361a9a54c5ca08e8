//! Numbers as rows and pages write them.

/// A number with four significant digits and no more than it needs.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "none".to_owned() };
    }
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a finite number")]
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 6);
    let text = format!("{value:.*}", usize::try_from(digits).unwrap_or(0));
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
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
