//! Style as a test: rules that no other tool of this repository checks.
//!
//! Each finding names file, line and rule. A file may be excused from the limits on its length
//! and its lines, with a reason, in `crates/xtask/tidy.toml`; there is no other way around a rule.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Stop, step};

mod borrowed;
mod citation;
mod rules;
mod source;
mod twins;
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
        borrowed::check(source, &mut findings);
    }
    rules::check_modules(&sources, &mut findings);
    rules::check_excuses(&sources, &excused, &mut findings);
    twins::check(&sources, &excused, &mut findings);
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

/// Every file worth checking, in the order of their paths.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>, Stop> {
    let mut paths = Vec::new();
    collect(root, &mut paths).map_err(|error| Stop::failed(&error.to_string()))?;
    paths.sort();
    Ok(paths)
}

/// Every file worth checking below `dir`: not what git ignores, nor what others wrote, nor what is
/// a link to another place of the repository.
fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if SKIPPED.contains(&name.as_str()) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known)) {
            paths.push(path);
        }
    }
    Ok(())
}

/// The path as written in messages and in `tidy.toml`: from the root, with slashes.
fn name(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Cargo.lock and the licence texts are written elsewhere.
const SKIPPED: [&str; 8] =
    [".git", "target", "out", "firstflight-out", "papers-out", "Cargo.lock", "vendor", "golden"];

const KINDS: [&str; 10] = ["rs", "toml", "md", "tcl", "cc", "c", "h", "py", "js", "yml"];
