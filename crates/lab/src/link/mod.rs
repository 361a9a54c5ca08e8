//! The emulated link: a rate, a buffer, loss and a delay between two network namespaces, in user
//! space, for kernels without netem and for statistics that netem does not give.
//!
//! Each end's namespace has a TUN device; a thread for each direction carries packets from one to
//! the other. It reads without blocking, in batches, cuts what came as one into packets
//! (`segments`) in slots of one size, asks the virtual clock of the direction (`queue`) when each
//! packet is due, and hands it on then: `ppoll` with a timer slack of 1 ns brings it close, a spin
//! of some tens of microseconds the rest of the way. How late it was is part of every result
//! (`lateness`).
//!
//! A queue discipline, schedules, jitter and policers are the simulator's own (`managed`).
//!
//! What is not emulated: the rate of access links, and queues of the reverse path unless it has a
//! rate.

mod direction;
mod engine;
mod flows;
pub(crate) mod lateness;
mod managed;
mod pace;
mod packet;
mod queue;
mod segments;
mod timing;
mod way;

use std::net::Ipv4Addr;

use firstflight_control::quantity::Rate;
use firstflight_link::{BACK_STREAMS, Buffer, Discipline, Element};
use firstflight_scenario::{Complete, Loss, complete};
use serde::Serialize;

pub(crate) use flows::{FlowSeen, Flows};

pub use engine::{Clock, Device, Running, start};
pub use lateness::LatenessReport;
pub use timing::Timing;

/// A link: one direction each way, independent of each other.
#[derive(Clone, Debug, Default)]
pub struct LinkSpec {
    /// From the near end, the sender's, to the far end.
    pub forward: DirectionSpec,
    /// From the far end to the near end.
    pub backward: DirectionSpec,
    /// The scenario's first key of those that are neither rate, delay, loss nor queue.
    pub beyond: Option<&'static str>,
    /// Seed of all that is random.
    pub seed: u64,
    /// Largest packet, 576 to 65,535 bytes.
    pub mtu: usize,
    /// Payload of a full packet, for links that count frames.
    pub packet_bytes: u64,
    /// How long to spin before a packet is due, ns, and up to four times as long when wake-ups come
    /// late; 0 leaves it to the timer, and lets idle processors sleep.
    pub spin_ns: u64,
    /// Keep the most packets waiting in every interval of so many ns.
    pub depth_every_ns: Option<u64>,
    /// Its devices take packets whose checksum is left to do, as network cards do. Linux 6.1
    /// refuses UDP's segmentation offload on others (EIO, `udp_send_skb` in net/ipv4/udp.c).
    pub checksums: bool,
}

/// One direction of a link.
#[derive(Clone, Debug, Default)]
pub struct DirectionSpec {
    /// `None` has no queue: packets only take time.
    pub rate: Option<Rate>,
    /// Propagation.
    pub delay_ns: u64,
    /// Room for waiting packets, drop-tail.
    pub buffer: Buffer,
    /// The queue discipline in place of the buffer.
    pub queue: Option<Discipline>,
    /// A full packet on the link, in bytes, for what counts in packets' worth.
    pub full_bytes: u64,
    /// What else happens to packets; only with a rate.
    pub elements: Vec<Box<dyn Element>>,
    /// Schedules begin with the first packet instead of with the measured period.
    pub begins_with_traffic: bool,
    /// Number of the streams of random numbers of this direction; by default that of its end.
    pub place: Option<u64>,
    /// Packets waiting from which on packets that are ECN-capable are marked (RFC 3168).
    pub ecn_threshold: Option<u64>,
    /// Whether a buffer of B packets counts the one being sent.
    pub buffer_counts_in_service: bool,
    /// Lost after they were sent.
    pub loss: Loss,
    /// Packets lost by their number of arrival from the start of the measured period, rising.
    pub drop: Vec<u64>,
    /// Loss is for SYNs and packets with payload alone, as on the simulator's way forward: no pure
    /// ACK is lost or numbered.
    pub data_only: bool,
    /// A TCP packet takes its payload, so many bytes, and its blocks of SACK; `None` counts the
    /// headers that it has.
    pub header_bytes: Option<u64>,
    /// A TCP packet without payload takes so many bytes, and its blocks of SACK, instead.
    pub ack_bytes: Option<u64>,
    /// Any other packet takes its payload and so many bytes; `None` counts its real headers.
    pub udp_header_bytes: Option<u64>,
    /// The sender's kernel may hand over any number of packets as one (TSO).
    pub offload: bool,
    /// Notes what became of each flow.
    pub by_flow: bool,
    /// Ports to which flows go that are not taken for a transfer.
    pub other_ports: Vec<u16>,
    /// More propagation for packets from or to an address.
    pub more_delay: Vec<(Ipv4Addr, u64)>,
}

impl DirectionSpec {
    /// How many packets of `mtu` bytes a sender's kernel may hand over as one: what the link
    /// carries in a tenth of a millisecond. Below 240 Mbit/s that is one packet of an Ethernet, so
    /// that every ACK sends what it allows at once; above, the link could hardly keep up with a
    /// kernel that does its work for each packet by itself.
    pub fn segments(&self, mtu: usize) -> u32 {
        if self.offload {
            return MOST_SEGMENTS as u32;
        }
        let bps = self.rate.map_or(0, Rate::bps);
        let packets = u128::from(bps) * u128::from(BURST_NS) / (8_000_000_000 * mtu as u128);
        packets.clamp(1, MOST_SEGMENTS) as u32
    }
}

impl LinkSpec {
    /// The scenario's bottleneck with its propagation, access links left out: what every way of
    /// sending over it begins with.
    pub fn of_bottleneck(complete: &Complete, seed: u64) -> Self {
        let link = &complete.links[0];
        let simulated = firstflight_runner::link(complete, link);
        let ack_bytes = complete.endpoint.switches.ack_size.bytes();
        Self {
            forward: DirectionSpec {
                rate: Some(link.rate),
                delay_ns: simulated.delay.0,
                full_bytes: link.elements.on_link(complete.wire_bytes()),
                elements: simulated.elements,
                place: Some(0),
                buffer: link.buffer,
                queue: link.queue.as_ref().map(|queue| queue.discipline),
                ecn_threshold: link.ecn_threshold,
                buffer_counts_in_service: complete.endpoint.switches.buffer_counts_in_service,
                loss: link.loss,
                drop: link.drop.clone(),
                ..DirectionSpec::default()
            },
            backward: DirectionSpec {
                header_bytes: simulated.back.is_some().then_some(ack_bytes),
                ..backward(link, simulated.back.as_deref())
            },
            beyond: link.elements.written.key(),
            seed,
            mtu: ETHERNET_MTU,
            packet_bytes: 0,
            spin_ns: SPIN_NS,
            depth_every_ns: None,
            checksums: false,
        }
    }

    /// Has the link measure its queues `samples` times in a run of `duration_ns`, at most once in a
    /// millisecond; never without `samples`.
    #[must_use]
    pub fn measured(self, samples: Option<u32>, duration_ns: u64) -> Self {
        let every = |samples: u32| (duration_ns / u64::from(samples.max(1))).max(1_000_000);
        Self { depth_every_ns: samples.map(every), ..self }
    }
}

/// The reverse path: a delay alone, or, with `back`, a link with a rate, a buffer and elements.
fn backward(link: &complete::Link, back: Option<&firstflight_sim::LinkSpec>) -> DirectionSpec {
    let Some(back) = back else {
        return DirectionSpec { delay_ns: link.return_delay.ns(), ..DirectionSpec::default() };
    };
    // A schedule has the whole delay.
    let own = if link.elements.delays.is_some() { 0 } else { link.return_delay.ns() };
    let written = link.back.as_ref();
    DirectionSpec {
        rate: Some(Rate::from_bps(back.rate_bps)),
        delay_ns: back.delay.0 + own,
        buffer: back.buffer,
        loss: written.map(|back| back.loss).unwrap_or_default(),
        elements: back.elements.clone(),
        place: Some(BACK_STREAMS),
        ..DirectionSpec::default()
    }
}

/// What a link did in the measured period.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// From the near end.
    pub forward: DirectionReport,
    /// From the far end.
    pub backward: DirectionReport,
    /// Lateness in both directions.
    pub lateness: LatenessReport,
    /// Packets that either end's kernel dropped because the link did not read them in time.
    pub overruns: u64,
    /// Share of the processors' time that a hypervisor gave to others, 0 to 1; 0 without one.
    pub stolen_share: f64,
    /// Whether the link's threads had real-time priority.
    pub realtime: bool,
    /// Whether idle processors were kept from sleeping.
    pub awake: bool,
    /// Longest time between two reads of the devices, microseconds: how late a packet may have been
    /// read.
    pub longest_absence_us: f64,
}

/// One direction in the measured period.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DirectionReport {
    /// Packets that came to the link.
    pub offered_packets: u64,
    /// Packets dropped for want of room.
    pub dropped_packets: u64,
    /// Packets lost on purpose.
    pub lost_packets: u64,
    /// Packets marked with congestion experienced.
    pub marked_packets: u64,
    /// Packets handed on.
    pub delivered_packets: u64,
    /// Their bytes as IP packets.
    pub delivered_bytes: u64,
    /// Share of the time the link was sending, 0 to 1.
    pub utilization: f64,
    /// Most packets waiting; `None` of netem, which does not count them.
    pub peak_queue_packets: Option<u64>,
    /// Time average of packets waiting; `None` of netem.
    pub mean_queue_packets: Option<f64>,
    /// Packets that were larger than the link's MTU, or that the receiving kernel refused.
    pub refused_packets: u64,
    /// How many packets the sending kernel hands over as one at most, to be cut by the link; 1
    /// without segmentation offload.
    pub offload_packets: u64,
    /// Start of each interval in ns and the most packets waiting in it.
    #[serde(skip)]
    pub depth: Vec<(u64, u64)>,
    /// When TCP packets were dropped or lost, ns of the measured period, and to which port they
    /// went; `None` if they were not noted, or were too many.
    #[serde(skip)]
    pub losses: Option<Vec<(u64, u16)>>,
    /// The counts of each flow, if flows are counted.
    #[serde(skip)]
    pub(crate) flows: Flows,
}

/// The largest packet unless a scenario's are larger, in bytes, so that path MTU discovery finds
/// what it would find on an Ethernet.
pub const ETHERNET_MTU: usize = 1_500;

/// How long the lab's links spin before a packet is due: about what a wake-up takes.
pub const SPIN_NS: u64 = 60_000;

/// See [`DirectionSpec::segments`].
const BURST_NS: u64 = 100_000;
/// Fills the largest IP packet.
const MOST_SEGMENTS: u128 = 44;
