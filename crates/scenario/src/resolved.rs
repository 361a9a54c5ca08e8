//! A scenario with every default filled in, in base units: what runs, and what results carry.

mod capacity;
mod factors;
mod queue;

use firstflight_control::ControlSpec;
use firstflight_control::quantity::{Bursts, Loss, Rate, Time};
use firstflight_link::{Buffer, DelaySchedule, Element};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::keys::Switches;
use crate::profile::{Carrier, Constants, Ns2Release, Profile, Recovery};
use crate::scenario::Elements;

pub use capacity::Capacity;
pub(crate) use capacity::Line;
pub use queue::ResolvedQueue;

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

/// A scenario in base units: bit/s, nanoseconds, bytes, packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Resolved {
    /// The scenario's short name.
    pub name: String,
    /// One line for people.
    pub title: Option<String>,
    /// The controls, one run each.
    pub controls: Vec<ControlSpec>,
    /// How long a run is measured.
    pub duration_ns: u64,
    /// Seed of every random stream of the first run.
    pub seed: u64,
    /// Runs of each control; the others have the seeds after the first.
    pub runs: u64,
    /// Payload of a packet.
    pub packet_bytes: u64,
    /// Bytes a packet adds on the link.
    pub header_bytes: u64,
    /// The constants of all endpoints.
    pub endpoint: ResolvedEndpoint,
    /// The network; one link for a dumbbell.
    pub links: Vec<ResolvedLink>,
    /// Groups of flows.
    pub flows: Vec<ResolvedFlow>,
    /// Sources without congestion control.
    pub udp: Vec<ResolvedUdp>,
}

/// The constants of the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedEndpoint {
    /// The profile that gave the defaults.
    pub profile: Profile,
    /// The release of ns-2 whose constants they are; results have the key only where it is written.
    pub ns2_release: Option<Ns2Release>,
    /// The constants. Results have no value that its row hides.
    pub switches: Switches,
}

impl ResolvedEndpoint {
    /// The constants of the profile, and of its release.
    pub fn usual(&self) -> &'static Constants {
        self.ns2_release.map_or_else(|| self.profile.constants(), Ns2Release::constants)
    }
}

impl Serialize for ResolvedEndpoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("profile", &self.profile)?;
        if let Some(release) = self.ns2_release {
            map.serialize_entry("ns2_release", &release)?;
        }
        self.switches.serialize_into(&mut map, &self.usual().switches)?;
        map.end()
    }
}

/// A link. Data packets queue here; an ACK takes the time of the reverse path, or crosses a link of
/// its own where `back` or `delays` is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedLink {
    /// Its name, `bottleneck` for a dumbbell.
    pub name: String,
    /// The rate of bits on the link, per second.
    pub rate_bps: u64,
    /// Propagation of data, one way.
    pub delay_ns: u64,
    /// Propagation of ACKs on the reverse path.
    pub return_delay_ns: u64,
    /// Room for waiting packets.
    pub buffer: ResolvedBuffer,
    /// Packets waiting from which on packets with ECN are marked; `None` marks none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_threshold_packets: Option<u64>,
    /// What stands in place of the buffer; `buffer` is its limit then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<ResolvedQueue>,
    /// Random loss of data packets: the mean as `loss_ppb`, and what makes its bursts as `bursts`.
    #[serde(flatten, serialize_with = "in_ppb")]
    pub loss: Loss,
    /// Data packets lost by their number of arrival, from 1, rising.
    pub drop: Vec<u64>,
    /// Its elements, all of which results name.
    #[serde(flatten, serialize_with = "Elements::in_results")]
    pub elements: Elements,
    /// The other direction, where it is more than a delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<Box<ResolvedBack>>,
    /// `elements` as they run.
    #[serde(skip)]
    pub built: Built,
}

impl ResolvedLink {
    /// The key of the link's queue discipline, or else of its first element.
    pub fn beyond_drop_tail(&self) -> Option<&'static str> {
        self.queue.as_ref().map(|_| "queue").or(self.elements.key())
    }

    /// Describes each element of the link in a few words, for the headers of results.
    pub fn words(&self) -> impl Iterator<Item = String> + '_ {
        self.elements.words(self.back.as_ref().map(|back| back.words()))
    }
}

/// A link's elements as the simulator runs them, built from the keys.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The elements, in the order in which packets cross them.
    pub elements: Vec<Box<dyn Element>>,
    /// The one of them that is the delay.
    pub delays: Option<DelaySchedule>,
}

impl PartialEq for Built {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Built {}

/// The reverse path of ACKs over a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedBack {
    /// Its rate, in bits per second.
    pub rate_bps: u64,
    /// Room for waiting ACKs; `None` for all of them.
    pub buffer: Option<ResolvedBuffer>,
    /// Random loss of ACKs, as of the link's data.
    #[serde(flatten, serialize_with = "in_ppb")]
    pub loss: Loss,
    /// Elements that ACKs cross.
    #[serde(flatten, serialize_with = "Elements::in_results")]
    pub elements: Elements,
    /// `elements` as they run, and the link's delays among them.
    #[serde(skip)]
    pub built: Built,
}

impl ResolvedBack {
    /// Whether an ACK may be lost on it.
    pub fn may_lose(&self) -> bool {
        self.buffer.is_some() || self.loss != Loss::default() || self.elements.policer.is_some()
    }

    fn words(&self) -> String {
        let mut words = format!("back at {}", Rate::from_bps(self.rate_bps));
        if self.loss != Loss::default() {
            words += &format!(" with loss {}", self.loss);
        }
        self.elements.words(None).for_each(|said| words += &format!(" with {said}"));
        words
    }
}

/// Room for waiting packets; at least one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResolvedBuffer {
    /// In packets.
    Packets(u64),
    /// In bytes on the link.
    Bytes(u64),
}

impl From<ResolvedBuffer> for Buffer {
    fn from(room: ResolvedBuffer) -> Self {
        match room {
            ResolvedBuffer::Packets(packets) => Self::Packets(packets),
            ResolvedBuffer::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}

/// A group of equal flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedFlow {
    /// Its own control; `None` takes the run's.
    pub control: Option<ControlSpec>,
    /// How many.
    pub count: u64,
    /// Earliest start; equal to the latest unless starts are random.
    pub start_from_ns: u64,
    /// Latest start; each flow's start is drawn between the two.
    pub start_until_ns: u64,
    /// Each starts up to this much later still, at random.
    pub start_jitter_ns: u64,
    /// When all of them stop; `None` for the end of the run.
    pub stop_ns: Option<u64>,
    /// How long each flow runs, from its start.
    pub lifetime_ns: Option<u64>,
    /// How many bytes of payload each flow sends; `None` for no end.
    pub size_bytes: Option<u64>,
    /// The links it passes, in order, by index.
    pub path: Vec<usize>,
    /// Its data goes the other way. Results have the key only where it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// What its data crosses: `path`, or the other direction of a link, numbered behind the links
    /// and in their order.
    #[serde(skip)]
    pub data_path: Vec<usize>,
    /// Propagation of each access link, one way; a round trip passes four of them.
    pub access_delay_ns: u64,
    /// Rate of the access links.
    pub access_rate_bps: u64,
    /// Two-way propagation in all, access links included.
    pub rtt_ns: u64,
    /// Initial window.
    pub iw_bytes: Setting<u64>,
    /// Initial ssthresh; `None` for no ssthresh.
    pub ssthresh_bytes: Setting<Option<u64>>,
    /// Advertised window; `None` is unlimited.
    pub receiver_window_bytes: Option<u64>,
    /// What its sender keeps that is not acknowledged; `None` is unlimited. Results have the key
    /// only where there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer_bytes: Option<u64>,
    /// Loss recovery.
    pub recovery: Setting<Recovery>,
    /// Duplicate ACKs that mean a loss to Reno and NewReno.
    pub duplicate_acks: Setting<u64>,
    /// Packets per ACK.
    pub delayed_ack: Setting<u64>,
    /// ACKs per round trip instead; 0 for none. Results have the key only where there are some.
    #[serde(skip_serializing_if = "is_zero")]
    pub acks_per_rtt: u64,
    /// The transport; `None` for the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Carrier>,
    /// In how many parts the receiver sends an ACK; 1 for a whole ACK.
    pub split_acks: u64,
    /// Files one after the other instead of one stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<ResolvedFiles>,
    /// What the application writes when: `size_bytes` in all, not all at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<ResolvedWrite>,
    /// How long after its start the advertised window holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_window_until_ns: Option<u64>,
    /// How much later than usual the receiver answers the first packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_delay_ns: Option<u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What an application writes by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedWrite {
    /// When, from the start of the flow.
    pub at_ns: u64,
    /// How much at once.
    pub size_bytes: u64,
    /// Time between two.
    pub every_ns: u64,
    /// How many.
    pub count: u64,
}

impl ResolvedFlow {
    /// How long an ACK may wait where there are so many per round trip, ns.
    pub fn ack_delay_ns(&self) -> Option<u64> {
        self.rtt_ns.checked_div(self.acks_per_rtt)
    }

    /// The first key that is written of those that only simulated networks have.
    pub fn simulated_key(&self) -> Option<&'static str> {
        let written = [
            (!self.writes.is_empty(), "writes"),
            (self.receiver_window_until_ns.is_some(), "receiver_window_until"),
            (self.handshake_delay_ns.is_some(), "handshake_delay"),
        ];
        written.iter().find(|(is, _)| *is).map(|(_, key)| *key)
    }

    /// Every write, by its time from the start of the flow and its bytes; times rise.
    pub fn each_write(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.writes.iter().flat_map(|write| {
            (0..write.count).map(|i| (write.at_ns + i * write.every_ns, write.size_bytes))
        })
    }
}

/// Files one after the other; sizes and pauses are drawn at random, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedFiles {
    /// Smallest file.
    pub size_from_bytes: u64,
    /// Largest file.
    pub size_until_bytes: u64,
    /// Shortest pause between the last ACK of a file and the next one.
    pub pause_from_ns: u64,
    /// Longest pause.
    pub pause_until_ns: u64,
    /// All on the one connection. Results have the key only where it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_alive: bool,
}

/// A source without congestion control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedUdp {
    /// The rate on the link, headers included, while it sends.
    pub rate_bps: u64,
    /// Packets come as a Poisson process. Results have the key only where it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub poisson: bool,
    /// The mean times for which it sends and pauses, if it pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_off_ns: Option<[u64; 2]>,
    /// When it begins to send.
    pub start_ns: u64,
    /// When it stops.
    pub stop_ns: u64,
    /// Size of its packets on the link.
    pub packet_bytes: u64,
    /// Links in the order of travel, by index.
    pub path: Vec<usize>,
}

impl ResolvedUdp {
    /// What it sends, in a few words.
    pub fn words(&self) -> String {
        let rate = Rate::from_bps(self.rate_bps);
        match self.on_off_ns.map(|times| times.map(Time::from_ns)) {
            Some([on, off]) => format!("UDP at {rate} for {on} in {off} of pause"),
            None if self.poisson => format!("Poisson UDP at {rate}"),
            None => format!("UDP at {rate}"),
        }
    }
}

impl Resolved {
    /// The seeds of the runs of each control.
    pub fn seeds(&self) -> std::ops::Range<u64> {
        self.seed..self.seed.saturating_add(self.runs)
    }

    /// Bytes a full packet takes on a link.
    pub fn wire_bytes(&self) -> u64 {
        self.packet_bytes + self.header_bytes
    }

    /// The room and the loss in a direction, by its number on a flow's data path; no room where all
    /// that comes finds some.
    pub fn room_and_loss(&self, number: usize) -> (Option<ResolvedBuffer>, Loss) {
        match number.checked_sub(self.links.len()) {
            None => (Some(self.links[number].buffer), self.links[number].loss),
            Some(of) => {
                let back = self.links[of].back.as_ref();
                back.map_or((None, Loss::default()), |back| (back.buffer, back.loss))
            }
        }
    }

    /// The link of a path with the lowest rate of its own by index, the first of equals; 0 for an
    /// empty path. What limits a path may be something else: [`Capacity::bottleneck`].
    pub fn slowest(&self, path: &[usize]) -> usize {
        let rate = |index: &&usize| self.links.get(**index).map_or(u64::MAX, |link| link.rate_bps);
        path.iter().min_by_key(rate).copied().unwrap_or(0)
    }

    /// The link of all that lets the least pass over the run by index, the first of equals.
    pub fn slowest_link(&self) -> usize {
        let all: Vec<usize> = (0..self.links.len()).collect();
        self.capacity().bottleneck(&all, 0, self.duration_ns)
    }

    /// Whole packets in flight that fill a path of this rate and round trip, at the slowest link.
    pub fn bdp_packets(&self, rate_bps: u64, rtt_ns: u64) -> u64 {
        let wire = frame_bytes(&self.links, &[self.slowest_link()], self.wire_bytes());
        bdp_packets(rate_bps, rtt_ns, wire, 1000)
    }

    /// Number of flows over all groups.
    pub fn flow_count(&self) -> u64 {
        self.flows.iter().map(|flow| flow.count).sum()
    }
}

/// The rate in a direction, by its number on a flow's data path.
pub(crate) fn rate_bps(links: &[ResolvedLink], number: usize) -> u64 {
    let back = |link: &ResolvedLink| link.back.as_ref().map_or(link.rate_bps, |it| it.rate_bps);
    match number.checked_sub(links.len()) {
        None => links[number].rate_bps,
        Some(of) => back(&links[of]),
    }
}

/// What a packet of so many bytes takes on the link of a data path where it takes most.
pub(crate) fn frame_bytes(links: &[ResolvedLink], path: &[usize], bytes: u64) -> u64 {
    let elements = |number: &usize| match number.checked_sub(links.len()) {
        None => Some(&links[*number].elements),
        Some(of) => links[of].back.as_ref().map(|back| &back.elements),
    };
    let framed = path.iter().filter_map(elements).map(|elements| elements.on_link(bytes));
    framed.max().unwrap_or(bytes)
}

fn in_ppb<S: Serializer>(loss: &Loss, serializer: S) -> Result<S::Ok, S::Error> {
    let bursts = match *loss {
        Loss::Independent(_) => None,
        Loss::Bursts(Bursts { to_bad, to_good, in_good, in_bad }) => Some(BurstsInPpb {
            to_bad_ppb: to_bad.ppb(),
            to_good_ppb: to_good.ppb(),
            in_good_ppb: in_good.ppb(),
            in_bad_ppb: in_bad.ppb(),
        }),
    };
    LossInPpb { loss_ppb: loss.mean().ppb(), bursts }.serialize(serializer)
}

#[derive(Serialize)]
struct LossInPpb {
    loss_ppb: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bursts: Option<BurstsInPpb>,
}

#[derive(Serialize)]
struct BurstsInPpb {
    to_bad_ppb: u64,
    to_good_ppb: u64,
    in_good_ppb: u64,
    in_bad_ppb: u64,
}

/// `milli`/1000 of the bandwidth-delay product in packets of `wire` bytes, to the nearest.
pub(crate) fn bdp_packets(rate_bps: u64, rtt_ns: u64, wire: u64, milli: u64) -> u64 {
    let bits = u128::from(rate_bps) * u128::from(rtt_ns) * u128::from(milli);
    let packet_bits = 8 * 1_000 * 1_000_000_000 * u128::from(wire.max(1));
    let packets = (bits + packet_bits / 2) / packet_bits;
    u64::try_from(packets).unwrap_or(u64::MAX)
}
