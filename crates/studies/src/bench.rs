//! The simulator's speed, with ns-2 and ns-3 on the same scenarios beside it.
//!
//! firstflight is measured by its own benchmark; this reads its figures and adds those of the
//! others, on the scenarios of `validation/bench.toml`. All are delivered data packets per second
//! of CPU in one thread. A benchmark reports and never fails because something is slow.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use crate::oracle::{compile_ns3, has_ns2, pairs};
use crate::step::{announce, cargo, read_toml, unable};
use crate::{Stop, no_arguments};

mod peer;

use peer::Peer;

/// The part of the benchmark's JSON that is compared.
#[derive(serde::Deserialize)]
struct Ours {
    rows: Vec<Row>,
}

#[derive(serde::Deserialize)]
struct Row {
    scenario: String,
    control: String,
    flows: f64,
    rate_mbps: f64,
    rtt_ms: (f64, f64),
    duration_s: f64,
    packets_per_s: f64,
}

/// `validation/bench.toml`: scenarios in the keys of `ns2-dumbbell.tcl`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scenarios: BTreeMap<String, String>,
    /// The scenario that ns-3 runs, and the keys that shorten it.
    ns3: BTreeMap<String, String>,
}

/// Measures and prints.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    no_arguments("bench", args)?;
    let path = root.join("validation/bench.toml");
    let file: File = read_toml(&path)?;

    announce("firstflight");
    let ours = measure_ours(root)?;
    for (id, line) in &file.scenarios {
        same(id, line, &ours)
            .map_err(|problem| Stop::usage(&format!("{}: {problem}", path.display())))?;
    }
    let ns2 = ns2(root, &file)?;
    let ns3 = ns3(root, &file)?;

    println!("\nNewReno, millions of delivered packets per second of CPU");
    println!("    {:<4} {:>11} {:>9} {:>8} {:>9} {:>8}", "", "firstflight", "ns-2", "", "ns-3", "");
    for id in file.scenarios.keys() {
        let Some(row) = ours.newreno(id) else { continue };
        let speed = row.packets_per_s;
        let line = format!(
            "    ({id})  {:>11.2} {} {}",
            speed / 1e6,
            speed_and_factor(speed, ns2.get(id)),
            speed_and_factor(speed, ns3.get(id))
        );
        println!("{}", line.trim_end());
    }
    if !ns3.is_empty() {
        let short = file.ns3.iter().map(|(id, keys)| format!("({id}) {keys}")).collect::<Vec<_>>();
        println!("    ns-3 ran shorter: {}", short.join(", "));
    }
    Ok(())
}

impl Ours {
    fn newreno(&self, id: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.scenario == id && row.control == "newreno")
    }
}

/// Runs the simulator's benchmark, which shows its figures on standard error as they come.
fn measure_ours(root: &Path) -> Result<Ours, Stop> {
    let name = "firstflight's benchmark";
    let args = ["bench", "--package", "firstflight-sim", "--bench", "scenarios", "--", "--json"];
    let output = cargo(root, &args)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| unable(name, &error))?;
    if !output.status.success() {
        return Err(Stop::failed(&format!("{name}: failed, {}", output.status)));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Stop::failed(&format!("{name}: its output: {error}")))
}

/// Whether a scenario of the file is what the benchmark ran under that id.
fn same(id: &str, line: &str, ours: &Ours) -> Result<(), String> {
    let row = ours.newreno(id).ok_or(format!("the benchmark has no scenario `{id}`"))?;
    let keys = keys(id, line)?;
    let pairs = [
        ("flows", row.flows),
        ("rate", row.rate_mbps),
        ("rtt", row.rtt_ms.0),
        ("rtt", row.rtt_ms.1),
        ("dur", row.duration_s),
    ];
    for (key, value) in pairs {
        let found = keys.get(key).map_or("nothing", String::as_str);
        if found.parse() != Ok(value) {
            return Err(format!("{id}: `{key}` is {found}, but {value} in the benchmark"));
        }
    }
    Ok(())
}

/// `newreno flows=1 rate=200` as keys, the first word as `alg`.
fn keys(id: &str, line: &str) -> Result<BTreeMap<String, String>, String> {
    let (alg, rest) = line.split_once(' ').unwrap_or((line, ""));
    let mut keys = pairs(rest, id)?;
    keys.insert("alg".to_owned(), alg.to_owned());
    keys.insert("mon".to_owned(), "0".to_owned());
    Ok(keys)
}

fn ns2(root: &Path, file: &File) -> Result<BTreeMap<String, f64>, Stop> {
    announce("ns-2");
    if !has_ns2() {
        println!("skipped: ns-2 is not installed (Debian package ns2)");
        return Ok(BTreeMap::new());
    }
    println!("    (d) alone takes ns-2 a minute and a half");
    let script = root.join("validation/ns2-dumbbell.tcl").display().to_string();
    let peer = Peer { program: "ns".into(), before: vec![script] };
    let mut speeds = BTreeMap::new();
    for (id, line) in &file.scenarios {
        let keys = keys(id, line).map_err(|problem| Stop::usage(&problem))?;
        speeds.insert(id.clone(), peer.speed(id, &keys)?);
    }
    Ok(speeds)
}

fn ns3(root: &Path, file: &File) -> Result<BTreeMap<String, f64>, Stop> {
    announce("ns-3");
    let cache = root.join("target/oracle-cache");
    let program = std::fs::create_dir_all(&cache)
        .map_err(|error| Stop::failed(&format!("{}: {error}", cache.display())))
        .and_then(|()| compile_ns3(root, &cache));
    let program = match program {
        Ok((program, _)) => program,
        Err(stop) if stop.code == 3 => {
            println!("skipped: {}", stop.message);
            return Ok(BTreeMap::new());
        }
        Err(stop) => return Err(stop),
    };
    let peer = Peer { program, before: Vec::new() };
    let mut speeds = BTreeMap::new();
    for (id, shorter) in &file.ns3 {
        let wrong = |problem: String| Stop::usage(&problem);
        let line = file.scenarios.get(id).ok_or(wrong(format!("[ns3]: no scenario `{id}`")))?;
        let mut keys = keys(id, line).map_err(wrong)?;
        keys.extend(pairs(shorter, id).map_err(wrong)?);
        speeds.insert(id.clone(), peer.speed(id, &keys)?);
    }
    Ok(speeds)
}

/// Another simulator's speed, and how many times slower that is.
fn speed_and_factor(ours: f64, theirs: Option<&f64>) -> String {
    match theirs {
        None => format!("{:>9} {:>8}", "-", ""),
        Some(theirs) => format!("{:>9.3} {:>7.0}x", theirs / 1e6, ours / theirs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_is_not_the_benchmarks_is_found() {
        let row = Row {
            scenario: "a".into(),
            control: "newreno".into(),
            flows: 1.0,
            rate_mbps: 200.0,
            rtt_ms: (100.0, 100.0),
            duration_s: 20.0,
            packets_per_s: 2e7,
        };
        let ours = Ours { rows: vec![row] };
        assert_eq!(same("a", "newreno flows=1 rate=200 rtt=100 dur=20", &ours), Ok(()));
        let problem = same("a", "newreno flows=1 rate=20 rtt=100 dur=20", &ours).unwrap_err();
        assert_eq!(problem, "a: `rate` is 20, but 200 in the benchmark");
        assert!(same("b", "newreno", &ours).is_err());
    }

    #[test]
    fn a_ratio_says_how_many_times_slower_the_other_is() {
        assert_eq!(speed_and_factor(2e7, Some(&1e6)), "    1.000      20x");
    }
}
