//! A judgement: the verdicts of all scenarios with the numbers behind them.

use std::collections::BTreeMap;

use firstflight_runner::{Options, RunError};
use firstflight_scenario::{ControlSpec, Rule, Scenario, Size};
use serde::Serialize;

use crate::catalogue::Entry;
use crate::jobs::{Keep, Outcome, Outcomes, Transports, outcomes};
use crate::matrix::{geometric, spread};
use crate::measured::{Curves, KeptRun, Measured};
use crate::rules::{BETTER, Numbers, REFERENCES, Ruled, Verdict, judge};

/// What is to be judged.
#[derive(Clone, Debug)]
pub struct Question {
    /// The control.
    pub control: ControlSpec,
    /// Further references, beside [`REFERENCES`].
    pub against: Vec<ControlSpec>,
    /// The scenarios.
    pub entries: Vec<Entry>,
    /// Seeds of a scenario in which something is random, instead of its own number.
    pub seeds: Option<u64>,
}

/// The document of `judge --json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Judgement {
    /// `firstflight/judgement@1`.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The control, as it was named.
    pub control: String,
    /// The transport.
    pub on: String,
    /// With what it was compared.
    pub references: Vec<String>,
    /// How often each rule held and did not.
    pub summary: BTreeMap<&'static str, Tally>,
    /// The scenarios, in the order of the catalogue.
    pub scenarios: Vec<Judged>,
}

impl Judgement {
    /// How often each rule holds that was asked: `R1 fast in 30 of 40, R2 gentle in 31 of 38`.
    pub fn sums(&self) -> String {
        let asked = Rule::ALL.iter().filter_map(|rule| {
            let tally = self.summary.get(rule.name()).copied().unwrap_or_default();
            let all = tally.pass + tally.fail;
            (all > 0).then(|| format!("{rule} {} in {} of {all}", rule.title(), tally.pass))
        });
        let asked: Vec<String> = asked.collect();
        if asked.is_empty() { "no rule is asked".to_owned() } else { asked.join(", ") + " hold" }
    }
}

/// How often a rule held and did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Scenarios in which it held.
    pub pass: usize,
    /// Scenarios in which it did not hold.
    pub fail: usize,
}

/// One scenario.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Judged {
    /// Its code, `A3b`.
    pub id: String,
    /// Its name, `A3b-very-slow-line`.
    pub name: &'static str,
    /// One line for people.
    pub title: String,
    /// The verdict of each rule.
    pub verdicts: BTreeMap<&'static str, Verdict>,
    /// The numbers behind each verdict that was asked for, in a sentence.
    pub reasons: BTreeMap<&'static str, String>,
    /// How many seeds the means are over.
    pub seeds: u64,
    /// How many points of a matrix they are over instead; then the time is a geometric mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<usize>,
    /// What was measured of the control.
    pub measured: Measured,
    /// Why its start-up ended with the first seed.
    pub exit_reason: Option<String>,
    /// What was measured of the references.
    pub references: BTreeMap<String, Measured>,
    /// A published bound of the completion time, seconds.
    pub bound_s: Option<f64>,
    /// Published mean completion times by control, seconds.
    pub published_s: BTreeMap<String, f64>,
    /// What is expected.
    pub expected: String,
    /// What the result does not show.
    pub shows_not: String,
    /// Who reported or proposed it.
    pub source: String,
    /// Why there is no result: the transport does not carry it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_carried: Option<String>,
    /// Why there is no result: the programs under judgement came to nothing. No rule holds then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Why the numbers may be the lab's and not the control's: its link was not in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<String>,
    /// Curves of the control and of the references with the first seed, for pictures.
    #[serde(skip)]
    pub curves: Vec<(String, Curves)>,
}

impl Question {
    /// Makes it a matter of a minute: few seeds, no matrix, and no scenario of long transfers.
    pub fn quicken(&mut self) {
        self.seeds = Some(QUICK_SEEDS);
        let quick = |entry: &Entry| entry.head.matrix.is_none() && bytes(entry) <= QUICK_BYTES;
        self.entries.retain(quick);
    }

    /// All controls that are run, each once: the one under judgement, then the references.
    fn controls(&self) -> Vec<ControlSpec> {
        let references = REFERENCES.iter().filter_map(|name| name.parse().ok());
        let mut all = vec![self.control.clone()];
        for spec in references.chain(self.against.iter().cloned()) {
            if all.iter().all(|known| known.text != spec.text) {
                all.push(spec);
            }
        }
        all
    }

    /// How many seeds a scenario is run with: one where nothing is random.
    fn seeds(&self, entry: &Entry) -> u64 {
        match (entry.scenario.runs.unwrap_or(1), self.seeds) {
            (1, _) => 1,
            (own, asked) => asked.unwrap_or(own),
        }
    }

    /// The runs of a scenario with each control: its seeds, or the points of its matrix.
    fn runs(&self, entry: &Entry) -> Vec<Scenario> {
        let first = entry.scenario.seed.unwrap_or(1);
        let seeded = |seed: u64| {
            let mut scenario = entry.scenario.clone();
            scenario.seed = Some(seed);
            scenario
        };
        match &entry.head.matrix {
            Some(matrix) => matrix.points(&seeded(first)),
            None => (first..first + self.seeds(entry)).map(seeded).collect(),
        }
    }

    /// Runs what is not kept, and judges. Of the options `on_done` hears of all runs; `serial`
    /// leaves them to the calling thread.
    ///
    /// # Errors
    /// An interruption, or what a run says that concerns more than one scenario; what was finished
    /// is kept.
    pub fn judge(
        &self,
        transports: &Transports<'_>,
        keep: Option<&Keep<'_>>,
        options: &Options<'_>,
    ) -> Result<Judgement, RunError> {
        let controls = self.controls();
        let runs = |entry: &Entry| self.runs(entry);
        let outcomes = outcomes(&self.entries, &controls, &runs, transports, keep, options)?;
        let names: Vec<&str> = controls.iter().map(|spec| spec.text.as_str()).collect();
        let scenarios: Vec<Judged> =
            self.entries.iter().map(|entry| self.judged(entry, &names, &outcomes)).collect();
        let mut summary: BTreeMap<&'static str, Tally> =
            Rule::ALL.iter().map(|rule| (rule.name(), Tally::default())).collect();
        for (rule, verdict) in scenarios.iter().flat_map(|judged| &judged.verdicts) {
            let tally = summary.entry(rule).or_default();
            tally.pass += usize::from(*verdict == Verdict::Pass);
            tally.fail += usize::from(*verdict == Verdict::Fail);
        }
        Ok(Judgement {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            control: self.control.text.clone(),
            on: transports.judged.name().to_owned(),
            references: self.references(&names),
            summary,
            scenarios,
        })
    }

    /// The names of the references, of which the control itself may be one.
    fn references(&self, names: &[&str]) -> Vec<String> {
        let own = REFERENCES.contains(&self.control.text.as_str());
        names[usize::from(!own)..].iter().map(|name| (*name).to_owned()).collect()
    }

    fn judged(&self, entry: &Entry, names: &[&str], outcomes: &Outcomes) -> Judged {
        let of = |name: &str| {
            outcomes.get(&(entry.id.clone(), name.to_owned())).map_or(&[][..], |found| found)
        };
        let mut references = Vec::new();
        let mut curves = Vec::new();
        for name in names {
            if let Ok(kept) = all_kept(of(name)) {
                let first = kept.first().map(|kept| kept.curves.clone()).unwrap_or_default();
                if entry.head.matrix.is_none() {
                    curves.push(((*name).to_owned(), first));
                }
            }
        }
        for name in self.references(names) {
            if let Ok(kept) = all_kept(of(&name)) {
                references.push((name, mean(entry, &kept)));
            }
        }
        let ours = all_kept(of(&self.control.text));
        let measured = ours.as_ref().map(|kept| mean(entry, kept)).unwrap_or_default();
        let numbers = Numbers { head: &entry.head, control: &measured, references: &references };
        let broken = ours.iter().flatten().find_map(|kept| kept.broken.clone());
        let in_doubt = ours.iter().flatten().find_map(|kept| kept.in_doubt.clone());
        let ruled = |rule: Rule| match (&ours, &broken) {
            (Ok(_), None) => judge(rule, &numbers),
            (Ok(_), Some(why)) if entry.head.rules.contains(&rule) => {
                Ruled { verdict: Verdict::Fail, why: why.clone() }
            }
            (Ok(_), Some(why)) | (Err(why), _) => {
                Ruled { verdict: Verdict::NotAsked, why: why.clone() }
            }
        };
        let ruled: Vec<(Rule, Ruled)> = Rule::ALL.map(|rule| (rule, ruled(rule))).to_vec();
        let asked = ruled.iter().filter(|(rule, _)| entry.head.rules.contains(rule));
        let mut reasons: BTreeMap<_, _> =
            asked.map(|(rule, ruled)| (rule.name(), ruled.why.clone())).collect();
        if let (Some(why), Ok(ours)) = (reasons.get_mut(Rule::R1.name()), &ours)
            && entry.head.matrix.is_some()
        {
            let better = BETTER.map(|name| all_kept(of(name)).unwrap_or_default());
            why.extend(
                spread(&self.runs(entry), ours, &better).map(|spread| format!("; {spread}")),
            );
        }
        let published = entry.head.published.iter();
        Judged {
            id: entry.id.clone(),
            name: entry.name,
            title: entry.title().to_owned(),
            verdicts: ruled.iter().map(|(rule, ruled)| (rule.name(), ruled.verdict)).collect(),
            reasons,
            seeds: self.seeds(entry),
            points: entry.head.matrix.is_some().then(|| self.runs(entry).len()),
            measured,
            exit_reason: ours.as_ref().ok().and_then(|kept| kept.first()?.exit_reason.clone()),
            references: references.into_iter().collect(),
            bound_s: entry.head.bound.map(firstflight_scenario::Time::seconds),
            published_s: published.map(|(name, time)| (name.clone(), time.seconds())).collect(),
            expected: entry.head.expected.clone(),
            shows_not: entry.head.shows_not.clone(),
            source: entry.source().to_owned(),
            not_carried: ours.err(),
            broken,
            in_doubt,
            curves,
        }
    }
}

impl Judged {
    /// The rules that do not hold, with the numbers.
    pub fn failed(&self) -> impl Iterator<Item = (Rule, &str)> {
        let fails = |rule: &Rule| self.verdicts.get(rule.name()) == Some(&Verdict::Fail);
        Rule::ALL.into_iter().filter(fails).map(|rule| {
            (rule, self.reasons.get(rule.name()).map(String::as_str).unwrap_or_default())
        })
    }
}

/// What the flows of a scenario send in all, as far as they have an end.
fn bytes(entry: &Entry) -> u64 {
    let groups = entry.scenario.groups();
    let each = groups.iter().map(|group| {
        let one = group.size.map(Size::bytes).or(group.files.map(|files| files.size.until.bytes()));
        one.unwrap_or_default() * group.count.unwrap_or(1)
    });
    each.sum()
}

/// What the document says it is.
pub(crate) const SCHEMA: &str = "firstflight/judgement@1";
/// Seeds of a quick judgement.
const QUICK_SEEDS: u64 = 3;
/// The longest transfers of a quick judgement.
const QUICK_BYTES: u64 = 60_000_000;

/// All runs of a control on a scenario, or why there is one that could not be.
fn all_kept(outcomes: &[Outcome]) -> Result<Vec<&KeptRun>, String> {
    outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Measured(kept) => Ok(&**kept),
            Outcome::NotCarried(why) => Err(why.clone()),
        })
        .collect()
}

/// The mean over seeds; over the points of a matrix times have a geometric mean, in which twice as
/// long here and half as long there are no difference.
fn mean(entry: &Entry, kept: &[&KeptRun]) -> Measured {
    let all: Vec<Measured> = kept.iter().map(|kept| kept.measured).collect();
    let mean = Measured::mean(&all);
    match entry.head.matrix {
        Some(_) => Measured { completion_s: geometric(&all), ..mean },
        None => mean,
    }
}

impl Judgement {
    /// Whether any rule does not hold.
    pub fn fails(&self) -> bool {
        self.summary.values().any(|tally| tally.fail > 0)
    }

    /// The JSON Schema of the document.
    #[cfg(feature = "schema")]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }

    /// The document as indented JSON with a final newline.
    ///
    /// # Errors
    /// As serde's.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        firstflight_results::json(self)
    }
}
