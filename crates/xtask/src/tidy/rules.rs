//! The rules. Each is a function from sources to findings.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::{Excused, Finding};

/// Rules on one file.
pub(super) fn check(source: &Source, excused: &Excused, findings: &mut Vec<Finding>) {
    let mut add = |line: usize, text: String| {
        findings.push(Finding { path: source.path.clone(), line, text });
    };
    let prose = source.kind() == "md";
    for (at, line) in source.lines.iter().enumerate() {
        let width = line.chars().count();
        if !prose && width > WIDTH && !covers(&excused.long_lines, &source.path) {
            add(at + 1, format!("line of {width} characters, at most {WIDTH}"));
        }
        if line.ends_with([' ', '\t']) {
            add(at + 1, "white space at the end of the line".to_owned());
        }
        for (word, why) in BANNED {
            if line.contains(word) {
                add(at + 1, format!("`{word}`: {why}"));
            }
        }
    }
    let code = source.code_lines();
    if !prose && code > CODE_LINES && !covers(&excused.long_files, &source.path) {
        add(1, format!("{code} lines of code, at most {CODE_LINES}: split it, one concept a file"));
    }
    if source.kind() != "rs" {
        return;
    }
    for (at, line) in source.lines.iter().enumerate() {
        let begins = at == 0 || !is_doc(&source.lines[at - 1]);
        if let Some(word) =
            HEADLESS.iter().find(|word| begins && doc_text(line).starts_with(**word))
        {
            add(
                at + 1,
                format!("a doc that begins with `{word}` names no subject: say what it is"),
            );
        }
    }
    if !source.lines.first().is_some_and(|line| line.starts_with("//!")) {
        add(1, "a Rust file begins with its module doc, `//! ...`".to_owned());
    }
    for (start, length) in source.functions() {
        if length > FUNCTION_LINES {
            add(start + 1, format!("function of {length} lines, at most {FUNCTION_LINES}"));
        }
    }
    if let Some(name) = policy_of(&source.path)
        && source.lines.iter().take_while(|line| line.starts_with("//!")).count() < POLICY_DOC
    {
        let wanted = "what it believes, what it does, where it departs from its source";
        add(1, format!("the doc of policy `{name}` has under {POLICY_DOC} lines; say {wanted}"));
    }
}

/// No Rust file that no module declares: the compiler would never see it.
pub(super) fn check_modules(sources: &[Source], findings: &mut Vec<Finding>) {
    let by_path: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.path.as_str(), source)).collect();
    let by_attribute: BTreeSet<String> = sources.iter().flat_map(Source::named_paths).collect();
    for source in sources.iter().filter(|source| source.kind() == "rs") {
        let Some((dir, file)) = source.path.rsplit_once('/') else { continue };
        let name = file.trim_end_matches(".rs");
        let is_root = ["lib", "main", "mod", "build"].contains(&name);
        // Where the files of tests/ are modules of one program, that is their root.
        let tests = source.path.find("/tests/").map(|at| &source.path[..at + 7]);
        let is_test = tests.is_some_and(|it| by_path.contains_key(format!("{it}main.rs").as_str()));
        let is_module = is_test || source.path.contains("/src/") && !dir.ends_with("/bin");
        if is_root || !is_module || by_attribute.contains(&source.path) {
            continue;
        }
        let parents = [format!("{dir}.rs"), format!("{dir}/mod.rs")];
        let roots = ["lib", "main"].map(|root| format!("{dir}/{root}.rs"));
        let declared = parents.iter().chain(&roots).any(|parent| {
            by_path.get(parent.as_str()).is_some_and(|parent| declares(parent, name))
        });
        if !declared {
            let text = format!("no module declares `{name}`: a dead file");
            findings.push(Finding { path: source.path.clone(), line: 1, text });
        }
    }
}

/// No excuse that is not needed, none without a reason.
pub(super) fn check_excuses(sources: &[Source], excused: &Excused, findings: &mut Vec<Finding>) {
    let long_file = |file: &Source| file.code_lines() > CODE_LINES;
    let long_line = |file: &Source| file.lines.iter().any(|line| line.chars().count() > WIDTH);
    let mut check = |excuses: &BTreeMap<String, String>, needed: &dyn Fn(&Source) -> bool| {
        for (path, reason) in excuses {
            let mut meant = sources.iter().filter(|source| means(path, &source.path)).peekable();
            let text = if meant.peek().is_none() {
                "excused, but there is no such file"
            } else if !meant.any(needed) {
                "excused, but keeps the limit"
            } else if reason.trim().is_empty() {
                "excused without a reason"
            } else {
                continue;
            };
            findings.push(Finding { path: path.clone(), line: 1, text: text.to_owned() });
        }
    };
    check(&excused.long_files, &long_file);
    check(&excused.long_lines, &long_line);
}

/// Whether a file is excused, itself or with its directory.
fn covers(excuses: &BTreeMap<String, String>, path: &str) -> bool {
    excuses.keys().any(|excuse| means(excuse, path))
}

/// An excuse names a file, or with a slash at its end all files below a directory.
fn means(excuse: &str, path: &str) -> bool {
    excuse == path || (excuse.ends_with('/') && path.starts_with(excuse))
}

fn declares(parent: &Source, name: &str) -> bool {
    parent.lines.iter().any(|line| {
        let line = line.trim_start();
        let item = line.strip_prefix("pub").map_or(line, |rest| {
            rest.trim_start_matches("(crate)").trim_start_matches("(super)").trim_start()
        });
        item.strip_prefix("mod ").map(|rest| rest.trim_end_matches(';')) == Some(name)
    })
}

/// The text of a line of a doc comment; empty for any other line.
fn doc_text(line: &str) -> &str {
    line.trim_start().strip_prefix("/// ").unwrap_or_default()
}

fn is_doc(line: &str) -> bool {
    line.trim_start().starts_with("///")
}

/// The name of the start-up or avoidance policy a file holds.
pub(super) fn policy_of(path: &str) -> Option<&str> {
    let file = POLICIES.iter().find_map(|dir| path.strip_prefix(dir))?;
    let name = file.strip_suffix(".rs")?;
    (!name.contains('/') && name != "mod").then_some(name)
}

const WIDTH: usize = 100;
const CODE_LINES: usize = 400;
const FUNCTION_LINES: usize = 70;
const POLICY_DOC: usize = 3;

const POLICIES: [&str; 2] = ["crates/core/src/startup/", "crates/core/src/avoidance/"];

/// First words of docs that say nothing about the item itself.
const HEADLESS: [&str; 4] = ["Of ", "The same ", "So many ", "As many "];

/// Written in two parts, so that this table does not find itself.
const BANNED: [(&str, &str); 7] = [
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/tm", "p/"), "a path of one machine; use the system's temporary directory"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/ho", "me/"), "a path of one machine"),
    (concat!("FIX", "ME"), "fix it or say in docs what is missing"),
    (concat!("TO", "DO"), "do it or say in docs what is missing"),
    (concat!("#[ign", "ore"), "a test that does not run is no test"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        check(&Source::new(path.into(), text.into()), &Excused::default(), &mut found);
        found.into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn a_clean_file_has_no_findings() {
        assert!(findings("crates/sim/src/a.rs", "//! A.\n\nfn a() {}\n").is_empty());
    }

    #[test]
    fn each_rule_finds_its_fault() {
        let long = format!("//! A.\nconst A: &str = \"{}\";\n", "x".repeat(100));
        assert!(findings("a.rs", &long)[0].starts_with("line of 119"));
        let banned = format!("//! A.\n// {}x\n", concat!("/tm", "p/"));
        assert!(findings("a.rs", &banned)[0].contains("a path of one machine"));
        assert!(findings("a.rs", "fn a() {}\n")[0].contains("module doc"));
        let body = "    a();\n".repeat(70);
        assert!(
            findings("a.rs", &format!("//! A.\nfn a() {{\n{body}}}\n"))[0].contains("72 lines")
        );
        let code = "a();\n".repeat(401);
        assert!(findings("a.rs", &format!("//! A.\n{code}"))[0].contains("401 lines of code"));
        let policy = "crates/core/src/startup/hoe.rs";
        assert!(findings(policy, "//! Hoe.\n")[0].contains("policy `hoe`"));
        assert!(findings("a.toml", "a = 1 \n")[0].contains("white space"));
        let headless = "//! A.\n\n/// Of the run.\nconst A: u8 = 0;\n";
        assert!(findings("a.rs", headless)[0].contains("names no subject"));
        let second_line = "//! A.\n\n/// The duration.\n/// Of the run.\nconst A: u8 = 0;\n";
        assert!(findings("a.rs", second_line).is_empty());
    }

    #[test]
    fn a_file_that_no_module_declares_is_found() {
        let source = |path: &str, text: &str| Source::new(path.into(), text.into());
        let sources = [
            source(
                "crates/a/src/lib.rs",
                "//! A.\npub(crate) mod b;\n#[path = \"e/f.rs\"]\nmod f;\n",
            ),
            source("crates/a/src/e/f.rs", "//! F.\n"),
            source("crates/a/src/b.rs", "//! B.\nmod c;\n"),
            source("crates/a/src/b/c.rs", "//! C.\n"),
            source("crates/a/src/d.rs", "//! D.\n"),
        ];
        let mut found = Vec::new();
        check_modules(&sources, &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/a/src/d.rs");
    }

    #[test]
    fn an_excuse_must_be_needed_and_given() {
        let long = Source::new("a.rs".into(), "a();\n".repeat(401));
        let excuses = |list: &[(&str, &str)]| {
            list.iter().map(|(path, why)| ((*path).to_owned(), (*why).to_owned())).collect()
        };
        let excused = Excused {
            long_files: excuses(&[("a.rs", ""), ("b.rs", "x")]),
            long_lines: excuses(&[("a.rs", "x")]),
            ..Excused::default()
        };
        let mut found = Vec::new();
        check_excuses(&[long], &excused, &mut found);
        let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(texts[0], "excused without a reason");
        assert!(texts[1].contains("no such file"));
        assert_eq!(texts[2], "excused, but keeps the limit");
    }

    #[test]
    fn a_directory_is_excused_with_all_below_it_and_no_other() {
        assert!(means("papers/", "papers/astart/table1.toml"));
        assert!(!means("papers", "papers/astart/table1.toml"));
        assert!(!means("papers/", "papers.toml"));
    }
}
