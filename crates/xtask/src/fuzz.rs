//! The fuzz targets of `crates/fuzz` under libFuzzer, which takes a stable compiler: the marks of
//! coverage are a pass of LLVM's. No address sanitizer, which would take a nightly one; there is no
//! unsafe code here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rayon::prelude::*;

use crate::Stop;
use crate::step::{announce, cargo, run, unable};

/// What may be asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    seconds: u32,
    /// The seed of the engine's random numbers. Equal seeds try equal bytes, as long as time lasts.
    seed: u32,
    /// The one target to run; without it all.
    only: Option<String>,
}

/// Builds the targets and runs each for the time asked for, as many at once as there are cores.
pub(crate) fn fuzz(root: &Path, args: &[String]) -> Result<(), Stop> {
    let asked = Asked::read(args)?;
    let targets: Vec<&str> = TARGETS
        .into_iter()
        .filter(|target| asked.only.as_ref().is_none_or(|only| only == target))
        .collect();
    let folder = folder(root);
    let host = host()?;
    build(root, &folder, &host)?;
    announce(&format!("{} for {} s each", targets.join(", "), asked.seconds));
    let ended: Vec<Result<String, Stop>> = targets
        .par_iter()
        .map(|target| {
            let program = folder.join(&host).join("fuzz").join(format!("fuzz-{target}"));
            fuzz_one(root, &folder, &program, target, &asked)
        })
        .collect();
    let mut failed = Vec::new();
    for outcome in ended {
        match outcome {
            Ok(line) => println!("{line}"),
            Err(stop) => failed.push(stop.message),
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Stop::failed(&failed.join("\n"))) }
}

/// The folder of these builds, apart from others, because the flags change every crate.
fn folder(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    root.join(target).join("fuzz")
}

/// The compiler's own triple: with a target named, the flags keep away from build scripts.
fn host() -> Result<String, Stop> {
    let said =
        Command::new("rustc").arg("-vV").output().map_err(|error| unable("rustc", &error))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Stop::failed("rustc -vV names no host"))
}

fn build(root: &Path, folder: &Path, host: &str) -> Result<(), Stop> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut look = Command::new(&compiler);
    let look = look.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !look.is_ok_and(|status| status.success()) {
        let compiler = compiler.display();
        return Err(Stop::lacks(&format!("{compiler}: the engine takes a C++ compiler (g++)")));
    }
    let words = ["build", "--package", "firstflight-fuzz", "--features", "engine"];
    let mut build = cargo(root, &words);
    build.args(["--profile", "fuzz", "--target", host, "--target-dir"]).arg(folder);
    run("fuzz targets", build.env("RUSTFLAGS", FLAGS))
}

/// One target; the line that says how it went.
fn fuzz_one(
    root: &Path,
    folder: &Path,
    program: &Path,
    target: &str,
    asked: &Asked,
) -> Result<String, Stop> {
    let (found, failures) = (folder.join("found").join(target), folder.join("failures"));
    for folder in [&found, &failures] {
        fs::create_dir_all(folder).map_err(|error| unable("fuzz", &error))?;
    }
    let seeds = root.join("crates/fuzz/seeds");
    let mut engine = Command::new(program);
    let words = seeds.join(format!("{target}.dict"));
    if words.exists() {
        engine.arg(format!("-dict={}", words.display()));
    }
    let output = engine
        .arg(format!("-max_total_time={}", asked.seconds))
        .arg(format!("-seed={}", asked.seed))
        .arg(format!("-artifact_prefix={}/{target}-", failures.display()))
        .args(["-max_len=8192", "-print_final_stats=1", "-verbosity=1"])
        .args(BUDGET)
        .arg(&found)
        .arg(seeds.join(target))
        .output()
        .map_err(|error| unable(target, &error))?;
    told(target, asked, &output)
}

fn told(target: &str, asked: &Asked, output: &Output) -> Result<String, Stop> {
    let said = String::from_utf8_lossy(&output.stderr);
    let executions = said
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
        .and_then(|count| count.trim().parse::<u64>().ok());
    match executions {
        Some(executions) if output.status.success() => {
            let seconds = asked.seconds;
            Ok(format!("{target}: {executions} executions in {seconds} s, 0 failures"))
        }
        _ => {
            let status = output.status;
            let after = "keep the bytes as a file in crates/fuzz/seeds, where the tests run them";
            Err(Stop::failed(&format!("{said}\n{target}: failed, {status}; {after}")))
        }
    }
}

impl Asked {
    fn read(args: &[String]) -> Result<Self, Stop> {
        let mut asked = Self { seconds: SECONDS, seed: 1, only: None };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value = args.next().map_or("", String::as_str);
            let number = || {
                let number = value.parse::<u32>().ok().filter(|number| *number > 0);
                number.ok_or_else(|| {
                    Stop::usage(&format!("fuzz {flag}: found `{value}`; accepted: 1 or more"))
                })
            };
            match flag.as_str() {
                "--seconds" => asked.seconds = number()?,
                "--seed" => asked.seed = number()?,
                "--only" if TARGETS.contains(&value) => asked.only = Some(value.to_owned()),
                "--only" => {
                    let accepted = TARGETS.join(", ");
                    let problem = format!("fuzz --only: found `{value}`; accepted: {accepted}");
                    return Err(Stop::usage(&problem));
                }
                _ => {
                    let accepted = "accepted: --seconds N, --seed N, --only TARGET";
                    return Err(Stop::usage(&format!("fuzz: found `{flag}`; {accepted}")));
                }
            }
        }
        Ok(asked)
    }
}

/// Seconds that CI gives each target.
const SECONDS: u32 = 20;

/// What an input may take before it counts as a failure: seconds, and MB of memory, with what the
/// engine itself takes and all it has found.
const BUDGET: [&str; 2] = ["-timeout=10", "-rss_limit_mb=512"];

/// The names of the targets in `crates/fuzz`.
const TARGETS: [&str; 4] = ["adapter", "scenario", "qlog", "record"];

/// What libFuzzer reads: counters on edges, a table of their places, and what is compared.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Asked, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Asked::read(&words).map_err(|stop| stop.message)
    }

    #[test]
    fn words_are_read_and_wrong_ones_told() {
        let asked = Asked { seconds: 5, seed: 9, only: Some("qlog".to_owned()) };
        assert_eq!(read("--seconds 5 --only qlog --seed 9"), Ok(asked));
        for wrong in ["--seconds", "--seconds 0", "--only what", "--quick"] {
            assert!(read(wrong).unwrap_err().contains("accepted"), "{wrong}");
        }
    }
}
