//! Writes `docs/papers.md`, every claim of the papers beside what is measured, and the record of
//! the verdicts, `papers/verdicts.toml`, with `reproduce`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Stop;
use crate::step::{announce, built, cargo, unable};

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Says whether it is as written instead
    #[arg(long)]
    check: bool,
    /// Takes the program of the tests: a fifth slower at it, but built already
    #[arg(long)]
    dev: bool,
}

/// Writes the document; with `check` compares it with the committed one instead.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Stop> {
    let check = options.check;
    let committed = root.join(DOCUMENT);
    let file = if check { root.join(FRESH) } else { committed.clone() };
    if check && file.is_file() {
        // What is left from before must not pass for what is written now.
        fs::remove_file(&file).map_err(|error| unable("papers", &error))?;
    }
    let verdicts = recorded(&reproduce(root, options.dev, &file)?)?;
    if !check {
        let written = fs::write(root.join(RECORD), verdicts);
        written.map_err(|error| Stop::failed(&format!("{RECORD}: {error}")))?;
        println!("papers: {DOCUMENT} and {RECORD} are written");
        return Ok(());
    }
    compare(DOCUMENT, &read(&committed)?, &read(&file)?)?;
    compare(RECORD, &read(&root.join(RECORD))?, &verdicts)?;
    println!("papers: {DOCUMENT} and {RECORD} are as `firstflight reproduce` has it");
    Ok(())
}

fn compare(name: &str, found: &str, wanted: &str) -> Result<(), Stop> {
    match first_difference(found, wanted) {
        None => Ok(()),
        Some(line) => Err(Stop::failed(&format!(
            "papers: {name}:{line} is not as `firstflight reproduce` has it; run `cargo xtask \
             papers` and read what changed (the document is in {FRESH})"
        ))),
    }
}

/// What is read of the document of `reproduce --json`.
#[derive(Deserialize)]
struct Document {
    rows: Vec<Judged>,
}

#[derive(Deserialize)]
struct Judged {
    id: String,
    verdict: String,
}

/// The record: a line for each row, in the order of the papers.
fn recorded(document: &[u8]) -> Result<String, Stop> {
    let document: Document = serde_json::from_slice(document).map_err(|error| {
        Stop::failed(&format!("papers: the rows of `reproduce --json`: {error}"))
    })?;
    let mut text = HEAD.to_owned();
    for Judged { id, verdict } in document.rows {
        text.push_str(&format!("{id} = \"{verdict}\"\n"));
    }
    Ok(text)
}

const RECORD: &str = "papers/verdicts.toml";
const HEAD: &str = "\
# The verdict of every row that `firstflight reproduce` judges, by its id. `reproduce` exits with 0
# when every row comes out as it stands here. `cargo xtask papers` writes this file and
# docs/papers.md.

";

const DOCUMENT: &str = "docs/papers.md";
const FRESH: &str = "firstflight-out/papers.md";

/// Runs every claim, and returns the rows as JSON. The exit code 1 says that a verdict is not the
/// recorded one, which the comparison says too.
fn reproduce(root: &Path, dev: bool, file: &Path) -> Result<Vec<u8>, Stop> {
    let mut command = if dev {
        let mut program = Command::new(built(root, &["build", "--bin", "firstflight-reproduce"])?);
        program.arg("reproduce").current_dir(root);
        program
    } else {
        // As README has it, whose program is built in half the time of the whole command.
        cargo(root, &["reproduce"])
    };
    announce("reproduce");
    command.args(["--out", "firstflight-out/reproduce", "--json", "--markdown"]);
    let child = command.arg(file).stdout(Stdio::piped()).spawn();
    let done = child.and_then(|child| child.wait_with_output());
    let done = done.map_err(|error| unable("reproduce", &error))?;
    match done.status.code() {
        Some(0 | 1) if file.is_file() => Ok(done.stdout),
        _ => Err(Stop::failed(&format!("reproduce: failed, {}", done.status))),
    }
}

fn read(path: &Path) -> Result<String, Stop> {
    fs::read_to_string(path).map_err(|error| Stop::failed(&format!("{}: {error}", path.display())))
}

/// The first line, from 1, in which two texts differ.
fn first_difference(one: &str, other: &str) -> Option<usize> {
    if one == other {
        return None;
    }
    let same = one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_has_a_line_for_each_row() {
        let rows =
            br#"{"rows":[{"id":"S0-T1a","verdict":"pass"},{"id":"S0-F9","verdict":"fail"}]}"#;
        let text = recorded(rows).unwrap();
        assert!(text.ends_with("\n\nS0-T1a = \"pass\"\nS0-F9 = \"fail\"\n"), "{text}");
        assert!(recorded(b"{}").is_err() && recorded(b"").is_err());
        let committed = include_str!("../../../papers/verdicts.toml");
        assert!(committed.starts_with(HEAD));
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}
