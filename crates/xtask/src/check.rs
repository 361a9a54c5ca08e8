//! The checks of the sources: format, style, lints, documentation, dependencies, packages.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::step::{cargo, kernel_features, output, succeed};
use crate::steps::{Steps, Task};
use crate::{Stop, example, package, s2n, tidy, web};

/// Runs every check; the first that fails ends it.
pub(crate) fn check(root: &Path) -> Result<(), Stop> {
    let features = kernel_features()?;
    let mut steps = Steps::announce(Task::Check, root, !features.is_empty());
    sources(root, features, &mut steps)?;
    outcome(root, features, &mut steps)?;
    steps.finish(root);
    Ok(())
}

/// What a look at the sources shows, the cheapest first.
pub(crate) fn sources(root: &Path, features: &[&str], steps: &mut Steps) -> Result<(), Stop> {
    let step = steps.begin();
    for manifest in MANIFESTS {
        succeed(step, &mut cargo(root, &["fmt", "--check", "--all", "--manifest-path", manifest]))?;
    }
    steps.begin();
    tidy::run(root)?;
    steps.begin();
    deny(root)?;
    let mut run = |command: &mut Command| {
        let variable = steps.variable();
        succeed(steps.begin(), command.envs(variable))
    };
    let mut clippy = cargo(root, &["clippy", "--all-targets"]);
    run(clippy.args(features).args(["--", "--deny", "warnings"]))?;
    let mut plain = example::command(root, "clippy");
    plain.args(["--package", "firstflight-cli", "--all-targets", "--", "--deny", "warnings"]);
    run(&mut plain)?;
    let step = steps.begin();
    if !web::has_target() {
        println!("skipped: {}", web::NO_TARGET);
        return Ok(());
    }
    web::module(root, &web::TESTED)?;
    // The C library as one without an operating system has it.
    let bare = ["check", "--package", "firstflight-c", "--no-default-features"];
    succeed(step, cargo(root, &bare).args(["--target", web::TARGET]))
}

/// What is made of the sources for others: the documentation and the packages.
pub(crate) fn outcome(root: &Path, features: &[&str], steps: &mut Steps) -> Result<(), Stop> {
    let mut rustdoc = cargo(root, &["doc", "--no-deps"]);
    rustdoc.args(features).env("RUSTDOCFLAGS", "--deny warnings").envs(steps.variable());
    succeed(steps.begin(), as_clippy(&mut rustdoc)?)?;
    steps.begin();
    package::package(root)
}

/// Has a command take what [`sources`] has checked of this workspace's crates, where it would check
/// them once more: cargo knows clippy's work by the program and by the arguments in this variable.
fn as_clippy(command: &mut Command) -> Result<&mut Command, Stop> {
    let rust = output("rustc", Command::new("rustc").args(["--print", "sysroot"]))?;
    let driver = Path::new(rust.trim()).join("bin/clippy-driver");
    command.env("CLIPPY_ARGS", ["--deny", "warnings", ""].join("__CLIPPY_HACKERY__"));
    Ok(command.env("RUSTC_WORKSPACE_WRAPPER", driver))
}

/// The rules for dependencies, which `deny.toml` has.
fn deny(root: &Path) -> Result<(), Stop> {
    let mut look = cargo(root, &["deny", "--version"]);
    let look = look.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !look.is_ok_and(|status| status.success()) {
        println!("skipped: cargo-deny is not installed (cargo install cargo-deny)");
        return Ok(());
    }
    for manifest in MANIFESTS {
        let words = ["deny", "--manifest-path", manifest, "--config", "deny.toml", "check"];
        let mut deny = cargo(root, &words);
        deny.args(["--hide-inclusion-graph", "bans", "licenses", "sources"]);
        succeed("cargo-deny", &mut deny)?;
    }
    Ok(())
}

/// What the tests of other crates ask of the core: without it the core and all that depends on it
/// would be built once more.
pub(crate) const SHARED: [&str; 2] = ["--features", "firstflight-core/conformance"];

/// The manifests of all workspaces.
const MANIFESTS: [&str; 2] = ["Cargo.toml", s2n::MANIFEST];
