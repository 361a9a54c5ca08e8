//! `docs/judgement-linux.md`: the controls of the Linux kernel on the catalogue, in virtual time,
//! beside the simulator's own of each.
//!
//! A run of the kernel is kept under what decides it, so that the same command goes on where it was
//! interrupted. The simulator, and with it every verdict, is computed anew.

mod table;

use std::path::Path;
use std::process::ExitStatus;
use std::sync::Mutex;

use firstflight_judge::{Entry, Judged, Measured, select};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Stop;
use crate::cpu::children_s;
use crate::explained::Explained;
use crate::kept::Kept;
use crate::lab::{LINUX_BBR, LINUX_CUBIC, of_guests, sources_of};
use crate::step::{self, announce, unable};

use super::Judges;

/// A control of the kernel, and the simulator's of the same rules.
struct Pair {
    linux: &'static str,
    sim: &'static str,
}

/// What came of a scenario in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    measured: Measured,
    /// Why the kernel does not carry the scenario.
    refused: Option<String>,
    /// Seconds of the processor.
    cpu_s: f64,
}

/// A scenario on both.
pub(super) struct Beside {
    entry: Entry,
    /// What the simulator's control and the references do.
    sim: Judged,
    /// Nothing where it was not measured.
    kernel: Option<Run>,
}

/// Measures what is not kept, unless only the page is asked for, and writes the page.
pub(super) fn run(root: &Path, judges: &Judges, page_only: bool) -> Result<(), Stop> {
    let entries: Vec<Entry> = select(&[])
        .map_err(|problem| Stop::failed(&format!("judge: {problem}")))?
        .into_iter()
        .filter(|entry| entry.head.matrix.is_none())
        .collect();
    let guests = sources_of(root, &GUESTS)?;
    let study = Study { root, guests, store: Kept::new(&root.join(KEPT)), told_s: Mutex::new(0.0) };
    let failed = if page_only { 0 } else { study.measure(&entries)? };
    let mut tables = Vec::new();
    for pair in &PAIRS {
        let sim = judges.seeded(pair.sim, &entries)?;
        let rows = entries.iter().cloned().zip(sim.scenarios);
        let rows = rows.map(|(entry, sim)| {
            let kernel = study.store.get(&study.key(pair, &entry));
            Beside { entry, sim, kernel }
        });
        tables.push((pair, rows.collect::<Vec<_>>()));
    }
    let explained: Explained = step::read_toml(&root.join(crate::EXPLAINED))?;
    let text = table::page(&tables, &explained);
    std::fs::write(root.join(PAGE), text).map_err(|error| unable(PAGE, &error))?;
    println!("judge: {PAGE} is written");
    if failed > 0 {
        return Err(Stop::failed(&format!("{failed} runs failed, as said above")));
    }
    let unexplained = tables.iter().flat_map(|(pair, rows)| {
        let ids = table::differing(rows).into_iter();
        ids.filter(|id| explained.reason(pair.linux, id).is_none())
    });
    match unexplained.count() {
        0 => Ok(()),
        count => Err(Stop::failed(&format!("{count} scenarios differ and are not explained"))),
    }
}

/// What every run needs.
struct Study<'a> {
    root: &'a Path,
    /// Hash of what runs in a guest.
    guests: String,
    store: Kept,
    /// CPU time of children that is counted to a run already, seconds.
    told_s: Mutex<f64>,
}

impl Study<'_> {
    /// Measures what is not kept, one run on each core; how many failed.
    fn measure(&self, entries: &[Entry]) -> Result<usize, Stop> {
        let all = PAIRS.iter().flat_map(|pair| entries.iter().map(move |entry| (pair, entry)));
        let missing = all.filter(|(pair, entry)| {
            let kept: Option<Run> = self.store.get(&self.key(pair, entry));
            kept.is_none()
        });
        let missing: Vec<(&Pair, &Entry)> = missing.collect();
        if missing.is_empty() {
            return Ok(0);
        }
        announce("build");
        let program = of_guests(self.root, KEPT)?;
        announce(&format!("{} runs in a guest", missing.len()));
        *lock(&self.told_s) = children_s().unwrap_or_default();
        let stop: Mutex<Option<Stop>> = Mutex::new(None);
        let failed = missing.iter().par_bridge().map(|(pair, entry)| {
            if lock(&stop).is_some() {
                return 0;
            }
            match self.kernel(&program, pair, entry) {
                Ok(()) => 0,
                // Interrupted, or nothing can be kept: no other run would do better.
                Err(problem) if problem.code != FAILED => {
                    *lock(&stop) = Some(problem);
                    0
                }
                Err(problem) => {
                    eprintln!("{} {}: {}", pair.linux, entry.id, problem.message);
                    1
                }
            }
        });
        let failed = failed.sum();
        match stop.into_inner().unwrap_or_default() {
            Some(stop) => Err(stop),
            None => Ok(failed),
        }
    }

    /// Runs a scenario in a guest, and keeps what came of it.
    fn kernel(&self, program: &Path, pair: &Pair, entry: &Entry) -> Result<(), Stop> {
        let mut command = step::bound(program);
        command.args(["judge", pair.linux, "--only", &entry.id, "--json"]).args(FLAGS);
        // A folder for each run: one program at a time writes into one.
        let out = self.root.join(KEPT).join("judge").join(format!("{}-{}", pair.linux, entry.id));
        let output = command.arg("--out").arg(&out).output();
        let output = output.map_err(|error| unable("firstflight", &error))?;
        let judged = serde_json::from_slice::<Value>(&output.stdout).ok();
        let judged = judged.and_then(|mut all| Some(all["scenarios"].get_mut(0)?.take()));
        let read = |mut judged: Value| {
            let refused = judged["not_carried"].as_str().map(str::to_owned);
            let measured = serde_json::from_value(judged["measured"].take()).ok()?;
            Some(Run { measured, refused, cpu_s: 0.0 })
        };
        let Some(mut run) = judged.and_then(read) else {
            return Err(no_result(output.status, &output.stderr));
        };
        run.cpu_s = self.cpu_s();
        println!("{} {}: {:.0} s of a processor", pair.linux, entry.id, run.cpu_s);
        self.store.put(&self.key(pair, entry), &run)
    }

    /// CPU time that was not told of before. Of runs beside each other only the sum is right.
    fn cpu_s(&self) -> f64 {
        let now = children_s().unwrap_or_default();
        now - std::mem::replace(&mut *lock(&self.told_s), now)
    }

    fn key(&self, pair: &Pair, entry: &Entry) -> String {
        format!("{} {} {}\n{}", self.guests, pair.linux, FLAGS.join(" "), entry.toml)
    }
}

/// A lock, whoever panicked under it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn no_result(status: ExitStatus, stderr: &[u8]) -> Stop {
    let said = String::from_utf8_lossy(stderr);
    let message = format!("judge --linux: {}", said.trim());
    match status.code() {
        // The product's codes for an interruption and for a machine that lacks something.
        Some(130) | None => Stop { message: "judge --linux: interrupted".to_owned(), code: 130 },
        Some(3) => Stop::lacks(&message),
        _ => Stop::failed(&message),
    }
}

const PAGE: &str = "docs/judgement-linux.md";
const KEPT: &str = "firstflight-out/judge-linux";
const FAILED: u8 = 1;

/// What decides what happens in a guest: the lab, and its link's disciplines and elements. The
/// controls are the kernel's.
const GUESTS: [&str; 3] = ["crates/lab/src", "crates/queue/src", "crates/sim/src/element"];

const FLAGS: [&str; 7] = ["--on", "linux", "--virtual-time", "--references", "sim", "--seeds", "1"];

const PAIRS: [Pair; 2] =
    [Pair { linux: "linux-cubic", sim: LINUX_CUBIC }, Pair { linux: "linux-bbr", sim: LINUX_BBR }];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_of_scenarios_that_there_are() {
        let explained: Explained =
            step::read_toml(&xtask::root().join(crate::EXPLAINED)).ok().unwrap();
        let entries = select(&[]).unwrap();
        for reason in &explained.differs {
            let of_judge = PAIRS.iter().any(|pair| pair.linux == reason.from);
            // A path is one of `lab`'s.
            for id in reason.at.iter().filter(|at| of_judge && !at.contains(' ')) {
                assert!(entries.iter().any(|entry| entry.id == *id), "{}: {id}", reason.from);
            }
        }
    }
}
