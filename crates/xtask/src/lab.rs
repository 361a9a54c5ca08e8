//! The simulator and the running kernel's TCP on the same paths, side by side.
//!
//! A run that the machine disturbed says so; it is repeated, and what stays disturbed is printed
//! but not judged.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::step::{announce, cargo};
use crate::{Stop, step};

/// `oracles/lab.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    duration: String,
    path: Vec<Route>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    rate: String,
    rtt: String,
    buffer: String,
    explained: Option<String>,
}

/// What was asked for.
struct Options {
    /// In the simulator; on the kernel the same, or the kernel's own Reno for `newreno`.
    control: String,
    tries: u32,
}

/// One run, as far as it is compared.
struct Measured {
    mbps: f64,
    drops: u64,
    timing: String,
}

/// Runs the comparison; fails on a large difference without an explanation.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let options = options(args)?;
    let path = root.join("oracles/lab.toml");
    let wrong =
        |problem: &dyn std::fmt::Display| Stop::usage(&format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
    let file: File = toml::from_str(&text).map_err(|error| wrong(&error))?;
    let own = options.control == "newreno";
    let program = build(root, !own)?;
    let kernels = if own { "linux-reno" } else { options.control.as_str() };

    announce(&format!("{} in the simulator, {kernels} in the kernel", options.control));
    println!("{:<28} {:>9} {:>9} {:>7} {:>13}", "", "simulator", "kernel", "", "drops");
    let (mut failed, mut judged) = (0, 0);
    for route in &file.path {
        let simulated = ["--profile", "linux", "--recovery", "sack"];
        let sim = measure(&program, &options.control, route, &file.duration, &simulated)?;
        let linux = ["--on", "linux"];
        let mut kernel = measure(&program, kernels, route, &file.duration, &linux)?;
        for _ in 1..options.tries {
            if ["valid", "unknown"].contains(&kernel.timing.as_str()) {
                break;
            }
            kernel = measure(&program, kernels, route, &file.duration, &linux)?;
        }
        let percent = 100.0 * (kernel.mbps - sim.mbps) / sim.mbps;
        let disturbed = !["valid", "unknown"].contains(&kernel.timing.as_str());
        let word = match (percent.abs() > ACCEPTED, disturbed, &route.explained) {
            (_, true, _) => format!("disturbed: timing {}", kernel.timing),
            (true, false, None) => "NOT EXPLAINED".to_owned(),
            (true, false, Some(reason)) => reason.clone(),
            (false, false, _) => String::new(),
        };
        judged += u32::from(!disturbed);
        failed += u32::from(word == "NOT EXPLAINED");
        let name = format!("{} {} {}", route.rate, route.rtt, route.buffer);
        let drops = format!("{}/{}", sim.drops, kernel.drops);
        let line = format!(
            "{name:<28} {:>9.3} {:>9.3} {percent:>+6.1}% {drops:>13} {word}",
            sim.mbps, kernel.mbps
        );
        println!("{}", line.trim_end());
    }
    println!("Mbps over {}; {judged} of {} judged", file.duration, file.path.len());
    match failed {
        0 => Ok(()),
        failed => Err(Stop::failed(&format!(
            "{failed} paths differ by more than {ACCEPTED} % and are not explained"
        ))),
    }
}

fn options(args: &[String]) -> Result<Options, Stop> {
    let mut options = Options { control: "newreno".to_owned(), tries: 3 };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().ok_or(Stop::usage(&format!("{arg} needs a value")))?;
        match arg.as_str() {
            "--control" => options.control = value.clone(),
            "--tries" => {
                let tries = value.parse().ok().filter(|tries| (1..=100).contains(tries));
                let problem = format!("--tries: found `{value}`, accepted: 1 to 100");
                options.tries = tries.ok_or(Stop::usage(&problem))?;
            }
            _ => {
                let problem = format!("unknown argument `{arg}`; accepted: --control, --tries");
                return Err(Stop::usage(&problem));
            }
        }
    }
    Ok(options)
}

fn build(root: &Path, with_kernel: bool) -> Result<PathBuf, Stop> {
    let mut words = vec!["build", "--release", "--quiet", "--package", "firstflight-cli"];
    if with_kernel {
        words.extend(step::kernel_features()?);
    }
    step::run("build", &mut cargo(root, &words))?;
    Ok(step::target(root).join("release/firstflight"))
}

fn measure(
    program: &Path,
    control: &str,
    route: &Route,
    duration: &str,
    more: &[&str],
) -> Result<Measured, Stop> {
    let output = Command::new(program)
        .args(["compare", control, "--json", "--duration", duration])
        .args(["--rate", &route.rate, "--rtt", &route.rtt, "--buffer", &route.buffer])
        .args(more)
        .output()
        .map_err(|error| step::unable("firstflight", &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let stop = if output.status.code() == Some(3) { Stop::lacks } else { Stop::failed };
        return Err(stop(said.trim()));
    }
    read(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| Stop::failed("firstflight compare --json: no results in its document"))
}

/// The first run of a document of results.
fn read(text: &str) -> Option<Measured> {
    let results: Value = serde_json::from_str(text).ok()?;
    let run = results.get("runs")?.get(0)?;
    Some(Measured {
        mbps: run.get("total_throughput_bps")?.as_f64()? / 1e6,
        drops: run.get("bottleneck")?.get("drops")?.as_u64()?,
        timing: run["lab"]["timing"].as_str().unwrap_or("valid").to_owned(),
    })
}

/// Per cent of throughput.
const ACCEPTED: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_results_is_read() {
        let text = r#"{"runs":[{"total_throughput_bps":2e6,"bottleneck":{"drops":3},
            "lab":{"timing":"degraded"}}]}"#;
        let measured = read(text).unwrap();
        assert_eq!((measured.mbps, measured.drops), (2.0, 3));
        assert_eq!(measured.timing, "degraded");
        assert!(read("{}").is_none());
    }

    #[test]
    fn options_are_read_and_slips_are_refused() {
        let read =
            |args: &[&str]| options(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(read(&["--control", "astart"]).ok().map(|o| o.control).unwrap(), "astart");
        assert!(read(&["--tries", "0"]).is_err() && read(&["--contrl", "x"]).is_err());
    }
}
