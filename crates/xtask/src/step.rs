//! Steps: programs that are named before they run, and whose failure ends the task.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use firstflight_guest::which;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde::de::DeserializeOwned;

use crate::Stop;

/// Says what runs next.
pub fn announce(name: &str) {
    println!("==> {name}");
}

/// A command of the cargo that runs this task, in the workspace.
pub fn cargo(root: &Path, args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root);
    without_variables_of_cargo(command)
}

/// Takes the variables of the cargo that runs this task from a command. With them the build scripts
/// of dependencies would run again, and what depends on them would be compiled again.
pub fn without_variables_of_cargo(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// A program that is interrupted when this task ends, however that ends, where `setpriv` of
/// util-linux is there to ask the kernel for it.
pub fn bound(program: &Path) -> Command {
    let Some(setpriv) = which("setpriv") else { return Command::new(program) };
    let mut command = Command::new(setpriv);
    command.args(["--pdeathsig", "INT"]).arg(program);
    command
}

/// The CPU time of this process and of its ended children, seconds.
pub fn cpu_s() -> f64 {
    let both = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].map(getrusage);
    let times = both.into_iter().flatten().map(|used| used.user_time() + used.system_time());
    times.map(|time| time.num_microseconds() as f64 / 1e6).sum()
}

/// Where cargo puts what it builds.
pub fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| root.join("target"), PathBuf::from)
}

/// What a build for controls in the kernel takes, as arguments of cargo; nothing where this machine
/// cannot make one.
pub fn kernel_features() -> Result<&'static [&'static str], Stop> {
    let works = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let quiet = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    if works("clang", &["--version"]) && works("pkg-config", &["--exists", "libelf", "zlib"]) {
        return Ok(&["--features", "firstflight-cli/kernel"]);
    }
    if std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_some() {
        return Err(Stop::lacks(&no_kernel("controls in the kernel")));
    }
    Ok(&[])
}

/// What to say where `what` takes a build for controls in the kernel.
pub fn no_kernel(what: &str) -> String {
    format!("{what}: to build it takes clang libelf-dev zlib1g-dev pkg-config (Debian's names)")
}

/// The program that cargo builds of `words` (`--bin X`, `--example X`, `--test X`), with controls
/// in the kernel. It is built with the features of all crates, so that what the tests have built
/// serves again.
pub fn built(root: &Path, words: &[&str]) -> Result<PathBuf, Stop> {
    announce(&format!("build {}", words.last().copied().unwrap_or_default()));
    let features = ["--features", "firstflight-cli/kernel,firstflight-kernel/bpf"];
    executable(root, &[&words[..1], &features, &AS_TESTS, &words[1..]].concat())
}

/// An example beside what is asked for. With it cargo gives all crates the features that they have
/// for tests, and takes what these have built; without it it would compile a third of the
/// workspace once more, the kernel's controls among it.
pub const AS_TESTS: [&str; 2] = ["--example", "bpf_objects"];

/// The program that a command of cargo builds; its last word is the program's name.
pub fn executable(root: &Path, words: &[&str]) -> Result<PathBuf, Stop> {
    let name = words.last().copied().unwrap_or_default();
    let command = [&words[..1], &["--quiet", "--message-format=json"], &words[1..]].concat();
    let output = cargo(root, &command)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| unable("cargo", &error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut programs = messages.filter_map(|message: serde_json::Value| {
        let program = message["executable"].as_str()?;
        (message["target"]["name"] == name).then(|| PathBuf::from(program))
    });
    let missing = format!("cargo did not build {name}: {}", output.status);
    programs.next_back().ok_or_else(|| Stop::failed(&missing))
}

/// The release build of the command, with `features`. It announces nothing, as what follows may
/// print a document.
pub fn release(root: &Path, features: &[&str]) -> Result<PathBuf, Stop> {
    let words = ["build", "--release", "--quiet", "--package", "firstflight-cli"];
    succeed("build", cargo(root, &words).args(features))?;
    let program = format!("release/firstflight{}", std::env::consts::EXE_SUFFIX);
    Ok(target(root).join(program))
}

/// What a command prints, if it succeeds.
pub fn output(task: &str, command: &mut Command) -> Result<String, Stop> {
    let name = format!("{command:?}");
    let done = command.output().map_err(|error| unable(&name, &error))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&done.stderr);
    // The product's code for a machine that lacks something.
    let stop = if done.status.code() == Some(3) { Stop::lacks } else { Stop::failed };
    Err(stop(&format!("{task}: {name}: {}", complaint.trim())))
}

/// Refuses where one of these programs is missing; `packages` are Debian's that have them.
pub fn has_tools(task: &str, tools: &[&str], packages: &str) -> Result<(), Stop> {
    let missing: Vec<&str> = tools.iter().copied().filter(|tool| which(tool).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    Err(Stop::lacks(&format!("{task}: missing {missing}; on Debian: apt install {packages}")))
}

/// Whether the standard library for a target of the compiler is here.
pub fn has_target(target: &str) -> bool {
    let mut ask = Command::new("rustc");
    let said = ask.args(["--print", "target-libdir", "--target", target]).output();
    said.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_dir())
}

/// The text of a file of this repository's tasks.
pub fn read_text(path: &Path) -> Result<String, Stop> {
    let wrong = |error| Stop::usage(&format!("{}: {error}", path.display()));
    std::fs::read_to_string(path).map_err(wrong)
}

/// Reads a file of this repository's tasks.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, Stop> {
    let wrong = |error| Stop::usage(&format!("{}: {error}", path.display()));
    toml::from_str(&read_text(path)?).map_err(wrong)
}

/// Announces and runs one step to its end.
pub fn run(name: &str, command: &mut Command) -> Result<(), Stop> {
    announce(name);
    succeed(name, command)
}

/// Runs a step that has been announced to its end.
pub fn succeed(name: &str, command: &mut Command) -> Result<(), Stop> {
    let status = command.status().map_err(|error| unable(name, &error))?;
    if status.success() { Ok(()) } else { Err(Stop::failed(&format!("{name}: failed, {status}"))) }
}

/// The program of a step could not be started.
pub fn unable(name: &str, error: &std::io::Error) -> Stop {
    let message = format!("{name}: {error}");
    match error.kind() {
        ErrorKind::NotFound => Stop::lacks(&message),
        _ => Stop::failed(&message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_programs_that_ended_is_counted() {
        let before = cpu_s();
        let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        succeed("busy", Command::new("sh").args(["-c", busy])).unwrap();
        // To start a program takes less.
        assert!(cpu_s() > before + 0.01);
    }
}
