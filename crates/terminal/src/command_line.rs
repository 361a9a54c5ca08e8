//! The command line as it was typed, ready to be pasted again.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::OnceLock;

/// The words, the program's name first: this program's own, or those that another program was given
/// in which this one is a library.
pub fn words() -> Vec<OsString> {
    HANDED_IN.get().cloned().unwrap_or_else(|| std::env::args_os().collect())
}

/// Takes the words of another program, once.
pub fn hand_in(words: Vec<OsString>) {
    let _ = HANDED_IN.set(words);
}

/// Whether this program is a library of another.
pub fn is_inside_another() -> bool {
    HANDED_IN.get().is_some()
}

static HANDED_IN: OnceLock<Vec<OsString>> = OnceLock::new();

/// `firstflight` and its arguments, quoted for a shell where needed.
pub fn typed() -> String {
    let words =
        words().into_iter().skip(1).map(|word| quoted(&word.to_string_lossy()).into_owned());
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
