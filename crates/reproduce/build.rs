//! Compiles the papers in, and names the state of the code that measures.
//!
//! Two things are written for the crate to include: every file under `papers/` as text, so that an
//! installed program needs no repository, and a fingerprint of the sources that decide what a run
//! yields, so that results kept by an older build are never taken for those of this one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let papers = here.join("../../papers");
    let mut table = String::from("&[\n");
    for path in files(&papers, "toml")? {
        let name = path.strip_prefix(&papers).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let path = path.canonicalize()?;
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    fs::write(out.join("papers.rs"), table)?;
    println!("cargo:rerun-if-changed={}", papers.display());
    let simulator =
        ["core/src", "control/src", "quantity/src", "sim/src", "scenario/src", "runner/src"];
    let simulated = fingerprint(&here, &simulator, "rs", OFFSET)?;
    println!("cargo:rustc-env=FIRSTFLIGHT_SOURCES={simulated:016x}");
    let lab = ["control/src", "quantity/src", "scenario/src", "kernel/src", "lab/src"];
    let lab = fingerprint(&here, &lab, "rs", OFFSET)?;
    let lab = fingerprint(&here, &["kernel/c"], "h", lab)?;
    let lab = fingerprint(&here, &["kernel/c"], "c", lab)?;
    println!("cargo:rustc-env=FIRSTFLIGHT_LAB_SOURCES={lab:016x}");
    Ok(())
}

/// FNV-1a over the sources in some directories below `crates/`, going on from `hash`.
fn fingerprint(here: &Path, dirs: &[&str], ending: &str, mut hash: u64) -> io::Result<u64> {
    for dir in dirs {
        let sources = here.join("..").join(dir);
        println!("cargo:rerun-if-changed={}", sources.display());
        for path in files(&sources, ending)? {
            for byte in fs::read(path)? {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    Ok(hash)
}

/// Where FNV-1a begins.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

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
