//! The way of a flow's packets through what it shares with others, link by link, and of its ACKs
//! back.

use firstflight_core::units::Instant;
use firstflight_link::{Elements, QUEUE_STREAMS, Tie, stream};

use crate::control::Wants;
use crate::dialogue::{Dialogue, Passing};
use crate::event::{Event, Kind};
use crate::fast_paths::FastPaths;
use crate::handshake::BARE;
use crate::link::Link;
use crate::memory::Memory;
use crate::network::Network;
use crate::outcome::LinkOutcome;
use crate::queue::{Lane, Queue};
use crate::queued::Queued;
use crate::receiver::{AckOut, Caused};
use crate::route::{Early, Hop, Packet, Route};
use crate::tcp::PART;
use crate::timer::{Timer, timer};
use crate::watch::Watch;
use crate::way_back::ReturnLink;

#[repr(C)]
pub(crate) struct FlowPath {
    pub(crate) watch: Watch,
    /// Boxed because few flows talk to the routers.
    pub(crate) dialogue: Option<Box<Dialogue>>,
    /// The flow's number in the engine.
    pub(crate) id: u16,
    /// Its links, access links and receiver.
    pub(crate) route: Route,
}

/// What flows share.
pub(crate) struct Fabric {
    pub(crate) links: Vec<Link>,
    pub(crate) returns: Vec<ReturnLink>,
    pub(crate) queue: Queue,
    pub(crate) end: Instant,
    pub(crate) memory: Memory,
}

impl FlowPath {
    /// A packet reaches the shared link of `hop` at `at`: now, or later where no other event can
    /// change the link before.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, fabric: &mut Fabric, hop: usize, packet: Packet, at: Instant) {
        if !self.route.is_plain {
            return self.arrive_any(fabric, hop, packet, at);
        }
        let Hop { link, tie, .. } = *self.route.hop(0);
        match fabric.arrive(link, at, self.route.bytes(packet), tie) {
            Some(far_end) => self.deliver(fabric, packet, far_end),
            None => self.lost(packet, at),
        }
    }

    /// Slow path of [`FlowPath::arrive`]: the flow may talk to routers, or cross more shared links.
    #[inline(never)]
    fn arrive_any(&mut self, fabric: &mut Fabric, hop: usize, packet: Packet, at: Instant) {
        let Hop { link, tie, .. } = *self.route.hop(hop);
        let bytes = self.route.bytes(packet);
        let marks = self.dialogue.as_mut().is_some_and(|dialogue| {
            let Packet { tagged, is_syn, .. } = packet;
            let passing = Passing { tagged, bytes, is_syn, at, flow: self.id, hop, tie };
            dialogue.pass(&mut fabric.links[link], passing)
        });
        if fabric.links[link].has_elements() {
            return self.cross(fabric, (hop, packet), at, marks);
        }
        let Some(far_end) = fabric.arrive(link, at, bytes, tie) else {
            self.lost(packet, at);
            self.dialogue.iter_mut().for_each(|dialogue| dialogue.lose(hop));
            return;
        };
        if marks {
            fabric.links[link].count_mark();
        }
        if self.route.is_last(hop) {
            self.deliver(fabric, packet, far_end);
        } else {
            self.go_on(fabric, hop + 1, packet, far_end);
        }
    }

    #[inline]
    pub(crate) fn lost(&mut self, packet: Packet, at: Instant) {
        self.watch.on_drop(at);
        if packet.is_syn {
            self.route.count_syns(u32::wrapping_sub);
        }
    }

    /// [`FlowPath::arrive`] for an event, as a function of its own: it is not inlined.
    #[inline(never)]
    pub(crate) fn arrive_now(&mut self, fabric: &mut Fabric, arriving: Arriving, now: Instant) {
        match arriving.hop {
            AT_RECEIVER.. => self.arrive_off_path(fabric, arriving, now),
            hop if arriving.tagged == BARE => self.pass_bare(fabric, hop, now),
            hop => self.arrive(fabric, hop, self.route.packet(arriving.tagged), now),
        }
    }

    /// A packet will reach the shared link of `hop` at `at`.
    fn go_on(&mut self, fabric: &mut Fabric, hop: usize, packet: Packet, at: Instant) {
        if self.may_go_on(fabric, hop, packet, at) {
            self.arrive_any(fabric, hop, packet, at);
        }
    }

    /// Whether the arrival at a link can be handled at once; otherwise it becomes an event, or is
    /// forgotten because the run ends before it.
    #[inline(always)]
    pub(crate) fn may_go_on(
        &self,
        fabric: &mut Fabric,
        hop: usize,
        packet: Packet,
        at: Instant,
    ) -> bool {
        if at > fabric.end {
            return false;
        }
        let target = self.route.hop(hop);
        match target.early {
            Early::Always => return true,
            Early::IfNext if at < fabric.queue.first_before() => return true,
            Early::IfNext | Early::Never => {}
        }
        let payload = Arriving { tagged: packet.tagged, hop, flow: self.id }.pack();
        let event = Event::new(at, Kind::Arrive, target.order, payload);
        fabric.queue.push(Lane::Arrive(target.lane), event);
        false
    }

    /// A packet reaches the far end of the last shared link at `at`. The ACK of a calm one need not
    /// say what it is for: the receiver has answered every packet before it, ACKs do not overtake
    /// each other, and so the sender knows of all of them and of nothing else when it comes.
    #[inline(always)]
    fn deliver(&mut self, fabric: &mut Fabric, packet: Packet, at: Instant) {
        match self.route.deliver_calm(at, packet) {
            Some((seq, back)) => {
                let ack = self.ack(self.route.tagged(seq + 1), seq, back);
                fabric.queue.push_next_ack(self.route.ack_lane, ack);
            }
            None if self.route.way_back.is_some() => self.deliver_queued(fabric, packet, at),
            None if self.route.receiver.delays() => self.deliver_delayed(fabric, packet, at),
            None => self.deliver_around_gap(fabric, packet, at),
        }
    }

    /// Slow path of [`FlowPath::deliver`]: the packet may not be the next in order.
    #[inline(never)]
    fn deliver_around_gap(&mut self, fabric: &mut Fabric, packet: Packet, at: Instant) {
        if self.dialogue.is_none()
            && let Some(ack) = self.route.deliver_at_once(at, packet)
        {
            let back = self.route.back(&ack);
            if back <= fabric.end {
                self.push_ack(fabric, self.route.tagged(ack.next), ack.cause, back);
            }
        } else {
            self.deliver_slowly(fabric, packet, at);
        }
    }

    /// [`FlowPath::deliver`] at a receiver that delays ACKs.
    #[inline(never)]
    fn deliver_delayed(&mut self, fabric: &mut Fabric, packet: Packet, at: Instant) {
        match self.route.deliver_delayed(at, packet) {
            None => self.deliver_slowly(fabric, packet, at),
            Some((_, Caused::Held(due), _)) => self.wake_receiver(fabric, due),
            Some((seq, Caused::Ack, back)) => {
                self.push_ack(fabric, self.route.tagged(seq + 1), seq, back);
            }
        }
    }

    /// Slowest path of [`FlowPath::deliver`]: the packet or its ACK may be delayed, or no ACK may
    /// follow.
    #[inline(never)]
    pub(crate) fn deliver_slowly(&mut self, fabric: &mut Fabric, packet: Packet, at: Instant) {
        let at = self.route.leave(at, packet);
        self.receive(fabric, packet, at);
    }

    /// [`FlowPath::deliver`] where ACKs queue on the reverse path.
    #[inline(never)]
    fn deliver_queued(&mut self, fabric: &mut Fabric, packet: Packet, at: Instant) {
        if let Some(way) = &self.route.way_back {
            fabric.returns[way.link].causes(at);
        }
        let at = self.route.leave(at, packet);
        let cause = packet.tagged ^ self.route.tag();
        if at <= self.route.counts_until && self.route.receiver.take_calm(cause) {
            self.send_back(
                fabric,
                AckOut { at, next: cause + 1, cause, blocks: 0, parts: 1, more: 0 },
            );
        } else {
            self.receive(fabric, packet, at);
        }
    }

    /// A packet reaches the receiver at `at`.
    #[inline(never)]
    fn receive(&mut self, fabric: &mut Fabric, packet: Packet, at: Instant) {
        if packet.is_syn {
            self.route.count_syns(u32::wrapping_sub);
        }
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.arrive(packet.tagged);
        }
        let Some(seq) = self.route.untagged(packet.tagged) else {
            return self.deliver_late(fabric, packet, at);
        };
        if self.dialogue.as_ref().is_some_and(|dialogue| dialogue.has_ecn()) {
            self.read_marks(fabric, at);
        }
        let (overdue, own) = self.route.receiver.receive(seq, at);
        if let Some(ack) = overdue {
            self.send_any_ack(fabric, ack);
        }
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.receive();
        }
        if let Some(ack) = own {
            let ack = if packet.is_syn { self.route.answer_late(ack) } else { ack };
            self.send_any_ack(fabric, ack);
        }
        if let Some(due) = self.route.receiver.deadline() {
            self.wake_receiver(fabric, due);
        }
    }

    /// A packet of a flow with ECN is about to be taken by the receiver, at `at`. An ACK that the
    /// timer has sent before knows nothing of it.
    fn read_marks(&mut self, fabric: &mut Fabric, at: Instant) {
        let ends_run = self.dialogue.as_ref().is_some_and(|dialogue| dialogue.ends_run());
        if let Some(ack) = self.route.receiver.send_held(at, ends_run) {
            self.send_any_ack(fabric, ack);
        }
        let hurries = self.dialogue.as_mut().map_or(0, |dialogue| dialogue.hurries());
        self.route.receiver.hurry(hurries);
    }

    /// An ACK is held back until `due`.
    #[inline]
    fn wake_receiver(&mut self, fabric: &mut Fabric, due: Instant) {
        if self.route.needs_waking(due) {
            fabric.queue.push_out_of_order(timer(due, self.id as usize, Timer::DelayedAck));
        }
    }

    /// An event of the delayed-ACK timer.
    pub(crate) fn on_wake(&mut self, fabric: &mut Fabric, now: Instant) {
        let (ack, due) = self.route.on_wake(now);
        if let Some(ack) = ack {
            self.send_any_ack(fabric, ack);
        }
        if let Some(due) = due {
            self.wake_receiver(fabric, due);
        }
    }

    /// A packet reaches the receiver of a connection that is over.
    #[cold]
    #[inline(never)]
    fn deliver_late(&mut self, fabric: &mut Fabric, packet: Packet, at: Instant) {
        let acks = self.route.receive_late(packet, at);
        acks.into_iter().flatten().for_each(|ack| self.send_back(fabric, ack));
    }

    /// An ACK that may bring back what routers told.
    #[inline]
    pub(crate) fn send_any_ack(&mut self, fabric: &mut Fabric, ack: AckOut) {
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.answer();
        }
        match self.route.way_back.is_some() {
            true => self.send_back(fabric, ack),
            false => self.send_ack(fabric, ack),
        }
    }

    /// An ACK sets out for the shared link on the reverse path, and crosses it at once if it is
    /// known to be the next one there.
    #[inline]
    fn send_back(&mut self, fabric: &mut Fabric, ack: AckOut) {
        let ack = AckOut { next: self.route.tagged(ack.next), ..ack };
        let Some(way) = &mut self.route.way_back else { return };
        let at = way.leave(&ack);
        if at > fabric.end {
            return;
        }
        let link = &mut fabric.returns[way.link];
        if link.is_next(at) {
            let at = way.cross(link, &ack, at);
            return self.bring(fabric, ack, at);
        }
        way.wait(link, ack);
        let payload = Arriving { tagged: 0, hop: WAY_BACK, flow: self.id }.pack();
        fabric.queue.push(Lane::Arrive(way.lane), Event::new(at, Kind::Arrive, way.order, payload));
    }

    /// The oldest ACK that waits for it has reached the shared link on the reverse path.
    pub(crate) fn cross_back(&mut self, fabric: &mut Fabric, now: Instant) {
        let Some(way) = &mut self.route.way_back else { return };
        let link = &mut fabric.returns[way.link];
        let Some(ack) = way.arrive(link) else { return };
        if link.is_own() {
            return self.cross_own(fabric, ack, now);
        }
        let at = way.cross(link, &ack, now);
        self.bring(fabric, ack, at);
    }

    fn send_ack(&mut self, fabric: &mut Fabric, ack: AckOut) {
        let at = self.route.back(&ack);
        self.bring(fabric, AckOut { next: self.route.tagged(ack.next), ..ack }, at);
    }

    /// An ACK, its sequence number as it travels, will reach the sender at `at`, unless the run
    /// ends before.
    pub(crate) fn bring(&mut self, fabric: &mut Fabric, ack: AckOut, at: Instant) {
        for _ in 0..ack.more {
            let told = self.route.receiver.next_compressed().filter(|_| at <= fabric.end);
            told.iter().for_each(|seq| self.push_ack(fabric, ack.next, seq | PART, at));
        }
        if at > fabric.end {
            return;
        }
        for _ in 1..ack.parts {
            self.push_ack(fabric, ack.next, ack.cause | PART, at);
        }
        self.push_ack(fabric, ack.next, ack.cause, at);
    }

    #[inline]
    pub(crate) fn push_ack(&self, fabric: &mut Fabric, next: u32, cause: u32, at: Instant) {
        fabric.queue.push(Lane::Ack(self.route.ack_lane), self.ack(next, cause, at));
    }

    fn ack(&self, next: u32, cause: u32, at: Instant) -> Event {
        Event::new(at, Kind::Ack, self.id, pack_ack(next, cause))
    }
}

impl Fabric {
    /// What the network's flows share when nothing has happened yet.
    pub(crate) fn new(
        network: &Network,
        queue: Queue,
        memory: Memory,
        fast_paths: FastPaths,
    ) -> Self {
        let end = network.end();
        let mut links: Vec<Link> = (0_u64..)
            .zip(&network.links)
            .map(|(id, spec)| Link::new(spec, stream(network.seed, id), end))
            .collect();
        for flow in &network.flows {
            let wants = Wants::of(&flow.control);
            if wants.talks() {
                flow.path.iter().for_each(|link| links[*link].serve(wants));
            }
        }
        for ((link, spec), id) in links.iter_mut().zip(&network.links).zip(0..) {
            if let Some(elements) = Elements::new(&spec.elements, network.seed, id) {
                link.lead_through(elements);
            }
        }
        for ((link, spec), id) in links.iter_mut().zip(&network.links).zip(0..) {
            if let Some(queued) = Queued::of(spec, stream(network.seed, QUEUE_STREAMS + id), end) {
                link.put_queued(Box::new(queued));
            }
        }
        if let Some(every) = network.sample_every {
            links.iter_mut().for_each(|link| link.sample(every));
        }
        let all = 0..network.links.len();
        let returns = all.map(|id| ReturnLink::new(network, id, fast_paths)).collect();
        Self { links, returns, queue, end, memory }
    }

    /// What happened at the links.
    pub(crate) fn outcome(self) -> Vec<LinkOutcome> {
        self.links.into_iter().map(Link::outcome).collect()
    }

    /// A packet reaches a link: when it reaches the far end, unless it is lost.
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        link: usize,
        at: Instant,
        bytes: u64,
        tie: Tie,
    ) -> Option<Instant> {
        self.links[link].arrive(at, bytes, tie)
    }
}

/// What an event tells of a packet that reaches a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arriving {
    /// Its sequence number as it travels.
    pub(crate) tagged: u32,
    /// Place of the link on the way, [`AT_RECEIVER`] or [`WAY_BACK`].
    pub(crate) hop: usize,
    /// The flow's number in the engine.
    pub(crate) flow: u16,
}

impl Arriving {
    pub(crate) fn pack(self) -> u64 {
        pack(self.tagged, (self.hop as u32) << 16 | u32::from(self.flow))
    }

    pub(crate) fn unpack(payload: u64) -> Self {
        let (tagged, place) = unpack(payload);
        Self { tagged, hop: (place >> 16) as usize, flow: place as u16 }
    }
}

/// The place behind the last link of a flow that crosses elements.
pub(crate) const AT_RECEIVER: usize = 0xfffe;

/// The place of the link that ACKs share on the reverse path.
pub(crate) const WAY_BACK: usize = 0xffff;

/// Two halves of what an event carries.
fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The two halves.
fn unpack(payload: u64) -> (u32, u32) {
    ((payload >> 32) as u32, payload as u32)
}

/// An ACK and its cause. Where the parts of one wait in no lane their payload decides which comes
/// first, so that the last part's is the greatest.
fn pack_ack(next: u32, cause: u32) -> u64 {
    pack(next, cause ^ PART)
}

pub(crate) fn unpack_ack(payload: u64) -> (u32, u32) {
    let (next, cause) = unpack(payload);
    (next, cause ^ PART)
}
