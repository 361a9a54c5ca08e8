//! Compiles every control of the kernel for this machine, optimised as a release is, and lists them
//! for the Rust side. The headers that put two policies together are those that the build script of
//! `firstflight-kernel` has written. Where `FIRSTFLIGHT_CHECK_ONLY` is set, as for clippy, nothing
//! is linked, and nothing compiled.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let sources = Path::new("../kernel/c");
    let written = PathBuf::from(
        env::var_os("DEP_FIRSTFLIGHT_KERNEL_C").expect("the kernel's build script tells it"),
    );
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-changed={}", written.display());
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-env-changed=FIRSTFLIGHT_CHECK_ONLY");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let compiles = env::var_os("FIRSTFLIGHT_CHECK_ONLY").is_none();
    let mut list = String::new();
    let mut names: Vec<String> = fs::read_dir(written.join("controls"))
        .expect("the folder of controls")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    for name in &names {
        if compiles {
            compiler(sources, &written)
                .file("c/host.c")
                .define("FF_CONTROL", format!("\"controls/{name}.h\"").as_str())
                .define("FF_NATIVE", format!("ff_native_{name}").as_str())
                .compile(&format!("ff_native_{name}"));
        }
        let _ = writeln!(list, "    ({name:?}, ff_native_{name}),");
    }
    if compiles {
        compiler(sources, &written).file("c/arithmetic.c").compile("ff_arithmetic");
    }
    let externs: String =
        names.iter().map(|name| format!("    fn ff_native_{name}() -> *const Ops;\n")).collect();
    let text = format!(
        "unsafe extern \"C\" {{\n{externs}}}\n\n\
         const CONTROLS: &[(&str, unsafe extern \"C\" fn() -> *const Ops)] = &[\n{list}];\n"
    );
    fs::write(out.join("controls.rs"), text).expect("cargo's directory takes files");
}

fn compiler(sources: &Path, written: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include(sources)
        .include(written)
        .opt_level(2)
        .std("gnu11")
        .flag_if_supported("-Wno-unused-parameter")
        .flag_if_supported("-Wno-unused-function");
    build
}
