//! Words that somebody else may have written.

/// Text of somebody else's for a terminal or a log: what could move the cursor, colour the terminal
/// or turn the direction of writing is escaped. Line breaks stay.
pub fn plain(text: &str) -> String {
    text.chars().fold(String::new(), |mut plain, c| {
        // With a letter in front an accent is no lone accent, which `escape_debug` would escape.
        let shows = ['\n', '\\', '\'', '"'].contains(&c)
            || String::from_iter(['a', c]).escape_debug().eq(['a', c]);
        match shows {
            true => plain.push(c),
            false => plain.extend(c.escape_debug()),
        }
        plain
    })
}

/// A foreign word as it may stand on a terminal, in a page or in a table: in one line, at most 300
/// characters, and what cannot be seen (control characters, marks of direction) escaped. Every word
/// that a reader keeps of a file or of a peer goes through here.
pub fn word(text: &str) -> String {
    plain(&text.chars().take(LONGEST).collect::<String>()).replace('\n', "\\n")
}

/// Characters of a foreign word that are kept: a title of several lines.
const LONGEST: usize = 300;

/// A name as part of a file name on every system: `astart-preset-paper`.
pub fn file_name(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '+';
    let words = text.split(|c| !plain(c)).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    // Long names of many knobs would not be accepted by every file system.
    name.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_cannot_write_to_the_terminal() {
        let text = "a\x1b[31m\r\u{202e}\nit's \"a\u{308}\" \u{9b}";
        assert_eq!(plain(text), "a\\u{1b}[31m\\r\\u{202e}\nit's \"a\u{308}\" \\u{9b}");
    }

    #[test]
    fn of_a_foreign_word_what_cannot_be_seen_is_escaped_and_the_rest_stays() {
        assert_eq!(word("it's \"a\u{308}\" \\ é"), "it's \"a\u{308}\" \\ é");
        assert_eq!(word("\u{1b}[2J\u{7}\n\u{202e}"), "\\u{1b}[2J\\u{7}\\n\\u{202e}");
        assert_eq!(word(&"x".repeat(1000)).len(), LONGEST);
    }

    #[test]
    fn a_control_with_knobs_names_a_file_on_every_system() {
        assert_eq!(file_name("astart(preset=paper)+westwood"), "astart-preset-paper-+westwood");
        assert_eq!(file_name("../x"), "x");
    }
}
