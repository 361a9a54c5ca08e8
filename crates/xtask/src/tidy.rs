//! Style as a test: rules that no other tool of this repository checks.
//!
//! Each finding names file, line and rule. A file may be excused from the limits on its length
//! and its lines, with a reason, in `crates/xtask/tidy.toml`; there is no other way around a rule.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::{Stop, step};

mod c_fields;
mod citation;
mod field_docs;
mod rules;
mod source;
mod versions;

use source::Source;

/// A rule broken at a place.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    text: String,
}

/// Files excused from a limit, each with the reason.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Excused {
    #[serde(default)]
    long_files: BTreeMap<String, String>,
    #[serde(default)]
    long_lines: BTreeMap<String, String>,
    /// Fields of C.
    #[serde(default)]
    twins: BTreeMap<String, String>,
}

/// Checks every source file below `root`.
pub(crate) fn run(root: &Path) -> Result<(), Stop> {
    let excused: Excused = step::read_toml(&root.join("crates/xtask/tidy.toml"))?;
    let paths = files(root)?;

    let mut findings = Vec::new();
    let mut sources = Vec::new();
    for path in &paths {
        let name = name(root, path);
        // A file that is not text has no lines to check.
        let Ok(text) = fs::read_to_string(path) else { continue };
        sources.push(Source::new(name, text));
    }
    for source in &sources {
        rules::check(source, &excused, &mut findings);
        citation::check(source, &mut findings);
        field_docs::check(source, &mut findings);
    }
    rules::check_modules(&sources, &mut findings);
    rules::check_excuses(&sources, &excused, &mut findings);
    c_fields::check(&sources, &excused, &mut findings);
    versions::check(&sources, &mut findings);

    for finding in &findings {
        println!("{}:{}: {}", finding.path, finding.line, finding.text);
    }
    if findings.is_empty() {
        println!("tidy: {} files", sources.len());
        return Ok(());
    }
    Err(Stop::failed(&format!("tidy: {} findings", findings.len())))
}

/// Every file worth checking, in the order of their paths: not what git ignores, nor what others
/// wrote, nor what is a link to another place of the repository.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>, Stop> {
    let all = WalkDir::new(root).into_iter();
    let ours = all.filter_entry(|entry| !SKIPPED.iter().any(|name| entry.file_name() == *name));
    let ours: Result<Vec<_>, _> = ours.collect();
    let ours = ours.map_err(|error| Stop::failed(&error.to_string()))?;
    let files = ours.into_iter().filter(|entry| entry.file_type().is_file());
    let of_kind = |path: &PathBuf| KINDS.iter().any(|kind| path.extension() == Some(kind.as_ref()));
    let mut paths: Vec<_> = files.map(DirEntry::into_path).filter(of_kind).collect();
    paths.sort();
    Ok(paths)
}

/// The path as written in messages and in `tidy.toml`: from the root, with slashes.
fn name(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Cargo.lock and the licence texts are written elsewhere.
const SKIPPED: [&str; 9] = [
    ".git",
    "target",
    "out",
    "firstflight-out",
    "papers-out",
    "Cargo.lock",
    "vendor",
    "golden",
    "node_modules",
];

const KINDS: [&str; 13] =
    ["rs", "toml", "md", "tcl", "cc", "c", "h", "py", "js", "ts", "svelte", "yml", "cff"];
