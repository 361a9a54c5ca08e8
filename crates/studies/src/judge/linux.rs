//! `docs/judgement-linux.md`: the controls of the Linux kernel on the catalogue, in virtual time,
//! beside the simulator's own of each.
//!
//! A run of the kernel is kept under what decides it, so that the same command goes on where it was
//! interrupted. The simulator, and with it every verdict, is computed anew.

use std::path::Path;
use std::process::ExitStatus;

use firstflight_judge::rules::{Numbers, judge};
use firstflight_judge::{Entry, Judged, Measured};
use firstflight_scenario::Rule;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Stop;
use crate::explained::Explained;
use crate::kept::Kept;
use crate::lab::{LINUX_BBR, LINUX_CUBIC, of_guests, sources_of};
use crate::step::{self, announce, unable};

use super::beside::{Beside, tables};
use super::{Judges, without_matrix};

/// A control of the kernel, and the simulator's of the same rules.
struct Pair {
    linux: &'static str,
    sim: &'static str,
}

/// What came of a scenario in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Run {
    measured: Measured,
    /// Why the kernel does not carry the scenario.
    refused: Option<String>,
}

/// Measures what is not kept, unless only the page is asked for, and writes the page.
pub(super) fn run(root: &Path, judges: &Judges, page_only: bool) -> Result<(), Stop> {
    let entries = without_matrix()?;
    let study =
        Study { root, guests: sources_of(root, &GUESTS)?, store: Kept::new(&root.join(KEPT)) };
    let failed = if page_only { 0 } else { study.measure(&entries)? };
    let mut all = Vec::new();
    for pair in &PAIRS {
        let sim = judges.seeded(pair.sim, &entries)?;
        let both = entries.iter().zip(sim.scenarios).filter_map(|(entry, sim)| {
            let run: Run = study.store.get(&study.key(pair, entry))?;
            run.refused.is_none().then(|| [in_kernel(entry, &sim, run.measured), sim])
        });
        all.push(Beside { control: pair.linux.to_owned(), scenarios: both.collect() });
    }
    let mut text = HEAD.to_owned();
    tables(&mut text, "kernel", &all);
    text.push_str(WHY);
    std::fs::write(root.join(PAGE), text).map_err(|error| unable(PAGE, &error))?;
    println!("judge: {PAGE} is written");
    if failed > 0 {
        return Err(Stop::failed(&format!("{failed} runs failed, as said above")));
    }
    let explained: Explained = step::read_toml(&root.join(crate::EXPLAINED))?;
    let unexplained = all.iter().flat_map(|beside| {
        let is_unexplained = |id: &str| explained.reason(&beside.control, id).is_none();
        let far = beside.far().filter(move |(judged, _)| is_unexplained(&judged.id));
        far.map(|(judged, _)| format!("{} {}", beside.control, judged.id))
    });
    let unexplained: Vec<String> = unexplained.collect();
    match unexplained.is_empty() {
        true => Ok(()),
        false => Err(Stop::failed(&format!("no reason is known: {}", unexplained.join(", ")))),
    }
}

/// What the rules say of the kernel's numbers. The references are the simulator's.
fn in_kernel(entry: &Entry, sim: &Judged, measured: Measured) -> Judged {
    let references: Vec<(String, Measured)> =
        sim.references.iter().map(|(name, it)| (name.clone(), *it)).collect();
    let numbers = Numbers { head: &entry.head, control: &measured, references: &references };
    let mut judged = sim.clone();
    judged.measured = measured;
    judged.verdicts = Rule::ALL.map(|rule| (rule.name(), judge(rule, &numbers).verdict)).into();
    judged
}

/// What every run needs.
struct Study<'a> {
    root: &'a Path,
    /// Hash of what runs in a guest.
    guests: String,
    store: Kept,
}

impl Study<'_> {
    /// Measures what is not kept, one run on each core; how many failed.
    fn measure(&self, entries: &[Entry]) -> Result<usize, Stop> {
        let all = PAIRS.iter().flat_map(|pair| entries.iter().map(move |entry| (pair, entry)));
        let is_missing = |(pair, entry): &(&Pair, &Entry)| {
            self.store.get::<Run>(&self.key(pair, entry)).is_none()
        };
        let missing: Vec<(&Pair, &Entry)> = all.filter(is_missing).collect();
        if missing.is_empty() {
            return Ok(0);
        }
        announce("build");
        let program = of_guests(self.root, KEPT)?;
        announce(&format!("{} runs in a guest", missing.len()));
        let one = |(pair, entry): &(&Pair, &Entry)| match self.kernel(&program, pair, entry) {
            Err(problem) if problem.code == FAILED => {
                eprintln!("{} {}: {}", pair.linux, entry.name, problem.message);
                Ok(1)
            }
            // Where it was interrupted, or nothing can be kept, no other run would do better.
            done => done.map(|()| 0),
        };
        let runs = missing.par_iter().with_max_len(1).map(one);
        runs.try_reduce(|| 0, |one, other| Ok(one + other))
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
            Some(Run { measured, refused })
        };
        let Some(run) = judged.and_then(read) else {
            return Err(no_result(output.status, &output.stderr));
        };
        println!("{} {} is measured", pair.linux, entry.name);
        self.store.put(&self.key(pair, entry), &run)
    }

    fn key(&self, pair: &Pair, entry: &Entry) -> String {
        format!("{} {} {}\n{}", self.guests, pair.linux, FLAGS.join(" "), entry.toml)
    }
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

const HEAD: &str = "\
# Linux's own controls judged

What [the judge](judge.md) says of the kernel's own CUBIC and BBR, which run in a Linux guest in
virtual time over firstflight's link, beside the simulator's control of the same rules: HyStart and
CUBIC as Linux has them, and BBR version 1. [judgement.md](judgement.md) has every start-up on the
simulator.

Each scenario that [the kernel carries](judge.md#where-it-runs) was run with one seed. Where
something is random, or a value is close to a rule's threshold, the two can get different verdicts
by chance. The references are the simulator's on both sides. A cell has in how many scenarios a rule
holds, in the kernel and simulated, of how many that ask it.
";

const WHY: &str = "
Compared is the completion time, or where nothing ends what the others got. The reasons, one by one
in [explained.toml](../validation/explained.toml): a guest that is too slow for 1 Gbit/s (A6), which
of two flows that begin at one moment is first (F1a, F4), Linux's timer wheel (F5b), BBR, whose
version 1 goes on in the kernel after start-up (D1, F2), and chance.

## How to get the rest

`firstflight judge linux-cubic --on linux --virtual-time --references sim --seeds 1 --csv rows.csv`
writes a row per scenario and control with all that was measured, `--out DIR` a report with
pictures; `--only wifi` takes one scenario. `cargo xtask judge --linux` measures what is not kept
and writes this page; `--page` writes it from what is kept.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_of_scenarios_that_there_are() {
        let explained: Explained =
            step::read_toml(&xtask::root().join(crate::EXPLAINED)).ok().unwrap();
        let entries = without_matrix().ok().unwrap();
        for reason in &explained.differs {
            let of_judge = PAIRS.iter().any(|pair| pair.linux == reason.from);
            // A path is one of `lab`'s.
            for id in reason.at.iter().filter(|at| of_judge && !at.contains(' ')) {
                assert!(entries.iter().any(|entry| entry.id == *id), "{}: {id}", reason.from);
            }
        }
    }
}
