//! `docs/judgement.md`: every start-up judged on the catalogue, quinn's own over QUIC, and the
//! published numbers beside ours.

mod compared;
mod linux;
mod pictures;
mod quic;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use firstflight_control::policy::startups;
use firstflight_judge::{
    Entry, Judged, Judgement, Keep, Question, Tally, Transports, Verdict, select,
};
use firstflight_quic_sim::{QUIC, SIM};
use firstflight_report::{ReportError, digits, wrapped, write_file};
use firstflight_runner::Options;
use firstflight_scenario::Rule;
use firstflight_sweep::{Shelf, content_name};

use crate::Stop;
use crate::step::{self, announce};
use crate::tables::{head, row};

/// Judges what is not kept, and writes the page.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let judges = Judges::new(root)?;
    match words[..] {
        [] => {}
        ["--linux"] => return linux::run(root, &judges, false),
        ["--linux", "--page"] => return linux::run(root, &judges, true),
        ["--quic"] => return quic::run(root, &judges),
        _ => {
            let (found, accepted) = (args.join(" "), "--linux, --linux --page, --quic");
            return Err(Stop::usage(&format!("judge: found `{found}`; accepted: {accepted}")));
        }
    }
    let mut names: Vec<String> = startups().iter().map(|card| card.name.to_owned()).collect();
    names.extend(PAIRS.map(str::to_owned));
    let simulated: Vec<Judgement> =
        names.iter().map(|name| judges.judgement(name, false)).collect::<Result<_, _>>()?;
    let quic: Vec<Judgement> =
        QUINN.iter().map(|name| judges.judgement(name, true)).collect::<Result<_, _>>()?;
    let failed = |error: ReportError| Stop::failed(&format!("judge: {error}"));
    let front = pictures::draw(&root.join(PICTURES), &simulated).map_err(failed)?;
    let page = page(&simulated, &quic, &front);
    write_file(&root.join(PAGE), page).map_err(failed)?;
    println!("judge: {PAGE} is written");
    Ok(())
}

/// Finished runs, and by which program.
struct Judges {
    shelf: Shelf,
    who: String,
}

/// Controls on the simulator, in the whole catalogue.
pub(crate) fn simulated(root: &Path, names: &[&str]) -> Result<Vec<Judgement>, Stop> {
    let judges = Judges::new(root)?;
    names.iter().map(|name| judges.judgement(name, false)).collect()
}

impl Judges {
    fn new(root: &Path) -> Result<Self, Stop> {
        let shelf = Shelf::new(step::target(root).join("judge"), "json");
        let program = std::env::current_exe().and_then(std::fs::read);
        let program = program.map_err(|error| step::unable("judge", &error))?;
        Ok(Self { shelf, who: content_name(&program) })
    }

    /// A control on the simulator, or with few seeds over quinn.
    fn judgement(&self, name: &str, over_quic: bool) -> Result<Judgement, Stop> {
        let only: Vec<String> = match over_quic {
            true => OVER_QUIC.map(str::to_owned).to_vec(),
            false => Vec::new(),
        };
        let entries = select(&only).map_err(|problem| failed(name, &problem))?;
        let mut question = question(name, entries)?;
        if over_quic {
            question.quicken();
        }
        self.answer(&question, over_quic)
    }

    /// A control on the simulator, in some scenarios, with one seed.
    fn seeded(&self, name: &str, entries: &[Entry]) -> Result<Judgement, Stop> {
        let question = Question { seeds: Some(1), ..question(name, entries.to_vec())? };
        self.answer(&question, false)
    }

    fn answer(&self, question: &Question, over_quic: bool) -> Result<Judgement, Stop> {
        let name = &question.control.text;
        announce(&format!("judge {name}"));
        let transports = Transports::all(if over_quic { &QUIC } else { &SIM });
        let who = format!("{} quic {over_quic}", self.who);
        let keep = Keep { shelf: &self.shelf, who };
        let judged = question.judge(&transports, Some(&keep), &Options::default());
        judged.map_err(|error| failed(name, &error.to_string()))
    }
}

fn question(name: &str, entries: Vec<Entry>) -> Result<Question, Stop> {
    let control = name.parse().map_err(|error| failed(name, &format!("{error}")))?;
    Ok(Question { control, against: Vec::new(), entries, seeds: None })
}

fn failed(name: &str, problem: &str) -> Stop {
    Stop::failed(&format!("judge: {name}: {problem}"))
}

fn page(simulated: &[Judgement], quic: &[Judgement], front: &str) -> String {
    let mut text = "# Every start-up judged\n\n".to_owned();
    let scenarios = simulated.first().map_or(0, |judgement| judgement.scenarios.len());
    let all: Vec<Tallies<'_>> = simulated.iter().map(tallies_of).collect();
    text += &wrapped(&learned(scenarios, &all), COLUMNS, "");
    let _ = write!(text, "\n{}\n{}", wrapped(front, COLUMNS, ""), SHOWN);
    let _ = write!(text, "\n{READING}");
    verdicts(&mut text, "Every start-up, on the simulator", simulated, false);
    let over_quinn = format!(
        "Over quinn, on {}, with three seeds and without the longest transfers. The references \
         are ours over quinn; quinn's BBR draws from the operating system, so that its numbers \
         differ from run to run. What fails stands behind, in short: `A3` for A3a and A3b.",
        OVER_QUIC.join(", ")
    );
    let _ = write!(text, "\n{}", wrapped(&over_quinn, COLUMNS, ""));
    verdicts(&mut text, "quinn's own, over QUIC in virtual time", quic, true);
    nobody(&mut text, simulated);
    published(&mut text, simulated);
    let _ = write!(text, "\n{MADE}");
    text
}

/// How often each rule, in order, held for a control and did not.
type Tallies<'a> = (&'a str, [Tally; 5]);

fn tallies_of(judgement: &Judgement) -> Tallies<'_> {
    let of = |rule: Rule| judgement.summary.get(rule.name()).copied().unwrap_or_default();
    (&judgement.control, Rule::ALL.map(of))
}

/// Who keeps each rule in most of so many scenarios, in words.
fn learned(scenarios: usize, all: &[Tallies<'_>]) -> String {
    let best = Rule::ALL.map(|rule| {
        let of = |one: &Tallies<'_>| one.1[rule as usize];
        let most = all.iter().map(|one| of(one).pass).max().unwrap_or(0);
        let first = all.iter().filter(|one| of(one).pass == most);
        let asked = first.clone().map(|one| of(one).pass + of(one).fail).max().unwrap_or(0);
        let names: Vec<String> = first.map(|(name, _)| format!("`{name}`")).collect();
        let who = match &names[..] {
            [one] => one.clone(),
            [some @ .., last] if names.len() <= MOST_NAMES => {
                format!("{} and {last}", some.join(", "))
            }
            many => format!("{} start-ups", many.len()),
        };
        format!("{rule} ({}) {who}, {most} of {asked}", rule.title())
    });
    let whole = all.iter().filter(|(_, rules)| rules.iter().all(|tally| tally.fail == 0));
    let whole = match whole.count() {
        0 => "No start-up keeps all five rules".to_owned(),
        count => format!("{count} of {} start-ups keep all five rules", all.len()),
    };
    format!(
        "{whole} on all of the {scenarios} scenarios. Who keeps each rule in most of the scenarios \
         that ask it: {}.",
        best.join("; ")
    )
}

/// A row for each control, with the names of what fails where there are few.
fn verdicts(text: &mut String, title: &str, judgements: &[Judgement], named: bool) {
    let mut names: Vec<&str> = Rule::ALL.map(Rule::name).to_vec();
    names.extend(named.then_some("fails on"));
    head(text, title, "control", &names);
    for judgement in judgements {
        let mut cells = tallies(judgement);
        cells.extend(named.then(|| fails(judgement)));
        row(text, &format!("`{}`", judgement.control), cells.into_iter());
    }
}

/// In how many of the scenarios that ask a rule it holds, rule by rule.
pub(crate) fn tallies(judgement: &Judgement) -> Vec<String> {
    let (_, rules) = tallies_of(judgement);
    rules.map(|tally| format!("{}/{}", tally.pass, tally.pass + tally.fail)).to_vec()
}

/// `R1: A3, C1; R3: F1`, and what is not covered.
fn fails(judgement: &Judgement) -> String {
    let mut parts: Vec<String> = Vec::new();
    for rule in Rule::ALL {
        let failed = judgement.scenarios.iter().filter(|judged| fails_in(judged, rule));
        let mut short: Vec<&str> = failed.map(|judged| number(&judged.id)).collect();
        short.dedup();
        if !short.is_empty() {
            parts.push(format!("{rule}: {}", short.join(" ")));
        }
    }
    let not_carried = judgement.scenarios.iter().filter(|judged| judged.not_carried.is_some());
    match not_carried.count() {
        0 => {}
        all if all == judgement.scenarios.len() => parts.push("not covered".to_owned()),
        some => parts.push(format!("{some} not covered")),
    }
    parts.join("; ")
}

/// Whether a rule is broken in this scenario.
pub(crate) fn fails_in(judged: &Judged, rule: Rule) -> bool {
    judged.verdicts.get(rule.name()) == Some(&Verdict::Fail)
}

/// A name without its last letter.
fn number(id: &str) -> &str {
    id.trim_end_matches(|c: char| c.is_ascii_lowercase())
}

/// The scenarios and rules that no control passes: the threshold may be out of reach.
fn nobody(text: &mut String, judgements: &[Judgement]) {
    let mut passes: BTreeMap<(&str, Rule), usize> = BTreeMap::new();
    for judged in judgements.iter().flat_map(|judgement| &judgement.scenarios) {
        for rule in Rule::ALL {
            match judged.verdicts.get(rule.name()) {
                Some(Verdict::Pass) => *passes.entry((&judged.id, rule)).or_default() += 1,
                Some(Verdict::Fail) => *passes.entry((&judged.id, rule)).or_default() += 0,
                _ => {}
            }
        }
    }
    let none: Vec<String> = passes
        .iter()
        .filter(|(_, passes)| **passes == 0)
        .map(|((id, rule), _)| format!("{id} {rule}"))
        .collect();
    let _ = writeln!(text, "\n## What none of them does\n");
    match none.is_empty() {
        true => text.push_str("Every rule holds for some control on every scenario.\n"),
        false => {
            let _ = writeln!(text, "No control of the first table passes {}.", none.join(", "));
        }
    }
}

/// Published means and bounds beside ours.
fn published(text: &mut String, judgements: &[Judgement]) {
    let _ = writeln!(text, "\n## Published numbers beside ours\n\n{PUBLISHED}");
    head(
        text,
        "Means of others",
        "scenario",
        &["control", "published, s", "here, s", "difference"],
    );
    let of = |name: &str| judgements.iter().find(|judgement| judgement.control == name);
    let scenarios = judgements.first().map_or(&[][..], |judgement| &judgement.scenarios);
    for (place, scenario) in scenarios.iter().enumerate() {
        for (name, theirs) in &scenario.published_s {
            let ours = of(name).and_then(|j| j.scenarios.get(place)?.measured.completion_s);
            let apart = ours.map_or_else(String::new, |ours| {
                let apart = 100.0 * (ours / theirs - 1.0);
                let mark = if apart.abs() > 15.0 { "**" } else { "" };
                format!("{mark}{apart:+.1} %{mark}")
            });
            let cells = [format!("`{name}`"), digits(*theirs, 3), seconds(ours), apart];
            row(text, &scenario.id, cells.into_iter());
        }
    }
    head(text, "Bounds of others", "scenario", &["bound, s", "`bbr`, s", "`cubic`, s"]);
    for (place, scenario) in scenarios.iter().enumerate() {
        let Some(bound) = scenario.bound_s else { continue };
        let ours = |name| of(name).and_then(|j| j.scenarios.get(place)?.measured.completion_s);
        let cells = [digits(bound, 3), seconds(ours("bbr")), seconds(ours("cubic"))];
        row(text, &scenario.id, cells.into_iter());
    }
}

fn seconds(time: Option<f64>) -> String {
    time.map_or_else(|| "not done".to_owned(), |time| digits(time, 3))
}

const PAGE: &str = "docs/judgement.md";
const PICTURES: &str = "docs/img/judgement";
/// Pairs that other stacks have, under their usual names.
const PAIRS: [&str; 3] = ["cubic", "newreno", "slow-start+cubic"];
/// The scenarios over quinn, which takes tens of times as long as the simulator's TCP.
const OVER_QUIC: [&str; 4] = ["A", "D", "F1", "F4"];
/// quinn's own controls.
const QUINN: [&str; 3] = ["quinn-cubic", "quinn-newreno", "quinn-bbr"];

/// Width of a page's lines.
const COLUMNS: usize = 110;
/// Names that are said; more are only counted.
const MOST_NAMES: usize = 4;

const SHOWN: &str = "
![Every start-up on a plane of time and loss, with the Pareto front](img/judgement/plane.svg)

![For every start-up and group, the share of scenarios that fail a rule](img/judgement/rules.svg)
";

const READING: &str = "\
A cell of the table has in how many of the scenarios that ask [a rule](judge.md) it holds. The rules
are strict, and the historical start-ups were made for other paths. The references fail too: HyStart
leaves early in noise, HyStart++ and slow start lose what HyStart does not. `firstflight judge NAME`
lists what one fails. Linux's CUBIC is `hystart` here and its BBR `bbr`; [the kernel's own
two](judgement-linux.md) and [four controls over quinn](judgement-quic.md) have pages of their own.
";

const MADE: &str = "\
## How this page is made

`cargo xtask judge` writes it: every start-up of this repository, each with its usual avoidance, and
quinn's own. `firstflight judge NAME --out DIR` has the numbers and pictures of one.
";

const PUBLISHED: &str = "\
The C4 tests give means of picoquic's controls over 100 runs, SUSS one recorded run; `cubic` of the
C4 tests is picoquic's, with a HyStart of its own, and here slow start with CUBIC. Where the draft
names no size or buffer, those of its simulator's files are taken (`firstflight scenarios` says so).
Differences above 15 % are bold; [paths.md](paths.md#beside-the-c4-tests) explains them.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_begins_with_who_keeps_each_rule_most_often() {
        let of = |passes: [usize; 5]| passes.map(|pass| Tally { pass, fail: 9 - pass });
        let all = [("a", of([9, 3, 5, 1, 9])), ("b", of([2, 4, 5, 1, 9]))];
        let many = ["c", "d", "e"].map(|name| (name, of([0, 0, 0, 1, 9])));
        let said = learned(7, &[&all[..], &many].concat());
        for part in [
            "No start-up keeps all five rules on all of the 7 scenarios.",
            "R1 (fast) `a`, 9 of 9; R2 (gentle) `b`, 4 of 9;",
            "R3 (safe to others) `a` and `b`, 5 of 9; R4 (never stuck) 5 start-ups, 1 of 9;",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert!(learned(7, &[("a", of([9; 5]))]).starts_with("1 of 1 start-ups keep all five"));
    }
}
