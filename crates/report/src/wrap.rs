//! Plain text for a screen of some width.

use textwrap::{Options, WordSplitter};

/// A paragraph broken into lines between words, further lines behind `indent`; a word that is too
/// long stands alone. With a line break at its end.
#[must_use]
pub fn wrapped(paragraph: &str, width: usize, indent: &str) -> String {
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let options = Options::new(width).subsequent_indent(indent).break_words(false);
    let options = options.word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(&words.join(" "), options) + "\n"
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
