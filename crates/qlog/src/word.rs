//! Words of a file that somebody else wrote.

use firstflight_outside::plain;

/// A foreign word as it may stand on a terminal, in a page or in a table: in one line, at most 300
/// characters, and what cannot be seen (control characters, marks of direction) escaped. Every word
/// that a reader keeps of a file goes through here.
pub fn word(text: &str) -> String {
    plain(&text.chars().take(LONGEST).collect::<String>()).replace('\n', "\\n")
}

/// Characters of a foreign word that are kept: a title of several lines.
const LONGEST: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped_and_the_rest_stays() {
        assert_eq!(word("it's \"a\u{308}\" \\ é"), "it's \"a\u{308}\" \\ é");
        assert_eq!(word("\u{1b}[2J\u{7}\n\u{202e}"), "\\u{1b}[2J\\u{7}\\n\\u{202e}");
        assert_eq!(word(&"x".repeat(1000)).len(), LONGEST);
    }
}
