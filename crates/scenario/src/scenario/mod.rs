//! A scenario as the user means it: what was written, typed, and nothing filled in.

mod catalogue;
mod elements;
mod fields;
mod files;
mod matrix;
mod queue;
mod starts;
mod writes;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use firstflight_control::ControlSpec;
use firstflight_control::quantity::{Buffer, Loss, MarkFrom, Rate, Size, Time};
use serde::Serialize;

use crate::document::Document;
use crate::error::{Place, ScenarioError};
use crate::expect::Expect;
use crate::flags::PathFlags;
use crate::keys::{FlowKeys, SwitchKeys};
use crate::profile::{Carrier, Ns2Release, Profile};
use crate::read::Read;

pub use catalogue::{Catalogue, Rule, SafeBy};
pub use elements::{
    Back, DelayStep, Elements, Framing, Jitter, Policer, RateOrNone, RateStep, Reorder,
};
pub use files::{Between, Files};
pub use matrix::Matrix;
pub use queue::QueueSpec;
pub use starts::Starts;
pub(crate) use writes::MOST_WRITES;
pub use writes::Write;

/// One experiment: a path or a network, its flows, and what is expected of the results.
///
/// `None` is "not written"; [`Scenario::resolve`] fills in the defaults.
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

/// One bottleneck between fast access links: `[path]`.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Dumbbell {
    /// Bottleneck rate; the mean of `rates` or `rate_trace` when only those are written.
    pub rate: Option<Rate>,
    /// Two-way propagation of the bottleneck alone.
    pub rtt: Option<Time>,
    /// Room for waiting packets.
    pub buffer: Option<Buffer>,
    /// What must wait until packets with ECN are marked.
    pub ecn_threshold: Option<MarkFrom>,
    /// The queue discipline; drop-tail when not written.
    pub queue: Option<QueueSpec>,
    /// Propagation of each access link, one way, on top of `rtt`.
    pub access_delay: Option<Time>,
    /// Rate of the access links.
    pub access_rate: Option<Rate>,
    /// Rate of the access links as a multiple of the bottleneck's, where `access_rate` is not
    /// written.
    pub access_times: Option<u64>,
    /// Random loss of data packets.
    pub loss: Option<Loss>,
    /// Data packets lost by their number of arrival, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<u64>,
    /// What else happens to packets on it.
    #[serde(flatten)]
    pub elements: Elements,
}

/// One link of a general network: `[[link]]`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Link {
    /// The name by which flows refer to it.
    pub name: String,
    /// The rate, of bits on the link; the mean of `rates` or `rate_trace` when not written.
    pub rate: Option<Rate>,
    /// One-way propagation; ACKs take as long back and do not queue.
    pub delay: Time,
    /// Room for waiting packets; one BDP when not written.
    pub buffer: Option<Buffer>,
    /// What must wait until packets with ECN are marked.
    pub ecn_threshold: Option<MarkFrom>,
    /// The queue discipline; drop-tail when not written.
    pub queue: Option<QueueSpec>,
    /// Random loss of data packets.
    pub loss: Option<Loss>,
    /// Data packets lost by their number of arrival, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<u64>,
    /// What else happens to packets on it.
    #[serde(flatten)]
    pub elements: Elements,
}

/// A group of equal flows: `[[flow]]`.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct FlowGroup {
    /// Its own control, in every run.
    pub control: Option<ControlSpec>,
    /// How many, 1 to 65,535 over all groups.
    pub count: Option<u64>,
    /// When all of them start.
    pub start: Option<Time>,
    /// Random starts, instead of `start`.
    pub starts: Option<Starts>,
    /// Each starts up to this much later, at random.
    pub start_jitter: Option<Time>,
    /// When all of them stop.
    pub stop: Option<Time>,
    /// How long each flow runs, instead of `stop`.
    pub lifetime: Option<Time>,
    /// How many bytes of payload each flow sends; without end when not written.
    pub size: Option<Size>,
    /// Two-way propagation delay of the whole path. The access links get what the shared links
    /// do not have of it.
    pub rtt: Option<Time>,
    /// Propagation of each access link, one way, instead of the path's.
    pub access_delay: Option<Time>,
    /// Rate of its access links instead of the path's.
    pub access_rate: Option<Rate>,
    /// What its application writes when, instead of `size`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Write>,
    /// How long after its start the advertised window holds; from then on there is no limit.
    pub receiver_window_until: Option<Time>,
    /// How much later than usual the receiver answers the first packet.
    pub handshake_delay: Option<Time>,
    /// Constants of these flows instead of the scenario's.
    #[serde(flatten)]
    pub own: FlowKeys,
    /// TCP or QUIC for these flows, instead of the run's transport.
    pub transport: Option<Carrier>,
    /// Names of links in the order of travel; the only link when not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Whether they send the other way over `path`, beside the others' ACKs.
    pub reverse: Option<bool>,
    /// Files one after the other instead of one stream.
    pub files: Option<Files>,
}

/// A source without congestion control: `[[udp]]`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Udp {
    /// The rate on the link, headers included, while it sends.
    pub rate: Rate,
    /// Packets come as a Poisson process, and not at equal distances.
    pub poisson: Option<bool>,
    /// The mean time for which it sends before it pauses.
    pub on: Option<Time>,
    /// The mean time of a pause.
    pub off: Option<Time>,
    /// When it begins to send.
    pub start: Option<Time>,
    /// When it stops; at the end of the run when not written.
    pub stop: Option<Time>,
    /// Size of its packets; the scenario's when not written.
    pub packet: Option<Size>,
    /// Names of links in the order of travel; the only link when not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
}

/// Where each value stands and how it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    file: String,
    written: BTreeMap<String, (Place, String)>,
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
        toml::to_string(self).expect("texts, whole numbers and tables only")
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
        scenario.resolve()?;
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

/// Flows are numbered in sixteen bits by everything that counts them.
pub(crate) const MOST_FLOWS: u64 = 65_535;
