//! What `check` and `test` say before they begin: how many steps there are, how long they take, and
//! what this machine will skip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::step::{cargo, cpu_s, no_kernel, target, which};
use crate::{python, s2n, web};

/// What is to be done, which decides the steps and what of the machine they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// The sources alone.
    Check,
    /// What CI runs.
    Test,
    /// The steps of `test` that only need a processor.
    Background,
    /// Tests of core, simulator, scenarios and command, which need nothing of a machine.
    Quick,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Test => "test",
            Self::Background => "background",
            Self::Quick => "quick",
        }
    }

    /// The steps, those first that fail in seconds, then what is quick to build.
    fn steps(self) -> Vec<&'static str> {
        let sources = || {
            let mut names = vec!["rustfmt", "tidy", "cargo-deny", "clippy"];
            names.push("clippy of examples/own-startup, without controls in the kernel");
            names.push("module of the page");
            names
        };
        let outcome = ["rustdoc", "package"];
        match self {
            Self::Quick => vec!["tests of core, simulator, scenarios and command"],
            Self::Check => [sources(), outcome.to_vec()].concat(),
            Self::Test => [
                sources(),
                vec!["build of the tests", "tests", "the rest of the background"],
                vec!["page in a browser", "tests of the Python package"],
            ]
            .concat(),
            Self::Background => [
                &outcome[..],
                &["tests of examples/own-startup", "readings"],
                &["tests of the adapter for s2n-quic", "build of the page"],
                &["build of the Python package"],
            ]
            .concat(),
        }
    }

    /// How long it takes where it was never run.
    fn first(self) -> &'static str {
        match self {
            Self::Check => "the first time everything is built: about ten minutes on two cores",
            Self::Test => "the first time everything is built: about half an hour on two cores",
            Self::Background => "the first time all of it is built: about five minutes of CPU",
            Self::Quick => "three minutes of CPU, and the first time five more to build",
        }
    }
}

/// Steps in their order, each of which is announced when it begins.
pub(crate) struct Steps {
    task: Task,
    names: Vec<&'static str>,
    /// When each of those that have begun did, and the CPU that all before it had taken.
    begun: Vec<(Instant, f64)>,
}

impl Steps {
    /// Tells what will come and how long each step took the last time. `kernel` says whether
    /// controls in the kernel can be built here.
    pub(crate) fn announce(task: Task, root: &Path, kernel: bool) -> Self {
        let names = task.steps();
        let kept = fs::read_to_string(kept(root, task)).unwrap_or_default();
        print!("{}", told(task, &names, &kept));
        if matches!(task, Task::Check | Task::Test) {
            if task == Task::Test {
                println!("meanwhile: {}", Task::Background.steps().join("; "));
            }
            let skipped = skipped(root, kernel, task == Task::Test);
            if skipped.is_empty() {
                println!("nothing will be skipped");
            }
            skipped.iter().for_each(|what| println!("will be skipped: {what}"));
        }
        Self { task, names, begun: Vec::new() }
    }

    /// What build scripts are told. Where no test follows, the C of the kernel's controls is not
    /// compiled, as nothing is linked. Before tests it is: all that depends on it would be looked
    /// at again after them.
    pub(crate) fn variable(&self) -> Option<(&'static str, &'static str)> {
        (self.task == Task::Check).then_some(NO_C)
    }

    /// Says which step begins, and hands out its name.
    pub(crate) fn begin(&mut self) -> &'static str {
        let name = self.names.get(self.begun.len()).copied().unwrap_or("more");
        self.begun.push((Instant::now(), cpu_s()));
        println!("==> {} of {}: {name}", self.begun.len(), self.names.len());
        name
    }

    /// Tells what each step took, and keeps it for the next time's announcement.
    pub(crate) fn finish(&self, root: &Path) {
        let ends = self.begun.iter().skip(1).copied().chain([(Instant::now(), cpu_s())]);
        let took =
            self.begun.iter().zip(ends).map(|(begun, end)| (end.0 - begun.0, end.1 - begun.1));
        println!("     s  CPU s");
        let lines = self.names.iter().zip(took).map(|(name, (time, cpu))| {
            println!("{:6.0} {cpu:6.0}  {name}", time.as_secs_f64());
            format!("{} {name}\n", time.as_secs())
        });
        // Where it cannot be kept the next time says less.
        let _ = fs::write(kept(root, self.task), lines.collect::<String>());
    }
}

/// Keeps build scripts from compiling the C of the kernel's controls.
pub(crate) const NO_C: (&str, &str) = ("FIRSTFLIGHT_CHECK_ONLY", "1");

fn kept(root: &Path, task: Task) -> PathBuf {
    target(root).join(format!("xtask-{}-steps", task.name()))
}

/// `3 steps, 4 min the last time: rustfmt (2 s); ...`.
fn told(task: Task, names: &[&str], kept: &str) -> String {
    let last = |name: &str| {
        let mut lines = kept.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(_, step)| *step == name)?.0.parse::<u64>().ok()
    };
    let all: Option<Vec<u64>> = names.iter().map(|name| last(name)).collect();
    let whole = match &all {
        Some(all) => format!("the last time it took {} here", long(all.iter().sum())),
        None => task.first().to_owned(),
    };
    let with_time = |name: &&str| match last(name) {
        Some(seconds) => format!("{name} ({})", long(seconds)),
        None => (*name).to_owned(),
    };
    let steps: Vec<String> = names.iter().map(with_time).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("{} step{plural}: {}\n{whole}\n", names.len(), steps.join("; "))
}

fn long(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}

/// What will not run here, why, and how to have it. The tests themselves say it again, should they
/// find more that is missing.
fn skipped(root: &Path, kernel: bool, tests: bool) -> Vec<String> {
    let mut skipped = Vec::new();
    if !succeeds(&mut cargo(root, &["deny", "--version"])) {
        skipped.push("licences and sources: no cargo-deny (cargo install cargo-deny)".to_owned());
    }
    if !web::has_target() {
        skipped.push(web::NO_TARGET.to_owned());
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
    skipped.extend(web::lacks());
    skipped.extend(python::lacks());
    skipped.extend(s2n::lacks());
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

pub(crate) fn user_is_root() -> bool {
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
        assert!(told(Task::Test, &["clippy"], "").contains("half an hour"));
        let names = ["rustfmt", "clippy"];
        let first = told(Task::Check, &names, "");
        assert!(first.starts_with("2 steps: rustfmt; clippy\n") && first.contains("ten minutes"));
        let later = told(Task::Check, &names, "2 rustfmt\n61 clippy\n");
        let wanted = "2 steps: rustfmt (2 s); clippy (2 min)\nthe last time it took 2 min here\n";
        assert_eq!(later, wanted);
    }

    #[test]
    fn what_fails_in_seconds_comes_before_what_is_built() {
        let steps = Task::Test.steps();
        let place = |name: &str| steps.iter().position(|step| *step == name).unwrap();
        assert!(["rustfmt", "tidy", "cargo-deny"].iter().all(|name| place(name) < place("clippy")));
        assert!(place("build of the tests") < place("tests"));
        let both = [steps, Task::Background.steps()].concat();
        assert!(Task::Check.steps().iter().all(|step| both.contains(step)));
    }

    #[test]
    fn steps_are_numbered_from_one() {
        let mut steps =
            Steps { task: Task::Check, names: vec!["rustfmt", "clippy"], begun: vec![] };
        assert_eq!((steps.begin(), steps.begin(), steps.begun.len()), ("rustfmt", "clippy", 2));
    }
}
