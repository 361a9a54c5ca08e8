//! Files that must repeat the workspace's version have the same one.

use toml::Table;

use super::Finding;
use super::source::Source;

/// Whoever cites firstflight takes the version from `CITATION.cff`.
pub(super) fn check(sources: &[Source], findings: &mut Vec<Finding>) {
    let text = |path: &str| {
        let source = sources.iter().find(|source| source.path == path)?;
        Some(source.lines.join("\n"))
    };
    let manifest = |path: &str| text(path)?.parse::<Table>().ok();
    let ours = manifest("Cargo.toml").and_then(|all| {
        Some(all.get("workspace")?.get("package")?.get("version")?.as_str()?.to_owned())
    });
    let cited = text(CITATION).and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("version: ").map(str::to_owned))
    });
    if cited == ours && ours.is_some() {
        return;
    }
    let or_none = |version: Option<String>| version.unwrap_or_else(|| "none".to_owned());
    let text =
        format!("version: found {}; accepted: {}, as in Cargo.toml", or_none(cited), or_none(ours));
    findings.push(Finding { path: CITATION.to_owned(), line: 1, text });
}

const CITATION: &str = "CITATION.cff";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_of_another_version_is_found() {
        let found = |cited: &str| {
            let ours = "[workspace.package]\nversion = \"1.2.0\"\n";
            let source = |path: &str, text: &str| Source::new(path.into(), text.into());
            let sources = [("Cargo.toml", ours), (CITATION, cited)];
            let sources = sources.map(|(path, text)| source(path, text));
            let mut findings = Vec::new();
            check(&sources, &mut findings);
            findings.into_iter().map(|finding| finding.text).collect::<Vec<_>>()
        };
        assert!(found("title: x\nversion: 1.2.0\n").is_empty());
        let other = "version: found 1.1.0; accepted: 1.2.0, as in Cargo.toml";
        assert_eq!(found("version: 1.1.0\n"), [other]);
        assert!(found("title: x\n")[0].starts_with("version: found none"));
    }
}
