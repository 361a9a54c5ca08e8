//! The one way to run a scenario: on the simulator in this program, in a kernel by the built one.

use std::path::{Path, PathBuf};
use std::process::Command;

use firstflight_results::{Results, RunResult};
use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::Stop;
use crate::kept::{Kept, content_name};
use crate::step::{self, unable};

/// A run, and what its samples over time come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) result: RunResult,
    /// The smoothed RTT, mean over time and then over the flows; 0 without samples.
    pub(crate) srtt_ms: f64,
}

impl Run {
    /// The kernel's release; nothing where none ran.
    pub(crate) fn release(&self) -> &str {
        self.result.lab.as_ref().map_or("", |lab| &lab.kernel)
    }
}

/// Runs a scenario on the simulator, in this thread.
pub(crate) fn simulated(scenario: &Scenario, samples: Option<u32>) -> Result<Vec<Run>, Stop> {
    let options = Options { samples, serial: true, ..Options::default() };
    let report = run(scenario, &options);
    let report = report.map_err(|why| Stop::failed(&format!("{}: {why}", scenario.name)))?;
    let measured = |run: firstflight_runner::Run| {
        let srtts = run
            .flows
            .iter()
            .filter_map(|flow| mean(flow.column("srtt_ms")?.flatten().filter(|srtt| *srtt > 0.0)));
        Run { srtt_ms: mean(srtts).unwrap_or(0.0), result: run.result }
    };
    Ok(report.runs.into_iter().map(measured).collect())
}

/// A kernel in virtual time. What it did is kept by what decides it: the scenario, and the sources
/// of what runs in the guest. So the simulator may change, and a study only simulates again.
pub(crate) struct Guests {
    /// The command, which runs in the guest too.
    pub(crate) program: PathBuf,
    /// A hash of the sources.
    pub(crate) sources: String,
    /// What `--on linux --virtual-time` is told beside the scenario.
    words: Vec<String>,
    samples: bool,
    pub(crate) kept: Kept,
}

impl Guests {
    /// Guests over this link whose runs are kept in `folder`, as long as nothing changes in
    /// `sources`, folders of the repository.
    pub(crate) fn new(
        root: &Path,
        folder: &str,
        sources: &[&str],
        words: &[&str],
        samples: bool,
    ) -> Result<Self, Stop> {
        Ok(Self {
            program: of_guests(root, folder)?,
            sources: sources_of(root, sources)?,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            samples,
            kept: Kept::new(&root.join(folder)),
        })
    }

    /// The run of a scenario with one control and one seed.
    pub(crate) fn run(&self, scenario: &Scenario) -> Result<Run, Stop> {
        let key = format!("{} {} {}", self.sources, self.words.join(" "), scenario.to_toml());
        if let Some(kept) = self.kept.get(&key) {
            return Ok(kept);
        }
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let words = [&["--on", "linux", "--virtual-time"], &words[..]].concat();
        let run = by_program(&self.program, scenario, &words, self.samples)?;
        self.kept.put(&key, &run)?;
        Ok(run)
    }
}

/// The first run that the command makes of a scenario on what these words say.
pub(crate) fn by_program(
    program: &Path,
    scenario: &Scenario,
    words: &[&str],
    samples: bool,
) -> Result<Run, Stop> {
    let folder = tempfile::tempdir().map_err(|error| unable("temporary folder", &error))?;
    let (file, traces) = (folder.path().join("point.toml"), folder.path().join("traces"));
    std::fs::write(&file, scenario.to_toml()).map_err(|error| unable("point.toml", &error))?;
    let mut command = step::bound(program);
    command.arg("run").arg(&file).arg("--json").args(words);
    if samples {
        command.arg("--trace").arg(&traces);
    }
    let output = step::output("run", &mut command)?;
    let failed = |problem: &str| Stop::failed(&format!("{}: {problem}", scenario.to_toml()));
    let results: Results =
        serde_json::from_str(&output).map_err(|error| failed(&error.to_string()))?;
    let result = results.runs.into_iter().next().ok_or_else(|| failed("no run in the results"))?;
    let srtt_ms = if samples { srtt_ms(&traces) } else { Ok(0.0) };
    Ok(Run { result, srtt_ms: srtt_ms.map_err(|error| unable("traces", &error))? })
}

/// The mean of `srtt_ms` over the flows' traces.
fn srtt_ms(traces: &Path) -> std::io::Result<f64> {
    let mut means = Vec::new();
    for entry in std::fs::read_dir(traces)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains(".flow-") && name.ends_with(".csv") {
            let text = std::fs::read_to_string(entry.path())?;
            let mut lines = text.lines().map(|line| line.split(','));
            let place = lines.next().and_then(|mut head| head.position(|name| name == "srtt_ms"));
            let values = lines.filter_map(|mut line| line.nth(place?)?.parse::<f64>().ok());
            means.extend(mean(values.filter(|value| *value > 0.0)));
        }
    }
    Ok(mean(means).unwrap_or(0.0))
}

/// The mean of some values, if there are any.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.into_iter().fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// The program that runs in guests, whose speed is no part of time: as it is built for tests. A
/// copy, so that what is built while it measures changes nothing.
pub(crate) fn of_guests(root: &Path, folder: &str) -> Result<PathBuf, Stop> {
    let words = ["build", "--package", "firstflight-cli", "--features", "kernel", "--bin"];
    let built = step::executable(root, &[&words[..], &["firstflight"]].concat())?;
    let copy = root.join(folder).join("firstflight");
    let fresh = copy.with_extension("fresh");
    let copied = std::fs::create_dir_all(copy.parent().unwrap_or(root))
        .and_then(|()| std::fs::copy(&built, &fresh))
        .and_then(|_| std::fs::rename(&fresh, &copy));
    copied.map(|()| copy).map_err(|error| unable(folder, &error))
}

/// A hash of all files in these folders, and of qemu's version.
pub(crate) fn sources_of(root: &Path, folders: &[&str]) -> Result<String, Stop> {
    let mut files = Vec::new();
    for folder in folders {
        collect(&root.join(folder), &mut files).map_err(|error| unable(folder, &error))?;
    }
    files.sort();
    let mut all = String::new();
    for file in files {
        let bytes = std::fs::read(&file);
        let bytes = bytes.map_err(|error| unable(&file.display().to_string(), &error))?;
        all += &content_name(&bytes);
    }
    let qemu = Command::new("qemu-system-x86_64").arg("--version").output();
    let qemu = qemu.map(|said| said.stdout).unwrap_or_default();
    Ok(content_name(&[all.as_bytes(), &qemu].concat()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        match entry?.path() {
            path if path.is_dir() => collect(&path, files)?,
            path => files.push(path),
        }
    }
    Ok(())
}
