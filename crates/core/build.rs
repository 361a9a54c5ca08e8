//! Makes the lists of policies of the modules that `startup/mod.rs` and `avoidance/mod.rs` declare,
//! in the order in which they stand there, and of the type in each that has a card. So a new policy
//! is one line there, in which rustfmt, rust-analyzer and cargo-mutants find its file.

use std::path::Path;
use std::{env, fs};

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo names it");
    for (folder, list) in [("startup", "startups"), ("avoidance", "avoidances")] {
        let folder = Path::new("src").join(folder);
        let modules = read(&folder.join("mod.rs"));
        let modules = modules.lines().filter_map(|line| line.strip_prefix("pub(crate) mod "));
        let lines: String =
            modules.map(|module| line(&folder, module.trim_end_matches(';'))).collect();
        let list_of = Path::new(&out).join(list).with_extension("rs");
        fs::write(list_of, format!("{list}! {{\n{lines}}}\n")).expect("cargo's folder takes files");
    }
}

/// The line of the policy in that module.
fn line(folder: &Path, module: &str) -> String {
    let file = folder.join(module).with_extension("rs");
    let text = read(&file);
    let policy = text.lines().find_map(|line| line.strip_prefix("impl Listed for "));
    match policy.and_then(|rest| rest.strip_suffix(" {")) {
        Some(policy) => format!("    {module}::{policy},\n"),
        None => panic!("{}: no policy; accepted: `impl Listed for <Type> {{`", file.display()),
    }
}

fn read(file: &Path) -> String {
    println!("cargo::rerun-if-changed={}", file.display());
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
