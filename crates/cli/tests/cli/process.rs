//! Runs the binary in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A directory that is gone after the test.
pub(crate) struct Place(PathBuf);

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Names of everything in the directory, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_firstflight"));
        command.args(words).current_dir(&self.0).stdin(Stdio::null());
        command.env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Outcome {
        Outcome::of(self.command(words).output().unwrap())
    }
}

impl Outcome {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the program ends by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is left behind lies in the target directory and hurts nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the binary in an empty directory.
pub(crate) fn run(words: &[&str]) -> Outcome {
    Place::new().run(words)
}

/// Waits until `holds`, for a minute at most: longer than a busy machine needs.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "a minute passed without {what}");
        sleep(Duration::from_millis(5));
    }
}
