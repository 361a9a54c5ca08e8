//! `s2n`: the adapter for s2n-quic, a workspace of its own (`stacks/s2n-quic`).

use std::path::Path;
use std::process::Command;

use crate::Stop;
use crate::step::{cargo, output, succeed, target};

/// Its manifest, from the root.
pub(crate) const MANIFEST: &str = "stacks/s2n-quic/Cargo.toml";

/// How much of it.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The adapter alone, without s2n-quic's stack (part of test)
    #[arg(long)]
    short: bool,
}

/// The tests, and a transfer over sockets under two controls.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Stop> {
    if let Some(why) = lacks() {
        return Err(Stop::lacks(&why));
    }
    if options.short {
        return succeed("s2n-quic", &mut tests(root));
    }
    succeed("s2n-quic", tests(root).arg("--workspace"))?;
    for control in ["hystart-pp", "scout"] {
        let words = ["--package", "firstflight-s2n-quic-in-time", "--example", "loopback"];
        let mut example = command(root, "run");
        succeed("loopback", example.args(words).args(["--quiet", "--", control, "20"]))?;
    }
    Ok(())
}

/// The tests of the adapter, as a command.
pub(crate) fn tests(root: &Path) -> Command {
    command(root, "test")
}

/// What of this machine cannot build it.
pub(crate) fn lacks() -> Option<String> {
    let version = output("s2n", Command::new("rustc").arg("--version")).unwrap_or_default();
    let minor = || version.split('.').nth(1)?.parse::<u32>().ok();
    let old = minor().is_none_or(|minor| minor < LEAST);
    old.then(|| format!("the adapter for s2n-quic: takes Rust 1.{LEAST}, found {}", version.trim()))
}

fn command(root: &Path, word: &str) -> Command {
    let mut command = cargo(root, &[word, "--locked", "--manifest-path", MANIFEST]);
    command.env("CARGO_TARGET_DIR", target(root));
    command
}

/// That of s2n-quic 1.91: Rust 1.95.
const LEAST: u32 = 95;
