//! `docs/judgement.md`: every start-up judged on the catalogue, quinn's own over QUIC, and the
//! published numbers beside ours.

mod linux;
mod pictures;
mod quic;
mod two_sides;

use std::collections::BTreeMap;
use std::path::Path;

use firstflight_control::policy::startups;
use firstflight_judge::{Entry, Judgement, Keep, Question, Tally, Transports, Verdict, select};
use firstflight_outside::{FileStore, content_name};
use firstflight_quic_sim::quinn::{QUIC, SIM};
use firstflight_report::{ReportError, wrapped};
use firstflight_runner::Options;
use firstflight_scenario::Rule;

use crate::Stop;
use crate::step::{self, announce};
use crate::tables::{head, row, write_parts};

/// Write docs/judgement.md: every start-up judged on the catalogue (a quarter of an hour; what was
/// measured is kept)
#[derive(Debug, clap::Parser)]
#[command(name = "judge", no_binary_name = true)]
struct Args {
    /// docs/judgement-quic.md instead: controls over quinn beside the simulator's QUIC (minutes)
    #[arg(long)]
    quic: bool,
    /// docs/judgement-linux.md instead: the kernel's own controls (qemu; half an hour)
    #[arg(long, conflicts_with = "quic")]
    linux: bool,
}

/// Judges what is not kept, and writes the page.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), Stop> {
    let asked: Args = crate::options(args)?;
    let judges = Judges::new(root)?;
    if asked.quic || asked.linux {
        return match asked.quic {
            true => quic::run(root, &judges),
            false => linux::run(root, &judges),
        };
    }
    let mut names: Vec<String> = startups().iter().map(|card| card.name.to_owned()).collect();
    names.extend(PAIRS.map(str::to_owned));
    let simulated: Vec<Judgement> =
        names.iter().map(|name| judges.judgement(name, false)).collect::<Result<_, _>>()?;
    let quic: Vec<Judgement> =
        QUINN.iter().map(|name| judges.judgement(name, true)).collect::<Result<_, _>>()?;
    let failed = |error: ReportError| Stop::failed(&format!("judge: {error}"));
    let front = pictures::draw(&root.join(PICTURES), &simulated).map_err(failed)?;
    write_parts(root, PAGE, "judge", &parts(&simulated, &quic, &front))
}

/// Finished runs, and by which program.
struct Judges {
    store: FileStore,
    who: String,
}

/// The scenarios but those that are a matrix of paths.
fn without_matrix() -> Result<Vec<Entry>, Stop> {
    let mut entries = select(&[]).map_err(|problem| Stop::failed(&format!("judge: {problem}")))?;
    entries.retain(|entry| entry.head.matrix.is_none());
    Ok(entries)
}

impl Judges {
    fn new(root: &Path) -> Result<Self, Stop> {
        let store = FileStore::new(step::target(root).join("judge"), "json");
        let program = std::env::current_exe().and_then(std::fs::read);
        let program = program.map_err(|error| step::unable("judge", &error))?;
        Ok(Self { store, who: content_name(&program) })
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
        let transports = Transports::all(if over_quic { &QUIC } else { &SIM });
        self.on(question, &transports, format!("{} quic {over_quic}", self.who))
    }

    /// Runs what is not kept by these words, which say what decides the runs.
    fn on(
        &self,
        question: &Question,
        transports: &Transports<'_>,
        who: String,
    ) -> Result<Judgement, Stop> {
        let name = &question.control.text;
        announce(&format!("judge {name}"));
        let keep = Keep { store: &self.store, who };
        let judged = question.judge(transports, Some(&keep), &Options::default());
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

/// What the page has between its marks.
fn parts(simulated: &[Judgement], quic: &[Judgement], front: &str) -> Vec<(&'static str, String)> {
    let scenarios = simulated.first().map_or(0, |judgement| judgement.scenarios.len());
    let all: Vec<Tallies<'_>> = simulated.iter().map(tallies_of).collect();
    let wrapped = |text: &str| wrapped(text, COLUMNS, "");
    vec![
        ("learned", wrapped(&learned(scenarios, &all))),
        ("front", wrapped(front)),
        ("simulated", verdicts("Every start-up, on the simulator", simulated)),
        ("quinn", verdicts("quinn's own, over QUIC in virtual time", quic)),
        ("published", wrapped(&format!("{} {}", passed_by_none(simulated), published(simulated)))),
    ]
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

/// A row for each control: in how many of the scenarios that ask a rule it holds.
fn verdicts(title: &str, judgements: &[Judgement]) -> String {
    let mut text = String::new();
    head(&mut text, title, "control", &Rule::ALL.map(Rule::name));
    for judgement in judgements {
        let (control, rules) = tallies_of(judgement);
        let cells = rules.map(|tally| format!("{}/{}", tally.pass, tally.pass + tally.fail));
        row(&mut text, &format!("`{control}`"), cells.into_iter());
    }
    text
}

/// The scenarios and rules that no control passes: the threshold may be out of reach.
fn passed_by_none(judgements: &[Judgement]) -> String {
    let mut passes: BTreeMap<(&str, Rule), usize> = BTreeMap::new();
    for judged in judgements.iter().flat_map(|judgement| &judgement.scenarios) {
        for rule in Rule::ALL {
            match judged.verdicts.get(rule.name()) {
                Some(Verdict::Pass) => *passes.entry((judged.name, rule)).or_default() += 1,
                Some(Verdict::Fail) => *passes.entry((judged.name, rule)).or_default() += 0,
                _ => {}
            }
        }
    }
    let none = passes.iter().filter(|(_, passes)| **passes == 0);
    let none: Vec<String> = none.map(|((name, rule), _)| format!("{name} {rule}")).collect();
    match none.is_empty() {
        true => "Every rule holds for some control on every scenario.".to_owned(),
        false => format!("No control of the first table passes {}.", none.join(", ")),
    }
}

/// How far our means are from those that others published, and who keeps their bounds.
fn published(judgements: &[Judgement]) -> String {
    let of = |name: &str| judgements.iter().find(|judgement| judgement.control == name);
    let scenarios = judgements.first().map_or(&[][..], |judgement| &judgement.scenarios);
    let took = |name: &str, place: usize| {
        of(name).and_then(|judgement| judgement.scenarios.get(place)?.measured.completion_s)
    };
    let (mut means, mut far) = (0, Vec::new());
    let (mut bounds, mut kept) = (0, [0; 2]);
    for (place, scenario) in scenarios.iter().enumerate() {
        means += scenario.published_s.len();
        let apart = scenario.published_s.iter().filter_map(|(name, theirs)| {
            match took(name, place).map(|ours| 100.0 * (ours / theirs - 1.0)) {
                Some(apart) if apart.abs() <= APART => None,
                Some(apart) => Some(format!("`{name}` {apart:+.0} %")),
                None => Some(format!("`{name}` not done")),
            }
        });
        let apart: Vec<String> = apart.collect();
        if !apart.is_empty() {
            far.push(format!("{} ({})", scenario.name, apart.join(", ")));
        }
        let Some(bound) = scenario.bound_s else { continue };
        bounds += 1;
        for (kept, name) in kept.iter_mut().zip(BOUND) {
            *kept += usize::from(took(name, place).is_some_and(|time| time <= bound));
        }
    }
    let [(first, of_first), (second, of_second)] = [(BOUND[0], kept[0]), (BOUND[1], kept[1])];
    format!(
        "The C4 tests publish means of picoquic's controls over 100 runs, SUSS one recorded run. \
         Ours are within {APART} % of these {means} times but on {}; [the later \
         start-ups' page](../papers/modern/deviations.md#beside-the-c4-tests) says why. Of the \
         {bounds} bounds that picoquic's own tests set, `{first}` keeps {of_first} and `{second}` \
         {of_second}. `firstflight judge NAME --json` has all of them (`published_s`, `bound_s`).",
        far.join(", "),
    )
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
/// Percent from which a difference from a published time is named.
const APART: f64 = 15.0;
/// Whose times are held to the bounds.
const BOUND: [&str; 2] = ["bbr", "cubic"];
/// Names that are said; more are only counted.
const MOST_NAMES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_begins_with_who_keeps_each_rule_most_often() {
        let of = |passes: [usize; 5]| passes.map(|pass| Tally { pass, fail: 9 - pass });
        let all = [("a", of([9, 3, 5, 1, 9])), ("b", of([2, 4, 5, 1, 9]))];
        let many = ["c", "d", "e"].map(|name| (name, of([0, 0, 0, 1, 9])));
        let text = learned(7, &[&all[..], &many].concat());
        for part in [
            "No start-up keeps all five rules on all of the 7 scenarios.",
            "R1 (fast) `a`, 9 of 9; R2 (gentle) `b`, 4 of 9;",
            "R3 (safe to others) `a` and `b`, 5 of 9; R4 (never stuck) 5 start-ups, 1 of 9;",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(learned(7, &[("a", of([9; 5]))]).starts_with("1 of 1 start-ups keep all five"));
    }
}
