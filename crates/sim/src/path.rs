//! The way of a flow's packets through what it shares with others, link by link, and of its ACKs
//! back.

use firstflight_core::feedback::Feedback;
use firstflight_core::units::{Instant, Rate, Span};

use crate::dialogue::{Dialogue, Passing};
use crate::link::{Link, Tie};
use crate::memory::Memory;
use crate::network::Network;
use crate::outcome::LinkOutcome;
use crate::queue::{Event, Kind, Queue};
use crate::random::stream;
use crate::receiver::AckOut;
use crate::route::{Hop, Route};
use crate::router::Header;
use crate::tcp::{PART, Wire};
use crate::timer::{Timer, timer};
use crate::watch::Watch;

pub(crate) struct FlowPath {
    pub(crate) id: u16,
    pub(crate) route: Route,
    pub(crate) watch: Watch,
    /// Boxed because few flows talk to the routers.
    pub(crate) dialogue: Option<Box<Dialogue>>,
}

/// What flows share.
pub(crate) struct Fabric {
    links: Vec<Link>,
    pub(crate) queue: Queue,
    queues_over_time: Vec<Vec<(Instant, u64)>>,
    sample_every: Option<Span>,
    ahead: bool,
    pub(crate) end: Instant,
    pub(crate) memory: Memory,
}

impl FlowPath {
    /// Packet `seq` reaches the shared link of `hop` at `at`, which is now or, where nobody can
    /// interfere, later.
    #[inline(always)]
    fn arrive(&mut self, fabric: &mut Fabric, hop: usize, seq: u32, at: Instant) {
        let Hop { link, tie, .. } = self.route.hops[hop];
        if let Some(dialogue) = &mut self.dialogue {
            let (bytes, is_syn) = (self.route.bytes(seq), self.route.is_syn(seq));
            let packet = Passing { bytes, is_syn, at, flow: self.id, hop };
            dialogue.pass(&mut fabric.links[link], packet);
        }
        let bytes = self.route.bytes(seq);
        let Some(far_end) = fabric.arrive(link, at, bytes, tie) else {
            self.lost(hop, at);
            return;
        };
        if hop + 1 == self.route.hops.len() {
            self.deliver(fabric, seq, far_end);
        } else {
            self.go_on(fabric, hop + 1, seq, far_end);
        }
    }

    #[inline]
    fn lost(&mut self, hop: usize, at: Instant) {
        self.watch.on_drop(at);
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.lose(hop);
        }
    }

    /// The same in a place of its own, for events.
    #[inline(never)]
    pub(crate) fn arrive_now(&mut self, fabric: &mut Fabric, hop: usize, seq: u32, now: Instant) {
        self.arrive(fabric, hop, seq, now);
    }

    /// Packet `seq` will reach the shared link of `hop` at `at`.
    #[inline(never)]
    fn go_on(&mut self, fabric: &mut Fabric, hop: usize, seq: u32, at: Instant) {
        if self.may_go_on(fabric, hop, seq, at) {
            self.arrive(fabric, hop, seq, at);
        }
    }

    /// Whether the arrival at a link can be handled at once; otherwise it becomes an event, or is
    /// forgotten because the run ends before it.
    #[inline(always)]
    fn may_go_on(&self, fabric: &mut Fabric, hop: usize, seq: u32, at: Instant) -> bool {
        if at > fabric.end {
            return false;
        }
        let target = self.route.hops[hop];
        if fabric.ahead && target.exclusive {
            return true;
        }
        let event = Event::new(at, Kind::Arrive, self.id, pack(seq, hop as u32));
        if fabric.ahead && fabric.queue.would_be_next(event) {
            return true;
        }
        fabric.queue.push(target.lane, event);
        false
    }

    #[inline(always)]
    fn deliver(&mut self, fabric: &mut Fabric, tagged: u32, at: Instant) {
        let at = self.route.leave(at, tagged);
        let Some(seq) = self.route.untagged(tagged) else { return };
        match self.route.receiver.take_calm(seq, at) {
            Some(ack) => self.send_ack(fabric, ack),
            None => self.deliver_any(fabric, seq, at),
        }
    }

    /// What may not be the next packet in order, or cause no ACK.
    #[inline(never)]
    fn deliver_any(&mut self, fabric: &mut Fabric, seq: u32, at: Instant) {
        let held_before = self.route.receiver.deadline();
        let (overdue, own) = self.route.receiver.receive(seq, at);
        if let Some(ack) = overdue {
            self.send_any_ack(fabric, ack);
        }
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.receive();
        }
        if let Some(ack) = own {
            self.send_any_ack(fabric, ack);
        }
        let held = self.route.receiver.deadline();
        if held != held_before
            && let Some(due) = held
        {
            fabric.queue.push_stray(timer(due, self.id as usize, Timer::DelayedAck));
        }
    }

    /// An ACK that may bring back what routers told.
    #[inline]
    pub(crate) fn send_any_ack(&mut self, fabric: &mut Fabric, ack: AckOut) {
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.answer();
        }
        self.send_ack(fabric, ack);
    }

    #[inline(always)]
    pub(crate) fn send_ack(&mut self, fabric: &mut Fabric, ack: AckOut) {
        let at = self.route.back(&ack);
        let next = self.route.tagged(ack.next);
        if ack.parts > 1 {
            self.send_parts(fabric, ack, at);
        }
        let event = Event::new(at, Kind::Ack, self.id, pack(next, ack.cause));
        fabric.queue.push(self.route.ack_lane, event);
    }

    #[cold]
    fn send_parts(&mut self, fabric: &mut Fabric, ack: AckOut, at: Instant) {
        let next = self.route.tagged(ack.next);
        for _ in 1..ack.parts {
            let part = Event::new(at, Kind::Ack, self.id, pack(next, ack.cause | PART));
            fabric.queue.push(self.route.ack_lane, part);
        }
    }
}

impl Fabric {
    /// What the network's flows share when nothing has happened yet.
    pub(crate) fn new(network: &Network, queue: Queue, ahead: bool) -> Self {
        let end = Instant(0) + network.duration;
        let mut links: Vec<Link> = (0_u64..)
            .zip(&network.links)
            .map(|(id, spec)| Link::new(spec, stream(network.seed, id), end))
            .collect();
        for flow in network.flows.iter().filter(|flow| flow.asks() || flow.listens().any()) {
            flow.path.iter().for_each(|link| links[*link].serve(flow.asks(), flow.listens()));
        }
        Self {
            queues_over_time: vec![Vec::new(); links.len()],
            links,
            queue,
            sample_every: network.sample_every,
            ahead,
            end,
            memory: Memory::new(&network.flows),
        }
    }

    /// What happened at the links.
    pub(crate) fn outcome(self) -> Vec<LinkOutcome> {
        let links = self.links.into_iter().zip(self.queues_over_time);
        links.map(|(link, series)| LinkOutcome { totals: link.totals(), series }).collect()
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
        let far_end = self.links[link].arrive(at, bytes, tie);
        if let (Some(every), Some(_)) = (self.sample_every, far_end) {
            self.sample(link, at, tie, every);
        }
        far_end
    }

    #[cold]
    fn sample(&mut self, link: usize, at: Instant, tie: Tie, every: Span) {
        let held = self.links[link].packets_held(at, tie);
        let series = &mut self.queues_over_time[link];
        let bucket = Instant(at.0 - at.0 % every.0.max(1));
        match series.last_mut() {
            Some((last, most)) if *last == bucket => *most = (*most).max(held),
            _ => series.push((bucket, held)),
        }
    }
}

/// A flow's sender sees its path as a wire.
pub(crate) struct FlowWire<'a> {
    pub(crate) now: Instant,
    pub(crate) path: &'a mut FlowPath,
    pub(crate) fabric: &'a mut Fabric,
}

impl Wire for FlowWire<'_> {
    #[inline(always)]
    fn transmit(&mut self, seq: u32) {
        let seq = self.path.route.tagged(seq);
        let at = self.path.route.enter(self.now, seq);
        if self.path.may_go_on(self.fabric, 0, seq, at) {
            self.path.arrive(self.fabric, 0, seq, at);
        }
    }

    fn say(&mut self, rtt: Span, spacing: Span) {
        if let Some(dialogue) = &mut self.path.dialogue {
            dialogue.say(Header::new(rtt, spacing));
        }
    }

    fn hear(&mut self) -> [Option<Feedback>; 2] {
        let path = &mut *self.path;
        path.dialogue
            .as_mut()
            .map_or([None; 2], |dialogue| dialogue.hear(|bps| path.route.payload_bps(bps)))
    }

    fn granted(&mut self) -> Option<Rate> {
        let dialogue = self.path.dialogue.as_mut()?;
        let granted = std::mem::take(&mut dialogue.asked_bps);
        let bps = self.path.route.payload_bps(granted);
        (granted > 0).then(|| Rate::from_bits_per_second(bps))
    }
}

/// Two halves of what an event carries.
fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The two halves.
pub(crate) fn unpack(payload: u64) -> (u32, u32) {
    ((payload >> 32) as u32, payload as u32)
}
