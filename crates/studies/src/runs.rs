//! Runs scenarios for the studies on any transport, and keeps the runs of guests.

use std::path::{Path, PathBuf};
use std::process::Command;

use firstflight_results::statistics::mean;
use firstflight_results::{Results, RunResult};
use firstflight_runner::{Options, RunError, Transport};
use firstflight_scenario::Scenario;
use firstflight_transports::{On, SIM, VirtualTime};
use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use crate::Stop;
use crate::cache::{ResultCache, content_name};
use crate::step::{self, announce, kernel_features, no_kernel, unable};

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
    on(&SIM, scenario, Options { samples, serial: true, ..Options::default() })
}

/// Runs a scenario on a transport.
pub(crate) fn on(
    transport: &dyn Transport,
    scenario: &Scenario,
    options: Options<'_>,
) -> Result<Vec<Run>, Stop> {
    let report = transport.run(scenario, &options).map_err(|error| {
        let stop = if matches!(error, RunError::Lacks(_)) { Stop::lacks } else { Stop::failed };
        stop(&format!("{}: {error}", scenario.to_toml()))
    })?;
    let measured = |run: firstflight_runner::Run| {
        let srtts = run
            .flows
            .iter()
            .filter_map(|flow| mean(flow.column("srtt_ms")?.flatten().filter(|srtt| *srtt > 0.0)));
        Run { srtt_ms: mean(srtts).unwrap_or(0.0), result: run.result }
    };
    Ok(report.runs.into_iter().map(measured).collect())
}

/// A kernel in virtual time, whose runs are kept. The key of a run is its scenario and a hash of
/// the sources of what runs in the guest, so that a change of the simulator boots no guest again.
pub(crate) struct Guests {
    /// The command, which runs in the guest too.
    pub(crate) program: PathBuf,
    /// A hash of the sources.
    pub(crate) sources: String,
    /// The words of `--on`.
    words: String,
    transport: VirtualTime,
    samples: Option<u32>,
    pub(crate) cache: ResultCache,
}

impl Guests {
    /// Guests of a task in the words of `--on`, whose runs are kept in `folder` as long as nothing
    /// changes in `sources`, folders of the repository. They run the kernel's controls.
    pub(crate) fn new(
        root: &Path,
        (task, folder): (&str, &str),
        sources: &[&str],
        words: &str,
        samples: Option<u32>,
    ) -> Result<Self, Stop> {
        if kernel_features()?.is_empty() {
            return Err(Stop::lacks(&no_kernel(task)));
        }
        announce("build");
        let program = of_guests(root, folder)?;
        Ok(Self {
            transport: guests(words, &program).map_err(|error| Stop::usage(&error.to_string()))?,
            program,
            sources: sources_of(root, sources)?,
            words: words.to_owned(),
            samples,
            cache: ResultCache::new(&root.join(folder)),
        })
    }

    /// The run of a scenario with one control and one seed.
    pub(crate) fn run(&self, scenario: &Scenario) -> Result<Run, Stop> {
        let key = format!("{} {} {}", self.sources, self.words, scenario.to_toml());
        if let Some(kept) = self.cache.get(&key) {
            return Ok(kept);
        }
        let options = Options { samples: self.samples, serial: true, ..Options::default() };
        let run = on(&self.transport, scenario, options)?.into_iter().next().unwrap_or_default();
        self.cache.put(&key, &run)?;
        Ok(run)
    }
}

/// A run on the running kernel, by the command as it is built for release, because the emulated
/// link must keep up with the clock.
pub(crate) fn in_real_time(program: &Path, scenario: &Scenario) -> Result<Run, Stop> {
    let folder = tempfile::tempdir().map_err(|error| unable("temporary folder", &error))?;
    let file = folder.path().join("point.toml");
    std::fs::write(&file, scenario.to_toml()).map_err(|error| unable("point.toml", &error))?;
    let mut command = step::bound(program);
    command.arg("run").arg(&file).args(["--json", "--on", "linux", "--link", "tun"]);
    let results = serde_json::from_str(&step::output("run", &mut command)?);
    let results: Results = results.map_err(|error| Stop::failed(&error.to_string()))?;
    let result = results.runs.into_iter().next().unwrap_or_default();
    Ok(Run { result, srtt_ms: 0.0 })
}

/// The guests that these words of `--on` mean, in which this program runs.
pub(crate) fn guests(words: &str, program: &Path) -> Result<VirtualTime, RunError> {
    let guests = On::read(words)?.guests();
    let guests = guests.ok_or_else(|| RunError::Input(format!("{words}: no guest")))?;
    Ok(guests.inside(program))
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
    let files = folders.iter().flat_map(|folder| WalkDir::new(root.join(folder)));
    let files: Result<Vec<_>, _> = files.map(|found| found.map(DirEntry::into_path)).collect();
    let mut files = files.map_err(|error| Stop::failed(&error.to_string()))?;
    files.sort();
    let mut all = String::new();
    for file in files.iter().filter(|path| !path.is_dir()) {
        let bytes = std::fs::read(file);
        let bytes = bytes.map_err(|error| unable(&file.display().to_string(), &error))?;
        all += &content_name(&bytes);
    }
    let qemu = Command::new("qemu-system-x86_64").arg("--version").output();
    let qemu = qemu.map(|output| output.stdout).unwrap_or_default();
    Ok(content_name(&[all.as_bytes(), &qemu].concat()))
}
