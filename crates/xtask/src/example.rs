//! `examples/own-startup`: a crate such as somebody else would write.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use walkdir::WalkDir;

use crate::step::{cargo, output, succeed, target, unable};
use crate::{Stop, check};

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

/// Copies the crate, with the paths of firstflight's crates in full and the versions of their
/// libraries.
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
        let text = placed(&text, root) + if name == "Cargo.toml" { WORKSPACE } else { "" };
        fs::write(&path, text).map_err(|error| unable(&path, error))?;
    }
    let lock = folder.join("Cargo.lock");
    fs::copy(root.join("Cargo.lock"), &lock).map_err(|error| unable(&lock, error))?;
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

/// A command of cargo for the crate, with the features that it asks for and no others but
/// [`check::SHARED`]: of a workspace that is not firstflight's it would take no more.
pub(crate) fn command(root: &Path, word: &str) -> Command {
    let mut command = cargo(root, &[word, "--locked", "--package", NAME]);
    command.args(check::SHARED);
    command
}

/// The tests of the crate, built in this workspace. Before them cargo resolves the manifest of a
/// copy, which shows that the crate can also be a workspace of its own.
pub(crate) fn tests(root: &Path) -> Result<Command, Stop> {
    let folder = target(root).join("elsewhere").join(NAME);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(unable(&folder.display().to_string(), &error));
        }
        _ => copy(root, &folder)?,
    }
    let look = ["metadata", "--offline", "--format-version=1"];
    output("a copy of the example", &mut cargo(&folder, &look))?;
    Ok(command(root, "test"))
}

/// Its program, which is the whole command line, linked statically with glibc: of crates that its
/// tests have built, where one with musl would take all of them anew.
pub(crate) fn static_program(root: &Path) -> Result<PathBuf, Stop> {
    let mut build = command(root, "rustc");
    build.args(["--quiet", "--bin", NAME, "--", "-C", "target-feature=+crt-static"]);
    succeed("build", &mut build)?;
    Ok(target(root).join("debug").join(NAME))
}

/// The name of the crate.
const NAME: &str = "own-startup";
/// What the manifest of a copy ends with.
const WORKSPACE: &str = "
[workspace]

# A symbol for a backtrace, and no more.
[profile.release]
debug = false
strip = \"debuginfo\"
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_names_crates_that_are_there() {
        let text = fs::read_to_string(crate::root().join(FOLDER).join("Cargo.toml")).unwrap();
        let copied: toml::Table =
            toml::from_str(&(placed(&text, &crate::root()) + WORKSPACE)).unwrap();
        assert!(copied.contains_key("workspace"));
        let of = |key: &str| copied[key].as_table().unwrap().values().cloned().collect::<Vec<_>>();
        let paths: Vec<_> = [of("dependencies"), of("dev-dependencies")].concat();
        for path in paths.iter().filter_map(|dependency| dependency.get("path")?.as_str()) {
            let path = Path::new(path);
            assert!(path.is_absolute() && path.join("Cargo.toml").exists(), "{path:?}");
        }
        assert!(paths.len() > 5, "{paths:?}");
    }
}
