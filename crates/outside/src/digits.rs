//! Measured numbers in the digits that people compare.

/// Four significant digits and no more than it needs, with at most so many behind the point.
pub fn digits(number: f64, most_decimals: u8) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let decimals = 3.0 - number.abs().log10().floor();
    let decimals = decimals.clamp(0.0, most_decimals.into()) as usize;
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Four significant digits and no more than it needs; a whole number in full.
pub fn short(number: f64) -> String {
    match number.fract() == 0.0 || !number.is_finite() {
        true => number.to_string(),
        false => digits(number, 12),
    }
}

/// `1 drop`, `2 drops`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_kept_and_no_zeros_behind_them() {
        let cases = [(95.5512, "95.55"), (0.384, "0.384"), (1992.0, "1992"), (0.0, "0")];
        for (number, text) in cases {
            assert_eq!(digits(number, 6), text);
        }
        assert_eq!((digits(123_456.7, 6), digits(-0.250_04, 6)), ("123457".into(), "-0.25".into()));
        assert_eq!([6, 12].map(|most| digits(0.000_012_345, most)), ["0.000012", "0.00001234"]);
    }

    #[test]
    fn measured_numbers_keep_four_digits_and_counts_all() {
        assert_eq!(short(0.689_489_999), "0.6895");
        assert_eq!(short(27_579_600.5), "27579600");
        assert_eq!(short(1_234_567.0), "1234567");
        assert_eq!(short(0.000_012_345), "0.00001234");
        assert_eq!(short(-2.5), "-2.5");
        assert_eq!(short(99.999), "100");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!((count(1, "drop"), count(0, "drop")), ("1 drop".into(), "0 drops".into()));
    }
}
