//! A constant, in whose place a file calls a function that has the values of its mutants.

use std::ops::Range;

/// A constant of a module or of a type, but not of a trait.
pub(super) struct Constant<'a> {
    name: &'a str,
    kind: &'a str,
    /// Where its value stands.
    pub(super) value: Range<usize>,
    /// `impl Type`, or nothing.
    of: &'a str,
}

impl<'a> Constant<'a> {
    /// The one whose value holds this place.
    pub(super) fn around(text: &'a str, place: usize) -> Option<Self> {
        let at = text[..place].rfind("const ")? + "const ".len();
        let (name, rest) = text[at..].split_once(": ")?;
        let (kind, rest) = rest.split_once(" =")?;
        let value = text.len() - rest.len();
        let value = value..value + rest.find(";\n")?;
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let of = if text[line..].starts_with(' ') {
            let block = text[..at].rfind("\nimpl")? + 1;
            text[block..].split_once(" {")?.0
        } else {
            ""
        };
        let is_one = name.chars().all(of_name) && value.contains(&place) && !of.contains(" for ");
        is_one.then_some(Self { name, kind, value, of })
    }

    /// The function that stands in its place.
    pub(super) fn function(&self) -> String {
        format!("{}__", self.name)
    }

    /// How that function begins, and how it ends.
    pub(super) fn ends(&self) -> (String, &'static str) {
        let head = format!("pub fn {}() -> {} {{", self.function(), self.kind);
        if self.of.is_empty() { (head, "} }") } else { (format!("{} {{ {head}", self.of), "} } }") }
    }

    /// The text that calls that function where it names the constant, but for what other constants
    /// are, imports and comments.
    pub(super) fn called(&self, text: &str) -> String {
        let mut new = String::new();
        for line in text.split_inclusive('\n') {
            let begin = line.trim_start();
            let imports = ["use ", "pub use ", "//"].iter().any(|word| begin.starts_with(word));
            let mut rest = if imports || line.contains("const ") { "" } else { line };
            new += &line[..line.len() - rest.len()];
            while !rest.is_empty() {
                let (word, after) = rest.split_at(rest.find(not_of_name).unwrap_or(rest.len()));
                let (between, next) = after.split_at(after.find(of_name).unwrap_or(after.len()));
                let here = self.of.is_empty() || new.ends_with("::");
                let call = if here && word == self.name { "__()" } else { "" };
                new.extend([word, call, between]);
                rest = next;
            }
        }
        new
    }
}

fn of_name(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_'
}

fn not_of_name(one: char) -> bool {
    !of_name(one)
}
