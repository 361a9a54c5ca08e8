//! The kernel's C reads like the core's Rust: what a policy or an estimator keeps has the same name
//! in both.
//!
//! A struct of `crates/kernel/c` is the twin of the Rust file that is called as it is
//! (`scout_train` is `scout/train.rs`) or whose card names it, with that file's folder and the
//! estimators. Each of its fields has the name of one there. Where C lacks what Rust has, that name
//! leads: `has_pipe` for an `Option`, `acks_at` for a part, `ere` for a variant `Ere(Ere)`.
//! `tidy.toml` may excuse a struct or a field, with the reason.

use std::collections::BTreeSet;

use super::source::Source;
use super::{Excused, Finding};

/// Finds fields in C whose name nothing in the Rust twin has, and excuses that nothing needs.
pub(super) fn check(sources: &[Source], excused: &Excused, findings: &mut Vec<Finding>) {
    let mut used = BTreeSet::new();
    for source in sources.iter().filter(|it| it.path.starts_with("crates/kernel/c/")) {
        for (name, fields) in structs(source) {
            let Some(known) = twin(&name, sources) else { continue };
            for (at, field) in fields.iter().filter(|(_, field)| !is_known(field, &known)) {
                let full = format!("{name}.{field}");
                let text = format!("`{full}` has no field of that name in the Rust twin");
                match [&name, &full].into_iter().find(|it| excused.twins.contains_key(*it)) {
                    Some(excuse) => _ = used.insert(excuse.clone()),
                    None => {
                        findings.push(Finding { path: source.path.clone(), line: at + 1, text })
                    }
                }
            }
        }
    }
    for excuse in excused.twins.keys().filter(|it| !used.contains(*it)) {
        let text = format!("`{excuse}` is excused, but has the names of its Rust twin");
        findings.push(Finding { path: "crates/xtask/tidy.toml".into(), line: 1, text });
    }
}

/// It is the name of a field, with `has_` before it or a part behind it.
fn is_known(field: &str, known: &BTreeSet<String>) -> bool {
    let field = field.strip_prefix("has_").unwrap_or(field);
    let leads = |name: &String| field == name || field.starts_with(&format!("{name}_"));
    known.iter().any(leads)
}

/// The structs of a header, each with the lines and the names of its fields.
fn structs(source: &Source) -> Vec<(String, Vec<(usize, String)>)> {
    let mut found: Vec<(String, Vec<(usize, String)>)> = Vec::new();
    let mut open = false;
    for (at, line) in source.lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix("struct ").and_then(|it| it.strip_suffix(" {")) {
            open = true;
            found.push((name.to_owned(), Vec::new()));
        } else if line.starts_with('}') {
            open = false;
        } else if let Some((_, fields)) = found.last_mut().filter(|_| open)
            && let Some((_, name)) = line.strip_suffix(';').and_then(|it| it.rsplit_once(' '))
        {
            fields.push((at, name.split('[').next().unwrap_or(name).to_owned()));
        }
    }
    found
}

/// The names of all fields and of the types of variants in the Rust twin, if there is one.
fn twin(name: &str, sources: &[Source]) -> Option<BTreeSet<String>> {
    let core = || sources.iter().filter(|it| it.path.starts_with("crates/core/src/"));
    let stem = |it: &Source| it.path.trim_end_matches(".rs").to_owned();
    let has_card = |it: &&Source| {
        let card = format!(".in_kernel(\"{name}\")");
        it.lines.iter().any(|line| line.contains(&card))
    };
    let is_called_so = |it: &&Source| stem(it).replace('/', "_").ends_with(&format!("_{name}"));
    let twin = core().find(has_card).or_else(|| core().find(is_called_so))?;
    let folder = stem(twin) + "/";
    let shared = ["estimate/", "curve.rs", "landing.rs", "linear.rs"];
    let belongs = |it: &&Source| {
        it.path == twin.path
            || it.path.starts_with(&folder)
            || shared.iter().any(|path| it.path.starts_with(&format!("crates/core/src/{path}")))
    };
    Some(core().filter(belongs).flat_map(fields_in_rust).collect())
}

/// `    pub(super) pipe: Bytes,` is `pipe`, `    Ere(Ere),` is `ere`.
fn fields_in_rust(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = false;
    for line in &source.lines[..source.before_tests()] {
        let begins = line.contains("struct ") || line.contains("enum ");
        open = open && line != "}" || begins && line.ends_with('{') && !line.starts_with(' ');
        let inside = line.trim_start();
        if !open || inside.starts_with("//") {
            continue;
        }
        let words = inside.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        found.extend(words.filter_map(|it| it.strip_suffix(':')).map(str::to_owned));
        if let Some((_, of)) = inside.strip_suffix("),").and_then(|it| it.split_once('(')) {
            found.push(in_snake_case(of));
        }
    }
    found
}

fn in_snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(c: &str, rust: &str) -> Vec<String> {
        let source = |path: &str, text: &str| Source::new(path.into(), text.into());
        let sources = [
            source("crates/kernel/c/abc.h", &format!("struct abc {{\n{c}}};\n")),
            source("crates/core/src/startup/abc.rs", rust),
            source("crates/core/src/estimate/queue.rs", "struct Queue {\n    depth: u64,\n}\n"),
        ];
        let mut findings = Vec::new();
        check(&sources, &Excused::default(), &mut findings);
        findings.into_iter().map(|it| format!("{} {}", it.line, it.text)).collect()
    }

    #[test]
    fn a_field_of_c_that_rust_does_not_have_is_found() {
        let rust = "use crate::estimate::queue::Queue;\n\npub struct Abc {\n\
                    \x20   pipe: Option<u64>,\n    acks: [(u64, u64); 3],\n    way: Way,\n}\n\n\
                    enum Way {\n    Long(LongWay),\n    Short { until: u64 },\n}\n";
        let c = "    u64 pipe;\n    u8 has_pipe;\n    u64 acks_at[3];\n    u64 until;\n    \
                 struct long_way long_way;\n    u64 depth;\n    u64 pip;\n    u64 rest;\n";
        let none = "has no field of that name in the Rust twin";
        assert_eq!(found(c, rust), [format!("8 `abc.pip` {none}"), format!("9 `abc.rest` {none}")]);
    }
}
