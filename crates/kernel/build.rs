//! Compiles every control of `c/controls` for BPF, where the feature `bpf` asks for it.

#[cfg(feature = "bpf")]
fn main() {
    use std::fmt::Write as _;
    use std::path::PathBuf;
    use std::{env, fs};

    println!("cargo::rerun-if-changed=c");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let mut list = String::new();
    let mut names: Vec<String> = fs::read_dir("c/controls")
        .expect("the folder of controls")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    for name in names {
        let object = out.join(format!("{name}.o"));
        let control = format!("-DFF_CONTROL=\"../controls/{name}.h\"");
        compile("c/bpf/shell.bpf.c", &[&control], &object);
        let _ = writeln!(list, "    ({name:?}, include_bytes!({object:?})),");
    }
    let text = format!("const OBJECTS: &[(&str, &[u8])] = &[\n{list}];\n");
    fs::write(out.join("objects.rs"), text).expect("cargo's directory takes files");
    // Of the benchmark.
    println!("cargo::rerun-if-changed=benches");
    compile("benches/cost/probe.bpf.c", &["-Ic"], &out.join("probe.o"));
}

#[cfg(feature = "bpf")]
fn compile(source: &str, arguments: &[&str], object: &std::path::Path) {
    libbpf_cargo::SkeletonBuilder::new()
        .source(source)
        .clang_args([arguments, &["-mcpu=v3"]].concat())
        .obj(object)
        .build()
        .unwrap_or_else(|error| panic!("{source} for BPF (is clang installed?): {error:#}"));
}

#[cfg(not(feature = "bpf"))]
fn main() {}
