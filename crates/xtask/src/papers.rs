//! Writes `docs/papers.md`, every claim of the papers beside what is measured, with `reproduce`.

use std::fs;
use std::path::Path;

use crate::Stop;
use crate::step::{announce, cargo, unable};

/// Writes the document; with `--check` compares it with the committed one instead.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(Stop::usage("papers takes `--check` or nothing")),
    };
    let committed = root.join(DOCUMENT);
    let file = if check { root.join(FRESH) } else { committed.clone() };
    if check && file.is_file() {
        // What is left from before must not pass for what is written now.
        fs::remove_file(&file).map_err(|error| unable("papers", &error))?;
    }
    reproduce(root, &file)?;
    if !check {
        println!("papers: {DOCUMENT} is written");
        return Ok(());
    }
    let (found, wanted) = (read(&committed)?, read(&file)?);
    match first_difference(&found, &wanted) {
        None => {
            println!("papers: {DOCUMENT} is as `firstflight reproduce` writes it");
            Ok(())
        }
        Some(line) => Err(Stop::failed(&format!(
            "papers: {DOCUMENT}:{line} is not as `firstflight reproduce` writes it ({FRESH}); \
             run `cargo xtask papers` and read what changed"
        ))),
    }
}

const DOCUMENT: &str = "docs/papers.md";
const FRESH: &str = "firstflight-out/papers.md";

/// Runs every claim. The exit code 1 says that claims fail, which the document says too.
fn reproduce(root: &Path, file: &Path) -> Result<(), Stop> {
    announce("reproduce");
    let mut command = cargo(root, &["run", "--release", "--package", "firstflight-cli", "--"]);
    command.args(["reproduce", "--out", "firstflight-out/reproduce", "--markdown"]).arg(file);
    command.stdout(std::process::Stdio::null());
    let status = command.status().map_err(|error| unable("reproduce", &error))?;
    match status.code() {
        Some(0 | 1) if file.is_file() => Ok(()),
        _ => Err(Stop::failed(&format!("reproduce: failed, {status}"))),
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
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}
