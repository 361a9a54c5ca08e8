//! What people download, in `target/downloads`: the command as a static program, the Python
//! package's wheel for any Linux, both for x86-64 and 64-bit ARM, checksums, and what is inside.
//! Each is tried where nothing else is, as far as this machine can.
//!
//! The Debian package is `cargo xtask deb`'s.

mod materials;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Stop;
use crate::deb::{licences, stage};
use crate::notes::VERSION;
use crate::step::{
    announce, cargo, has_target, has_tools, run, succeed, target, unable, which,
    without_variables_of_cargo,
};
use crate::steps::user_is_root;
use crate::{example, python, web};

/// Makes all downloads and tries them. With `dev` it makes none, and tries in empty roots the
/// static program that the tests have built.
pub(crate) fn dist(root: &Path, dev: bool) -> Result<(), Stop> {
    has_tools("dist", &["xz", "unshare", "strip"], "xz-utils util-linux binutils")?;
    if dev {
        announce("a static program of what the tests have built");
        let program = example::static_program(root)?;
        return try_program(&archive(
            root,
            &emptied(root, "dist-dev")?,
            "dev.tar",
            &program,
            None,
        )?);
    }
    has_tools("dist", &["musl-gcc"], "musl-tools")?;
    let folder = emptied(root, "downloads")?;
    announce("the static program (minutes)");
    let mut build = cargo(root, &["build"]);
    web::small_reports(root, &mut build)?;
    succeed("build", build.args(STATIC).args(["--target", TARGET]))?;
    let program = built(root, TARGET);
    try_program(&archive(root, &folder, &format!("{TARGET}.tar.xz"), &program, None)?)?;
    let tools = tools(root)?;
    libraries(root)?;
    let wheel = wheel(root, &folder, &tools, GNU)?;
    let mut check = Command::new("sh");
    run(
        "the wheel in new environments",
        check.arg("-c").arg(include_str!("dist/wheel.sh")).arg("dist").arg(&wheel).arg(VERSION),
    )?;
    arm(root, &folder, &tools, &program)?;
    contents(root, &folder)?;
    let mut sums = Command::new("sh");
    sums.args(["-c", "sha256sum -- *.* > SHA256SUMS && cat SHA256SUMS"]).current_dir(&folder);
    run("checksums, in target/downloads/SHA256SUMS", &mut sums)
}

/// A folder below the target's with nothing in it.
fn emptied(root: &Path, name: &str) -> Result<PathBuf, Stop> {
    let folder = target(root).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| unable(name, &error))?;
    Ok(folder)
}

/// Tries the program of this machine in a root that holds nothing else, and in Debian's.
fn try_program(archive: &Path) -> Result<(), Stop> {
    try_in_empty_root(archive, None)?;
    try_in_debian(archive)
}

/// Program and wheel for 64-bit ARM, linked by zig. What is beside the program is made by `ours`,
/// this machine's.
fn arm(root: &Path, folder: &Path, tools: &Path, ours: &Path) -> Result<(), Stop> {
    if !ARM.into_iter().all(has_target) {
        println!("skipped: 64-bit ARM: no target (rustup target add {})", ARM.join(" "));
        return Ok(());
    }
    let [musl, gnu] = ARM;
    announce("the static program for 64-bit ARM (minutes)");
    let mut build = cargo(root, &["zigbuild"]);
    build.args(STATIC).args(["--target", musl]).env("PATH", python::first_on_the_path(tools));
    web::small_reports(root, &mut build)?;
    // No `strip` here knows that machine.
    succeed("build", build.env("CARGO_PROFILE_DIST_STRIP", "symbols"))?;
    let name = format!("{musl}.tar.xz");
    let archive = archive(root, folder, &name, ours, Some(&built(root, musl)))?;
    wheel(root, folder, tools, gnu)?;
    println!("skipped: the wheel for 64-bit ARM was not tried");
    match which("qemu-aarch64-static") {
        Some(qemu) => try_in_empty_root(&archive, Some(&qemu)),
        None => {
            let lack = "no qemu-aarch64-static (Debian: qemu-user-static)";
            println!("skipped: the program for 64-bit ARM was not tried: {lack}");
            Ok(())
        }
    }
}

/// The program in a root that holds nothing else, of another machine by an emulator of that.
fn try_in_empty_root(archive: &Path, emulator: Option<&Path>) -> Result<(), Stop> {
    let mut unshare = Command::new("unshare");
    unshare.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        include_str!("dist/alone.sh"),
    ]);
    unshare.arg("dist").arg(archive).arg(VERSION).args(emulator);
    run("the program in an empty root", &mut unshare)
}

/// The program in empty roots of Debian's releases, where this machine can make them.
fn try_in_debian(archive: &Path) -> Result<(), Stop> {
    if which("debootstrap").is_none() || !user_is_root() {
        println!("skipped: to try it in empty Debian roots takes root and debootstrap");
        return Ok(());
    }
    let mut check = Command::new("sh");
    check.args(["-c", include_str!("dist/debian.sh"), "dist"]).arg(archive);
    run("the program in empty Debian roots", check.arg(VERSION).args(RELEASES))
}

/// The static program with what it makes: manual, completions and licences. `other` is that of
/// another machine, which takes its place.
fn archive(
    root: &Path,
    folder: &Path,
    name: &str,
    ours: &Path,
    other: Option<&Path>,
) -> Result<PathBuf, Stop> {
    let archive = folder.join(format!("firstflight-{VERSION}-{name}"));
    let name = name.split('.').next().unwrap_or_default();
    let name = format!("firstflight-{VERSION}-{name}");
    let inside = folder.join(&name);
    stage::fill(root, ours, &inside)?;
    if let Some(other) = other {
        fs::copy(other, inside.join("firstflight")).map_err(|error| unable(&name, &error))?;
    }
    // The unit is for controls in the kernel, which this program does not have.
    for extra in ["firstflight-kernel.service", "copyright"] {
        fs::remove_file(inside.join(extra)).map_err(|error| unable(extra, &error))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root.join(licence), inside.join(licence))
            .map_err(|error| unable(licence, &error))?;
    }
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime"]);
    tar.arg(format!("@{}", stage::time(root)?)).arg("-caf").arg(&archive);
    succeed("tar", tar.arg("-C").arg(folder).arg(&name))?;
    fs::remove_dir_all(&inside).map_err(|error| unable("target/downloads", &error))?;
    Ok(archive)
}

fn built(root: &Path, triple: &str) -> PathBuf {
    target(root).join(triple).join("dist/firstflight")
}

/// The interpreter of an environment with what builds for other machines and older systems.
fn tools(root: &Path) -> Result<PathBuf, Stop> {
    announce("maturin and zig, in target/dist-tools");
    let tools = target(root).join("dist-tools");
    succeed("venv", Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
    let python = tools.join("bin/python");
    let pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"];
    succeed("pip", Command::new(&python).args(pip).args(["maturin[zig]", "cargo-zigbuild"]))?;
    Ok(python)
}

/// The licences of the libraries inside the wheel, where pyproject.toml has them.
fn libraries(root: &Path) -> Result<(), Stop> {
    let folder = root.join("target/licences");
    let text = licences::of_others(root, &licences::WHEEL)?;
    let write = || {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("libraries.txt"), text)
    };
    write().map_err(|error| unable("target/licences", &error))
}

/// The wheel, linked against a glibc that every Linux of the last years has.
fn wheel(root: &Path, folder: &Path, tools: &Path, triple: &str) -> Result<PathBuf, Stop> {
    announce(&format!("the wheel for {triple} (minutes)"));
    let mut maturin = without_variables_of_cargo(Command::new(tools.with_file_name("maturin")));
    maturin.args(["build", "--quiet", "--locked", "--zig", "--compatibility", GLIBC]);
    maturin.args(["--target", triple]).arg("--out").arg(folder).current_dir(root);
    maturin.env("PATH", python::first_on_the_path(tools));
    web::small_reports(root, &mut maturin)?;
    succeed("maturin", maturin.env("CARGO_TARGET_DIR", target(root).join("zig")))?;
    let files = fs::read_dir(folder).map_err(|error| unable("target/downloads", &error))?;
    let mut wheels = files.filter_map(|file| Some(file.ok()?.path()));
    let machine = triple.split('-').next().unwrap_or_default();
    wheels
        .find(|path| path.to_string_lossy().ends_with(&format!("_{machine}.whl")))
        .ok_or_else(|| Stop::failed("maturin made no wheel"))
}

/// The libraries inside the program, as CycloneDX has them.
fn contents(root: &Path, folder: &Path) -> Result<(), Stop> {
    let bill = materials::bill(root, &INSIDE)?;
    fs::write(folder.join(format!("firstflight-{VERSION}.cdx.json")), format!("{bill:#}\n"))
        .map_err(|error| unable("the bill of materials", &error))
}

/// Debian 12 and the one after it.
const RELEASES: [&str; 2] = ["bookworm", "trixie"];
/// What cargo builds as the static program.
const STATIC: [&str; 6] =
    ["--locked", "--profile", "dist", "--package", "firstflight-cli", "--quiet"];
/// The same, in the words of `cargo tree`.
const INSIDE: [&str; 2] = ["--package=firstflight-cli", "--target=x86_64-unknown-linux-musl"];
/// Without a C library of the system's.
const TARGET: &str = "x86_64-unknown-linux-musl";
/// What the wheel is of.
const GNU: &str = "x86_64-unknown-linux-gnu";
/// Both for the other machine.
const ARM: [&str; 2] = ["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"];
/// glibc 2.28: Debian 10, RHEL 8, Ubuntu 18.10 and later.
const GLIBC: &str = "manylinux_2_28";
