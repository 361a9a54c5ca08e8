//! What flows share while the network runs: links, events, the packets under way; and how a packet
//! goes from link to link.
//!
//! A packet has an event wherever it reaches a link. Behind the last one its end takes it over.

use std::collections::VecDeque;

use firstflight_core::needs::Facilities;
use firstflight_core::units::{Instant, Span};
use firstflight_link::{BACK_STREAMS, Crossing, Ecn, Elements, QUEUE_STREAMS, Tie, stream};

use crate::control::Wants;
use crate::event::queue::{Lane, Queue};
use crate::event::{Event, Kind};
use crate::fast::{FastPaths, Foresight};
use crate::journal::{Fate, Journal};
use crate::link::queued::{Left, Queued};
use crate::link::{Link, LinkSpec};
use crate::memory::Memory;
use crate::network::Network;
use crate::outcome::LinkOutcome;
use crate::packet::{Packet, Way};

/// What the network's flows share.
pub(crate) struct Net {
    /// The links of the network, then, in the same order, their reverse directions.
    pub(crate) links: Vec<Link>,
    /// How many links the network has.
    count: usize,
    pub(crate) queue: Queue,
    pub(crate) end: Instant,
    pub(crate) memory: Memory,
    /// The paths of flows and sources, by their numbers.
    pub(crate) paths: Vec<Path>,
    under_way: UnderWay,
    /// For each link, what fast paths know in advance of the ACKs on it.
    pub(crate) foresight: Vec<Foresight>,
    /// The ways of packets, where somebody asks.
    pub(crate) journal: Option<Box<Journal>>,
}

/// The links that the packets of a flow or a source cross, in order.
#[derive(Debug, Default)]
pub(crate) struct Path {
    pub(crate) forward: Vec<Hop>,
    /// Empty where the reverse path is a delay alone.
    pub(crate) back: Vec<Hop>,
    /// How packets wait to reach the end behind the last link, if that has elements or a queue.
    pub(crate) exit: Option<Wait>,
    /// The number by which elements know the flow ([`Crossing::flow`]).
    pub(crate) place: usize,
    /// The flow's number at routers, and which of their signals it uses.
    pub(crate) listener: (u16, Facilities),
    /// When the flow's last packet reached the far end of each link, where its packets keep their
    /// order although others at the link do not.
    pub(crate) latest: Vec<Instant>,
}

/// A link on a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: usize,
    /// Orders packets that reach the link at one instant.
    pub(crate) tie: Tie,
    pub(crate) wait: Wait,
}

/// The queue of events in which packets of a path wait, and the number that orders events of one
/// instant: the smallest comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    /// In a lane, to arrive.
    Lane(u32, u16),
    /// In a lane of ACKs.
    Ack(u32, u16),
    /// In the heap, because their events are out of order: packets of sources other than our TCP.
    Other(u16),
}

/// Where a packet has come to.
#[derive(Debug)]
pub(crate) enum Reached {
    /// To the far end of its path's last link, at this time.
    FarEnd(Packet, Instant),
    /// Nowhere: it was lost at this time.
    Lost(Packet, Instant),
}

impl Net {
    /// The journal, while it has room: what happens later is not recorded.
    #[inline(always)]
    pub(crate) fn journal(&mut self) -> Option<&mut Journal> {
        self.journal.as_deref_mut().filter(|journal| !journal.is_full)
    }

    /// The state before the first event.
    pub(crate) fn new(
        network: &Network,
        queue: Queue,
        memory: Memory,
        paths: Vec<Path>,
        fast_paths: FastPaths,
    ) -> Self {
        let build = |spec: &LinkSpec, id: u64| {
            let mut link = Link::new(spec, stream(network.seed, id), network.end());
            if let Some(elements) = Elements::new(&spec.elements, network.seed, id) {
                link.set_elements(elements);
            }
            link
        };
        let mut links: Vec<Link> =
            (0..).zip(&network.links).map(|(id, spec)| build(spec, id)).collect();
        let others = (BACK_STREAMS..).zip(&network.links).map(|(id, spec)| match &spec.back {
            Some(back) => build(back, id),
            None => Link::open(spec.rate_bps, network.end()),
        });
        links.extend(others);
        for flow in &network.flows {
            let wants = Wants::of(&flow.control);
            if wants.talks() {
                flow.path.iter().for_each(|link| links[*link].serve(wants));
            }
        }
        for ((link, spec), id) in links.iter_mut().zip(&network.links).zip(QUEUE_STREAMS..) {
            if let Some(queued) = Queued::of(spec, stream(network.seed, id), network.end()) {
                link.put_queued(Box::new(queued));
            }
        }
        if let Some(every) = network.sample_every {
            links[..network.links.len()].iter_mut().for_each(|link| link.sample(every));
        }
        let foresight =
            (0..links.len()).map(|id| Foresight::new(network, id, fast_paths)).collect();
        Self {
            links,
            count: network.links.len(),
            queue,
            end: network.end(),
            memory,
            paths,
            under_way: UnderWay::default(),
            foresight,
            journal: None,
        }
    }

    /// A packet sets out: it reaches the next link of its path, or the end behind the last, at
    /// `at`, unless the run ends before.
    pub(crate) fn send(&mut self, packet: Packet, at: Instant) {
        let path = &self.paths[packet.path as usize];
        let hop = path.hops(packet.way).get(usize::from(packet.hop));
        if let Some(wait) = hop.map(|hop| hop.wait).or(path.exit) {
            self.send_by(wait, packet, at);
        }
    }

    /// A packet arrives at `at`, and waits until then as `wait` says.
    pub(crate) fn send_by(&mut self, wait: Wait, packet: Packet, at: Instant) {
        if at > self.end {
            return;
        }
        let payload = pack(self.under_way.put(packet));
        let arrival = |kind, number| Event::new(at, kind, number, payload);
        match wait {
            Wait::Lane(lane, number) => {
                self.queue.push(Lane::Arrive(lane), arrival(Kind::Arrive, number));
            }
            Wait::Ack(lane, number) => {
                self.queue.push(Lane::Ack(lane), arrival(Kind::Ack, number));
            }
            Wait::Other(number) => self.queue.push_out_of_order(arrival(Kind::Other, number)),
        }
    }

    /// The packet that an event with this payload is about.
    pub(crate) fn arriving(&mut self, payload: u64) -> Option<Packet> {
        self.under_way.take((payload >> 32) as u32)
    }

    /// A packet reaches the next link of its path, or the far end behind the last, where elements
    /// or a queue have held it up.
    pub(crate) fn forward(&mut self, mut packet: Packet, now: Instant) -> Option<Reached> {
        let Path { place, listener, .. } = self.paths[packet.path as usize];
        let hops = self.paths[packet.path as usize].hops(packet.way);
        let Some(Hop { link: number, tie, .. }) = hops.get(usize::from(packet.hop)).copied() else {
            return Some(Reached::FarEnd(packet, now));
        };
        let link = &mut self.links[number];
        if let Some(header) = &mut packet.label.header {
            link.route(now, packet.bytes, listener, header);
        }
        let ecn = &mut packet.label.ecn;
        let marks = *ecn != Ecn::NotCapable && link.is_congested(now, tie);
        if marks {
            *ecn = Ecn::Ce;
        }
        let crossing = Crossing {
            ecn_capable: *ecn != Ecn::NotCapable,
            marked: *ecn == Ecn::Ce,
            ..Crossing::of(now, packet.bytes, place)
        };
        if link.has_queue() {
            return self.queue_up(number, crossing, packet);
        }
        let begins = link.free_at().max(now);
        let crossed = link.cross(crossing, tie, packet.is_handshake_ack());
        if let Some(journal) = self.journal() {
            let fate = if crossed.is_some() { Fate::Sent(begins) } else { Fate::Lost };
            journal.cross(&packet, number, now, fate);
        }
        let Some((far_end, marked)) = crossed else { return Some(Reached::Lost(packet, now)) };
        let link = &mut self.links[number];
        if marks || marked {
            link.count_mark();
            packet.label.ecn = Ecn::Ce;
        }
        self.go_on(packet, number, far_end)
    }

    /// A packet will reach the far end of `link` at `at`.
    fn go_on(&mut self, mut packet: Packet, link: usize, at: Instant) -> Option<Reached> {
        let path = &mut self.paths[packet.path as usize];
        let hop = usize::from(packet.hop);
        packet.hop += 1;
        let is_last = packet.hop as usize == path.hops(packet.way).len();
        if is_last && packet.ends_at_last_link() {
            return None;
        }
        let holds_up = self.links[link].has_elements();
        if is_last && (!holds_up || packet.way == Way::Back) {
            return Some(Reached::FarEnd(packet, at));
        }
        let keeps = holds_up && packet.way == Way::Forward;
        let at = if keeps { path.keep_order(hop, at) } else { at };
        self.send(packet, at);
        None
    }

    /// A packet reaches a link with a queue: it is gone at once, or leaves by an event of the link.
    fn queue_up(&mut self, link: usize, crossing: Crossing, packet: Packet) -> Option<Reached> {
        if let Some(journal) = self.journal() {
            journal.cross(&packet, link, crossing.at, Fate::Waits);
        }
        let lost = self.links[link].queue_up(crossing, packet);
        match (&lost, self.journal()) {
            (None, _) => self.wake_link(link, crossing.at),
            (Some(packet), Some(journal)) => journal.serve(packet, link, crossing.at, false),
            (Some(_), None) => {}
        }
        lost.map(|packet| Reached::Lost(packet, crossing.at))
    }

    /// The link's event comes no later than `at`.
    fn wake_link(&mut self, link: usize, at: Instant) {
        let end = self.end;
        let Some(queued) = self.links[link].queued() else { return };
        if at.0 < queued.event_at && at <= end {
            queued.event_at = at.0;
            self.queue.push_out_of_order(Event::new(at, Kind::Other, number_of(link), 0));
        }
    }

    /// Handles the event of the link of that number: returns where each packet that has left its
    /// queue by now is next.
    #[cold]
    pub(crate) fn serve_link(&mut self, number: u16, now: Instant) -> Vec<Reached> {
        let link = usize::from(u16::MAX - number);
        let Some(queued) = self.links[link].queued() else { return Vec::new() };
        if queued.event_at != now.0 {
            return Vec::new();
        }
        queued.event_at = u64::MAX;
        let left = self.links[link].send_queued(now);
        let next = self.links[link].queued().and_then(|queued| queued.next_at());
        if let Some(at) = next {
            self.wake_link(link, at);
        }
        let go_on = |Left { packet, far_end, at }| {
            if let Some(journal) = self.journal() {
                journal.serve(&packet, link, at, far_end.is_some());
            }
            match far_end {
                Some(far_end) => self.go_on(packet, link, far_end),
                None => Some(Reached::Lost(packet, at)),
            }
        };
        left.into_iter().filter_map(go_on).collect()
    }

    /// What happened at the links.
    pub(crate) fn outcome(mut self) -> Vec<LinkOutcome> {
        self.links.truncate(self.count);
        self.links.into_iter().map(Link::outcome).collect()
    }
}

impl Path {
    fn hops(&self, way: Way) -> &[Hop] {
        match way {
            Way::Forward => &self.forward,
            Way::Back => &self.back,
        }
    }

    /// A packet would reach the far end of a link with elements at `at`: when it does.
    fn keep_order(&mut self, hop: usize, at: Instant) -> Instant {
        let Some(latest) = self.latest.get_mut(hop) else { return at };
        *latest = at.max(*latest + Span(1));
        *latest
    }
}

/// Packets that wait for their events, by numbers that rise.
#[derive(Debug, Default)]
struct UnderWay {
    /// From number `first` on; those that have arrived have left their places.
    packets: VecDeque<Option<Packet>>,
    first: u32,
}

impl UnderWay {
    fn put(&mut self, packet: Packet) -> u32 {
        self.packets.push_back(Some(packet));
        self.first.wrapping_add(self.packets.len() as u32 - 1)
    }

    fn take(&mut self, number: u32) -> Option<Packet> {
        let place = number.wrapping_sub(self.first) as usize;
        let packet = self.packets.get_mut(place)?.take();
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        packet
    }
}

/// What an event carries that is about the packet of this number.
fn pack(number: u32) -> u64 {
    u64::from(number) << 32 | PACKET
}

/// Whether an event with this payload is about a packet. Of ACKs their senders know.
#[inline(always)]
pub(crate) fn is_packet(payload: u64) -> bool {
    payload & PACKET == PACKET
}

/// What distinguishes the payload of a packet's event.
const PACKET: u64 = 0xffff_0000;

/// The number of a link's events: behind those of sources and flows, from the end.
fn number_of(link: usize) -> u16 {
    u16::MAX - u16::try_from(link).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{self, Label};

    fn packet(seq: u32) -> Packet {
        let (path, way, hop, connection, bytes) = (0, Way::Forward, 0, 0, 1000);
        let kind = packet::Kind::Data(seq);
        Packet { path, way, hop, connection, bytes, kind, label: Label::NONE }
    }

    #[test]
    fn packets_under_way_are_found_by_number_in_any_order() {
        let mut under_way = UnderWay { first: u32::MAX - 1, ..UnderWay::default() };
        let numbers: Vec<u32> = (0..5).map(|seq| under_way.put(packet(seq))).collect();
        assert_eq!(numbers, [u32::MAX - 1, u32::MAX, 0, 1, 2], "they rise, and go round");
        for place in [1, 0, 4, 2, 3] {
            let taken = under_way.take(numbers[place]).unwrap();
            assert!(matches!(taken.kind, packet::Kind::Data(seq) if seq as usize == place));
            assert!(under_way.take(numbers[place]).is_none(), "it has arrived");
        }
        assert!(under_way.packets.is_empty());
    }

    #[test]
    fn an_event_tells_whether_it_is_about_a_packet() {
        assert!(is_packet(pack(7)) && !is_packet(7));
    }
}
