//! `readings`: the core beside plain readings of RFCs and another project's controllers
//! (`validation/readings`).

use std::path::Path;
use std::process::Command;

use crate::Stop;
use crate::step::{cargo, succeed, target};

/// Its manifest, from the root. A workspace of its own, so that nobody else builds it.
pub(crate) const MANIFEST: &str = "validation/readings/Cargo.toml";

/// Builds and runs it on the points that are named, or on all.
pub(crate) fn run(root: &Path, points: &[String]) -> Result<(), Stop> {
    succeed("readings", command(root).args(points))
}

fn command(root: &Path) -> Command {
    let mut command = cargo(root, &["run", "--locked", "--quiet", "--manifest-path", MANIFEST]);
    command.arg("--").env("CARGO_TARGET_DIR", target(root));
    command
}
