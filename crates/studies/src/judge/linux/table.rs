//! The page: a table for each control.

use std::fmt::Write as _;

use firstflight_judge::rules::{Numbers, judge};
use firstflight_judge::{Measured, Verdict};
use firstflight_scenario::Rule;

use crate::explained::Explained;
use crate::tables::{head, row};

use super::super::compared::{Compared, number, tell_apart, words};
use super::{Beside, Pair, Run};

/// The page.
pub(super) fn page(tables: &[(&Pair, Vec<Beside>)], explained: &Explained) -> String {
    let mut text = HEAD.to_owned();
    let runs = tables.iter().flat_map(|(_, rows)| rows).filter_map(|row| row.kernel.as_ref());
    let cpu_s: f64 = runs.clone().map(|run| run.cpu_s).sum();
    let carried = runs.filter(|run| run.refused.is_none()).count();
    let _ = writeln!(
        text,
        "\n{carried} runs took {:.0} minutes of a processor, the references on the simulator among \
         them.",
        cpu_s / 60.0
    );
    for (pair, rows) in tables {
        table(&mut text, pair, rows);
        let ids = differing(rows);
        if !ids.is_empty() {
            let _ = writeln!(text, "\nWhy these differ:\n");
            ids.into_iter().for_each(|id| why(&mut text, pair, id, explained));
        }
    }
    text.push_str(&missing(tables));
    refused(&mut text, tables.first().map_or(&[][..], |(_, rows)| rows));
    text
}

fn why(text: &mut String, pair: &Pair, id: &str, explained: &Explained) {
    let why = explained.reason(pair.linux, id).map_or("NOT EXPLAINED", |reason| &reason.why);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "- **{id}.** {}", why.trim_end());
}

/// The scenarios on which a control differs in the kernel.
pub(super) fn differing(rows: &[Beside]) -> Vec<&str> {
    let far = rows.iter().filter(|row| row.compared().is_some_and(|compared| compared.is_far()));
    far.map(|row| row.entry.id.as_str()).collect()
}

fn table(text: &mut String, pair: &Pair, rows: &[Beside]) {
    let title = format!("`{}` in the kernel, `{}` simulated", pair.linux, pair.sim);
    head(text, &title, "scenario", &COLUMNS);
    let mut apart = Vec::new();
    for beside in rows {
        let Some((run, compared)) = beside.carried().zip(beside.compared()) else { continue };
        apart.extend(compared.apart());
        let pair = |of: fn(&Measured) -> Option<f64>| {
            [of(&run.measured), of(&beside.sim.measured)].map(number).join(", ")
        };
        let cells = [
            beside.head_rules(),
            failing(beside, Some(&run.measured)),
            failing(beside, None),
            compared.words(),
            compared.marked(),
            pair(|it| it.lost_packets),
            pair(|it| it.peak_queue_packets),
        ];
        row(text, &beside.entry.id, cells.into_iter());
    }
    tell_apart(text, apart);
}

/// The scenarios that have not been measured yet, without those that a kernel refuses.
fn missing(tables: &[(&Pair, Vec<Beside>)]) -> String {
    let all = || tables.iter().flat_map(|(_, rows)| rows);
    let is_refused = |id: &str| {
        let runs = all().filter(|row| row.entry.id == id).filter_map(|row| row.kernel.as_ref());
        runs.into_iter().any(|run| run.refused.is_some())
    };
    let mut text = String::new();
    for (pair, rows) in tables {
        let ids = rows.iter().filter(|row| row.kernel.is_none()).map(|row| row.entry.id.as_str());
        let ids: Vec<&str> = ids.filter(|id| !is_refused(id)).collect();
        if !ids.is_empty() {
            let (count, ids) = (ids.len(), ids.join(", "));
            let _ =
                writeln!(text, "\n{count} runs of `{}` are yet to be measured: {ids}.", pair.linux);
        }
    }
    text
}

impl Beside {
    /// The kernel's run, if it carries the scenario.
    fn carried(&self) -> Option<&Run> {
        self.kernel.as_ref().filter(|run| run.refused.is_none())
    }

    fn compared(&self) -> Option<Compared> {
        self.carried().map(|run| Compared::of(&run.measured, &self.sim.measured))
    }

    /// `R1 R2`: the rules that the scenario asks.
    fn head_rules(&self) -> String {
        words(Rule::ALL.into_iter().filter(|rule| self.entry.head.rules.contains(rule)))
    }
}

/// The rules that do not hold, of what was measured in the kernel, or simulated.
fn failing(beside: &Beside, kernel: Option<&Measured>) -> String {
    let references: Vec<(String, Measured)> =
        beside.sim.references.iter().map(|(name, it)| (name.clone(), *it)).collect();
    let fails = |rule: &Rule| match kernel {
        Some(control) => {
            let numbers = Numbers { head: &beside.entry.head, control, references: &references };
            judge(*rule, &numbers).verdict == Verdict::Fail
        }
        None => beside.sim.verdicts.get(rule.name()) == Some(&Verdict::Fail),
    };
    let fails = words(Rule::ALL.into_iter().filter(fails));
    if fails.is_empty() { "none".to_owned() } else { fails }
}

/// What the kernel does not carry, by the reason.
fn refused(text: &mut String, rows: &[Beside]) {
    let _ = writeln!(text, "\n## What the kernel does not carry\n\n{REFUSED}\n");
    for beside in rows {
        if let Some(why) = beside.kernel.as_ref().and_then(|run| run.refused.as_ref()) {
            let _ = writeln!(text, "- {}: {why}", beside.entry.id);
        }
    }
}

const COLUMNS: [&str; 7] = [
    "asks",
    "fails in the kernel",
    "fails simulated",
    "time: kernel, simulated",
    "apart",
    "lost",
    "peak queue",
];

const HEAD: &str = "\
# Linux's own controls judged

What [the judge](judge.md) says of the kernel's own CUBIC and BBR, which run in a Linux guest in
virtual time over firstflight's link, and what it says of the simulator's control of the same rules:
HyStart and CUBIC as Linux has them, and BBR version 1. `cargo xtask judge --linux` measures what is
not kept and writes this page; `--page` writes it from what is kept. `firstflight judge linux-cubic
--on linux --virtual-time --references sim --seeds 1 --only A1` runs one row, with pictures
(`--out DIR`).
[judgement.md](judgement.md) has every start-up on the simulator, with 20 seeds.

Each scenario was run with one seed. Where something is random, or a value is close to a rule's
threshold, kernel and simulator can get different verdicts by chance. The references are the
simulator's on both sides. Columns with two numbers have the kernel's first: the completion time in
seconds, or where nothing ends what the others got; packets lost; packets waiting at most. A
difference above 15 % is bold, and its reason (`validation/explained.toml`) is below the table.
";

const REFUSED: &str = "\
These scenarios need what no run in the kernel has. A8 is left out: it is 600 points.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_without_a_reason_says_so() {
        let reason = "[[differs]]\nfrom = 'linux-x'\nat = ['A6']\nwhy = 'Chance.'";
        let explained: Explained = toml::from_str(reason).unwrap();
        let said = |id| {
            let mut text = String::new();
            why(&mut text, &Pair { linux: "linux-x", sim: "x" }, id, &explained);
            text
        };
        assert_eq!(said("A6"), "- **A6.** Chance.\n");
        assert_eq!(said("F1a"), "- **F1a.** NOT EXPLAINED\n");
    }
}
