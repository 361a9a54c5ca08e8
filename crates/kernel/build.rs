//! Writes the C that follows from the cards of the policies (`headers.rs`), lists the pairs for the
//! Rust side, and compiles every pair for BPF where the feature `bpf` asks for it.
//!
//! Where `FIRSTFLIGHT_CHECK_ONLY` is set, as for clippy, nothing is linked: objects are empty then.
//!
//! The folder of the written headers is told to crates that build the same C, as
//! `DEP_FIRSTFLIGHT_KERNEL_C`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "build/headers.rs"]
mod headers;
#[path = "src/layout.rs"]
mod layout;

use headers::Object;

fn main() {
    for read in ["c", "build", "src/layout.rs"] {
        println!("cargo::rerun-if-changed={read}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let written = out.join("c");
    let controls = written.join("controls");
    // What an earlier build wrote may be of policies that are gone.
    let _ = fs::remove_dir_all(&written);
    fs::create_dir_all(&controls).expect("cargo's directory takes folders");
    let objects = headers::objects();
    write(&written.join("knobs.h"), &headers::knobs());
    for object in &objects {
        write(&controls.join(format!("{}.h", object.name)), &headers::control(object));
    }
    write(&out.join("pairs.rs"), &pairs(&objects));
    println!("cargo::metadata=c={}", written.display());
    #[cfg(feature = "bpf")]
    bpf::compile_all(&objects, &out);
}

/// The pairs as a table of the catalogue.
fn pairs(objects: &[Object]) -> String {
    let mut list = String::new();
    for object in objects.iter().filter(|object| object.is_first(objects)) {
        let named = |own: bool| {
            let same = objects.iter().find(|it| it.is_pair_of(object) && it.own_estimate == own);
            same.map(|it| it.name.clone())
        };
        let _ = writeln!(
            list,
            "    BuiltPair {{ startup: {:?}, avoidance: {:?}, sharing: {:?}, estimating: {:?} }},",
            object.startup.0.name,
            object.avoidance.0.name,
            named(false),
            named(true),
        );
    }
    format!("/// Every pair there is.\npub const PAIRS: &[BuiltPair] = &[\n{list}];\n")
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("cargo's directory takes files");
}

#[cfg(feature = "bpf")]
mod bpf {
    use std::fmt::Write as _;

    use libbpf_cargo::SkeletonBuilder;

    use super::{Object, Path, env, write};

    /// Compiles every control, and the programs of the benchmark.
    pub(crate) fn compile_all(objects: &[Object], out: &Path) {
        let include = format!("-I{}", out.join("c").display());
        let path = |name: &str| out.join(format!("{name}.o"));
        let compile_one = |name: &str| {
            let control = format!("-DFF_CONTROL=\"controls/{name}.h\"");
            compile("c/bpf/shell.bpf.c", &["-Ic", &include, &control], &path(name));
        };
        let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
        let share = objects.len().div_ceil(usize::max(jobs, 1));
        std::thread::scope(|scope| {
            for share in objects.chunks(share) {
                scope.spawn(|| share.iter().for_each(|object| compile_one(&object.name)));
            }
        });
        let mut list = String::new();
        for Object { name, .. } in objects {
            let _ = writeln!(list, "    ({name:?}, include_bytes!({:?})),", path(name));
        }
        let text = format!("const OBJECTS: &[(&str, &[u8])] = &[\n{list}];\n");
        write(&out.join("objects.rs"), &text);
        println!("cargo::rerun-if-changed=benches");
        println!("cargo::rerun-if-env-changed=FIRSTFLIGHT_CHECK_ONLY");
        for name in ["steer", "traced", "trial", "watch"] {
            compile(&format!("c/bpf/{name}.bpf.c"), &["-Ic"], &path(name));
        }
        compile("benches/cost/probe.bpf.c", &["-Ic"], &out.join("probe.o"));
    }

    fn compile(source: &str, arguments: &[&str], object: &Path) {
        if env::var_os("FIRSTFLIGHT_CHECK_ONLY").is_some() {
            return write(object, "");
        }
        SkeletonBuilder::new()
            .source(source)
            .clang_args([arguments, &["-mcpu=v3"]].concat())
            .obj(object)
            .build()
            .unwrap_or_else(|error| panic!("{source} for BPF (is clang installed?): {error:#}"));
    }
}
