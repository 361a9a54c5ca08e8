//! Measured numbers in the digits that people compare.

/// Four significant digits and no more than it needs; a whole number in full.
pub(crate) fn short(number: f64) -> String {
    if number.fract() == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let decimals = (3.0 - number.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_numbers_keep_four_digits_and_counts_all() {
        assert_eq!(short(0.689_489_999), "0.6895");
        assert_eq!(short(27_579_600.5), "27579600");
        assert_eq!(short(1_234_567.0), "1234567");
        assert_eq!(short(0.000_012_345), "0.00001234");
        assert_eq!(short(-2.5), "-2.5");
        assert_eq!(short(99.999), "100");
    }
}
