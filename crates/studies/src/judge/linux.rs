//! `docs/judgement-linux.md`: the controls of the Linux kernel on the catalogue, in virtual time,
//! beside the simulator's own of each.
//!
//! A run of the kernel is kept under what decides it. The simulator, and with it every verdict, is
//! computed anew.

use std::path::Path;

use firstflight_judge::rules::{Numbers, judge};
use firstflight_judge::{Entry, Judged, Question, Transports};
use firstflight_scenario::Rule;
use firstflight_transports::SIM;

use crate::Stop;
use crate::explained::Explained;
use crate::lab::{LINUX_BBR, LINUX_CUBIC};
use crate::runs::{guests, of_guests, sources_of};
use crate::step;
use crate::tables::write_parts;

use super::two_sides::{TwoSides, tables};
use super::{Judges, question, without_matrix};

/// A control of the kernel, and the simulator's of the same rules.
const PAIRS: [(&str, &str); 2] = [("linux-cubic", LINUX_CUBIC), ("linux-bbr", LINUX_BBR)];

/// Measures what is not kept, and writes the page.
pub(super) fn run(root: &Path, judges: &Judges) -> Result<(), Stop> {
    let entries = without_matrix()?;
    let guest = guests(GUEST, &of_guests(root, PROGRAMS)?);
    let guest = guest.map_err(|error| Stop::failed(&error.to_string()))?;
    let who = format!("{} {GUEST}", sources_of(root, &GUESTS)?);
    let transports = Transports { judged: &guest, references: &SIM, linux: &guest };
    let mut all = Vec::new();
    for (linux, sim) in PAIRS {
        let asked = Question { seeds: Some(1), ..question(linux, entries.clone())? };
        let kernel = judges.on(&asked, &transports, who.clone())?;
        let sim = judges.seeded(sim, &entries)?;
        let both = entries.iter().zip(kernel.scenarios).zip(sim.scenarios);
        let carried = both.filter(|((_, kernel), _)| kernel.not_carried.is_none());
        let rows = carried.map(|((entry, kernel), sim)| [judged_again(entry, kernel, &sim), sim]);
        all.push(TwoSides { control: linux.to_owned(), scenarios: rows.collect() });
    }
    write_parts(root, PAGE, "judge --linux", &[("", tables("kernel", &all))])?;
    let explained: Explained = step::read_toml(&root.join(crate::EXPLAINED))?;
    let unexplained = all.iter().flat_map(|sides| {
        let finding = |id: &str| explained.finding(&sides.control, id, true);
        let far = sides.far().filter(move |(judged, _)| finding(&judged.id).is_wrong());
        far.map(|(judged, _)| format!("{} {}", sides.control, judged.id))
    });
    let unexplained: Vec<String> = unexplained.collect();
    match unexplained.is_empty() {
        true => Ok(()),
        false => Err(Stop::failed(&format!("no reason is known: {}", unexplained.join(", ")))),
    }
}

/// The kernel's numbers with verdicts against the simulator's references of today.
fn judged_again(entry: &Entry, mut kernel: Judged, sim: &Judged) -> Judged {
    let references: Vec<_> = sim.references.iter().map(|(name, it)| (name.clone(), *it)).collect();
    let numbers = Numbers { head: &entry.head, control: &kernel.measured, references: &references };
    let verdicts = Rule::ALL.map(|rule| (rule.name(), judge(rule, &numbers).verdict));
    kernel.verdicts = verdicts.into();
    kernel
}

const PAGE: &str = "docs/judgement-linux.md";
const PROGRAMS: &str = "firstflight-out/judge-linux";
const GUEST: &str = "linux --virtual-time --link tun";

/// What decides what happens in a guest: the lab, and its link's disciplines and elements. The
/// controls are the kernel's.
const GUESTS: [&str; 2] = ["crates/lab/src", "crates/link/src"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_of_scenarios_that_there_are() {
        let explained: Explained =
            step::read_toml(&xtask::root().join(crate::EXPLAINED)).ok().unwrap();
        let entries = without_matrix().ok().unwrap();
        for reason in &explained.differs {
            let of_judge = PAIRS.iter().any(|(linux, _)| *linux == reason.from);
            // A path is one of `lab`'s.
            for id in reason.at.iter().filter(|at| of_judge && !at.contains(' ')) {
                assert!(entries.iter().any(|entry| entry.id == *id), "{}: {id}", reason.from);
            }
        }
    }
}
