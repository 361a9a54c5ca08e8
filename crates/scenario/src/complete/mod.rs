//! A scenario that is complete: every default is filled in, and its schedules, disciplines and
//! elements are built. This is what runs, and what results carry in base units.

mod base;
mod capacity;
mod elements;
mod endpoint;
mod factors;
mod flow;
mod limits;
mod link;
mod udp;
mod writes;

use std::collections::HashMap;

use firstflight_control::ControlSpec;
use firstflight_control::quantity::{Loss, Rate, Size, Time};
use serde::Serialize;

use self::base::base;
use self::endpoint::release;
use self::limits::{HALF_DAY, NANOSECOND};
use crate::error::ScenarioError;
use crate::profile::{Constants, Ns2Release, Profile};
use crate::scenario::{MOST_FLOWS, Scenario};

pub use capacity::Capacity;
pub(crate) use capacity::Line;
pub use elements::Elements;
pub use endpoint::Endpoint;
pub use firstflight_link::Buffer;
pub use flow::Flow;
pub(crate) use flow::default_access_rate;
pub use link::{Back, Link, Queue};
pub(crate) use link::{bdp_packets, frame_bytes};
pub use udp::Udp;

/// A value and whether the scenario gave it. Printed as the value alone.
///
/// A control may bring windows and a recovery of its own (a large initial window is one). The
/// order is: the control's knob, what the scenario gave, the control's own, the profile's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting<T> {
    /// The value: the given one, or the profile's default.
    pub value: T,
    /// Whether the scenario gave it.
    pub given: bool,
}

impl<T> Setting<T> {
    /// `given`, or else the `default`.
    pub(crate) fn new(given: Option<T>, default: T) -> Self {
        Self { given: given.is_some(), value: given.unwrap_or(default) }
    }

    /// What the scenario gave, else the control's `own`, else the default.
    pub fn or_own(self, own: Option<T>) -> T {
        match own {
            Some(own) if !self.given => own,
            _ => self.value,
        }
    }
}

impl<T: Serialize> Serialize for Setting<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

/// A complete scenario. Results have it in bit/s, nanoseconds, bytes and packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Complete {
    /// The scenario's short name.
    pub name: String,
    /// One line for people.
    pub title: Option<String>,
    /// The controls, one run each.
    pub controls: Vec<ControlSpec>,
    /// How long a run is measured.
    #[serde(rename = "duration_ns", serialize_with = "base")]
    pub duration: Time,
    /// Seed of every random stream of the first run.
    pub seed: u64,
    /// Runs of each control; the others have the seeds after the first.
    pub runs: u64,
    /// Payload of a packet.
    #[serde(rename = "packet_bytes", serialize_with = "base")]
    pub packet: Size,
    /// Bytes a packet adds on the link.
    #[serde(rename = "header_bytes", serialize_with = "base")]
    pub headers: Size,
    /// The constants of all endpoints.
    pub endpoint: Endpoint,
    /// The network; one link for a dumbbell.
    pub links: Vec<Link>,
    /// Groups of flows.
    pub flows: Vec<Flow>,
    /// Sources without congestion control.
    pub udp: Vec<Udp>,
}

impl Complete {
    /// The seeds of the runs of each control.
    pub fn seeds(&self) -> std::ops::Range<u64> {
        self.seed..self.seed.saturating_add(self.runs)
    }

    /// Bytes a full packet takes on a link.
    pub fn wire_bytes(&self) -> u64 {
        self.packet.bytes() + self.headers.bytes()
    }

    /// The room and the loss in a direction, by its number on a flow's data path.
    pub fn room_and_loss(&self, number: usize) -> (Buffer, Loss) {
        match number.checked_sub(self.links.len()) {
            None => (self.links[number].buffer, self.links[number].loss),
            Some(of) => {
                let back = self.links[of].back.as_ref();
                back.map_or((Buffer::Unlimited, Loss::default()), |it| (it.buffer, it.loss))
            }
        }
    }

    /// The link of a path with the lowest rate of its own by index, the first of equals; 0 for an
    /// empty path. What limits a path may be something else: [`Capacity::bottleneck`].
    pub fn slowest(&self, path: &[usize]) -> usize {
        let rate =
            |index: &&usize| self.links.get(**index).map_or(u64::MAX, |link| link.rate.bps());
        path.iter().min_by_key(rate).copied().unwrap_or(0)
    }

    /// The link of all that lets the least pass over the run by index, the first of equals.
    pub fn slowest_link(&self) -> usize {
        let all: Vec<usize> = (0..self.links.len()).collect();
        self.capacity().bottleneck(&all, 0, self.duration.ns())
    }

    /// The BDP of this rate and RTT in whole packets, each with the bytes it takes on the slowest
    /// link.
    pub fn bdp_packets(&self, rate: Rate, rtt: Time) -> u64 {
        let wire = frame_bytes(&self.links, &[self.slowest_link()], self.wire_bytes());
        bdp_packets(rate, rtt, wire, 1000)
    }

    /// Number of flows over all groups.
    pub fn flow_count(&self) -> u64 {
        self.flows.iter().map(|flow| flow.count).sum()
    }
}

impl Scenario {
    /// The scenario with all defaults: the Astart paper's path (40 Mbps, 100 ms, a buffer of one
    /// BDP, 1000-byte packets, 20 s) and the constants of the profile.
    ///
    /// # Errors
    /// A value out of its range, or values that contradict each other.
    pub fn complete(&self) -> Result<Complete, ScenarioError> {
        Completion::new(self)?.complete()
    }
}

/// The scenario, and the values that everything else depends on.
struct Completion<'a> {
    scenario: &'a Scenario,
    constants: &'static Constants,
    duration: Time,
    packet: Size,
    headers: Size,
    /// The places of the links by their names; of two of one name, that of the first.
    links: HashMap<&'a str, usize>,
}

impl<'a> Completion<'a> {
    fn new(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        let profile = scenario.endpoint.profile.unwrap_or_default();
        let usual = if profile == Profile::Quic { QUIC_PACKET } else { PACKET };
        let mut links = HashMap::new();
        for (place, link) in scenario.links.iter().enumerate() {
            links.entry(link.name.as_str()).or_insert(place);
        }
        if links.is_empty() {
            links.insert(DUMBBELL, 0);
        }
        let completion = Self {
            scenario,
            links,
            constants: release(scenario).map_or_else(|| profile.constants(), Ns2Release::constants),
            duration: scenario.duration.unwrap_or(DURATION),
            packet: scenario.packet.unwrap_or(usual),
            headers: scenario.headers.unwrap_or_default(),
        };
        completion.time("duration", completion.duration, NANOSECOND..=HALF_DAY)?;
        completion.size("packet", completion.packet, 1)?;
        completion.size("headers", completion.headers, 0)?;
        Ok(completion)
    }

    fn complete(&self) -> Result<Complete, ScenarioError> {
        let scenario = self.scenario;
        let mut links = self.links()?;
        let mut flows = Vec::new();
        for (i, flow) in scenario.groups().iter().enumerate() {
            flows.push(self.flow(&format!("flow[{i}]"), flow, &links)?);
        }
        let mut udp = Vec::new();
        for (i, source) in scenario.udp.iter().enumerate() {
            udp.push(self.udp(&format!("udp[{i}]"), source, &links)?);
        }
        let total: u64 = flows.iter().map(|flow| flow.count).sum();
        if total > MOST_FLOWS {
            let problem = format!("{total} flows in all; accepted: 1 to {MOST_FLOWS}");
            return Err(self.error(&format!("flow[{}].count", flows.len() - 1), problem));
        }
        self.buffers(&mut links, flows.iter().map(|flow| &flow.path))?;
        self.marks(&links)?;
        self.ways_back(&links, &flows)?;
        Ok(Complete {
            name: scenario.name.clone(),
            title: scenario.title.clone(),
            controls: scenario.controls.clone(),
            duration: self.duration,
            seed: scenario.seed.unwrap_or(1),
            runs: scenario.runs.unwrap_or(1),
            packet: self.packet,
            headers: self.headers,
            endpoint: self.endpoint()?,
            links,
            flows,
            udp,
        })
    }

    /// Bytes a full packet takes on a link.
    fn wire_bytes(&self) -> u64 {
        self.packet.bytes() + self.headers.bytes()
    }
}

/// The name of the only link of a dumbbell.
const DUMBBELL: &str = "bottleneck";
pub(crate) const PACKET: Size = Size::from_bytes(1000);
/// The UDP payload that every path carries (RFC 9000 section 14), as over quinn.
pub(crate) const QUIC_PACKET: Size = Size::from_bytes(1200);
const DURATION: Time = Time::from_ms(20_000);
/// 10 Gbit/s over 80 s: beyond every path, and the memory of a laptop.
const MOST_IN_FLIGHT: u64 = 100_000_000;
