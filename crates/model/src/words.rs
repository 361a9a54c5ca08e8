//! Numbers as people read them.

/// A quantity with three significant digits, whole numbers in full.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let decimals = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `1 packet`, `52 packets`.
pub(crate) fn packets(value: f64) -> String {
    let number = number(value);
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} packet{ending}")
}

/// Seconds, milliseconds below one, minutes above a hundred.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{} ms", number(seconds * 1e3))
    } else if seconds < 100.0 {
        format!("{} s", number(seconds))
    } else {
        format!("{} min", number(seconds / 60.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_and_nouns_agree() {
        assert_eq!(number(69.580_1), "69.6");
        assert_eq!(number(12_345.6), "12346");
        assert_eq!(number(0.25), "0.25");
        assert_eq!(number(52.0), "52");
        assert_eq!(number(0.0), "0");
        assert_eq!(packets(1.0), "1 packet");
        assert_eq!(packets(0.5), "0.5 packets");
        assert_eq!([0.19, 46.8, 600.0].map(duration), ["190 ms", "46.8 s", "10 min"]);
    }
}
