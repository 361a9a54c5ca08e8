//! The way of one flow through the network: access link, shared links, access link, receiver, back.

use std::collections::HashMap;

use firstflight_core::units::{Instant, Span};

use crate::files::Next;
use crate::link::{Tie, serialisation};
use crate::network::{FlowSpec, Network};
use crate::queue::Queue;
use crate::receiver::{AckOut, Receiver};

/// One flow's route while the simulation runs.
#[derive(Debug)]
pub(crate) struct Route {
    /// The shared links: the first, which for most flows is the only one, and those behind it.
    first: Hop,
    others: Vec<Hop>,
    pub(crate) receiver: Receiver,
    pub(crate) ack_lane: u32,
    access: Access,
    egress: Access,
    /// From the receiver sending an ACK to the sender having it.
    return_delay: Span,
    /// What a SACK block adds to it.
    block_delay: Span,
    last_ack: Instant,
    /// [`LATER`] on the packets of every other connection of a source of files, else 0.
    tag: u32,
    packet_bytes: u64,
    payload_bytes: u64,
    syn_bytes: Option<u64>,
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Its sequence number as it travels.
    pub(crate) tagged: u32,
    pub(crate) is_syn: bool,
}

/// A shared link on a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: usize,
    /// Where this flow's arrivals at the link wait.
    pub(crate) lane: u32,
    /// Nothing else feeds the link: its arrivals may be computed ahead of time.
    pub(crate) exclusive: bool,
    pub(crate) tie: Tie,
}

/// An access link: a rate and a delay, and a buffer that never fills.
#[derive(Debug)]
struct Access {
    full_packet: Span,
    syn: Span,
    delay: Span,
    free_at: Instant,
}

impl Access {
    fn new(spec: &FlowSpec) -> Self {
        let packet = spec.payload_bytes + spec.header_bytes;
        Self {
            full_packet: serialisation(packet, spec.access_rate_bps),
            syn: serialisation(spec.syn_bytes, spec.access_rate_bps),
            delay: spec.access_delay,
            free_at: Instant(0),
        }
    }

    /// When a packet that comes at `at` reaches the far end.
    #[inline(always)]
    fn pass(&mut self, at: Instant, is_syn: bool) -> Instant {
        let service = if is_syn { self.syn } else { self.full_packet };
        self.free_at = self.free_at.max(at) + service;
        self.free_at + self.delay
    }
}

impl Route {
    /// A packet leaves the sender at `now`: when it reaches the first shared link.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now: Instant, packet: Packet) -> Instant {
        self.access.pass(now, packet.is_syn)
    }

    /// A shared link of the route by its place on it.
    #[inline(always)]
    pub(crate) fn hop(&self, place: usize) -> &Hop {
        if place == 0 { &self.first } else { &self.others[place - 1] }
    }

    /// Whether no shared link follows the one at this place.
    #[inline(always)]
    pub(crate) fn is_last(&self, place: usize) -> bool {
        place == self.others.len()
    }

    /// A packet leaves the last shared link at `at`: when it reaches the receiver.
    #[inline(always)]
    pub(crate) fn leave(&mut self, at: Instant, packet: Packet) -> Instant {
        self.egress.pass(at, packet.is_syn)
    }

    /// When an ACK that leaves the receiver reaches the sender. A short ACK does not overtake a
    /// long one.
    #[inline]
    pub(crate) fn back(&mut self, ack: &AckOut) -> Instant {
        let mut at = ack.at + self.return_delay;
        if ack.blocks > 0 {
            at = at + self.block_delay * u64::from(ack.blocks);
        }
        self.last_ack = self.last_ack.max(at);
        self.last_ack
    }

    /// A new connection takes the route. What of the one before is still under way
    /// keeps its tag and means nothing to the new ends.
    pub(crate) fn renew(&mut self, spec: &FlowSpec, next: Next, end_of_run: Instant) {
        let (packets, shortcuts) = (Some(next.packets), self.receiver.has_shortcuts());
        self.receiver = Receiver::new(&spec.endpoint, next.syn, packets, end_of_run, shortcuts);
        self.syn_bytes = next.syn.then_some(spec.syn_bytes);
        self.last_ack = Instant(0);
        self.tag ^= LATER;
    }

    /// A sequence number as it travels.
    #[inline]
    pub(crate) fn tagged(&self, seq: u32) -> u32 {
        seq ^ self.tag
    }

    /// The sequence number of what arrives; `None` if it belongs to a connection that is over.
    #[inline]
    pub(crate) fn untagged(&self, tagged: u32) -> Option<u32> {
        let seq = tagged ^ self.tag;
        (seq & LATER == 0).then_some(seq)
    }

    /// Bits per second of payload in so many on a link.
    pub(crate) fn payload_bps(&self, link_bps: u64) -> u64 {
        let bps = u128::from(link_bps) * u128::from(self.payload_bytes);
        u64::try_from(bps / u128::from(self.packet_bytes.max(1))).unwrap_or(u64::MAX)
    }

    /// Size of a packet on a link, in bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self, packet: Packet) -> u64 {
        match self.syn_bytes {
            Some(bytes) if packet.is_syn => bytes,
            _ => self.packet_bytes,
        }
    }

    /// The packet of this sequence number as it travels.
    #[inline]
    pub(crate) fn packet(&self, tagged: u32) -> Packet {
        Packet { tagged, is_syn: tagged & !LATER == 0 && self.syn_bytes.is_some() }
    }
}

/// Lays out all routes and the lanes their events wait in. Flows whose events come out of the same
/// element after the same delay share a lane, because those are in order already.
///
/// With `ahead` what nobody can disturb may be computed ahead of time.
pub(crate) fn lay_out(network: &Network, ahead: bool) -> (Vec<Route>, Queue) {
    let (mut acks, mut arrivals) = (Lanes::default(), Lanes::default());
    let mut feeders = vec![0_u32; network.links.len()];
    for path in network.flows.iter().map(|f| &f.path).chain(network.udp.iter().map(|u| &u.path)) {
        for link in path {
            feeders[*link] += 1;
        }
    }
    let end_of_run = Instant(0) + network.duration;
    let routes = network
        .flows
        .iter()
        .map(|spec| {
            // What routers tell is added up where a packet arrives.
            let shortcuts = ahead && !spec.listens().any();
            let (access, egress) = (Access::new(spec), Access::new(spec));
            let return_delay = return_delay(spec);
            let packet_bytes = spec.payload_bytes + spec.header_bytes;
            let mut hops = Vec::with_capacity(spec.path.len());
            let mut source = Source::Access(access.full_packet, access.delay);
            for link in &spec.path {
                let exclusive = ahead && feeders[*link] == 1;
                let service = serialisation(packet_bytes, network.links[*link].rate_bps);
                let tie = match network.ns2_ties {
                    false => Tie::DEPARTURE_FIRST,
                    true if hops.is_empty() && access.full_packet + access.delay > service => {
                        Tie::ROUNDED_ARRIVAL_FIRST
                    }
                    true => Tie::ROUNDED_DEPARTURE_FIRST,
                };
                hops.push(Hop { link: *link, lane: arrivals.of(source), exclusive, tie });
                source = Source::Link(*link);
            }
            let last = spec.path.last().copied().unwrap_or_default();
            let ack_lane = acks.of(Source::Return(last, egress.delay + return_delay));
            Route {
                first: hops[0],
                others: hops.split_off(1),
                receiver: Receiver::new(
                    &spec.endpoint,
                    spec.endpoint.syn,
                    spec.packets,
                    end_of_run,
                    shortcuts,
                ),
                ack_lane,
                access,
                egress,
                return_delay,
                block_delay: ack_time(spec, SACK_BLOCK_BYTES),
                last_ack: Instant(0),
                tag: 0,
                packet_bytes,
                payload_bytes: spec.payload_bytes,
                syn_bytes: spec.endpoint.syn.then_some(spec.syn_bytes),
            }
        })
        .collect();
    let queue = Queue::new(acks.0.len(), arrivals.0.len());
    (routes, queue)
}

/// Two access links, the propagation between them, and the serialisation of an ACK on each link.
fn return_delay(spec: &FlowSpec) -> Span {
    let bytes = spec.endpoint.ack_bytes;
    spec.return_delay + spec.access_delay * 2 + ack_time(spec, bytes)
}

/// Time to send `bytes` of an ACK on all the links of the way back.
fn ack_time(spec: &FlowSpec, bytes: u64) -> Span {
    serialisation(bytes, spec.access_rate_bps) * 2 + serialisation(bytes, spec.return_rate_bps)
}

/// The bit that tells two connections apart. Sequence numbers stay below it.
const LATER: u32 = 1 << 31;

/// A SACK block: two sequence numbers of four bytes (RFC 2018 section 3).
const SACK_BLOCK_BYTES: u64 = 8;

/// The lanes there are.
#[derive(Default)]
struct Lanes(HashMap<Source, u32>);

impl Lanes {
    /// The lane of what comes from this source.
    fn of(&mut self, source: Source) -> u32 {
        let fresh = self.0.len() as u32;
        *self.0.entry(source).or_insert(fresh)
    }
}

/// What makes events come out in order: the same element, the same delay after it.
#[derive(PartialEq, Eq, Hash)]
enum Source {
    Access(Span, Span),
    Link(usize),
    Return(usize, Span),
}
