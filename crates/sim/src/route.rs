//! The way of one flow through the network: access link, shared links, access link, receiver, back.

use std::cmp::Reverse;
use std::collections::HashMap;

use firstflight_core::units::{Instant, Span};
use firstflight_link::{NEVER, Tie, serialisation};

use crate::access::Access;
use crate::control::Wants;
use crate::endpoint::Recovery;
use crate::fast_paths::{FastPaths, crosses_element};
use crate::files::Next;
use crate::network::{FlowSpec, Network};
use crate::queue::Queue;
use crate::receiver::{AckOut, Caused, Receiver};
use crate::way_back::{SACK_BLOCK_BYTES, WayBack};

/// One flow's route while the simulation runs.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Route {
    /// There is one shared link, and nothing to say to its router.
    pub(crate) is_plain: bool,
    /// The lane of the queue in which ACKs wait to reach the sender.
    pub(crate) ack_lane: u32,
    /// [`LATER`] on the packets of every other connection of a source of files, else 0.
    tag: u32,
    /// Size of a full data packet on the links.
    packet_bytes: u64,
    /// The time from the far end of the last shared link to the sender's having the packet's ACK,
    /// if neither packet nor ACK can wait on that way; else [`NEVER`].
    home: Span,
    /// When the newest ACK that left by [`Route::back`] reaches the sender; none overtakes it.
    last_ack: Instant,
    /// Nothing that arrives after this is delivered: the flow has stopped, or the run is over.
    pub(crate) counts_until: Instant,
    /// The first shared link, which for most flows is the only one.
    first: Hop,
    /// The receiver's access link.
    access: Access,
    /// The receiver of the connection at hand.
    pub(crate) receiver: Receiver,
    /// The shared links behind the first.
    others: Vec<Hop>,
    /// The receiver of the connection before this one, which answers what is still under way to it.
    earlier: Option<Box<Receiver>>,
    /// Where ACKs queue on the reverse path. Boxed because in most networks they do not.
    pub(crate) way_back: Option<Box<WayBack>>,
    /// The sender's access link.
    egress: Access,
    /// When the next event of the delayed-ACK timer comes, no later than the timer fires. The next
    /// packet usually releases a held ACK first, so that one event serves many. Without fast paths
    /// every held ACK has an event of its own.
    wakes_at: Instant,
    /// Whether the flow takes fast paths.
    pub(crate) fast_paths: bool,
    /// From the receiver sending an ACK to the sender having it.
    return_delay: Span,
    /// What a SACK block adds to it.
    block_delay: Span,
    /// Payload of a full data packet.
    payload_bytes: u64,
    /// Size of the SYN; without one there is no handshake.
    syn_bytes: Option<u64>,
    /// Its place among the network's flows.
    pub(crate) place: usize,
    /// Where packets wait to reach the receiver, if the last link has elements.
    pub(crate) exit_lane: u32,
    syn_answer: SynAnswer,
    /// When the flow's last packet reached the far end of each link, where its packets keep their
    /// order although others at the link do not.
    latest: Vec<Instant>,
}

/// How much later than usual a SYN is answered. One that is sent again meanwhile is answered with
/// the first.
#[derive(Debug)]
struct SynAnswer {
    delay: Span,
    /// The tag of the connection, and until when it has no answer.
    held: Option<(u32, Instant)>,
}

impl SynAnswer {
    /// When an answer leaves that would leave at `at`.
    fn leaves(&mut self, tag: u32, at: Instant) -> Instant {
        let held = self.held.filter(|(of, _)| *of == tag).unwrap_or((tag, at + self.delay));
        self.held = Some(held);
        at.max(held.1)
    }
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Its sequence number as it travels.
    pub(crate) tagged: u32,
    /// It opens the connection.
    pub(crate) is_syn: bool,
    /// What rounding takes off its times may not add up.
    pub(crate) exact: bool,
}

/// A shared link on a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: usize,
    /// Where this flow's arrivals at the link wait.
    pub(crate) lane: u32,
    /// What is known of the link ahead of time.
    pub(crate) early: Early,
    /// Decides among packets that reach the link at one instant: the smallest comes first.
    pub(crate) order: u16,
    /// Who comes first of what reaches the link at one instant.
    pub(crate) tie: Tie,
}

/// Whether an arrival at a link may be handled as soon as its time is known, without an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// No.
    Never,
    /// Yes, if no other event comes before it.
    IfNext,
    /// Yes: nothing else feeds the link.
    Always,
}

impl Early {
    /// At a link that so many sources feed.
    fn at(feeders: u32, fast_paths: bool) -> Self {
        match (fast_paths, feeders) {
            (false, _) => Self::Never,
            (true, 1) => Self::Always,
            (true, _) => Self::IfNext,
        }
    }
}

/// Which of an arrival and a departure at one instant comes first at a link: the `first` of the
/// route or another, which the packet takes `longer` to reach than its service there takes.
fn tie(ns2_ties: bool, spec: &FlowSpec, first: bool, longer: bool) -> Tie {
    match ns2_ties {
        // Where a flight begins, Linux wakes up, and what its ACKs send later takes that time
        // less: it comes just before the departure that it would coincide with.
        false if first && spec.endpoint.wakes_up => Tie::ROUNDED_ARRIVAL_FIRST,
        false => Tie::DEPARTURE_FIRST,
        true if first && longer => Tie::ROUNDED_ARRIVAL_FIRST,
        true => Tie::ROUNDED_DEPARTURE_FIRST,
    }
}

impl Route {
    /// The route of flow `id`; lanes are of ACKs and of arrivals.
    fn new(
        network: &Network,
        feeders: &[u32],
        fast_paths: bool,
        (acks, arrivals): (&mut Lanes, &mut Lanes),
        (id, (place, spec)): (u16, (usize, &FlowSpec)),
    ) -> Self {
        // Only ns-2's agents look at ticks, and none of their ACKs is calm.
        let exact = network.ns2_ties && spec.endpoint.rto.timer.ticks();
        let (access, egress) = (Access::new(spec, exact), Access::new(spec, exact));
        let packet_bytes = spec.payload_bytes + spec.header_bytes;
        let mut hops = Vec::with_capacity(spec.path.len());
        let mut source = Source::Access(access.full_packet, access.delay);
        let mut lead = access.full_packet + access.delay;
        let mut service = Span(0);
        for link in &spec.path {
            service = serialisation(packet_bytes, network.links[*link].rate_bps);
            let tie = tie(network.ns2_ties, spec, hops.is_empty(), lead > service);
            let early = Early::at(feeders[*link], fast_paths);
            hops.push(Hop { link: *link, lane: arrivals.of(source, lead), early, order: id, tie });
            (source, lead) = (Source::Link(*link), service + network.links[*link].delay);
        }
        let last = hops.last().map_or(0, |hop: &Hop| hop.link);
        let crosses = crosses_element(network, spec);
        let exit_lane = if crosses { arrivals.of(source, lead) } else { 0 };
        let return_delay = return_delay(spec);
        let way_back = spec.return_link.map(|link| {
            let lead = access_time(spec, spec.endpoint.ack_bytes) + spec.access_delay;
            let source = Source::Back(last, egress.full_packet + egress.delay, lead);
            Box::new(WayBack::new((place, spec), link, arrivals.of(source, lead), id))
        });
        let ack_lane = acks.of(Source::Return(last, egress.delay + return_delay), return_delay);
        // What routers tell is added up where a packet arrives, and the short way goes back alone.
        let wants = Wants::of(&spec.control);
        let at_receiver = fast_paths && wants.listens().is_empty() && !spec.endpoint.ecn;
        let (until, syn, links) = (times(network, spec), spec.endpoint.syn, hops.len());
        // The SYN of a later connection is shorter than the packets ahead of it, and may wait.
        let late_syn = syn && spec.files.is_some();
        let waits = late_syn || way_back.is_some() || !egress.is_free_for(service);
        let home = egress.full_packet + egress.delay + return_delay;
        Self {
            first: hops[0],
            is_plain: hops.len() == 1 && !crosses && !wants.talks() && !spec.endpoint.ecn,
            others: hops.split_off(1),
            receiver: Receiver::new(&spec.endpoint, syn, spec.packets, until, at_receiver),
            counts_until: until.0,
            earlier: None,
            ack_lane,
            way_back,
            access,
            egress,
            wakes_at: NOT_YET,
            fast_paths,
            home: if waits { NEVER } else { home.min(NEVER) },
            return_delay,
            block_delay: ack_time(spec, SACK_BLOCK_BYTES),
            last_ack: Instant(0),
            tag: 0,
            packet_bytes,
            payload_bytes: spec.payload_bytes,
            syn_bytes: syn.then_some(spec.syn_bytes),
            place,
            exit_lane,
            syn_answer: SynAnswer { delay: spec.answer_delay, held: None },
            latest: if keeps_order(network, spec) { vec![Instant(0); links] } else { Vec::new() },
        }
    }

    /// What arrives at one instant comes in this order of lanes.
    fn order_by(&mut self, order: &[u16]) {
        let hops = std::iter::once(&mut self.first).chain(&mut self.others);
        hops.for_each(|hop| hop.order = order[hop.lane as usize]);
        self.way_back.iter_mut().for_each(|way| way.order = order[way.lane as usize]);
    }

    /// A packet leaves the sender at `now`: when it reaches the first shared link.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now: Instant, packet: Packet) -> Instant {
        self.access.pass(now, packet)
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

    /// A packet would reach the far end of a link with elements at `at`: when it does.
    pub(crate) fn keep_order(&mut self, place: usize, at: Instant) -> Instant {
        let Some(latest) = self.latest.get_mut(place) else { return at };
        *latest = at.max(*latest + Span(1));
        *latest
    }

    /// A packet leaves the last shared link at `at`: when it reaches the receiver.
    #[inline(always)]
    pub(crate) fn leave(&mut self, at: Instant, packet: Packet) -> Instant {
        self.egress.pass(at, packet)
    }

    /// A packet leaves the last shared link at `at`. Returns its sequence number and the time at
    /// which the sender has its ACK, if the packet is calm at the receiver, neither it nor its ACK
    /// waits in a queue, and the ACK arrives before the flow stops counting. Otherwise returns
    /// `None` and changes nothing.
    #[inline(always)]
    pub(crate) fn deliver_calm(&mut self, at: Instant, packet: Packet) -> Option<(u32, Instant)> {
        let back = Instant(at.0 + self.home.0);
        if back > self.counts_until || back < self.last_ack {
            return None;
        }
        // Of a connection that is over, this is a number that no receiver waits for.
        let seq = packet.tagged ^ self.tag;
        self.receiver.take_calm(seq).then_some((seq, back))
    }

    /// A packet leaves the last shared link at `at`. If it waits nowhere on its way to the
    /// receiver, every packet causes an ACK at once, and this one's could be back while what comes
    /// counts: the ACK. Otherwise nothing has changed.
    #[inline]
    pub(crate) fn deliver_at_once(&mut self, at: Instant, packet: Packet) -> Option<AckOut> {
        let back = Instant(at.0 + self.home.0);
        if back > self.counts_until || packet.is_syn {
            return None;
        }
        let seq = self.untagged(packet.tagged)?;
        self.receiver.take_at_once(seq, Instant(back.0 - self.return_delay.0))
    }

    /// [`Route::deliver_calm`] at a receiver that delays ACKs. Returns also what the packet causes.
    #[inline]
    pub(crate) fn deliver_delayed(
        &mut self,
        at: Instant,
        packet: Packet,
    ) -> Option<(u32, Caused, Instant)> {
        let back = Instant(at.0 + self.home.0);
        if back > self.counts_until || back < self.last_ack {
            return None;
        }
        let seq = packet.tagged ^ self.tag;
        let caused = self.receiver.take_delayed(seq, Instant(back.0 - self.return_delay.0))?;
        Some((seq, caused, back))
    }

    /// The delayed-ACK timer is to fire at `due`: whether that takes an event. An event that comes
    /// before looks again.
    #[inline]
    pub(crate) fn needs_waking(&mut self, due: Instant) -> bool {
        let needs = due < self.wakes_at || !self.fast_paths;
        self.wakes_at = self.wakes_at.min(due);
        needs
    }

    /// The event of a delayed-ACK timer at `now`: the ACK that goes, and when to look again.
    pub(crate) fn on_wake(&mut self, now: Instant) -> (Option<AckOut>, Option<Instant>) {
        if !self.fast_paths {
            return (self.receiver.on_timer(now), None);
        }
        if now != self.wakes_at {
            return (None, None);
        }
        self.wakes_at = NOT_YET;
        let ack = self.receiver.on_timer(now);
        (ack, self.receiver.deadline())
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

    /// A new connection takes the route. Packets of the earlier one that are still in flight keep
    /// its tag, and the new ends ignore them.
    pub(crate) fn renew(&mut self, spec: &FlowSpec, next: Next, end_of_run: Instant) {
        let (packets, fast_paths) = (Some(next.packets), self.receiver.has_fast_paths());
        let until = (self.counts_until, end_of_run);
        let fresh = Receiver::new(&spec.endpoint, next.syn, packets, until, fast_paths);
        let earlier = std::mem::replace(&mut self.receiver, fresh);
        self.earlier = self.way_back.is_some().then(|| Box::new(earlier));
        self.syn_bytes = next.syn.then_some(spec.syn_bytes);
        self.last_ack = Instant(0);
        self.tag ^= LATER;
    }

    /// A packet of the connection before reaches its receiver at `at`: the ACKs that causes, which
    /// mean nothing to the sender, but other ACKs wait behind them.
    pub(crate) fn receive_late(&mut self, packet: Packet, at: Instant) -> [Option<AckOut>; 2] {
        let Some(receiver) = &mut self.earlier else { return [None; 2] };
        let (overdue, own) = receiver.receive((packet.tagged ^ self.tag) & !LATER, at);
        [overdue, own].map(|ack| ack.map(|ack| AckOut { next: ack.next | LATER, ..ack }))
    }

    /// The answer to a SYN, which may leave later than usual.
    #[cold]
    pub(crate) fn answer_late(&mut self, ack: AckOut) -> AckOut {
        AckOut { at: self.syn_answer.leaves(self.tag, ack.at), ..ack }
    }

    /// A SYN sets out, or is lost or received.
    pub(crate) fn count_syns(&mut self, count: fn(u32, u32) -> u32) {
        if let Some(way) = &mut self.way_back {
            way.syns = count(way.syns, 1);
        }
    }

    /// What tells this connection's sequence numbers from those of the one before.
    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    /// A sequence number as it travels.
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
        let is_syn = tagged & !LATER == 0 && self.syn_bytes.is_some();
        Packet { tagged, is_syn, exact: self.access.is_exact() }
    }
}

/// Lays out the routes of `ours`, which are flows of the network, and the lanes their events wait
/// in. Flows whose events come out of the same element after the same delay share a lane, because
/// those are in order already.
///
/// With fast paths the states that no other flow can change are computed ahead of time.
pub(crate) fn lay_out(
    network: &Network,
    ours: &[(usize, &FlowSpec)],
    fast_paths: FastPaths,
) -> (Vec<Route>, Queue) {
    let (mut acks, mut arrivals) = (Lanes::default(), Lanes::default());
    let mut feeders = vec![0_u32; network.links.len()];
    for path in network.flows.iter().map(|f| &f.path).chain(network.udp.iter().map(|u| &u.path)) {
        for link in path {
            feeders[*link] += 1;
        }
    }
    let mut routes: Vec<Route> = (0_u16..)
        .zip(ours)
        .map(|(id, (place, spec))| {
            let (fast_paths, lanes) = (fast_paths.serve(network, spec), (&mut acks, &mut arrivals));
            Route::new(network, &feeders, fast_paths, lanes, (id, (*place, spec)))
        })
        .collect();
    if network.ns2_ties {
        let order = arrivals.longest_first();
        routes.iter_mut().for_each(|route| route.order_by(&order));
    }
    let lead = network.flows.iter().map(least_lead).min().unwrap_or_default();
    let acks = (acks.leads.len(), routes.iter().map(|route| route.ack_lane).collect());
    (routes, Queue::new(acks, arrivals.leads.len(), network.end(), lead))
}

/// Whether the flow's packets must not overtake each other where others may: one bit tells a
/// source's connections apart, and a receiver of packet numbers knows none that comes late.
fn keeps_order(network: &Network, spec: &FlowSpec) -> bool {
    let elements = || spec.path.iter().flat_map(|link| &network.links[*link].elements);
    (spec.files.is_some() || spec.endpoint.recovery == Recovery::Quic)
        && elements().any(|element| element.reorders())
}

/// Until when what arrives is delivered, and until when the run is.
fn times(network: &Network, spec: &FlowSpec) -> (Instant, Instant) {
    let end = network.end();
    (spec.stop.map_or(end, |stop| end.min(stop)), end)
}

/// What an ACK makes a sender send reaches the first link no earlier than this after it. That is
/// data, unless the ACK ends a file, whose successor's SYN may follow at once, or is of a SYN.
fn least_lead(spec: &FlowSpec) -> Span {
    let data = spec.payload_bytes + spec.header_bytes;
    let answers_syn = spec.endpoint.syn && spec.endpoint.handshake_ack;
    let short = spec.files.is_some() || answers_syn;
    let bytes = if short { data.min(spec.syn_bytes) } else { data };
    serialisation(bytes, spec.access_rate_bps) + spec.access_delay
}

/// Two access links, the propagation between them, and the serialisation of an ACK on each link.
fn return_delay(spec: &FlowSpec) -> Span {
    let bytes = spec.endpoint.ack_bytes;
    spec.return_delay + spec.access_delay * 2 + ack_time(spec, bytes)
}

/// Time to send `bytes` of an ACK on all the links of the reverse path.
fn ack_time(spec: &FlowSpec, bytes: u64) -> Span {
    access_time(spec, bytes) * 2 + serialisation(bytes, spec.return_rate_bps)
}

/// Time to send `bytes` of an ACK on an access link.
fn access_time(spec: &FlowSpec, bytes: u64) -> Span {
    serialisation(bytes, spec.access_rate_bps)
}

/// No event is pending.
const NOT_YET: Instant = Instant(u64::MAX);

/// The bit that tells two connections apart. Sequence numbers stay below it.
const LATER: u32 = 1 << 31;

/// The lanes there are, and how long the events of each are under way.
#[derive(Default)]
struct Lanes {
    known: HashMap<Source, u32>,
    leads: Vec<Span>,
}

impl Lanes {
    /// The lane of what comes from this source, and is under way for so long.
    fn of(&mut self, source: Source, lead: Span) -> u32 {
        let fresh = self.leads.len() as u32;
        let lane = *self.known.entry(source).or_insert(fresh);
        if lane == fresh {
            self.leads.push(lead);
        }
        lane
    }

    /// The places of the lanes among each other, those first whose events are under way for longer:
    /// of what arrives at one instant they set out first.
    fn longest_first(&self) -> Vec<u16> {
        let mut lanes: Vec<usize> = (0..self.leads.len()).collect();
        lanes.sort_by_key(|lane| Reverse(self.leads[*lane]));
        let mut places = vec![0; lanes.len()];
        for (place, lane) in lanes.into_iter().enumerate() {
            places[lane] = u16::try_from(place).unwrap_or(u16::MAX);
        }
        places
    }
}

/// What makes events come out in order: the same element, the same delay after it.
#[derive(PartialEq, Eq, Hash)]
enum Source {
    Access(Span, Span),
    Link(usize),
    Return(usize, Span),
    Back(usize, Span, Span),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_told_by_what_fills_them_and_the_longest_comes_first() {
        let mut lanes = Lanes::default();
        let access = |ms| Source::Access(Span(1000), Span::from_millis(ms));
        let near = lanes.of(access(1), Span::from_millis(1));
        let far = lanes.of(access(7), Span::from_millis(7));
        let link = lanes.of(Source::Link(0), Span::from_millis(5));
        assert_eq!(lanes.of(access(7), Span::from_millis(7)), far);
        let places = lanes.longest_first();
        assert_eq!([near, far, link].map(|lane| places[lane as usize]), [2, 0, 1]);
    }
}
