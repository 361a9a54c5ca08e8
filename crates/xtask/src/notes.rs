//! Release notes: the part of CHANGELOG.md about one version.

use std::fs;
use std::path::Path;

use crate::Stop;
use crate::step::unable;

/// Prints the notes of a version.
pub(crate) fn notes(root: &Path, version: &str) -> Result<(), Stop> {
    print!("{}", of(&changelog(root)?, version).map_err(|problem| Stop::failed(&problem))?);
    Ok(())
}

pub(crate) fn changelog(root: &Path) -> Result<String, Stop> {
    fs::read_to_string(root.join(CHANGELOG)).map_err(|error| unable(CHANGELOG, &error))
}

/// What stands below the heading of a version, `## 1.2.3` or `## 1.2.3 - 2026-11-23`, without blank
/// lines around it.
pub(crate) fn of(changelog: &str, version: &str) -> Result<String, String> {
    let heading = |line: &str| {
        let mut words = line.strip_prefix("## ")?.split(' ');
        words.next().map(|word| word.trim_matches(['[', ']']).to_owned())
    };
    let mut lines = changelog.lines();
    if !lines.any(|line| heading(line).is_some_and(|found| found.eq_ignore_ascii_case(version))) {
        let found: Vec<String> = changelog.lines().filter_map(heading).collect();
        return Err(format!(
            "{CHANGELOG} has no `## {version}`; it has: {}. A release renames `## {UNRELEASED}`",
            found.join(", ")
        ));
    }
    let body: Vec<&str> = lines.take_while(|line| heading(line).is_none()).collect();
    match body.join("\n").trim() {
        "" => Err(format!("{CHANGELOG}: nothing stands below `## {version}`")),
        text => Ok(format!("{text}\n")),
    }
}

const CHANGELOG: &str = "CHANGELOG.md";
/// The heading of what no release has.
pub(crate) const UNRELEASED: &str = "Unreleased";
/// The version of the workspace.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Changelog\n\n## Unreleased\n\n- c\n\n## [1.1.0] - 2026-02-01\n\n### X\n\n\
        - b\n  d\n\n## 1.0.0 - 2026-01-01\n\n- a\n\n## 0.9.0\n";

    #[test]
    fn a_version_has_the_notes_below_its_heading() {
        assert_eq!(of(TEXT, "unreleased").unwrap(), "- c\n");
        assert_eq!(of(TEXT, "1.1.0").unwrap(), "### X\n\n- b\n  d\n");
        assert_eq!(of(TEXT, "1.0.0").unwrap(), "- a\n");
    }

    #[test]
    fn a_version_without_notes_is_refused() {
        let problem = of(TEXT, "1.2.0").unwrap_err();
        assert!(problem.contains("no `## 1.2.0`; it has: Unreleased, 1.1.0, 1.0.0"), "{problem}");
        assert!(of(TEXT, "1.1").is_err());
        assert!(of(TEXT, "0.9.0").unwrap_err().contains("nothing stands below"));
    }
}
