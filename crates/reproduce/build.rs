//! Compiles the papers in, and names the state of the code that measures.
//!
//! Two things are written for the crate to include: every file under `papers/` as text, so that an
//! installed program needs no repository, and a fingerprint of the sources that decide what a run
//! yields, so that results kept by an older build are never taken for those of this one.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // It is a link in the repository, a folder in a package, and a file where git makes no links.
    let folder = here.join("papers");
    let papers = if folder.is_dir() { folder } else { here.join("../../papers") };
    let papers = papers.canonicalize()?;
    let mut table = String::from("&[\n");
    for path in files(&papers, "toml")? {
        let name = path.strip_prefix(&papers).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    fs::write(out.join("papers.rs"), table)?;
    println!("cargo:rerun-if-changed={}", papers.display());
    let simulator = ["core/src", "control/src", "sim/src", "scenario/src", "runner/src"];
    let simulated = fingerprint(&here, &simulator)?;
    println!("cargo:rustc-env=FIRSTFLIGHT_SOURCES={simulated:016x}");
    let lab = ["control/src", "scenario/src", "kernel/src", "lab/src", "kernel/c"];
    let lab = fingerprint(&here, &lab)?;
    println!("cargo:rustc-env=FIRSTFLIGHT_LAB_SOURCES={lab:016x}");
    Ok(())
}

/// A number for the sources in some directories below `crates/`, to follow the version. A package
/// stands alone: there the version says it all, which every crate here has and asks for exactly.
fn fingerprint(here: &Path, dirs: &[&str]) -> io::Result<u64> {
    // The hash may differ between compilers; the kept runs are then measured again.
    let mut sum = DefaultHasher::new();
    for dir in dirs {
        let sources = here.join("..").join(dir);
        if !sources.is_dir() {
            continue;
        }
        println!("cargo:rerun-if-changed={}", sources.display());
        for ending in ["rs", "h", "c"] {
            for path in files(&sources, ending)? {
                sum.write(&fs::read(path)?);
            }
        }
    }
    Ok(sum.finish())
}

/// Every file with this ending below a directory, in the order of its path.
fn files(dir: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
