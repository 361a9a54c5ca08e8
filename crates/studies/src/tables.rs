//! Tables in documents that a command measures and writes between two marks.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::Stop;
use crate::step;

/// The title and the head of a table.
pub(crate) fn head(text: &mut String, title: &str, first: &str, names: &[&str]) {
    let names: Vec<String> = names.iter().map(|name| format!(" {name} |")).collect();
    let rule = "---|".repeat(names.len() + 1);
    let _ = writeln!(text, "\n### {title}\n| {first} |{}\n|{rule}", names.concat());
}

/// A row of it.
pub(crate) fn row(text: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| format!(" {cell} |")).collect();
    let _ = writeln!(text, "| {first} |{}", cells.concat());
}

/// Writes `text` between the marks of a document, named from the repository's root.
pub(crate) fn write_between(
    root: &Path,
    document: &str,
    marks: (&str, &str),
    text: &str,
) -> Result<(), Stop> {
    let file = root.join(document);
    let old = fs::read_to_string(&file).map_err(|error| step::unable(document, &error))?;
    let new = between_marks(&old, marks, text).ok_or_else(|| {
        Stop::failed(&format!("{document}: no lines `{}` and `{}`", marks.0, marks.1))
    })?;
    fs::write(&file, new).map_err(|error| step::unable(document, &error))
}

/// `old` with `text` in place of what is between the marks.
pub(crate) fn between_marks(old: &str, (begin, end): (&str, &str), text: &str) -> Option<String> {
    let (before, rest) = old.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{text}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let marks = ("<begin>", "<end>");
        let page = |text: &str| format!("a <end> b <begin>\n{text}\n<end> z <end>\n");
        assert_eq!(between_marks(&page("old"), marks, "new").unwrap(), page("new"));
        assert_eq!(between_marks("no marks", marks, "new"), None);
    }
}
