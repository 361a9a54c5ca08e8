//! The format of the files in `papers/`, as they are read, before anything is made of them.
//!
//! The reference for writers is `papers/README.md`. Unknown keys, measures and relations are
//! errors, because a misspelt tolerance that is silently ignored makes a claim pass.

use std::collections::BTreeMap;

use firstflight_results::{ClaimValue, Class};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;

use crate::measure::Measure;

/// `paper.toml`: the paper as a whole and what all of its experiments share.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// Short name of the paper: `astart`.
    pub name: String,
    /// Prefix of the claims' ids: `S0`.
    pub id: String,
    /// Its place among the papers, from 1.
    pub place: u32,
    /// The paper's title.
    pub title: String,
    /// The paper in a few words, with the year: `Astart, 2004`.
    pub label: String,
    /// Authors, venue and year.
    pub citation: String,
    /// How the paper's runs are set up here and why, a paragraph each.
    pub setup: Vec<String>,
    /// The experiments in the order of the paper, by file name without `.toml`.
    pub order: Vec<String>,
    /// Scenario keys for every experiment, which may replace them.
    #[serde(default)]
    #[schemars(with = "Keys")]
    pub scenario: toml::Table,
}

/// One figure, table or passage.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// The title as in the paper: `Table 1: NewReno over RTT`.
    pub title: String,
    /// What the paper says of it, in own words, a paragraph each.
    pub text: Vec<String>,
    /// What we found beside the numbers, a paragraph each.
    #[serde(default)]
    pub findings: Vec<String>,
    /// The scenario, with the keys of a scenario file.
    #[serde(default)]
    #[schemars(with = "Keys")]
    pub scenario: toml::Table,
    /// How many seeds a run has, from 1 on; measures are means over them.
    #[serde(default = "one")]
    pub seeds: u64,
    /// How many samples over time every run keeps; none when not written.
    pub samples: Option<u32>,
    /// The control is fed this many ACKs on a scripted path, without a network.
    pub acks: Option<u32>,
    /// What carries the flows.
    #[serde(default)]
    pub on: On,
    /// Variations of the scenario.
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
    /// Variations over the values of one key.
    #[serde(default, rename = "sweep")]
    pub sweeps: Vec<Sweep>,
    /// What the paper claims.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    /// The plots.
    #[serde(default, rename = "plot")]
    pub plots: Vec<Plot>,
}

/// The scenario with some keys replaced.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The name by which checks and plots refer to it.
    pub name: String,
    /// Its place on a plot's x axis.
    pub x: Option<f64>,
    /// New values by dotted key.
    #[serde(default)]
    pub set: BTreeMap<String, Setting>,
    /// Other controls.
    pub controls: Option<Vec<String>>,
    /// Another number of seeds.
    pub seeds: Option<u64>,
    /// Another number of samples.
    pub samples: Option<u32>,
    /// Another number of ACKs on a scripted path.
    pub acks: Option<u32>,
    /// Another transport.
    pub on: Option<On>,
}

/// One case per value of a key, named by the value, its number the place on the x axis.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// The key that varies.
    pub key: String,
    /// Its values, as in a scenario file.
    pub values: Vec<String>,
    /// A prefix for the names of the cases, where two sweeps share values.
    #[serde(default)]
    pub prefix: String,
    /// New values of other keys.
    #[serde(default)]
    pub set: BTreeMap<String, Setting>,
    /// Other controls.
    pub controls: Option<Vec<String>>,
    /// Another number of seeds.
    pub seeds: Option<u64>,
    /// Another number of samples.
    pub samples: Option<u32>,
    /// Another number of ACKs on a scripted path.
    pub acks: Option<u32>,
    /// Another transport.
    pub on: Option<On>,
}

/// What carries the flows of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum On {
    /// The packet simulator.
    #[default]
    Sim,
    /// The lab: Linux's TCP on an emulated link, in real time or in a guest with its own clock.
    Linux,
}

/// A value for a key.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Setting {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// Anything else.
    Text(String),
}

/// One claim of the paper.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The claim's id, such as `S0-T1a`.
    pub id: String,
    /// What is claimed, in a line.
    pub what: String,
    /// How closely the result must agree.
    pub class: Class,
    /// What the paper says: a number, true, or words.
    pub expected: ClaimValue,
    /// Unit of `expected` and of what is measured.
    #[serde(default)]
    pub unit: String,
    /// What must hold for the claim to pass.
    #[serde(default, rename = "check")]
    pub checks: Vec<Check>,
    /// For a refuted claim, what must hold to show that it cannot be; `check` must then fail.
    #[serde(default, rename = "refutation")]
    pub refutations: Vec<Check>,
    /// The arithmetic of a refutation, or what the reader must know.
    pub note: Option<String>,
    /// The claim follows from other numbers of the paper, and nothing of ours takes part.
    #[serde(default)]
    pub arithmetic: bool,
    /// Why the claim fails, in a sentence, where it does.
    pub reason: Option<String>,
    /// Why the claim cannot be judged here; it has no checks then.
    pub unjudged: Option<String>,
}

/// A measured quantity and what it must be.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    /// What is measured, in words; a single check takes the claim's words.
    #[serde(default)]
    pub what: String,
    /// What is measured.
    #[schemars(with = "String")]
    pub measure: Measure,
    /// The case in which it is measured.
    pub case: Option<String>,
    /// The cases in which it is measured, made one number by `reduce`; all when neither is written.
    pub cases: Option<Vec<String>>,
    /// The control under which it is measured; may be left out where there is only one.
    pub control: Option<String>,
    /// The measure under this other control divides it.
    pub over: Option<String>,
    /// The measure in this other case divides it.
    pub over_case: Option<String>,
    /// The measure of these other flows divides it.
    pub over_flows: Option<Vec<usize>>,
    /// How several cases become one number.
    pub reduce: Option<Reduce>,
    /// The flows that are measured, counted from 0; all when not written.
    pub flows: Option<Vec<usize>>,
    /// Start of a period, seconds.
    pub from: Option<f64>,
    /// End of a period, seconds.
    pub until: Option<f64>,
    /// A level, for measures that ask when or how often it is reached.
    pub level: Option<f64>,
    /// On a scripted path: the ACK after which it is measured, from 1; 0 is before the first.
    pub ack: Option<u32>,
    /// On a scripted path: the round over which, or at whose end, it is measured, from 0.
    pub round: Option<u32>,
    /// The formula to evaluate, for the measure `formula`.
    pub formula: Option<String>,
    /// It equals this; the claim's expected number when only a tolerance is written.
    pub equals: Option<f64>,
    /// The tolerance of `equals`, in the claim's unit.
    pub within: Option<f64>,
    /// The tolerance of `equals`, in percent.
    pub within_percent: Option<f64>,
    /// It is at least this.
    pub at_least: Option<f64>,
    /// It is at most this.
    pub at_most: Option<f64>,
    /// It is more than this.
    pub above: Option<f64>,
    /// It is less than this.
    pub below: Option<f64>,
    /// The paper's number, where the condition is a bound and not that number.
    pub paper: Option<f64>,
    /// Knobs were fitted to this value, so the verdict is `fitted` instead of `pass`.
    #[serde(default)]
    pub fitted: bool,
    /// It is measured and shown, but decides nothing.
    #[serde(default)]
    pub information: bool,
}

/// How the values of several cases become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reduce {
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The mean.
    Mean,
    /// The largest value minus the smallest, in percent of the largest.
    SpreadPercent,
    /// The last value divided by the first.
    Growth,
    /// The smallest x from which on every value is zero: where a cliff ends.
    ZeroFrom,
    /// The median.
    Median,
    /// The x of the largest value.
    XOfLargest,
    /// The x before the largest step down to the next case.
    XOfFall,
    /// The x before the largest step up to the next case.
    XOfRise,
}

/// A picture.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// File name and anchor: `figure02`.
    pub id: String,
    /// The title, one line.
    pub title: String,
    /// Sentences below the picture.
    #[serde(default)]
    pub caption: String,
    /// The runs drawn over time.
    #[serde(default)]
    pub lines: Vec<Line>,
    /// The panels over time, from top to bottom.
    #[serde(default)]
    pub panels: Vec<Quantity>,
    /// The last second drawn over time.
    pub until: Option<f64>,
    /// The x axis of a plot over cases.
    pub x: Option<Named>,
    /// The y axis of a plot over cases; the measure's own words when not written.
    pub y: Option<Named>,
    /// What is drawn over cases, one line per control.
    #[schemars(with = "Option<String>")]
    pub measure: Option<Measure>,
    /// The cases drawn; all when not written.
    pub cases: Option<Vec<String>>,
    /// The controls drawn over cases; all when not written.
    pub controls: Option<Vec<String>>,
    /// The names in the legend of a plot over cases, by control.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Published values.
    #[serde(default)]
    pub paper: Vec<Published>,
    /// Horizontal lines over the whole first panel.
    #[serde(default)]
    pub marks: Vec<Mark>,
}

/// A run drawn over time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    /// Its name in the legend.
    pub name: String,
    /// The case.
    pub case: String,
    /// The control, where there are several.
    pub control: Option<String>,
    /// The flows, one curve for each; the first flow when not written.
    #[serde(default)]
    pub flows: Vec<usize>,
}

/// What can be drawn over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// Congestion window.
    Cwnd,
    /// Slow start threshold.
    Ssthresh,
    /// Packets in flight.
    InFlight,
    /// Packets waiting at the first link.
    Queue,
    /// Rate of acknowledged data.
    Throughput,
    /// The mean rate of the first link since the start of the run, in kbit/s.
    LinkAverage,
    /// Load Gauge's rates: cwnd/RTTmin, RE and ssthresh/RTTmin.
    Rates,
}

/// An axis.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// The quantity.
    pub name: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
}

/// Values the paper, or another source, publishes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// In the legend; says where the values come from.
    pub name: String,
    /// The line whose colour they take.
    pub like: Option<String>,
    /// Pairs of x and y.
    pub points: Vec<(f64, f64)>,
}

/// A horizontal line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    /// In the legend.
    pub name: String,
    /// Its value on the y axis.
    pub y: f64,
}

impl Head {
    /// The paper's heading: what it is called in short, and its title.
    pub(crate) fn heading(&self) -> String {
        match self.title.strip_prefix(&self.label) {
            Some(_) => self.title.clone(),
            None => format!("{}: {}", self.label, self.title),
        }
    }
}

impl Setting {
    /// The value as text, as [`firstflight_scenario::Document::set`] reads it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The JSON Schema of the files: of `paper.toml`, or of an experiment.
pub fn schema() -> serde_json::Value {
    let mut made = SchemaGenerator::default();
    let files = [made.subschema_for::<Head>(), made.subschema_for::<Experiment>()];
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "firstflight/papers",
        "title": "A paper's file in papers/ of firstflight",
        "anyOf": files,
        "$defs": made.take_definitions(true),
    })
}

/// Keys of a scenario file, as the schema knows them.
type Keys = serde_json::Map<String, serde_json::Value>;

fn one() -> u64 {
    1
}
