//! The command line as it was typed, ready to be pasted again.

use std::borrow::Cow;

/// `firstflight` and its arguments, quoted for a shell where needed.
pub(crate) fn typed() -> String {
    let given = std::env::args_os().skip(1);
    let words = given.map(|word| quoted(&word.to_string_lossy()).into_owned());
    std::iter::once("firstflight".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=,:%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_with_knobs_is_quoted_and_a_plain_one_is_not() {
        assert_eq!(quoted("astart+westwood"), "astart+westwood");
        assert_eq!(quoted("astart(preset=paper)"), "'astart(preset=paper)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
