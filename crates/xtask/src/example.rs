//! `examples/own-startup`: a crate outside this workspace, as somebody else's would be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::Table;
use walkdir::WalkDir;

use crate::step::{cargo, read_toml, succeed, target, unable};
use crate::{Stop, check};

/// Its manifest, from the root.
pub(crate) const MANIFEST: &str = "examples/own-startup/Cargo.toml";
/// The folder of the crate, from the root.
const FOLDER: &str = "examples/own-startup";

/// `cargo xtask own FOLDER`: a copy of the crate for somebody to change, which builds where it is.
pub(crate) fn own(root: &Path, folder: &Path) -> Result<(), Stop> {
    let name = folder.display();
    if fs::symlink_metadata(folder).is_ok() {
        return Err(Stop::usage(&format!("{name}: is there already; accepted: a new folder")));
    }
    copy(root, folder)?;
    println!("{name}: your crate; its README.md says how to go on");
    Ok(())
}

/// Copies the crate, with the paths of firstflight's crates in full.
fn copy(root: &Path, folder: &Path) -> Result<(), Stop> {
    let from = root.join(FOLDER);
    let unable = |path: &Path, error| unable(&path.display().to_string(), &error);
    for name in files(&from).map_err(|error| unable(&from, error))? {
        let to = folder.join(&name);
        let above = to.parent().unwrap_or(folder);
        fs::create_dir_all(above).map_err(|error| unable(above, error))?;
        fs::copy(from.join(&name), &to).map_err(|error| unable(&to, error))?;
    }
    for name in ["Cargo.toml", "README.md"] {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).map_err(|error| unable(&path, error))?;
        fs::write(&path, placed(&text, root)).map_err(|error| unable(&path, error))?;
    }
    Ok(())
}

/// A text whose paths out of the crate's folder lead into this clone, wherever the text is.
fn placed(text: &str, root: &Path) -> String {
    text.replace("../../", &format!("{}/", root.display()))
}

/// The crate's files, without what was built of it.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in WalkDir::new(folder).into_iter().filter_entry(|it| it.file_name() != "target") {
        let entry = entry?;
        if let Ok(name) = entry.path().strip_prefix(folder)
            && entry.file_type().is_file()
        {
            found.push(name.to_path_buf());
        }
    }
    Ok(found)
}

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
    Ok(within(root, &root.join(FOLDER), word))
}

/// A command of cargo in a copy such as `cargo xtask own` makes, beside which no crate of ours is.
pub(crate) fn command_in_a_copy(root: &Path, word: &str) -> Result<Command, Stop> {
    let folder = target(root).join("elsewhere").join(NAME);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(unable(&folder.display().to_string(), &error));
        }
        _ => copy(root, &folder)?,
    }
    Ok(within(root, &folder, word))
}

/// Its program, which is the whole command line, linked statically with glibc: of crates that its
/// tests have built, where one with musl would take all of them anew.
pub(crate) fn alone(root: &Path) -> Result<PathBuf, Stop> {
    let mut build = command_in_a_copy(root, "rustc")?;
    build.args(["--quiet", "--bin", NAME, "--", "-C", "target-feature=+crt-static"]);
    succeed("build", &mut build)?;
    Ok(target(root).join("debug").join(NAME))
}

fn within(root: &Path, folder: &Path, word: &str) -> Command {
    let mut command = cargo(folder, &[word, "--locked"]);
    command.args(check::SHARED);
    command.env("CARGO_TARGET_DIR", target(root));
    command
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
    fn a_copy_names_crates_that_are_there() {
        let text = fs::read_to_string(crate::root().join(MANIFEST)).unwrap();
        let copied: Table = toml::from_str(&placed(&text, &crate::root())).unwrap();
        let of = |key: &str| copied[key].as_table().unwrap().values().cloned().collect::<Vec<_>>();
        let paths: Vec<_> = [of("dependencies"), of("dev-dependencies")].concat();
        for path in paths.iter().filter_map(|dependency| dependency.get("path")?.as_str()) {
            let path = Path::new(path);
            assert!(path.is_absolute() && path.join("Cargo.toml").exists(), "{path:?}");
        }
        assert!(paths.len() > 5, "{paths:?}");
    }

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
