//! Compiles every control of the kernel for this machine, optimised as a release is, and lists them
//! for the Rust side. The headers that put two policies together are those that the build script of
//! `firstflight-kernel` has written. Where `FIRSTFLIGHT_CHECK_ONLY` is set, as for clippy, nothing
//! is linked, and nothing compiled.

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
    let mut names: Vec<String> = fs::read_dir(written.join("controls"))
        .expect("the folder of controls")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    if env::var_os("FIRSTFLIGHT_CHECK_ONLY").is_none() {
        compile(&names, [Path::new("c"), sources, &written], &out);
    }
    let list: String =
        names.iter().map(|name| format!("    ({name:?}, ff_native_{name}),\n")).collect();
    let externs: String =
        names.iter().map(|name| format!("    fn ff_native_{name}() -> *const Ops;\n")).collect();
    let text = format!(
        "unsafe extern \"C\" {{\n{externs}}}\n\n\
         const CONTROLS: &[(&str, unsafe extern \"C\" fn() -> *const Ops)] = &[\n{list}];\n"
    );
    fs::write(out.join("controls.rs"), text).expect("cargo's directory takes files");
}

/// Compiles `c/host.c` for each control, and the arithmetic, into one library.
fn compile(names: &[String], includes: [&Path; 3], out: &Path) {
    let mut build = cc::Build::new();
    build.includes(includes).file("c/arithmetic.c").opt_level(2).std("gnu11");
    build.flag_if_supported("-Wno-unused-parameter").flag_if_supported("-Wno-unused-function");
    for name in names {
        let file = out.join(format!("{name}.c"));
        let text = format!(
            "#define FF_CONTROL \"controls/{name}.h\"\n#define FF_NATIVE ff_native_{name}\n\
             #include \"host.c\"\n"
        );
        fs::write(&file, text).expect("cargo's directory takes files");
        build.file(file);
    }
    build.compile("ff_native");
}
