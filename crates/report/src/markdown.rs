//! Text for Markdown pages.

/// Text that does not end a table's cell and is not taken for HTML or emphasis.
pub fn cell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in line(text).chars() {
        if matches!(c, '|' | '<' | '>' | '*' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A paragraph on one line.
pub fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_a_table_is_escaped() {
        assert_eq!(cell("a | b <\nc [1]"), r"a \| b \< c \[1\]");
    }
}
