//! Files that must repeat the workspace's version have the same one.

use toml::Table;

use super::Finding;
use super::source::Source;

/// The Python package is a workspace of its own, and its wheel has the version of its manifest.
pub(super) fn check(sources: &[Source], findings: &mut Vec<Finding>) {
    let manifest = |path: &str| {
        let source = sources.iter().find(|source| source.path == path)?;
        source.lines.join("\n").parse::<Table>().ok()
    };
    let ours = manifest("Cargo.toml").and_then(|all| {
        Some(all.get("workspace")?.get("package")?.get("version")?.as_str()?.to_owned())
    });
    let found = manifest(PYTHON)
        .and_then(|all| Some(all.get("package")?.get("version")?.as_str()?.to_owned()));
    if found == ours && ours.is_some() {
        return;
    }
    let said = |version: Option<String>| version.unwrap_or_else(|| "none".to_owned());
    let text =
        format!("version: found {}; accepted: {}, as in Cargo.toml", said(found), said(ours));
    findings.push(Finding { path: PYTHON.to_owned(), line: 1, text });
}

const PYTHON: &str = "python/Cargo.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_of_another_version_is_found() {
        let found = |python: &str| {
            let ours = "[workspace.package]\nversion = \"1.2.0\"\n";
            let source = |path: &str, text: &str| Source::new(path.into(), text.into());
            let sources = [source("Cargo.toml", ours), source(PYTHON, python)];
            let mut findings = Vec::new();
            check(&sources, &mut findings);
            findings.into_iter().map(|finding| finding.text).collect::<Vec<_>>()
        };
        assert!(found("[package]\nversion = \"1.2.0\"\n").is_empty());
        let other = found("[package]\nversion = \"1.1.0\"\n");
        assert_eq!(other, ["version: found 1.1.0; accepted: 1.2.0, as in Cargo.toml"]);
        assert!(found("[package]\n")[0].starts_with("version: found none"));
    }
}
