//! `docs/judgement.md`: every start-up judged on the catalogue, quinn's own over QUIC, and the
//! published numbers beside ours.

mod compared;
mod linux;
mod pictures;
mod quic;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use firstflight_control::policy::startups;
use firstflight_judge::{Carrier, Entry, Judged, Judgement, Question, Refusal, Verdict, select};
use firstflight_quic_sim::Quic;
use firstflight_report::{ReportError, digits, write_file};
use firstflight_runner::{On, Options, RunError, run as run_scenario};
use firstflight_scenario::{Rule, Scenario};
use firstflight_sweep::{Shelf, SweepError, content_name};

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
        let on = On { transport: &Quic::SILENT, by_default: over_quic };
        let run = |scenario: &Scenario, options: &Options<'_>| {
            let options = Options { on: Some(on), ..*options };
            run_scenario(scenario, &options).map_err(|error| match error {
                RunError::Interrupted => Refusal::Interrupted,
                other => Refusal::NotCarried(other.to_string()),
            })
        };
        let carrier = Carrier {
            run: &run,
            who: format!("{} quic {over_quic}", self.who),
            in_turn: false,
            stop: &AtomicBool::new(false),
            progress: &|_, _| {},
        };
        let on = if over_quic { "quic" } else { "sim" };
        question.judge::<Box<SweepError>>(on, Some(&self.shelf), &carrier).map_err(|refusal| {
            let why = match refusal {
                Refusal::NotCarried(why) => why,
                Refusal::Interrupted => "interrupted".to_owned(),
                Refusal::Failed(error) => error.to_string(),
            };
            failed(name, &why)
        })
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
    let mut text = HEAD.to_owned();
    let count = simulated.first().map_or(0, |judgement| judgement.scenarios.len());
    let _ = writeln!(
        text,
        "\nOn the simulator, {count} scenarios. A cell has in how many of the scenarios that ask a \
         rule it holds;\nwhat fails stands behind, in short: `A3` for A3a and A3b."
    );
    let _ = writeln!(text, "\n{SHOWN}\n{front}");
    verdicts(&mut text, "Every start-up, on the simulator", simulated);
    let _ = writeln!(
        text,
        "\nOver quinn, on {}, with three seeds and without the longest transfers. The references \
         are ours over\nquinn; quinn's BBR draws from the operating system, so that its numbers \
         differ from run to run.",
        OVER_QUIC.join(", ")
    );
    verdicts(&mut text, "quinn's own, over QUIC in virtual time", quic);
    nobody(&mut text, simulated);
    published(&mut text, simulated);
    text
}

/// A row for each control.
fn verdicts(text: &mut String, title: &str, judgements: &[Judgement]) {
    let rules = Rule::ALL.map(Rule::name);
    let mut names: Vec<&str> = rules.to_vec();
    names.push("fails on");
    head(text, title, "control", &names);
    for judgement in judgements {
        let mut cells = tallies(judgement);
        cells.push(fails(judgement));
        row(text, &format!("`{}`", judgement.control), cells.into_iter());
    }
}

/// In how many of the scenarios that ask a rule it holds, rule by rule.
pub(crate) fn tallies(judgement: &Judgement) -> Vec<String> {
    let of = |rule: Rule| {
        let tally = judgement.summary.get(rule.name()).copied().unwrap_or_default();
        format!("{}/{}", tally.pass, tally.pass + tally.fail)
    };
    Rule::ALL.map(of).to_vec()
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

const HEAD: &str = "\
# Every start-up judged

What [the judge](judge.md) says of every start-up of this repository, historical and of today,
each with its usual avoidance, and of quinn's own. Linux's CUBIC is `hystart` here and its BBR
`bbr`, which [stacks.md](stacks.md) compares with the kernel; the kernel's own two are judged in
[judgement-linux.md](judgement-linux.md), and four controls over quinn on the whole catalogue in
[judgement-quic.md](judgement-quic.md). `cargo xtask judge` writes this page; `firstflight judge
NAME --out DIR` has the numbers and pictures of one.

The rules in short: R1 fast, R2 gentle, R3 safe to others, R4 never stuck, R5 dominated by no
reference. They are strict, and the historical start-ups were made for other paths. The references
fail too: HyStart leaves early in noise, HyStart++ and slow start lose what HyStart does not.
";

const SHOWN: &str = "\
![For every start-up and group, the share of scenarios that fail a rule](img/judgement/rules.svg)

![Every start-up on a plane of time and loss, with the Pareto front](img/judgement/plane.svg)
";

const PUBLISHED: &str = "\
The C4 tests give means of picoquic's controls over 100 runs, SUSS one recorded run; `cubic` of the
C4 tests is picoquic's, with a HyStart of its own, and here slow start with CUBIC. Where the draft
names no size or buffer, those of its simulator's files are taken (`firstflight scenarios` says so).
Differences above 15 % are bold; [paths.md](paths.md#beside-the-c4-tests) explains them.
";
