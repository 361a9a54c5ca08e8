//! `examples/own-startup`: a crate outside this workspace, as somebody else's would be.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use toml::Table;

use crate::Stop;
use crate::step::{cargo, read_toml, target};

/// Its manifest, from the root.
pub(crate) const MANIFEST: &str = "examples/own-startup/Cargo.toml";
/// The folder of the crate, from the root.
const FOLDER: &str = "examples/own-startup";

/// A command of cargo in the crate's folder. What it builds goes where the workspace's goes, so
/// that what both depend on is built once, and with the versions of the workspace's lock file.
pub(crate) fn command(root: &Path, word: &str) -> Result<Command, Stop> {
    let (ours, its) = (root.join("Cargo.lock"), root.join(FOLDER).join("Cargo.lock"));
    let (ours, its) = (packages(&read_toml(&ours)?), packages(&read_toml(&its)?));
    // The crate itself is not of the workspace.
    let only: Vec<_> = its.difference(&ours).filter(|(name, _)| name != NAME).collect();
    if let Some((name, version)) = only.first() {
        return Err(Stop::failed(&format!(
            "{FOLDER}/Cargo.lock: {name} {version} is not of the workspace's lock file; to mend \
             it: cp Cargo.lock {FOLDER}/ && (cd {FOLDER} && cargo metadata --offline >/dev/null)"
        )));
    }
    let mut command = cargo(&root.join(FOLDER), &[word, "--locked"]);
    command.env("CARGO_TARGET_DIR", target(root));
    Ok(command)
}

/// Name and version of every package of a lock file.
fn packages(lock: &Table) -> BTreeSet<(String, String)> {
    let all = lock.get("package").and_then(|all| all.as_array());
    let text = |package: &toml::Value, key| package.get(key)?.as_str().map(str::to_owned);
    let named = |package| Some((text(package, "name")?, text(package, "version")?));
    all.into_iter().flatten().filter_map(named).collect()
}

/// The name of the crate.
const NAME: &str = "own-startup";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_told_apart_by_their_versions() {
        let lock = |version: &str| {
            let text = format!("[[package]]\nname = 'a'\nversion = '{version}'\n");
            packages(&toml::from_str(&text).unwrap())
        };
        assert_eq!(lock("1.0.0").difference(&lock("1.0.0")).count(), 0);
        assert_eq!(lock("1.0.1").difference(&lock("1.0.0")).count(), 1);
    }
}
