//! The lab on the running kernel. It takes root and TUN; without them each test prints that it
//! was skipped, or fails if `FIRSTFLIGHT_REQUIRE_LAB=1` is set.

mod link;
mod run;
mod tool;

use firstflight_lab::Path;
use firstflight_lab::link::{DirectionSpec, LinkSpec, SPIN_NS};
use firstflight_runner::RunError;

/// A path, or `None` and a word about why not.
fn path(forward: DirectionSpec, backward: DirectionSpec) -> Option<Path> {
    granted(Path::new(&spec(forward, backward)))
}

fn spec(forward: DirectionSpec, backward: DirectionSpec) -> LinkSpec {
    LinkSpec { forward, backward, mtu: 1_500, spin_ns: SPIN_NS, ..LinkSpec::default() }
}

fn granted<T>(outcome: Result<T, RunError>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(RunError::Lacks(reason)) => {
            let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_LAB").is_some_and(|v| v == "1");
            assert!(!required, "the lab is required here, but {reason}");
            eprintln!("skipped: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
