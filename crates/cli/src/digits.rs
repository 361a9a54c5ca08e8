//! Measured numbers in the digits that people compare.

use firstflight_report::digits;

/// Four significant digits and no more than it needs; a whole number in full.
pub(crate) fn short(number: f64) -> String {
    match number.fract() == 0.0 || !number.is_finite() {
        true => number.to_string(),
        false => digits(number, 12),
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
