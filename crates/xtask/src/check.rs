//! Everything that can be said about the sources without running them.

use std::path::Path;
use std::process::Stdio;

use crate::step::{announce, cargo, kernel_features, run};
use crate::{Stop, no_arguments, package, tidy};

/// Runs every check; the first that fails ends it.
pub(crate) fn check(root: &Path, args: &[String]) -> Result<(), Stop> {
    no_arguments("check", args)?;
    run("rustfmt", &mut cargo(root, &["fmt", "--all", "--check"]))?;
    let features = kernel_features()?;
    let mut clippy = cargo(root, &["clippy", "--workspace", "--all-targets"]);
    run("clippy", clippy.args(features).args(["--", "--deny", "warnings"]))?;
    if !features.is_empty() {
        // What only a build without them has.
        let plain = ["clippy", "--package", "firstflight-cli", "--all-targets"];
        run("clippy", cargo(root, &plain).args(["--", "--deny", "warnings"]))?;
    }
    let mut rustdoc = cargo(root, &["doc", "--workspace", "--no-deps"]);
    run("rustdoc", rustdoc.args(features).env("RUSTDOCFLAGS", "--deny warnings"))?;
    announce("tidy");
    tidy::run(root, &[])?;
    package::package(root, &[])?;
    deny(root)
}

/// What dependencies may be: `deny.toml`.
fn deny(root: &Path) -> Result<(), Stop> {
    let mut look = cargo(root, &["deny", "--version"]);
    let look = look.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !look.is_ok_and(|status| status.success()) {
        announce("cargo-deny");
        println!("skipped: cargo-deny is not installed (cargo install cargo-deny)");
        return Ok(());
    }
    run("cargo-deny", &mut cargo(root, &["deny", "check", "bans", "licenses", "sources"]))
}
