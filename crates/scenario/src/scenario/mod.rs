//! A scenario as the user means it: what was written, typed, and nothing filled in.

mod carded;
mod catalogue;
mod elements;
mod files;
mod flow;
mod link;
mod matrix;
mod queue;
mod starts;
mod writes;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use firstflight_control::ControlSpec;
use firstflight_control::quantity::{Size, Time};
use serde::Serialize;

use crate::document::{Document, Node};
use crate::error::{Place, ScenarioError};
use crate::expect::Expect;
use crate::flags::PathFlags;
use crate::keys::{FlowKeys, SwitchKeys};
use crate::profile::{Ns2Release, Profile};
use crate::read::{Fields, Read};

pub use carded::Carded;
pub use catalogue::{Catalogue, Rule, SafeBy};
pub use elements::{Back, DelayStep, Elements, Jitter, RateOrNone, RateStep};
pub use files::{Between, Files};
pub use flow::{FlowGroup, Udp};
pub use link::{Dumbbell, Link, LinkKeys};
pub use matrix::Matrix;
pub use queue::QueueSpec;
pub use starts::Starts;
pub(crate) use writes::MOST_WRITES;
pub use writes::Write;

/// One experiment: a path or a network, its flows, and what is expected of the results.
///
/// `None` is "not written"; [`Scenario::complete`] fills in the defaults.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Scenario {
    /// A short name; the file's name without its ending when not written.
    pub name: String,
    /// One line for people.
    pub title: Option<String>,
    /// Free text for people.
    pub notes: Option<String>,
    /// Where the set-up comes from, such as `Astart paper, Table 1`.
    pub source: Option<String>,
    /// Ids of the claims that use this scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// The controls, one run each; flows without a control of their own use the run's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<ControlSpec>,
    /// How long the run is measured.
    pub duration: Option<Time>,
    /// Seed of every random stream.
    pub seed: Option<u64>,
    /// Runs of each control, with seeds from `seed` on; 1 to 10,000.
    pub runs: Option<u64>,
    /// Payload of a packet.
    pub packet: Option<Size>,
    /// Bytes a packet adds on the link.
    pub headers: Option<Size>,
    /// The constants of all endpoints.
    #[serde(flatten)]
    pub endpoint: Endpoint,
    /// The dumbbell: one bottleneck.
    pub path: Option<Dumbbell>,
    /// The links of a general network, instead of `path`.
    #[serde(rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Groups of flows as written; see [`Scenario::groups`].
    #[serde(rename = "flow", skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowGroup>,
    /// Constant-rate sources without congestion control.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub udp: Vec<Udp>,
    /// What the results must show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expect>,
    /// What it is for, and by what it is judged, in the catalogue.
    pub catalogue: Option<Catalogue>,
    /// Where each value stands, for messages.
    #[serde(skip)]
    pub(crate) origin: Origin,
}

/// The profile of the endpoints and the constants set alone; see [`Profile`].
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Endpoint {
    /// The named set of constants, for those not set below.
    pub profile: Option<Profile>,
    /// With profile `ns2`: the release of ns-2 whose constants these are.
    pub ns2_release: Option<Ns2Release>,
    /// What groups of flows can set for themselves.
    #[serde(flatten)]
    pub flow: FlowKeys,
    /// What holds for all endpoints.
    #[serde(flatten)]
    pub switches: SwitchKeys,
}

/// Where each value stands and how it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    file: String,
    written: BTreeMap<String, (Place, String)>,
}

impl Read for Scenario {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let scenario = Self {
            name: fields.read("name")?.unwrap_or_default(),
            title: fields.read("title")?,
            notes: fields.read("notes")?,
            source: fields.read("source")?,
            claims: fields.list("claims")?,
            controls: fields.list("controls")?,
            duration: fields.read("duration")?,
            seed: fields.count("seed", 0..=i64::MAX as u64)?,
            runs: fields.count("runs", 1..=MOST_RUNS)?,
            packet: fields.read("packet")?,
            headers: fields.read("headers")?,
            endpoint: Endpoint::from_fields(&mut fields)?,
            path: fields.read("path")?,
            links: fields.list("link")?,
            flows: fields.list("flow")?,
            udp: fields.list("udp")?,
            expect: fields.node("expect").map_or(Ok(Vec::new()), Expect::read_all)?,
            catalogue: fields.read("catalogue")?,
            origin: Origin::default(),
        };
        fields.finish()?;
        Ok(scenario)
    }
}

impl Endpoint {
    fn from_fields(fields: &mut Fields<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            profile: fields.read("profile")?,
            ns2_release: fields.read("ns2_release")?,
            flow: FlowKeys::read(fields)?,
            switches: SwitchKeys::read(fields)?,
        })
    }
}

impl Scenario {
    /// Reads a file and checks that it makes sense as a whole.
    ///
    /// # Errors
    /// See [`Document::load`] and [`Document::scenario`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        Document::load(path)?.scenario()
    }

    /// Reads TOML text; `file` names it in messages.
    ///
    /// # Errors
    /// See [`Document::parse`] and [`Document::scenario`].
    pub fn parse(text: &str, file: &str) -> Result<Self, ScenarioError> {
        Document::parse(text, file)?.scenario()
    }

    /// The scenario of the path flags, one run per control.
    ///
    /// # Errors
    /// See [`Document::scenario`]; they name the flag.
    pub fn from_flags(flags: &PathFlags, controls: &[String]) -> Result<Self, ScenarioError> {
        let mut document = Document::from_flags(flags)?;
        if !controls.is_empty() {
            document.set_controls(controls)?;
        }
        document.scenario()
    }

    /// The groups of flows: one flow without an end where none is written.
    pub fn groups(&self) -> Cow<'_, [FlowGroup]> {
        match &self.flows[..] {
            [] => Cow::Owned(vec![FlowGroup::default()]),
            written => Cow::Borrowed(written),
        }
    }

    /// The scenario as TOML, from which an equal scenario can be read.
    ///
    /// # Panics
    /// Never: every value here has a form in TOML.
    pub fn to_toml(&self) -> String {
        // By way of a value: what writes TOML is compiled once, and not for each key.
        let mut value = serde_json::to_value(self).expect("texts, numbers and tables only");
        unset(&mut value);
        toml::to_string(&value).expect("texts, whole numbers and tables only")
    }

    /// The file in which it is written; files that it names are in the same folder.
    pub fn file(&self) -> &str {
        &self.origin.file
    }

    /// An error about the value at a dotted key, with the place where it is written.
    pub fn error_at(&self, key: &str, problem: impl Into<String>) -> ScenarioError {
        self.origin.error(key, problem)
    }

    /// Whether the file or a flag has a value at this dotted key.
    pub(crate) fn is_written(&self, key: &str) -> bool {
        self.origin.written.contains_key(key)
    }

    /// Refuses a control that is listed twice: its runs would be equal and have one name.
    ///
    /// # Errors
    /// The second of the two, at its place, or what [`Scenario::plans`] finds.
    pub fn check_distinct(&self) -> Result<(), ScenarioError> {
        let plans = self.plans()?;
        for (i, plan) in plans.iter().enumerate() {
            if plans[..i].iter().any(|earlier| earlier.name == plan.name) {
                let problem = "given twice; accepted: each control once, `seed` for another run";
                return Err(self.origin.error(&format!("controls[{i}]"), problem));
            }
        }
        Ok(())
    }

    /// Asks `known` about every control, in order; its message says what is accepted.
    ///
    /// # Errors
    /// The first control refused, at its place.
    pub fn check_controls(
        &self,
        known: impl Fn(&ControlSpec) -> Result<(), String>,
    ) -> Result<(), ScenarioError> {
        let listed = self.controls.iter().enumerate();
        let listed = listed.map(|(i, control)| (format!("controls[{i}]"), control));
        let own = self.flows.iter().enumerate();
        let own =
            own.filter_map(|(i, f)| Some((format!("flow[{i}].control"), f.control.as_ref()?)));
        for (key, control) in listed.chain(own) {
            known(control).map_err(|problem| self.origin.error(&key, problem))?;
        }
        Ok(())
    }
}

impl Document {
    /// The scenario that is written here, checked as a whole.
    ///
    /// # Errors
    /// A value that does not read, an unknown key, or values that contradict each other.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let mut scenario = Scenario::read(self.root())?;
        let mut written = BTreeMap::new();
        self.root().walk("", &mut |key, node| {
            written.insert(key.to_owned(), (node.place.clone(), node.shown()));
        });
        scenario.origin = Origin { file: self.file().to_owned(), written };
        if scenario.name.is_empty() {
            let stem = Path::new(self.file()).file_stem().unwrap_or_default();
            scenario.name = stem.to_string_lossy().into_owned();
        }
        scenario.complete()?;
        Ok(scenario)
    }
}

impl Origin {
    /// An error about the value at a dotted key, with the place where it is written.
    pub(crate) fn error(&self, key: &str, problem: impl Into<String>) -> ScenarioError {
        let problem = problem.into();
        match self.written.get(key) {
            Some((place, found)) => {
                // A table is not worth showing; its name is.
                let found = Some(found.clone()).filter(|found| found != "a table");
                ScenarioError::Value { place: place.clone(), found, problem }
            }
            None => {
                let file = if self.file.is_empty() { "scenario" } else { &self.file };
                let place = Place::Key { file: file.to_owned(), line: None, key: key.to_owned() };
                ScenarioError::Value { place, found: None, problem }
            }
        }
    }
}

/// Takes out what has no value: TOML has no form for nothing.
fn unset(value: &mut serde_json::Value) {
    if let Some(table) = value.as_object_mut() {
        table.retain(|_, value| !value.is_null());
        table.values_mut().for_each(unset);
    } else if let Some(list) = value.as_array_mut() {
        list.iter_mut().for_each(unset);
    }
}

/// Flows are numbered in sixteen bits by everything that counts them.
pub(crate) const MOST_FLOWS: u64 = 65_535;
const MOST_RUNS: u64 = 10_000;
