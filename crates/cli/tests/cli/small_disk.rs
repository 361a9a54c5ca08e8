//! A disk that is soon full: a small file system in a namespace of its own.

use std::process::Command;
use std::{env, fs};

use crate::process::{Outcome, Place};

/// Runs a shell script in which `$0` is the program, and `small` a folder with a file system of
/// that size. Without the right to mount one it says that it was skipped; where
/// `FIRSTFLIGHT_REQUIRE_TMPFS=1` asks for one, it fails.
pub(crate) fn on_small_disk(place: &Place, size: &str, script: &str) -> Option<Outcome> {
    fs::create_dir_all(place.path("small")).unwrap();
    let script = format!("mount -t tmpfs -o size={size} none small || exit 9\n{script}");
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script, env!("CARGO_BIN_EXE_firstflight")]);
    let why = match command.current_dir(place.path("")).output().map(Outcome::of) {
        Ok(outcome) if !["unshare:", "mount:"].iter().any(|it| outcome.stderr.contains(it)) => {
            return Some(outcome);
        }
        Ok(outcome) => outcome.stderr,
        Err(error) => error.to_string(),
    };
    let required = env::var_os("FIRSTFLIGHT_REQUIRE_TMPFS").is_some_and(|value| value == "1");
    assert!(!required, "FIRSTFLIGHT_REQUIRE_TMPFS asks for a tmpfs: {why}");
    println!("skipped: no file system of one's own: {why}");
    None
}
