//! Names of files that one side gives the other.

use std::path::Path;

use crate::error::TransferError;
use crate::failure::shown;

/// What a file is called there: as given, or as here.
///
/// # Errors
/// A name that is none there, and how to give another.
pub(crate) fn of(path: &Path, given: Option<&str>) -> Result<String, TransferError> {
    let wrong = |shown: &str, problem: &str| {
        TransferError::Input(format!("{shown}: {problem}; send --name gives it another there"))
    };
    let here = || path.file_name().map_or(Some(""), |name| name.to_str());
    let name = given.or_else(here);
    let name = name.ok_or_else(|| wrong(&path.display().to_string(), "its name is not UTF-8"))?;
    match problem(name) {
        Some(problem) => Err(wrong(&format!("`{}`", shown(name)), problem)),
        None => Ok(name.to_owned()),
    }
}

/// What keeps a name from being that of a file in the receiver's directory, on every system; `None`
/// of a good one.
pub(crate) fn problem(name: &str) -> Option<&'static str> {
    let foreign = |c: char| c.is_control() || c == '/' || c == '\\';
    let ends_with_part = name.to_ascii_lowercase().ends_with(PART);
    if name.is_empty() || [".", ".."].contains(&name) {
        Some("no name of a file")
    } else if name.chars().any(foreign) {
        Some("a name with a control character, / or \\")
    } else if name.starts_with(['.', '-']) {
        Some("a name that begins with a dot or a dash, as hidden files and options do")
    } else if name.contains(MISLEADING) {
        Some("a name with a mark that changes the direction of writing, or a line separator")
    } else if name.len() > LONGEST {
        Some("a name of more than 240 bytes")
    } else if ends_with_part {
        Some("a name that ends with .part, as those of incomplete files do")
    } else {
        None
    }
}

/// What an incomplete file's name ends with.
pub(crate) const PART: &str = ".part";

/// File systems take 255 bytes, the endings of incomplete files included.
const LONGEST: usize = 240;
/// What has Unicode's property Bidi_Control, and the separators of lines and paragraphs.
const MISLEADING: [char; 14] = [
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202b}', '\u{202c}',
    '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_cannot_name_what_reads_as_something_else() {
        for name in
            [".hidden", ".ssh", "..x", "-rf", "photo\u{202e}gpj.exe", "a\u{2028}b", "X.PART"]
        {
            assert!(problem(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_peer_cannot_name_a_file_elsewhere() {
        let long = "n".repeat(241);
        for name in ["", ".", "..", "a/b", "/etc/passwd", "..\\x", "a\nb", "a\0", "x.part", &long] {
            assert!(problem(name).is_some(), "{name:?}");
        }
        for name in ["a", "big file.iso", "\u{e4}.tar.gz", "x..", "a-b", "\u{6a9}\u{200c}\u{6a9}"] {
            assert_eq!(problem(name), None, "{name:?}");
        }
    }
}
