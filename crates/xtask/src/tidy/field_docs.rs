//! A field says itself what it is: its doc does not send the reader to another item.

use super::Finding;
use super::source::Source;

/// Finds fields whose docs begin with a reference, or lean on the field above.
pub(super) fn check(source: &Source, findings: &mut Vec<Finding>) {
    if source.kind() != "rs" {
        return;
    }
    let mut doc = None;
    for (at, line) in source.lines.iter().enumerate() {
        let line = line.trim_start();
        if let Some(text) = line.strip_prefix("/// ") {
            let (_, borrows) = doc.unwrap_or((at, REFERENCES.iter().any(|r| text.starts_with(r))));
            let begins = doc.map_or(at, |(begins, _)| begins);
            doc = Some((begins, borrows || text.contains("likewise")));
        } else if !line.starts_with("///") && !line.starts_with("#[") {
            if let Some((begins, true)) = doc.filter(|_| is_field(line)) {
                let text = "a field's doc says what it is, and does not refer to another's".into();
                findings.push(Finding { path: source.path.clone(), line: begins + 1, text });
            }
            doc = None;
        }
    }
}

/// Whether a line begins a field: `name: Type`, public or not.
fn is_field(line: &str) -> bool {
    let item = line.strip_prefix("pub").map_or(line, |rest| {
        rest.trim_start_matches("(crate)").trim_start_matches("(super)").trim_start()
    });
    let Some((name, rest)) = item.split_once(':') else { return false };
    !rest.starts_with(':') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

const REFERENCES: [&str; 3] = ["As ", "See ", "Like "];

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        check(&Source::new("a.rs".into(), text.into()), &mut found);
        found.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_field_whose_doc_refers_to_another_is_found() {
        let text = "struct A {\n    /// Bytes.\n    a: u8,\n    /// As `a`, for the other.\n    \
                    pub(crate) b: u8,\n    /// The other's\n    /// bytes, likewise.\n    \
                    #[serde(default)]\n    pub c: Vec<\n}\n";
        assert_eq!(lines(text), [4, 6]);
        assert_eq!(lines("    /// See [`B::c`].\n    pub c: u8,\n"), [1]);
    }

    #[test]
    fn only_fields_are_asked_for_a_doc_of_their_own() {
        assert!(lines("    /// See [`B::c`].\n    fn c(&self);\n").is_empty());
        assert!(lines("    /// Asked for.\n    c: u8,\n").is_empty());
        assert!(lines("    /// As text.\n    a::b!();\n    c: u8,\n").is_empty());
    }
}
