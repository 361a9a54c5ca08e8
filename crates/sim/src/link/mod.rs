//! A link: a drop-tail link ([`firstflight_link`]), a delay, and what few links have besides.

mod extras;
pub(crate) mod queued;

use firstflight_core::needs::Facilities;
use firstflight_core::units::{Instant, Span};
use firstflight_link::{
    Buffer, Crossing, DropTailLink, Element, Elements, Fate, LossSpec, NEVER, Queue, Tie, Totals,
    stream,
};
use rand_pcg::Pcg64Mcg;

use crate::control::Wants;
use crate::outcome::LinkOutcome;
use crate::packet::Header;
use crate::router::{Arrival, Router};
use extras::{Extras, Samples};
use queued::Queued;

/// A link of the network.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Rate, in bits per second.
    pub rate_bps: u64,
    /// One-way propagation delay.
    pub delay: Span,
    /// Drop-tail buffer.
    pub buffer: Buffer,
    /// The packet in service takes a place in the buffer.
    pub buffer_counts_in_service: bool,
    /// A packet that finds so many waiting, or more, is marked if its flow is ECN-capable: a step,
    /// as DCTCP's switches and `ce_threshold` of Linux's queues have it. Other packets are not
    /// dropped for it.
    pub ecn_threshold: Option<u64>,
    /// What stands in place of the drop-tail buffer. `buffer` and `ecn_threshold` say nothing then.
    pub queue: Option<Box<dyn Queue>>,
    /// Random loss after the queue.
    pub loss: LossSpec,
    /// Packets to lose, counted from 1 in order of arrival among those that fit the buffer.
    pub drop: Vec<u64>,
    /// Its elements, in the order in which a packet crosses them.
    pub elements: Vec<Box<dyn Element>>,
    /// The other direction, for the paths that name it. Its own delay comes on top of
    /// [`crate::FlowSpec::path_delay`] or [`crate::FlowSpec::return_delay`].
    pub back: Option<Box<Self>>,
}

impl LinkSpec {
    /// A link of this rate, in bits per second, without delay and losses, with room for all that
    /// comes.
    pub fn open(rate_bps: u64) -> Self {
        Self {
            rate_bps,
            delay: Span(0),
            buffer: Buffer::Unlimited,
            buffer_counts_in_service: false,
            ecn_threshold: None,
            queue: None,
            loss: LossSpec::NONE,
            drop: Vec::new(),
            elements: Vec::new(),
            back: None,
        }
    }
}

/// A link while the simulation runs.
#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    rate: u64,
    drop_tail: DropTailLink,
    /// Boxed because few links have any.
    extras: Option<Box<Extras>>,
    /// Packets that an element dropped, those lost on purpose, and those marked.
    element_drops: u64,
    losses: u64,
    marks: u64,
    /// Packets held, the one in service included, that make it mark the next; `u64::MAX` for none.
    marks_from: u64,
    /// It has room for all that comes, and counts nothing of what it holds.
    is_open: bool,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, rng: Pcg64Mcg, end_of_run: Instant) -> Self {
        let LinkSpec { rate_bps, buffer, buffer_counts_in_service, .. } = *spec;
        Self {
            delay: spec.delay.min(NEVER),
            rate: rate_bps.max(1),
            drop_tail: DropTailLink::new(rate_bps, buffer, buffer_counts_in_service, end_of_run),
            extras: Extras::new(spec, rng).map(Box::new),
            element_drops: 0,
            losses: 0,
            marks: 0,
            marks_from: match spec.ecn_threshold {
                Some(waiting) => {
                    waiting.saturating_add(u64::from(!spec.buffer_counts_in_service)).max(1)
                }
                None => u64::MAX,
            },
            is_open: false,
        }
    }

    /// The other direction of a link, which carries ACKs and has room for all of them.
    pub(crate) fn open(rate_bps: u64, end_of_run: Instant) -> Self {
        Self { is_open: true, ..Self::new(&LinkSpec::open(rate_bps), stream(0, 0), end_of_run) }
    }

    /// Whether a packet that arrives now finds so many waiting that it is marked.
    #[inline(never)]
    pub(crate) fn is_congested(&mut self, at: Instant, tie: Tie) -> bool {
        self.marks_from != u64::MAX && self.drop_tail.held_at(at, tie) >= self.marks_from
    }

    /// A marked packet has been taken in.
    pub(crate) fn count_mark(&mut self) {
        self.marks += 1;
    }

    /// From now on the router at its entry serves a flow that asks for rates, or listens.
    pub(crate) fn serve(&mut self, wants: Wants) {
        let router = &mut self.extras.get_or_insert_default().router;
        router.get_or_insert_with(|| Router::new(self.rate)).serve(wants);
    }

    /// From now on packets cross these elements.
    pub(crate) fn set_elements(&mut self, elements: Elements) {
        self.extras.get_or_insert_default().elements = Some(elements);
    }

    fn elements(&mut self) -> Option<&mut Elements> {
        self.extras.as_mut()?.elements.as_mut()
    }

    /// When it has sent what it holds.
    pub(crate) fn free_at(&self) -> Instant {
        Instant(self.drop_tail.free_at())
    }

    /// Whether packets cross elements here, or a queue that is not drop-tail.
    pub(crate) fn has_elements(&self) -> bool {
        let extras = self.extras.as_ref();
        extras.is_some_and(|extras| extras.elements.is_some() || extras.queued.is_some())
    }

    /// Whether packets wait in a queue that is not drop-tail.
    pub(crate) fn has_queue(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.queued.is_some())
    }

    /// From now on packets wait in this queue.
    pub(crate) fn put_queued(&mut self, queued: Box<Queued>) {
        self.extras.get_or_insert_default().queued = Some(queued);
    }

    pub(crate) fn take_queued(&mut self) -> Option<Box<Queued>> {
        self.extras.as_mut()?.queued.take()
    }

    pub(crate) fn queued(&mut self) -> Option<&mut Queued> {
        self.extras.as_mut()?.queued.as_deref_mut()
    }

    /// A packet comes to a link with a queue: whether the elements let it in. One that they mark is
    /// marked.
    pub(crate) fn let_in(&mut self, packet: &mut Crossing) -> bool {
        if let Some(queued) = self.queued() {
            (packet.held, packet.waits) = (queued.held(packet.at), queued.waits(packet.at));
        }
        let fate = self.elements().map_or(Fate::Pass, |elements| elements.arrive(packet));
        if let Some(queued) = self.queued() {
            queued.totals.drops += u64::from(fate == Fate::Drop);
        }
        fate != Fate::Drop
    }

    /// When a packet has been sent whose transmission begins at `start`, if an element says it.
    pub(crate) fn sent_at(&mut self, bytes: u64, start: Instant) -> Option<Instant> {
        self.elements()?.sent_at(bytes, start)
    }

    /// A packet has been sent from `start` to `end`: when it reaches the far end, unless it is
    /// lost. Random losses and losses by number spare a handshake's ACK.
    pub(crate) fn let_out(
        &mut self,
        packet: &Crossing,
        (start, end): (Instant, Instant),
        is_handshake_ack: bool,
    ) -> Option<Instant> {
        let arrival = Arrival { at: start, idle_at: start.0, bytes: packet.bytes };
        if let Some(extras) = &mut self.extras {
            match is_handshake_ack {
                true => extras.carry(arrival),
                false if extras.loses(arrival) => {
                    self.losses += 1;
                    return None;
                }
                false => {}
            }
        }
        let far_end = Instant(end.0.min(NEVER.0)) + self.delay;
        Some(self.elements().map_or(far_end, |elements| elements.pass_on(packet, far_end)))
    }

    /// Samples the packets held, the one in service included.
    pub(crate) fn sample_queue(&mut self, at: Instant, held: u64, totals: &Totals) {
        let carried = (totals.packets, totals.bytes);
        let samples = self.extras.as_mut().and_then(|extras| extras.samples.as_mut());
        samples.into_iter().for_each(|samples| samples.take(at, held, carried));
    }

    /// Takes in a packet at a link that may have elements. Returns when it reaches the far end, or
    /// `None` if it is lost, and whether an element marked it.
    pub(crate) fn cross(
        &mut self,
        mut packet: Crossing,
        tie: Tie,
        is_handshake_ack: bool,
    ) -> Option<(Instant, bool)> {
        let at = packet.at;
        if self.is_open {
            return Some((self.carry(at, packet.bytes), false));
        }
        let mut fate = Fate::Pass;
        if self.has_elements() {
            packet.held = self.drop_tail.held_at(at, tie);
            packet.waits = Span(self.drop_tail.free_at().saturating_sub(at.0));
        }
        if let Some(elements) = self.elements() {
            fate = elements.arrive(&mut packet);
        }
        if fate == Fate::Drop {
            self.element_drops += 1;
            return None;
        }
        let bytes = packet.bytes;
        let far_end = match is_handshake_ack {
            true => self.arrive_handshake_ack(at, bytes, tie)?,
            false => self.arrive(at, bytes, tie)?,
        };
        let far_end = match self.elements() {
            Some(elements) => elements.pass_on(&packet, far_end),
            None => far_end,
        };
        Some((far_end, fate == Fate::Mark))
    }

    /// From now on the packets held are sampled.
    pub(crate) fn sample(&mut self, every: Span) {
        self.extras.get_or_insert_default().samples = Some(Samples::new(every));
    }

    /// A packet with a header is about to arrive: the router writes into it, as `flow` wants it to.
    pub(crate) fn route(
        &mut self,
        at: Instant,
        bytes: u64,
        flow: (u16, Facilities),
        header: &mut Header,
    ) {
        let packet = Arrival { at, idle_at: self.drop_tail.free_at(), bytes };
        match self.router() {
            Some(router) => router.mark(packet, flow, header),
            None => header.asked_bps = 0,
        }
    }

    /// A packet of `bytes` arrives at an open link: when it reaches the far end.
    #[inline]
    pub(crate) fn carry(&mut self, at: Instant, bytes: u64) -> Instant {
        debug_assert!(self.is_open);
        self.drop_tail.carry(at, bytes)
    }

    fn router(&mut self) -> Option<&mut Router> {
        self.extras.as_mut()?.router.as_mut()
    }

    /// A packet of `bytes` arrives ([`DropTailLink::arrive`]): when it reaches the far end, unless
    /// it is lost. On a link with extras (random loss, a router, samples) no packet is calm.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        if self.drop_tail.is_calm(at, bytes) {
            Some(Instant(self.drop_tail.take_in(at).0 + self.delay.0))
        } else {
            self.arrive_any(at, bytes, tie)
        }
    }

    /// [`Link::arrive`] for the third packet of a handshake. Random losses and losses by number
    /// pass it over.
    #[cold]
    pub(crate) fn arrive_handshake_ack(
        &mut self,
        at: Instant,
        bytes: u64,
        tie: Tie,
    ) -> Option<Instant> {
        let idle_at = self.drop_tail.free_at();
        let far_end = self.take_in(at, bytes, tie)?;
        if let Some(extras) = &mut self.extras {
            extras.carry(Arrival { at, idle_at, bytes });
        }
        Some(far_end)
    }

    /// A packet that may not fit, or need more than to be taken in.
    #[inline(never)]
    fn arrive_any(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        if self.extras.is_none() {
            let departure = self.drop_tail.arrive(at, bytes, tie)?;
            return Some(Instant(departure.0 + self.delay.0));
        }
        let idle_at = self.drop_tail.free_at();
        let far_end = self.take_in(at, bytes, tie)?;
        let lost = self.pass_extras(Arrival { at, idle_at, bytes });
        (!lost).then_some(far_end)
    }

    /// A packet is taken in if it fits: when it reaches the far end.
    fn take_in(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        let departure = match &mut self.extras {
            None => self.drop_tail.arrive(at, bytes, tie)?,
            Some(extras) => self.drop_tail.arrive_seen(at, bytes, tie, |start| {
                extras.elements.as_mut()?.sent_at(bytes, start)
            })?,
        };
        Some(Instant(departure.0 + self.delay.0))
    }

    /// A packet has been taken in. True if it is lost on purpose.
    fn pass_extras(&mut self, packet: Arrival) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        let lost = extras.loses(packet);
        if lost {
            self.losses += 1;
        } else if let Some(samples) = &mut extras.samples {
            samples.take(packet.at, self.drop_tail.held(), self.drop_tail.taken());
        }
        lost
    }

    /// What happened until the end of the run.
    pub(crate) fn outcome(self) -> LinkOutcome {
        let queued = self.extras.as_ref().and_then(|extras| extras.queued.as_ref());
        let totals = match queued {
            Some(queued) => Totals { losses: self.losses, ..queued.totals() },
            None => {
                let totals = self.drop_tail.totals();
                let drops = totals.drops + self.element_drops;
                Totals { drops, losses: self.losses, marks: self.marks, ..totals }
            }
        };
        let samples = self.extras.and_then(|extras| extras.samples);
        LinkOutcome { totals, series: samples.map_or_else(Vec::new, |samples| samples.series) }
    }
}
