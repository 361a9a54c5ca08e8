//! Packages the crates: checks what others see of each, and that the libraries build without this
//! repository.
//!
//! Nothing is published: every manifest says `publish = false`. cargo then makes a package, but
//! cannot verify one that depends on another, because only what may be published gets into the
//! registry that it makes up for that. So this task unpacks the packages side by side, patches them
//! in for each other, and checks them as one workspace, with the versions of this one's lock file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use toml::Table;

use crate::Stop;
use crate::step::{cargo, run, target, unable};

/// Checks what every crate says of itself, and builds the packages of the [`LIBRARIES`].
pub(crate) fn package(root: &Path) -> Result<(), Stop> {
    let lacks = lacks(root).map_err(|error| unable("package", &error))?;
    if !lacks.is_empty() {
        return Err(Stop::failed(&format!("package: {}", lacks.join("\npackage: "))));
    }
    let packages = target(root).join("package");
    let mut pack = cargo(root, &["package", "--quiet", "--allow-dirty"]);
    pack.args(["--no-verify", "--exclude-lockfile", "--target-dir"]).arg(target(root));
    run("package", pack.args(LIBRARIES.iter().flat_map(|name| ["--package", name])))?;

    let unpacked = packages.join("beside");
    let mut manifest = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n");
    manifest.push_str("\n[patch.crates-io]\n");
    let made = || {
        // What an earlier run has left may not be packed any more.
        let _ = fs::remove_dir_all(&unpacked);
        fs::create_dir_all(&unpacked)?;
        fs::copy(root.join("Cargo.lock"), unpacked.join("Cargo.lock"))
    };
    made().map_err(|error| unable("package", &error))?;
    for name in LIBRARIES {
        let folder = format!("{name}-{VERSION}");
        let archive = packages.join(format!("{folder}.crate"));
        // Not with the times in the archive, which never change: cargo goes by them.
        let mut unpack = Command::new("tar");
        unpack.arg("-xmzf").arg(archive).arg("-C").arg(&unpacked);
        let status = unpack.status().map_err(|error| unable("tar", &error))?;
        if !status.success() {
            return Err(Stop::failed(&format!("package: tar: {folder}: {status}")));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(manifest, "{name} = {{ path = \"{folder}\" }}");
    }
    fs::write(unpacked.join("Cargo.toml"), manifest).map_err(|error| unable("package", &error))?;
    // Dependencies are those that clippy has checked already, at the versions of the lock file.
    let mut check = cargo(&unpacked, &["check", "--quiet", "--workspace"]);
    check.env("CARGO_INCREMENTAL", "0").arg("--target-dir").arg(target(root));
    run("packages build", &mut check)
}

/// What is missing in the crates' metadata, a line each.
fn lacks(root: &Path) -> std::io::Result<Vec<String>> {
    let mut lacks = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(root.join("crates"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    folders.sort();
    for folder in folders.iter().filter(|folder| folder.join("Cargo.toml").is_file()) {
        let text = fs::read_to_string(folder.join("Cargo.toml"))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut lack = |what: String| lacks.push(format!("crates/{name}/{what}"));
        for key in missing(&text) {
            lack(format!("Cargo.toml: `{key}` is missing or empty"));
        }
        let lines =
            fs::read_to_string(folder.join("README.md")).unwrap_or_default().lines().count();
        if !(1..=README_LINES).contains(&lines) {
            lack(format!("README.md: found {lines} lines; accepted: 1 to {README_LINES}"));
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            if fs::read(folder.join(licence)).ok() != Some(fs::read(root.join(licence))?) {
                lack(format!(
                    "{licence}: found another text or none; accepted: a link to ../../{licence}"
                ));
            }
        }
    }
    Ok(lacks)
}

/// The keys of a manifest by which a crate is found, as far as they are not there.
fn missing(manifest: &str) -> Vec<&'static str> {
    let manifest: Table = manifest.parse().unwrap_or_default();
    let package = manifest.get("package");
    let says = |key: &str| match package?.get(key)? {
        toml::Value::String(text) => Some(!text.is_empty()),
        toml::Value::Array(words) => Some(!words.is_empty()),
        _ => None,
    };
    ["description", "keywords", "categories"]
        .into_iter()
        .filter(|key| says(key) != Some(true))
        .collect()
}

/// The libraries that others would use, and what these depend on.
const LIBRARIES: [&str; 15] = [
    "firstflight",
    "firstflight-control",
    "firstflight-core",
    "firstflight-link",
    "firstflight-model",
    "firstflight-outside",
    "firstflight-qlog",
    "firstflight-quic",
    "firstflight-report",
    "firstflight-reproduce",
    "firstflight-results",
    "firstflight-runner",
    "firstflight-scenario",
    "firstflight-sim",
    "firstflight-terminal",
];

/// The licence of every crate of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The most lines of a README; the rest belongs into the documentation.
const README_LINES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_manifest_leaves_out_is_named() {
        let whole = "[package]\ndescription = 'd'\nkeywords = ['k']\ncategories = ['c']\n";
        assert!(missing(whole).is_empty());
        assert_eq!(
            missing("[package]\ndescription = ''\nkeywords = []"),
            ["description", "keywords", "categories"]
        );
    }
}
