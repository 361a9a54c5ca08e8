//! Under which licences the package and the page are: ours, and those of the libraries inside.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Stop;
use crate::step::{cargo, output, unable};

/// The file `copyright`, in Debian's format for machines.
pub(super) fn copyright(root: &Path) -> Result<String, Stop> {
    let mit = fs::read_to_string(root.join("LICENSE-MIT")).map_err(|e| unable("licences", &e))?;
    // The year and the name, then the terms.
    let (_, rest) = mit.split_once("Copyright (c) ").unwrap_or_default();
    let (owner, terms) = rest.split_once("\n\n").unwrap_or_default();
    if owner.is_empty() || terms.is_empty() {
        let wanted = "accepted: `Copyright (c) YEAR OWNER`, a blank line, the terms";
        return Err(Stop::failed(&format!("LICENSE-MIT: found no owner or no terms; {wanted}")));
    }
    let terms: Vec<String> =
        terms.trim_end().lines().map(|line| format!(" {}", or_dot(line))).collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: firstflight\n\
         Comment: The program contains libraries of others, with the licences in\n\
         \x20/usr/share/doc/firstflight/third-party.gz\n\n\
         Files: *\nCopyright: {owner}\nLicense: Expat or Apache-2.0\n\n\
         License: Expat\n{}\n\n\
         License: Apache-2.0\n /usr/share/common-licenses/Apache-2.0 has the text.\n",
        terms.join("\n")
    ))
}

/// A blank line of a text is a dot there.
fn or_dot(line: &str) -> &str {
    if line.trim().is_empty() { "." } else { line }
}

/// What of this workspace is built, in the words of cargo.
pub(crate) const COMMAND: [&str; 2] = ["--package=firstflight-cli", "--features=kernel"];
pub(crate) const WHEEL: [&str; 1] = ["--package=firstflight-python"];
pub(crate) const PAGE: [&str; 2] = ["--package=firstflight-web", "--target=wasm32-unknown-unknown"];

/// The name and licence of every library that is linked into what is built, then the licence texts
/// that these libraries bring along, equal texts once.
pub(crate) fn of_others(root: &Path, built: &[&str]) -> Result<String, Stop> {
    let mut list = String::from("The program contains these libraries:\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in libraries(root, built)? {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{name}: {}, {}", text("license"), text("repository"));
        let folder = Path::new(text("manifest_path")).parent().unwrap_or(root);
        for folder in [folder.to_owned(), folder.join(VENDORED)].iter().filter(|f| f.is_dir()) {
            for text in texts_in(folder).map_err(|error| unable("licences", &error))? {
                texts.entry(text).or_default().push(name.clone());
            }
        }
    }
    for (text, names) in texts {
        let _ = write!(list, "\n\n==== {}\n\n{}\n", names.join(", "), text.trim_end());
    }
    Ok(list)
}

/// What cargo says of each library of others that is linked into what is built.
pub(crate) fn libraries(root: &Path, built: &[&str]) -> Result<Vec<Value>, Stop> {
    let inside = inside(root, built)?;
    let metadata = ["metadata", "--format-version=1", "--locked", "--all-features"];
    let metadata = output("licences", &mut cargo(root, &metadata))?;
    let mut metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| Stop::failed(&error.to_string()))?;
    let Value::Array(mut packages) = metadata["packages"].take() else { return Ok(Vec::new()) };
    packages.retain(|package| {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        // Without a source it is one of ours.
        let others = !package["source"].is_null();
        others && inside.contains(&format!("{} {}", text("name"), text("version")))
    });
    Ok(packages)
}

/// Name and version of everything that is linked into what is built.
fn inside(root: &Path, built: &[&str]) -> Result<BTreeSet<String>, Stop> {
    let tree = ["tree", "--locked", "--edges=normal", "--prefix=none", "--no-dedupe"];
    let mut tree = cargo(root, &tree);
    tree.args(built).arg("--format={p}");
    let names = output("licences", &mut tree)?;
    // `clap v4.6.1`, and what else it is: `(proc-macro)`.
    let name = |line: &str| {
        let mut words = line.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    Ok(names.lines().filter(|line| !line.contains("(proc-macro)")).filter_map(name).collect())
}

/// The folder in libbpf-sys that has the sources of libbpf, which is linked in. libelf and zlib, in
/// others, are not: the program takes the system's.
const VENDORED: &str = "libbpf";

/// The licences in a library's folder.
fn texts_in(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let known = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
        if entry.path().is_file() && known.iter().any(|known| name.starts_with(known)) {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path())?).into_owned());
        }
    }
    texts.sort();
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_in_the_program_are_named_and_no_others() {
        let text = of_others(&crate::root(), &COMMAND).unwrap();
        let (list, texts) = text.split_once("\n\n\n====").unwrap();
        let named = |name: &str| names(list, name);
        for name in ["clap", "quinn-proto", "libbpf-sys"] {
            assert!(named(name), "{list}");
        }
        for name in ["firstflight-core", "libbpf-cargo", "proptest", "serde_derive"] {
            assert!(!named(name), "{list}");
        }
        assert!(texts.contains("GNU LESSER GENERAL PUBLIC LICENSE"));
        let text = of_others(&crate::root(), &PAGE).unwrap();
        assert!(names(&text, "toml") && names(&text, "libm") && !names(&text, "clap"), "{text}");
        let text = of_others(&crate::root(), &WHEEL).unwrap();
        assert!(names(&text, "pyo3") && names(&text, "clap"), "{text}");
    }

    fn names(list: &str, name: &str) -> bool {
        list.lines().any(|line| line.split(' ').next() == Some(name))
    }

    #[test]
    fn the_copyright_file_has_the_owner_and_the_terms() {
        let text = copyright(&crate::root()).unwrap();
        assert!(text.contains("\nCopyright: 2026 The firstflight developers\n"), "{text}");
        assert!(text.contains("\nLicense: Expat\n Permission is hereby granted"), "{text}");
        assert!(text.contains("\n .\n THE SOFTWARE IS PROVIDED"), "{text}");
    }
}
