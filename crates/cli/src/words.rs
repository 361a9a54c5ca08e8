//! Small words around numbers.

/// `1 drop`, `2 drops`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!((count(1, "drop"), count(0, "drop")), ("1 drop".into(), "0 drops".into()));
    }
}
