//! What `check` and `test` say before they begin: how many steps there are, how long they take, and
//! what this machine will skip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::python;
use crate::step::{cargo, no_kernel, target, which};

/// Steps in their order, each of which is announced when it begins.
pub(crate) struct Steps {
    names: Vec<&'static str>,
    begun: usize,
    started: Instant,
}

impl Steps {
    /// Tells what will come. `kernel` says whether controls in the kernel can be built here.
    pub(crate) fn announce(task: &str, root: &Path, kernel: bool) -> Self {
        let mut names = vec!["rustfmt", "clippy"];
        names.extend(kernel.then_some("clippy, without controls in the kernel"));
        names.extend([
            "clippy of examples/own-startup",
            "rustdoc",
            "tidy",
            "package",
            "cargo-deny",
        ]);
        if task == "test" {
            names.extend(["tests", "tests of examples/own-startup", "tests of the Python package"]);
        }
        println!("{} steps: {}", names.len(), names.join("; "));
        println!("{}", duration(task, last(root, task)));
        let skipped = skipped(root, kernel, task == "test");
        if skipped.is_empty() {
            println!("nothing will be skipped");
        }
        skipped.iter().for_each(|what| println!("will be skipped: {what}"));
        Self { names, begun: 0, started: Instant::now() }
    }

    /// Says which step begins, and hands out its name.
    pub(crate) fn begin(&mut self) -> &'static str {
        let name = self.names.get(self.begun).copied().unwrap_or("more");
        self.begun += 1;
        println!("==> {} of {}: {name}", self.begun, self.names.len());
        name
    }

    /// Keeps how long all of it took, for the next time's announcement.
    pub(crate) fn finish(&self, root: &Path, task: &str) {
        let seconds = self.started.elapsed().as_secs().to_string();
        // Where it cannot be kept the next time says less.
        let _ = fs::write(kept(root, task), seconds);
    }
}

fn kept(root: &Path, task: &str) -> PathBuf {
    target(root).join(format!("xtask-{task}-seconds"))
}

fn last(root: &Path, task: &str) -> Option<Duration> {
    let seconds = fs::read_to_string(kept(root, task)).ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn duration(task: &str, last: Option<Duration>) -> String {
    match last {
        Some(last) => format!("the last time it took {} min here", last.as_secs().div_ceil(60)),
        None if task == "test" => {
            "the first time everything is built: about half an hour on two cores".to_owned()
        }
        None => "the first time everything is built: about ten minutes on two cores".to_owned(),
    }
}

/// What will not run here, why, and how to have it. The tests themselves say it again, should they
/// find more that is missing.
fn skipped(root: &Path, kernel: bool, tests: bool) -> Vec<String> {
    let mut skipped = Vec::new();
    if !succeeds(&mut cargo(root, &["deny", "--version"])) {
        skipped.push("licences and sources: no cargo-deny (cargo install cargo-deny)".to_owned());
    }
    if !kernel {
        skipped.push(no_kernel("controls in the kernel"));
    }
    if !tests {
        return skipped;
    }
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    if std::env::var_os("CHROMIUM").is_none() && browsers.iter().all(|name| which(name).is_none()) {
        skipped.push("the report in a browser: no chromium (Debian package chromium)".to_owned());
    }
    skipped.extend(python::lacks());
    let root_user = user_is_root();
    let missing: Vec<&str> =
        ["ip", "iperf3"].into_iter().filter(|tool| which(tool).is_none()).collect();
    if !root_user {
        skipped.push("TCP of this kernel in network namespaces: needs root".to_owned());
    } else if !missing.is_empty() {
        let missing = missing.join(", ");
        skipped.push(format!("a part of the lab: no {missing} (Debian: iproute2 iperf3)"));
    }
    if kernel && !root_user {
        skipped.push("loading controls into this kernel: needs root".to_owned());
    } else if kernel && !Path::new("/sys/kernel/btf/vmlinux").exists() {
        let lack = "no /sys/kernel/btf/vmlinux (Linux 5.15 or later, with BTF)";
        skipped.push(format!("loading controls into this kernel: {lack}"));
    }
    skipped
}

fn user_is_root() -> bool {
    let output = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_is_told_apart_from_later_ones() {
        assert!(duration("test", None).contains("half an hour"));
        assert!(duration("check", None).contains("ten minutes"));
        let last = Some(Duration::from_secs(61));
        assert_eq!(duration("test", last), "the last time it took 2 min here");
    }

    #[test]
    fn steps_are_numbered_from_one() {
        let names = vec!["rustfmt", "clippy"];
        let mut steps = Steps { names, begun: 0, started: Instant::now() };
        assert_eq!((steps.begin(), steps.begin(), steps.begun), ("rustfmt", "clippy", 2));
    }
}
