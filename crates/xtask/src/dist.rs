//! What people download, in `target/downloads`: the command as a static program, the Python
//! package's wheel for any Linux, checksums, and what is inside. Each is tried where nothing else
//! is.
//!
//! The Debian package is `cargo xtask deb`'s.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Stop;
use crate::deb::stage;
use crate::notes::VERSION;
use crate::step::{announce, cargo, has_tools, output, run, succeed, target, unable, which};
use crate::steps::user_is_root;

/// Makes and tries all of it.
pub(crate) fn dist(root: &Path) -> Result<(), Stop> {
    has_tools("dist", &["musl-gcc", "xz", "unshare", "strip"], "musl-tools xz-utils util-linux")?;
    let folder = target(root).join("downloads");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| unable("target/downloads", &error))?;
    let archive = archive(root, &folder)?;
    let mut alone = Command::new("unshare");
    alone.args(["--user", "--map-root-user", "--mount", "sh", "-c", include_str!("dist/alone.sh")]);
    run("the program in an empty root", alone.arg("dist").arg(&archive).arg(VERSION))?;
    debian(&archive)?;
    let wheel = wheel(root, &folder)?;
    let mut tried = Command::new("sh");
    run(
        "the wheel in new environments",
        tried.arg("-c").arg(include_str!("dist/wheel.sh")).arg("dist").arg(&wheel).arg(VERSION),
    )?;
    contents(root, &folder)?;
    let mut sums = Command::new("sh");
    sums.args(["-c", "sha256sum -- *.* > SHA256SUMS && cat SHA256SUMS"]).current_dir(&folder);
    run("checksums, in target/downloads/SHA256SUMS", &mut sums)
}

/// The program in empty roots of Debian's releases, where this machine can make them.
fn debian(archive: &Path) -> Result<(), Stop> {
    if which("debootstrap").is_none() || !user_is_root() {
        println!("skipped: to try it in empty Debian roots takes root and debootstrap");
        return Ok(());
    }
    let mut tried = Command::new("sh");
    tried.args(["-c", include_str!("dist/debian.sh"), "dist"]).arg(archive);
    run("the program in empty Debian roots", tried.arg(VERSION).args(RELEASES))
}

/// The static program with its manual, completions and licences.
fn archive(root: &Path, folder: &Path) -> Result<PathBuf, Stop> {
    announce("the static program (minutes)");
    let words =
        ["build", "--locked", "--profile", "dist", "--package", "firstflight-cli", "--quiet"];
    let mut build = cargo(root, &words);
    succeed("build", build.args(["--target", TARGET]))?;
    let name = format!("firstflight-{VERSION}-{TARGET}");
    let inside = folder.join(&name);
    stage::fill(root, &target(root).join(TARGET).join("dist/firstflight"), &inside)?;
    // The unit is for controls in the kernel, which this program does not have.
    for extra in ["firstflight-kernel.service", "copyright"] {
        fs::remove_file(inside.join(extra)).map_err(|error| unable(extra, &error))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root.join(licence), inside.join(licence))
            .map_err(|error| unable(licence, &error))?;
    }
    let archive = folder.join(format!("{name}.tar.xz"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime"]);
    tar.arg(format!("@{}", stage::time(root)?)).arg("-cJf").arg(&archive);
    succeed("tar", tar.arg("-C").arg(folder).arg(&name))?;
    fs::remove_dir_all(&inside).map_err(|error| unable("target/downloads", &error))?;
    Ok(archive)
}

/// The wheel, linked against a glibc that every Linux of the last years has.
fn wheel(root: &Path, folder: &Path) -> Result<PathBuf, Stop> {
    announce("the wheel (minutes)");
    let tools = target(root).join("dist-tools");
    succeed("venv", Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
    let pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "maturin[zig]"];
    succeed("pip", Command::new(tools.join("bin/python")).args(pip))?;
    let mut maturin = Command::new(tools.join("bin/maturin"));
    maturin.args(["build", "--quiet", "--locked", "--release", "--zig", "--compatibility", GLIBC]);
    maturin.arg("--out").arg(folder).current_dir(root);
    let mut path = tools.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    succeed(
        "maturin",
        maturin.env("PATH", path).env("CARGO_TARGET_DIR", target(root).join("zig")),
    )?;
    let files = fs::read_dir(folder).map_err(|error| unable("target/downloads", &error))?;
    let mut wheels = files.filter_map(|file| Some(file.ok()?.path()));
    wheels
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| Stop::failed("maturin made no wheel"))
}

/// The libraries inside, as CycloneDX has them.
fn contents(root: &Path, folder: &Path) -> Result<(), Stop> {
    if output("cargo-cyclonedx", &mut cargo(root, &["cyclonedx", "--version"])).is_err() {
        println!("skipped: the bill of materials takes `cargo install --locked cargo-cyclonedx`");
        return Ok(());
    }
    let manifest = root.join("crates/cli/Cargo.toml");
    let mut list = cargo(root, &["cyclonedx", "--format", "json", "--manifest-path"]);
    let name = format!("firstflight-{VERSION}");
    list.arg(manifest).args(["--target", TARGET, "--override-filename", &name, "--quiet"]);
    run("the bill of materials", &mut list)?;
    let made = root.join("crates/cli").join(format!("{name}.json"));
    let kept = folder.join(format!("{name}.cdx.json"));
    fs::rename(made, kept).map_err(|error| unable("cyclonedx", &error))
}

/// Debian 12 and the one after it.
const RELEASES: [&str; 2] = ["bookworm", "trixie"];
/// Without a C library of the system's.
const TARGET: &str = "x86_64-unknown-linux-musl";
/// glibc 2.28: Debian 10, RHEL 8, Ubuntu 18.10 and later.
const GLIBC: &str = "manylinux_2_28";
