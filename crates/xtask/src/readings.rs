//! `readings`: the core beside plain readings of RFCs and another project's controllers
//! (`validation/readings`).

use std::path::Path;
use std::process::Command;

use crate::Stop;
use crate::step::{AS_TESTS, announce, executable, kernel_features, succeed};

/// Builds and runs it on the points that are named, or on all.
pub(crate) fn run(root: &Path, points: &[String]) -> Result<(), Stop> {
    announce("build readings");
    // With all other crates, so that each has the features with which the tests have built it. The
    // Python package would add features to some.
    let all = ["build", "--workspace", "--exclude", "firstflight-python"];
    let features = kernel_features()?;
    let as_tests = if features.is_empty() { &[][..] } else { &AS_TESTS };
    let words = [&all[..], features, as_tests, &["--bin", "readings"]].concat();
    succeed("readings", Command::new(executable(root, &words)?).args(points).current_dir(root))
}
