//! The way of ACKs back where they wait for each other: over the other direction of a shared link,
//! as on ns-2's duplex links.
//!
//! Most ACKs meet no other ACK on the reverse path, and [`Route::back`] knows at once when they
//! arrive. Where ACKs of several flows meet, or one that the delayed-ACK timer lets go is followed
//! by the next, each has to reach the shared link in its turn. That takes an event of its own,
//! unless it is known that no other ACK can come before it ([`ReturnLink::is_next`]).
//!
//! [`Route::back`]: crate::route::Route::back

use std::collections::VecDeque;

use firstflight_core::units::{Instant, Span};
use firstflight_link::{
    BACK_STREAMS, Crossing, Elements, Serialisation, Tie, serialisation, stream,
};

use crate::fast_paths::FastPaths;
use crate::link::Link;
use crate::network::{FlowSpec, Network};
use crate::receiver::AckOut;

/// One flow's ACKs on the reverse path.
#[derive(Debug)]
pub(crate) struct WayBack {
    /// The shared link.
    pub(crate) link: usize,
    /// Where arrivals at the shared link wait.
    pub(crate) lane: u32,
    /// Decides among arrivals of one instant: the smallest comes first.
    pub(crate) order: u16,
    /// ACKs between the receiver and the shared link, in order.
    under_way: VecDeque<AckOut>,
    /// Size of an ACK without SACK blocks.
    ack_bytes: u64,
    /// Rate of the access links.
    access_rate_bps: u64,
    /// Propagation of an access link.
    access_delay: Span,
    /// Propagation from the shared link's far end to the sender.
    propagation: Span,
    /// When the receiver's access link is free again.
    receivers_free_at: Instant,
    /// When the sender's access link is free again.
    senders_free_at: Instant,
    /// The time of an ACK without SACK blocks on an access link.
    plain: Span,
    /// SYNs on their way to the receiver.
    pub(crate) syns: u32,
    /// The flow's place in the network.
    place: usize,
    /// Packets out of order of which ACKs told that were lost: the next ACK repeats it, as SACK
    /// blocks do (RFC 2018 section 4).
    lost_blocks: Vec<u32>,
}

/// The other direction of a shared link: it carries ACKs and has room for all of them, unless it is
/// a link of its own kind.
#[derive(Debug)]
pub(crate) struct ReturnLink {
    /// What [`LinkSpec::back`](crate::LinkSpec::back) says.
    own: Option<Box<Link>>,
    /// When it has sent all that it has.
    free_at: Instant,
    /// How long packets take to be sent.
    serial: Serialisation,
    /// ACKs that have events of their own to reach it.
    waiting: u32,
    /// Flows whose SYN may still come. It is one too high, and so never 0, if
    /// [`ReturnLink::bound`] holds for no ACK.
    opening: u32,
    /// When the other flows start, the next one last.
    starts: Vec<Instant>,
    /// An ACK whose packet has not left the last shared link yet comes at least this long after the
    /// newest that has left it.
    gap: Span,
    /// The time from which such ACKs come.
    bound: Instant,
}

impl WayBack {
    pub(crate) fn new(
        (place, spec): (usize, &FlowSpec),
        link: usize,
        lane: u32,
        order: u16,
    ) -> Self {
        Self {
            place,
            lost_blocks: Vec::new(),
            link,
            lane,
            order,
            under_way: VecDeque::new(),
            ack_bytes: spec.endpoint.ack_bytes,
            access_rate_bps: spec.access_rate_bps,
            access_delay: spec.access_delay,
            propagation: spec.return_delay,
            receivers_free_at: Instant(0),
            senders_free_at: Instant(0),
            plain: serialisation(spec.endpoint.ack_bytes, spec.access_rate_bps),
            syns: 0,
        }
    }

    /// An ACK leaves the receiver: when it reaches the shared link.
    #[inline]
    pub(crate) fn leave(&mut self, ack: &AckOut) -> Instant {
        let start = self.receivers_free_at.max(ack.at);
        self.receivers_free_at = start + self.access_time(ack);
        self.receivers_free_at + self.access_delay
    }

    /// An ACK is under way to the shared link, and will have an event there.
    pub(crate) fn wait(&mut self, link: &mut ReturnLink, ack: AckOut) {
        self.under_way.push_back(ack);
        link.waiting += 1;
    }

    /// The oldest ACK that has an event has reached the shared link.
    pub(crate) fn arrive(&mut self, link: &mut ReturnLink) -> Option<AckOut> {
        let ack = self.under_way.pop_front()?;
        link.waiting -= 1;
        Some(ack)
    }

    /// An ACK reaches the shared link at `at`: when it reaches the sender.
    #[inline]
    pub(crate) fn cross(&mut self, link: &mut ReturnLink, ack: &AckOut, at: Instant) -> Instant {
        let far_end = link.carry(at, self.bytes(ack));
        self.go_home(ack, far_end)
    }

    /// [`WayBack::cross`] where the link is one of its own kind, which may lose the ACK.
    pub(crate) fn cross_own(
        &mut self,
        link: &mut ReturnLink,
        ack: &AckOut,
        at: Instant,
    ) -> Option<Instant> {
        let far_end = link.carry_own(at, self.bytes(ack), self.place)?;
        Some(self.go_home(ack, far_end))
    }

    /// An ACK reaches the shared link's far end: when it reaches the sender.
    #[inline]
    fn go_home(&mut self, ack: &AckOut, far_end: Instant) -> Instant {
        let start = self.senders_free_at.max(far_end + self.propagation);
        self.senders_free_at = start + self.access_time(ack);
        self.senders_free_at + self.access_delay
    }

    /// ACKs that have yet to reach the shared link.
    pub(crate) fn waiting(&self) -> usize {
        self.under_way.len()
    }

    /// An ACK has been lost that told of a packet out of order.
    #[cold]
    pub(crate) fn lose_block(&mut self, seq: u32) {
        self.lost_blocks.push(seq);
    }

    /// What ACKs told that were lost, and nothing has told since.
    pub(crate) fn take_lost_blocks(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.lost_blocks)
    }

    #[inline]
    fn access_time(&self, ack: &AckOut) -> Span {
        if ack.blocks == 0 {
            return self.plain;
        }
        serialisation(self.bytes(ack), self.access_rate_bps)
    }

    fn bytes(&self, ack: &AckOut) -> u64 {
        self.ack_bytes + SACK_BLOCK_BYTES * u64::from(ack.blocks)
    }
}

impl ReturnLink {
    /// The other direction of link `id`. With fast paths ACKs may cross before their time comes.
    pub(crate) fn new(network: &Network, id: usize, fast_paths: FastPaths) -> Self {
        let users = || network.flows.iter().filter(|flow| flow.return_link == Some(id));
        let last = users().next().and_then(|flow| flow.path.last().copied());
        let bounded = users().all(|flow| {
            fast_paths.serve(network, flow) && is_bounded(flow) && flow.path.last().copied() == last
        });
        let mut starts: Vec<Instant> =
            users().filter(|flow| flow.endpoint.syn).map(|flow| flow.start).collect();
        starts.sort_unstable_by(|one, other| other.cmp(one));
        let rate_bps = last.map_or(1, |last| network.links[last].rate_bps);
        Self {
            own: network.links[id].back.as_ref().map(|spec| {
                let mut link =
                    Link::new(spec, stream(network.seed, BACK_STREAMS + id as u64), network.end());
                let elements =
                    Elements::new(&spec.elements, network.seed, BACK_STREAMS + id as u64);
                elements.into_iter().for_each(|elements| link.lead_through(elements));
                Box::new(link)
            }),
            free_at: Instant(0),
            serial: Serialisation::new(network.links[id].rate_bps),
            waiting: 0,
            opening: u32::from(!bounded),
            starts,
            gap: users().map(|flow| least_lead(flow, rate_bps)).min().unwrap_or_default(),
            bound: Instant(0),
        }
    }

    /// A packet reaches the far end of the last shared link at `at`, and no later packet does
    /// before it.
    pub(crate) fn causes(&mut self, at: Instant) {
        self.bound = at + self.gap;
    }

    /// Whether no other ACK reaches the link before `at`: none that has an event, none whose packet
    /// comes behind those that have left the last shared link. A SYN is shorter than data and may
    /// catch up with them; so there must be no SYN by then.
    #[inline]
    pub(crate) fn is_next(&self, at: Instant) -> bool {
        self.waiting == 0
            && self.opening == 0
            && at < self.bound
            && self.starts.last().is_none_or(|start| at < *start)
    }

    /// A flow starts with a SYN.
    pub(crate) fn opens(&mut self) {
        self.starts.pop();
        self.opening += 1;
    }

    /// A flow that started with a SYN will send no other, and none is under way.
    pub(crate) fn opened(&mut self) {
        self.opening -= 1;
    }

    /// Whether it is more than a rate: ACKs may be lost on it, or be late.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// An ACK of `bytes` arrives at `at` and is not lost: when it reaches the far end.
    #[inline]
    fn carry(&mut self, at: Instant, bytes: u64) -> Instant {
        debug_assert!(self.own.is_none());
        self.free_at = self.free_at.max(at) + Span(self.serial.time(bytes));
        self.free_at
    }

    /// [`ReturnLink::carry`] where [`ReturnLink::is_own`], for the flow at that place: `None` if
    /// the ACK is lost.
    pub(crate) fn carry_own(&mut self, at: Instant, bytes: u64, place: usize) -> Option<Instant> {
        let packet = Crossing::of(at, bytes, place);
        let crossed = self.own.as_mut()?.cross(packet, Tie::DEPARTURE_FIRST, false);
        crossed.map(|(far_end, _)| far_end)
    }
}

/// Whether every ACK of the flow leaves the receiver when a packet comes, and its SYN is the first
/// packet that it sends.
fn is_bounded(spec: &FlowSpec) -> bool {
    spec.endpoint.delayed_ack <= 1 && spec.files.is_none()
}

/// From a packet of the flow beginning to leave the last shared link to its ACK reaching the other
/// direction, at least, where nothing waits. Every time may be rounded down.
fn least_lead(spec: &FlowSpec, rate_bps: u64) -> Span {
    let packet = spec.payload_bytes + spec.header_bytes;
    let floor = |bytes: u64, rate_bps| serialisation(bytes, rate_bps).0 - 1;
    let access =
        floor(packet, spec.access_rate_bps) + floor(spec.endpoint.ack_bytes, spec.access_rate_bps);
    Span(floor(packet, rate_bps) + access) + spec.access_delay * 2
}

/// A SACK block: two sequence numbers of four bytes (RFC 2018 section 3).
pub(crate) const SACK_BLOCK_BYTES: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK of 40 bytes takes 40 us on the access links and 320 us on the shared link, where the
    /// propagation is 10 ms; the access links add 1 ms each.
    fn way_back() -> (WayBack, ReturnLink) {
        let way = WayBack {
            link: 0,
            lane: 0,
            order: 0,
            under_way: VecDeque::new(),
            ack_bytes: 40,
            access_rate_bps: 8_000_000,
            access_delay: Span::from_millis(1),
            propagation: Span::from_millis(10),
            receivers_free_at: Instant(0),
            senders_free_at: Instant(0),
            plain: Span::from_micros(40),
            syns: 0,
            place: 0,
            lost_blocks: Vec::new(),
        };
        let link = ReturnLink {
            own: None,
            free_at: Instant(0),
            serial: Serialisation::new(1_000_000),
            waiting: 0,
            opening: 0,
            starts: Vec::new(),
            gap: Span(0),
            bound: Instant(0),
        };
        (way, link)
    }

    fn ack(at: u64, next: u32, blocks: u32) -> AckOut {
        AckOut { at: Instant(at), next, cause: next - 1, blocks, parts: 1, more: 0 }
    }

    #[test]
    fn an_ack_alone_takes_what_every_link_takes() {
        let (mut way, mut link) = way_back();
        let alone = ack(0, 1, 0);
        let at = way.leave(&alone);
        assert_eq!(at, Instant(1_040_000));
        way.wait(&mut link, alone);
        assert_eq!(way.arrive(&mut link), Some(alone));
        let home = way.cross(&mut link, &alone, at);
        assert_eq!(home, Instant(1_040_000 + 10_320_000 + 1_040_000));
        assert_eq!(way.arrive(&mut link), None);
    }

    #[test]
    fn acks_of_two_flows_wait_for_each_other_and_sack_blocks_take_their_time() {
        let ((mut one, mut link), (mut other, _)) = (way_back(), way_back());
        // With a block 48 bytes: 48 us and 384 us.
        let acks = [ack(0, 7, 1), ack(10_000, 9, 0)];
        let (first, second) = (one.leave(&acks[0]), other.leave(&acks[1]));
        assert_eq!((first, second), (Instant(1_048_000), Instant(1_050_000)));
        let home = one.cross(&mut link, &acks[0], first);
        assert_eq!(home, Instant(1_048_000 + 10_384_000 + 1_048_000));
        let home = other.cross(&mut link, &acks[1], second);
        assert_eq!(home, Instant(1_048_000 + 384_000 + 10_320_000 + 1_040_000));
    }

    #[test]
    fn acks_of_one_flow_wait_on_its_access_link_too() {
        let (mut way, _) = way_back();
        assert_eq!(way.leave(&ack(0, 1, 0)), Instant(1_040_000));
        assert_eq!(way.leave(&ack(0, 2, 0)), Instant(1_080_000));
    }

    #[test]
    fn an_ack_is_next_if_nothing_can_come_before_it() {
        let (mut way, link) = way_back();
        let mut link = ReturnLink { starts: vec![Instant(900)], gap: Span(50), ..link };
        link.causes(Instant(100));
        assert!(link.is_next(Instant(149)));
        assert!(!link.is_next(Instant(150)), "the ACK of the next packet may be there");
        link.causes(Instant(900));
        assert!(link.is_next(Instant(899)));
        assert!(!link.is_next(Instant(900)), "a flow starts");
        link.opens();
        assert!(!link.is_next(Instant(899)), "its SYN may come");
        link.opened();
        assert!(link.is_next(Instant(900)));
        way.wait(&mut link, ack(800, 1, 0));
        assert!(!link.is_next(Instant(900)), "another ACK is on its way");
    }
}
