//! What the package holds besides the documents of this repository, all of it made here.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::licences;
use crate::Stop;
use crate::notes::{self, UNRELEASED, VERSION};
use crate::step::{announce, output, succeed, unable};

/// Fills the folder, whose files `crates/cli/Cargo.toml` names.
pub(crate) fn fill(root: &Path, program: &Path, folder: &Path) -> Result<(), Stop> {
    announce("manual pages, completions, unit, licences");
    // What an earlier version had may be none of this one's.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| unable("deb", &error))?;
    succeed("strip", Command::new("strip").arg("-o").arg(folder.join("firstflight")).arg(program))?;
    output("deb", Command::new(program).arg("manual").arg(folder.join("man")))?;
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).map_err(|error| unable(name, &error))
    };
    for shell in ["bash", "zsh", "fish"] {
        let text = output("deb", Command::new(program).args(["completions", shell]))?;
        write(&format!("completions.{shell}"), &text)?;
    }
    for name in UNITS {
        write(name, &unit(root, name)?)?;
    }
    write("changelog", &changelog(&notes::changelog(root)?, &date(root)?)?)?;
    write("copyright", &licences::copyright(root)?)?;
    write("third-party", &licences::of_others(root, &licences::COMMAND)?)?;
    let compressed = ["man", "changelog", "third-party"].map(|name| folder.join(name));
    succeed("gzip", Command::new("gzip").args(["-9nr"]).args(compressed))
}

/// A unit with the path that the package has; the page tells others to adapt it.
fn unit(root: &Path, name: &str) -> Result<String, Stop> {
    let place = root.join("docs").join(name);
    let text = fs::read_to_string(place).map_err(|error| unable(name, &error))?;
    Ok(text.replace("/usr/local/bin/firstflight", "/usr/bin/firstflight"))
}

/// The seconds since 1970 of the commit, so that two packages of one commit are the same bytes.
pub(crate) fn time(root: &Path) -> Result<String, Stop> {
    commit(root, "%ct")
}

fn date(root: &Path) -> Result<String, Stop> {
    commit(root, "%cD")
}

fn commit(root: &Path, format: &str) -> Result<String, Stop> {
    let mut git = Command::new("git");
    git.args(["log", "-1", &format!("--format={format}")]).current_dir(root);
    Ok(output("deb", &mut git)?.trim().to_owned())
}

/// The notes of this version as Debian writes them, of what is not released if it has none.
fn changelog(ours: &str, date: &str) -> Result<String, Stop> {
    let (of, distribution) = match notes::of(ours, VERSION) {
        Ok(notes) => (Ok(notes), "unstable"),
        Err(_) => (notes::of(ours, UNRELEASED), "UNRELEASED"),
    };
    let notes = of.map_err(|problem| Stop::failed(&problem))?;
    let mut text = format!("firstflight ({VERSION}) {distribution}; urgency=medium\n\n");
    for line in notes.lines() {
        // Writing to a string cannot fail.
        let _ = match line.split_once(' ') {
            _ if line.is_empty() => writeln!(text),
            Some(("###", heading)) => writeln!(text, "  [ {heading} ]"),
            Some(("-", item)) => writeln!(text, "  * {item}"),
            _ => writeln!(text, "  {line}"),
        };
    }
    let _ = writeln!(text, "\n -- {MAINTAINER}  {date}");
    Ok(text)
}

const UNITS: [&str; 3] =
    ["firstflight-kernel.service", "firstflight-steer.service", "firstflight-trial.service"];

/// As in `crates/cli/Cargo.toml`.
const MAINTAINER: &str = "The firstflight developers <firstflight@firstflight.invalid>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_become_a_changelog_of_debian() {
        let ours = "## Unreleased\n\n### Python\n\n- one\n  more\n- two\n";
        let wanted = format!(
            "firstflight ({VERSION}) UNRELEASED; urgency=medium\n\n  [ Python ]\n\n  * one\n    \
             more\n  * two\n\n -- {MAINTAINER}  Mon, 23 Nov 2026 03:00:00 +0000\n"
        );
        assert_eq!(changelog(ours, "Mon, 23 Nov 2026 03:00:00 +0000").unwrap(), wanted);
        let released = format!("## Unreleased\n\n## {VERSION}\n\n- one\n");
        assert!(
            changelog(&released, "").unwrap().contains(") unstable; urgency=medium\n\n  * one")
        );
        assert!(changelog("# Changelog\n", "").is_err());
    }

    #[test]
    fn the_manifest_names_the_same_maintainer() {
        let manifest = include_str!("../../../cli/Cargo.toml");
        assert!(manifest.contains(&format!("maintainer = \"{MAINTAINER}\"\n")));
    }
}
