//! The C interface (`crates/c`) for others: built, installed into a folder, and tried from there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Stop;
use crate::step::{announce, cargo, has_tools, output, run, target, unable, which};

/// Where to, and what.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The folder, such as /usr/local: gets include, lib and share
    #[arg(required_unless_present = "header")]
    folder: Option<PathBuf>,
    /// The static library alone, for a stack without an operating system: names of controls without
    /// knobs, memory from the caller
    #[arg(long)]
    embedded: bool,
    /// With --embedded: rustc's name of the machine, such as thumbv7em-none-eabihf
    #[arg(long, requires = "embedded")]
    machine: Option<String>,
    /// Every sender checks what it is told (firstflight_check)
    #[arg(long, conflicts_with = "embedded")]
    conformance: bool,
    /// Writes crates/c/include/firstflight.h anew instead (cbindgen 0.29)
    #[arg(long, conflicts_with_all = ["folder", "embedded", "conformance"])]
    header: bool,
}

/// Builds and installs the library, or writes the header.
pub(crate) fn c(root: &Path, options: &Options) -> Result<(), Stop> {
    let crate_of_c = root.join("crates/c");
    let Some(folder) = &options.folder else {
        has_tools("c", &["cbindgen"], "cargo, and cargo install cbindgen --version '^0.29'")?;
        let mut make = Command::new("cbindgen");
        make.args(["--quiet", "--config", "cbindgen.toml", "--output", "include/firstflight.h"]);
        return run("header", make.arg(".").current_dir(&crate_of_c));
    };
    let built = build(root, options)?;
    fs::create_dir_all(folder).map_err(|error| unable(&folder.display().to_string(), &error))?;
    let folder = folder.canonicalize().map_err(|error| unable("folder", &error))?;
    install(&crate_of_c, &built, &folder, options)?;
    let name = folder.display();
    if options.embedded {
        println!("{name}: the library and its header");
        return Ok(());
    }
    println!("{name}: the library, its header, what pkg-config, CMake and man read");
    try_example(&crate_of_c, &folder)
}

/// Builds the libraries; returns the folder that has them.
fn build(root: &Path, options: &Options) -> Result<PathBuf, Stop> {
    let target = target(root).join("c");
    let mut words = vec!["rustc", "--quiet", "--package", "firstflight-c", "--lib"];
    if options.embedded {
        words.extend(["--profile", "embedded", "--no-default-features"]);
        words.extend(["--crate-type", "staticlib"]);
    } else {
        words.extend(["--profile", "dist", "--crate-type", "staticlib,cdylib"]);
    }
    if options.conformance {
        words.extend(["--features", "conformance"]);
    }
    let mut build = cargo(root, &words);
    build.arg("--target-dir").arg(&target);
    if let Some(machine) = &options.machine {
        build.args(["--target", machine]);
    }
    run("library", &mut build)?;
    let profile = if options.embedded { "embedded" } else { "dist" };
    Ok(options.machine.iter().fold(target, |folder, machine| folder.join(machine)).join(profile))
}

fn install(from: &Path, built: &Path, folder: &Path, options: &Options) -> Result<(), Stop> {
    let lib = folder.join("lib");
    let copy = |from: PathBuf, to: PathBuf| {
        let name = to.display().to_string();
        let above = to.parent().unwrap_or(folder);
        fs::create_dir_all(above).map_err(|error| unable(&name, &error))?;
        // A program that runs with the old library keeps it.
        let _ = fs::remove_file(&to);
        fs::copy(from, &to).map_err(|error| unable(&name, &error))
    };
    copy(from.join("include/firstflight.h"), folder.join("include/firstflight.h"))?;
    copy(built.join("libfirstflight_c.a"), lib.join("libfirstflight_c.a"))?;
    if options.embedded {
        return Ok(());
    }
    copy(built.join("libfirstflight_c.so"), lib.join("libfirstflight_c.so.0"))?;
    let short = lib.join("libfirstflight_c.so");
    let _ = fs::remove_file(&short);
    std::os::unix::fs::symlink("libfirstflight_c.so.0", &short)
        .map_err(|error| unable("libfirstflight_c.so", &error))?;
    let cmake = "firstflight-config.cmake";
    copy(from.join("install").join(cmake), lib.join("cmake/firstflight").join(cmake))?;
    copy(from.join("man/firstflight.3"), folder.join("share/man/man3/firstflight.3"))?;
    let package = lib.join("pkgconfig/firstflight.pc");
    copy(from.join("install/firstflight.pc.in"), package.clone())?;
    let fill = || {
        let text = fs::read_to_string(&package)?;
        let text = text.replace("@prefix@", &folder.display().to_string());
        let text = text.replace("@version@", env!("CARGO_PKG_VERSION"));
        fs::write(&package, text.replace("@libraries@", "-lpthread -ldl -lm"))
    };
    fill().map_err(|error| unable("firstflight.pc", &error))
}

/// The example compiles and runs as a user's program would: with pkg-config, shared and static, and
/// with CMake.
fn try_example(from: &Path, folder: &Path) -> Result<(), Stop> {
    if which("cc").is_none() || which("pkg-config").is_none() {
        println!("skipped: trying it takes cc and pkg-config");
        return Ok(());
    }
    announce("the example, with what was installed");
    let lib = folder.join("lib");
    let flags = |how: &[&str]| {
        let mut ask = Command::new("pkg-config");
        ask.env("PKG_CONFIG_PATH", lib.join("pkgconfig")).args(how).arg("firstflight");
        output("pkg-config", &mut ask)
    };
    let work = std::env::temp_dir().join(format!("firstflight-c-{}", std::process::id()));
    fs::create_dir_all(&work).map_err(|error| unable("the example", &error))?;
    let example = from.join("examples/windows.c");
    let compiled = |flags: String, words: &[&str], name: &str| {
        let program = work.join(name);
        let mut compile = Command::new("cc");
        compile.arg(&example).args(words).args(flags.split_whitespace()).arg("-o").arg(&program);
        output("cc", &mut compile)?;
        output("the example", Command::new(program).env("LD_LIBRARY_PATH", &lib))
    };
    let shared = compiled(flags(&["--cflags", "--libs"])?, &[], "shared")?;
    let archive = lib.join("libfirstflight_c.a").display().to_string();
    let words = ["-pthread", &archive, "-ldl", "-lm"];
    let fixed = compiled(flags(&["--cflags"])?, &words, "static")?;
    let by_cmake = match which("cmake") {
        None => {
            println!("skipped: no cmake");
            shared.clone()
        }
        Some(_) => with_cmake(&example, folder, &work)?,
    };
    let _ = fs::remove_dir_all(&work);
    if shared == fixed && shared == by_cmake {
        print!("{shared}");
        return Ok(());
    }
    Err(Stop::failed("c: the shared and the static library print different windows"))
}

/// The example as a project of CMake's.
fn with_cmake(example: &Path, folder: &Path, work: &Path) -> Result<String, Stop> {
    let project = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(example C)\n\
         find_package(firstflight REQUIRED)\nadd_executable(example {})\n\
         target_link_libraries(example firstflight::static)\n",
        example.display()
    );
    fs::write(work.join("CMakeLists.txt"), project).map_err(|error| unable("cmake", &error))?;
    let build = work.join("build");
    let mut make = Command::new("cmake");
    make.arg("-S").arg(work).arg("-B").arg(&build);
    output("cmake", make.arg(format!("-DCMAKE_PREFIX_PATH={}", folder.display())))?;
    output("cmake", Command::new("cmake").arg("--build").arg(&build))?;
    output("the example", &mut Command::new(build.join("example")))
}
