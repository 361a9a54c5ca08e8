//! Whose rule a decision carries out: each policy says it at the line.
//!
//! A method of a start-up or an avoidance that is long enough to decide something names the section
//! of an RFC, a draft or a paper, an equation, a function of a stack that somebody runs, or says
//! that the rule is ours, in its doc or among its lines. And every policy does so at least once
//! among its lines.

use super::Finding;
use super::rules::policy_of;
use super::source::{Source, name_of_function};

/// The rule on one file.
pub(super) fn check(source: &Source, findings: &mut Vec<Finding>) {
    if !is_of_policy(&source.path) {
        return;
    }
    let mut add = |line: usize, text: String| {
        findings.push(Finding { path: source.path.clone(), line, text });
    };
    let (mut methods, mut cited) = (0, 0);
    for (start, length) in source.functions() {
        let lines = &source.lines[start..start + length];
        let name = name_of_function(&lines[0]);
        if !lines[0].starts_with(' ') || BOOKKEEPING.contains(&name) {
            continue;
        }
        methods += 1;
        let inside = lines.iter().any(|line| cites(comment(line)));
        cited += usize::from(inside);
        let code = lines.iter().filter(|line| !line.is_empty() && comment(line).is_empty()).count();
        let above = source.lines[..start].iter().rev().take_while(|line| {
            let line = line.trim_start();
            line.starts_with("///") || line.starts_with("#[")
        });
        if code >= DECISION_LINES && !inside && !above.into_iter().any(|line| cites(comment(line)))
        {
            let wanted = "a section, an equation, a function of a stack, or that it is ours";
            add(start + 1, format!("`{name}` does not say whose rule it carries out: {wanted}"));
        }
    }
    if methods > 0 && cited == 0 && policy_of(&source.path).is_some() {
        add(1, "no line of this policy names its source: a comment beside the rule".to_owned());
    }
}

/// Whether the file holds a policy or a part of one.
fn is_of_policy(path: &str) -> bool {
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    let policy = ["startup", "avoidance"]
        .iter()
        .any(|kind| path.starts_with(&format!("crates/core/src/{kind}/")));
    policy && !is_test && path.ends_with(".rs")
}

/// What a line says as a comment; empty for code.
fn comment(line: &str) -> &str {
    let line = line.trim_start();
    if line.starts_with("//") { line } else { "" }
}

/// Whether a comment names a source, or says that there is none.
fn cites(comment: &str) -> bool {
    let numbered = |(at, word): (usize, &str)| {
        let rest = comment[at + word.len()..].trim_start_matches('s').strip_prefix(' ');
        rest.is_some_and(|rest| {
            rest.starts_with(|next: char| next.is_ascii_digit() || ROMAN.contains(next))
        })
    };
    let words = || comment.split(|letter: char| !letter.is_alphanumeric());
    NUMBERED.iter().any(|word| comment.match_indices(word).any(numbered))
        || MARKS.iter().any(|mark| comment.contains(mark))
        || words().any(|word| WORDS.contains(&word) || is_year(word))
}

fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|digit| digit.is_ascii_digit())
}

/// Lines of code, the signature and the last brace among them, from which on a method decides
/// something.
const DECISION_LINES: usize = 10;

/// Methods that decide nothing: what is reported, set, and begun with.
const BOOKKEEPING: [&str; 4] = ["gauges", "set", "value", "default"];

/// Words that name a place by the number behind them.
const NUMBERED: [&str; 5] = ["RFC", "ection", "equation", "ppendix", "Table"];

const ROMAN: &str = "IVX";

/// Parts of a draft's name, of a function's and of a file's of a source.
const MARKS: [&str; 4] = ["draft-", "()`", ".c`", ".cc`"];

/// Stacks and simulators whose code is a source, and the word for what has none.
const WORDS: [&str; 8] = ["Linux", "picoquic", "quicly", "quiche", "neqo", "mvfst", "Ours", "ours"];

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy with one method of twelve lines, with these lines above it and within it.
    fn findings(above: &str, within: &str) -> Vec<String> {
        let body = "        grow();\n".repeat(10);
        let text =
            format!("//! Hoe.\n\nimpl Hoe {{\n{above}    fn step() {{\n{within}{body}    }}\n}}\n");
        let mut found = Vec::new();
        let path = "crates/core/src/startup/hoe.rs";
        check(&Source::new(path.into(), text), &mut found);
        found.into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn a_decision_without_a_source_is_found_and_so_is_a_policy_without_one() {
        let found = findings("", "        // It grows.\n");
        assert!(found[0].starts_with("`step` does not say"), "{found:?}");
        assert!(found[1].starts_with("no line of this policy"), "{found:?}");
        assert_eq!(findings("    /// Grows (RFC 5681 section 3.1).\n", "").len(), 1, "doc only");
    }

    #[test]
    fn sections_equations_functions_papers_and_what_is_ours_are_sources() {
        for source in [
            "RFC 5681 section 3.1",
            "Section IV, listing",
            "Sections 4.3 to 4.5",
            "equation 2",
            "`tcp_slow_start()`",
            "ns-2's `tcp-vegas.cc`",
            "SIGCOMM 1996",
            "draft-ietf-ccwg-bbr",
            "Ours: half of it",
        ] {
            assert!(findings("", &format!("        // {source}.\n")).is_empty(), "{source}");
        }
        for word in ["this section is", "a Table of hours", "RFC", "12019 packets"] {
            assert!(!cites(&format!("// {word}")), "{word}");
        }
    }

    #[test]
    fn short_methods_and_other_files_need_none() {
        let text = "//! A.\n\nimpl A {\n    fn a() {\n        b();\n    }\n}\n";
        let mut found = Vec::new();
        check(&Source::new("crates/core/src/startup/bbr/a.rs".into(), text.into()), &mut found);
        let long = text.replace("b();\n", &"b();\n".repeat(20));
        check(&Source::new("crates/core/src/estimate/a.rs".into(), long), &mut found);
        assert_eq!(found, []);
    }
}
