//! Compiles the catalogue in, so that an installed program needs no repository.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // It is a link in the repository, a folder in a package, and a file where git makes no links.
    let own = here.join("catalogue");
    let folder = if own.is_dir() { own } else { here.join("../../scenarios/catalogue") };
    let folder = folder.canonicalize()?;
    println!("cargo:rerun-if-changed={}", folder.display());
    let files = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = files.collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut table = String::from("&[\n");
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let place = path.display().to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(table, "    ({name:?}, include_str!({place:?})),");
    }
    table.push_str("]\n");
    fs::write(out.join("catalogue.rs"), table)
}
