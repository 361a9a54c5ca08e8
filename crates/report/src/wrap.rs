//! Plain text for a screen of some width.

/// A paragraph broken into lines between words, further lines behind `indent`; a word that is too
/// long stands alone. With a line break at its end.
#[must_use]
pub fn wrapped(paragraph: &str, width: usize, indent: &str) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            text.push('\n');
            text.push_str(indent);
            used = indent.chars().count();
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_break_between_words_and_indent() {
        assert_eq!(wrapped("one two three four", 9, "  "), "one two\n  three\n  four\n");
        assert_eq!(wrapped("one two three", 7, ""), "one two\nthree\n");
        assert_eq!(wrapped("a refutation b", 5, ""), "a\nrefutation\nb\n");
        assert_eq!(wrapped("", 5, ""), "\n");
    }
}
