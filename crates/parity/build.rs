//! Compiles every control of `crates/kernel/c/controls` for this machine, optimised as a release
//! is, and lists them for the Rust side.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let sources = Path::new("../kernel/c");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-changed=c");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let mut list = String::new();
    let mut names: Vec<String> = fs::read_dir(sources.join("controls"))
        .expect("the folder of controls")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    for name in &names {
        compile(sources, name);
        let _ = writeln!(list, "    ({name:?}, ff_native_{name}),");
    }
    compiler(sources).file("c/arithmetic.c").compile("ff_arithmetic");
    let externs: String =
        names.iter().map(|name| format!("    fn ff_native_{name}() -> *const Ops;\n")).collect();
    let text = format!(
        "unsafe extern \"C\" {{\n{externs}}}\n\n\
         const CONTROLS: &[(&str, unsafe extern \"C\" fn() -> *const Ops)] = &[\n{list}];\n"
    );
    fs::write(out.join("controls.rs"), text).expect("cargo's directory takes files");
}

fn compile(sources: &Path, name: &str) {
    compiler(sources)
        .file("c/host.c")
        .define("FF_CONTROL", format!("\"controls/{name}.h\"").as_str())
        .define("FF_NATIVE", format!("ff_native_{name}").as_str())
        .compile(&format!("ff_native_{name}"));
}

fn compiler(sources: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include(sources)
        .opt_level(2)
        .std("gnu11")
        .flag_if_supported("-Wno-unused-parameter")
        .flag_if_supported("-Wno-unused-function");
    build
}
