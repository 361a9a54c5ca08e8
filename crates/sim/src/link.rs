//! A link: a rate, a delay and a drop-tail buffer.
//!
//! A drop-tail FIFO knows when a packet will leave the moment it arrives, so a link needs no event
//! for departures: it knows what it holds and when that leaves ([`Held`]), and looks only when it
//! matters.

use firstflight_core::needs::Facilities;
use firstflight_core::units::{Instant, Span};
use rand_pcg::Pcg64Mcg;

use crate::control::Wants;
use crate::element::{Crossing, Elements, Fate};
use crate::extras::{Extras, Samples};
use crate::held::Held;
use crate::network::{Buffer, LinkSpec};
use crate::outcome::LinkOutcome;
use crate::queued::Queued;
use crate::router::{Arrival, Header, Router};
use crate::serialisation::{NEVER, Serialisation};

/// A link while the simulation runs.
#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    rate: u64,
    room: Room,
    held: Held,
    /// A packet that continues the newest run is calm ([`Link::arrive`]) if the link is busy for
    /// less than this time before it, in nanoseconds. 0 if no packet is calm.
    calm_ns: u64,
    /// When the link has sent all that it holds, in nanoseconds.
    free_at: u64,
    /// How long packets of the newest size take.
    serial: Serialisation,
    /// Nothing after this counts, in nanoseconds.
    end_of_run: u64,
    /// Time without anything to send, until the newest packet came.
    idle_ns: u64,
    /// Boxed because few links have any.
    extras: Option<Box<Extras>>,
    /// What has been counted.
    totals: Totals,
    /// Packets held, the one in service included, that make it mark the next; `u64::MAX` for none.
    marks_from: u64,
}

/// What the buffer has room for.
#[derive(Debug)]
enum Room {
    /// This many packets, the one in service included; at least one.
    Packets(u64),
    /// This many bytes, and whether the packet in service counts.
    Bytes(u64, bool),
}

/// What happened at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets that did not fit the buffer, or that an element dropped.
    pub drops: u64,
    /// Packets lost on purpose: random loss and chosen packets.
    pub losses: u64,
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Packets carried.
    pub packets: u64,
    /// Bytes carried.
    pub bytes: u64,
    /// Most packets held at once, the one in service included.
    pub peak_packets: u64,
    /// Sum over packets of the time each was held within the run, in nanoseconds: the time integral
    /// of the packets held.
    pub held_ns: u128,
    /// Time spent sending within the run, in nanoseconds.
    pub busy_ns: u64,
}

/// Which of a simultaneous arrival and departure comes first. An arrival at `t` finds every
/// departure up to `t - EARLY + self` nanoseconds over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tie(u64);

impl Tie {
    /// At the same nanosecond the departure comes first.
    pub(crate) const DEPARTURE_FIRST: Self = Self(Self::EARLY);

    /// The departure comes first, also where only rounding to whole nanoseconds parts the two.
    pub(crate) const ROUNDED_DEPARTURE_FIRST: Self = Self(Self::EARLY + ROUNDING_NS);

    /// The arrival comes first, also where only rounding to whole nanoseconds parts the two.
    pub(crate) const ROUNDED_ARRIVAL_FIRST: Self = Self(Self::EARLY - ROUNDING_NS - 1);

    const EARLY: u64 = ROUNDING_NS + 1;

    /// Departures until then are over when a packet arrives at `at`.
    fn over_by(self, at: u64) -> u64 {
        (at + self.0).saturating_sub(Self::EARLY)
    }
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, rng: Pcg64Mcg, end_of_run: Instant) -> Self {
        let serial = Serialisation::new(spec.rate_bps);
        Self {
            delay: spec.delay.min(NEVER),
            rate: spec.rate_bps.max(1),
            room: Room::new(spec.buffer, spec.in_service_counts),
            held: Held::new(serial.clone()),
            calm_ns: 0,
            free_at: 0,
            serial,
            end_of_run: end_of_run.0,
            idle_ns: 0,
            extras: Extras::new(spec, rng).map(Box::new),
            totals: Totals::default(),
            marks_from: match spec.mark_from {
                Some(waiting) => waiting.saturating_add(u64::from(!spec.in_service_counts)).max(1),
                None => u64::MAX,
            },
        }
    }

    /// Whether a packet that arrives now finds so many waiting that it is marked.
    #[inline(never)]
    pub(crate) fn is_congested(&mut self, at: Instant, tie: Tie) -> bool {
        if self.marks_from == u64::MAX {
            return false;
        }
        self.held.release(tie.over_by(at.0));
        self.held.len() >= self.marks_from
    }

    /// A marked packet has been taken in.
    pub(crate) fn count_mark(&mut self) {
        self.totals.marks += 1;
    }

    /// From now on the router at its entry serves a flow that asks for rates, or listens.
    pub(crate) fn serve(&mut self, wants: Wants) {
        let router = &mut self.extras.get_or_insert_default().router;
        router.get_or_insert_with(|| Router::new(self.rate)).serve(wants);
    }

    /// From now on packets cross these elements.
    pub(crate) fn lead_through(&mut self, elements: Elements) {
        self.extras.get_or_insert_default().elements = Some(elements);
    }

    fn elements(&mut self) -> Option<&mut Elements> {
        self.extras.as_mut()?.elements.as_mut()
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
    /// lost. Random losses and losses by number pass a `bare` one over.
    pub(crate) fn let_out(
        &mut self,
        packet: &Crossing,
        (start, end): (Instant, Instant),
        bare: bool,
    ) -> Option<Instant> {
        let arrival = Arrival { at: start, idle_at: start.0, bytes: packet.bytes };
        if let Some(extras) = &mut self.extras {
            match bare {
                true => extras.carry(arrival),
                false if extras.loses(arrival) => {
                    self.totals.losses += 1;
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
    /// `None` if it is lost, and whether an element marked it. `bare` is the third packet of a
    /// handshake.
    pub(crate) fn cross(
        &mut self,
        mut packet: Crossing,
        tie: Tie,
        bare: bool,
    ) -> Option<(Instant, bool)> {
        let Crossing { at, bytes, .. } = packet;
        let mut fate = Fate::Pass;
        if self.has_elements() {
            self.held.release(tie.over_by(at.0));
            packet.held = self.held.len();
            packet.waits = Span(self.free_at.saturating_sub(at.0));
        }
        if let Some(elements) = self.elements() {
            fate = elements.arrive(&mut packet);
        }
        if fate == Fate::Drop {
            self.totals.drops += 1;
            return None;
        }
        let far_end = match bare {
            true => self.arrive_bare(at, bytes, tie)?,
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

    /// A packet with a header is about to arrive: the router writes into it.
    pub(crate) fn mark(
        &mut self,
        at: Instant,
        bytes: u64,
        (flow, listens): (u16, Facilities),
        header: &mut Header,
    ) {
        let packet = Arrival { at, idle_at: self.free_at, bytes };
        if let Some(router) = self.router() {
            router.mark(packet, flow, listens, header);
        }
    }

    /// A request for a rate in bits per second passes: what is left of it.
    pub(crate) fn approve(&mut self, at: Instant, asked_bps: u64) -> u64 {
        self.router().map_or(0, |router| router.approve(at, asked_bps))
    }

    fn router(&mut self) -> Option<&mut Router> {
        self.extras.as_mut()?.router.as_mut()
    }

    /// A packet of `bytes` arrives. Arrivals must come in order of time and within the run. Of a
    /// departure at the same nanosecond, or nearly, `tie` says whether it comes first. Returns when
    /// the packet reaches the far end, unless it is lost.
    ///
    /// Fast path, for nearly every packet: the link is sending packets of this size, the packet
    /// fits, makes no new peak of packets held even if none of them has left, and the link has no
    /// extras (random loss, a router, samples). Then only the newest run grows by one.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        // Less than nothing, on an idle link, wraps to a very long time.
        let ahead = self.free_at.wrapping_sub(at.0);
        let calm = ahead < self.calm_ns && bytes == self.serial.bytes();
        if calm { Some(self.take_in(at)) } else { self.arrive_any(at, bytes, tie) }
    }

    /// A packet that continues the newest run is taken in: when it reaches the far end.
    #[inline(always)]
    fn take_in(&mut self, at: Instant) -> Instant {
        self.held.taken += 1;
        self.free_at += self.serial.step();
        self.totals.held_ns += u128::from(self.free_at.min(self.end_of_run) - at.0);
        Instant(self.free_at + self.delay.0)
    }

    /// [`Link::arrive`] for the third packet of a handshake. Random losses and losses by number
    /// pass it over.
    #[cold]
    pub(crate) fn arrive_bare(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        let idle_at = self.free_at;
        let far_end = self.take_in_any(at, bytes, tie)?;
        if let Some(extras) = &mut self.extras {
            extras.carry(Arrival { at, idle_at, bytes });
        }
        Some(far_end)
    }

    /// A packet that may not fit, or need more than to be taken in.
    #[inline(never)]
    fn arrive_any(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        let idle_at = self.free_at;
        let far_end = self.take_in_any(at, bytes, tie)?;
        let lost = self.pass_extras(Arrival { at, idle_at, bytes });
        (!lost).then_some(far_end)
    }

    /// A packet is taken in if it fits: when it reaches the far end.
    #[inline(always)]
    fn take_in_any(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        let over_by = tie.over_by(at.0);
        if self.free_at <= over_by && self.extras.is_none() && over_by < NEVER.0 {
            return Some(self.arrive_alone(at, bytes));
        }
        self.held.release(over_by);
        if self.is_full(bytes) {
            self.totals.drops += 1;
            return None;
        }
        if self.extras.is_some()
            && let Some(far_end) = self.take_in_at_its_time(at, bytes)
        {
            return Some(far_end);
        }
        let idle_at = self.free_at;
        if at.0 > idle_at || bytes != self.serial.bytes() || self.held.len() == 0 {
            self.idle_ns += at.0.saturating_sub(idle_at);
            self.free_at = at.0.max(idle_at);
            self.serial.set(bytes);
            self.held.begin_run(self.free_at, self.serial.clone());
        }
        let far_end = self.take_in(at);
        self.totals.peak_packets = self.totals.peak_packets.max(self.held.len());
        self.calm_ns = self.calm_ns();
        Some(far_end)
    }

    /// A packet is taken in whose transmission lasts as long as an element says, if one does.
    #[inline(never)]
    fn take_in_at_its_time(&mut self, at: Instant, bytes: u64) -> Option<Instant> {
        let start = Instant(self.free_at.max(at.0));
        let departure = self.elements()?.sent_at(bytes, start)?.min(Instant(NEVER.0 + 1));
        self.idle_ns += at.0.saturating_sub(self.free_at);
        self.held.begin_single(departure.0, self.serial.clone(), bytes);
        self.held.taken += 1;
        self.free_at = departure.0;
        self.totals.held_ns += u128::from(self.free_at.min(self.end_of_run) - at.0);
        self.totals.peak_packets = self.totals.peak_packets.max(self.held.len());
        Some(departure + self.delay)
    }

    /// A packet that finds the link empty, as most of a paced flow do: it fits, and begins a run.
    #[inline(never)]
    fn arrive_alone(&mut self, at: Instant, bytes: u64) -> Instant {
        self.idle_ns += at.0.saturating_sub(self.free_at);
        self.free_at = at.0.max(self.free_at);
        self.serial.set(bytes);
        self.held.begin_alone(self.free_at, &self.serial);
        let far_end = self.take_in(at);
        self.totals.peak_packets = self.totals.peak_packets.max(1);
        self.calm_ns = self.calm_ns();
        far_end
    }

    /// A packet has been taken in. True if it is lost on purpose.
    fn pass_extras(&mut self, packet: Arrival) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        let lost = extras.loses(packet);
        if lost {
            self.totals.losses += 1;
        } else if let Some(samples) = &mut extras.samples {
            let carried = (self.held.taken, self.held.taken_bytes());
            samples.take(packet.at, self.held.len(), carried);
        }
        lost
    }

    /// What [`Link::calm_ns`] is now, for packets as large as the newest. It is an upper bound: of
    /// the newest run no more packets are held than fill that time, under every tie rule, and all
    /// packets of earlier runs count as held.
    fn calm_ns(&self) -> u64 {
        let (packets, bytes) = self.held.before_newest_run();
        let below_peak = self.totals.peak_packets - packets;
        let most = match self.room {
            _ if self.extras.is_some() => 0,
            Room::Packets(_) => below_peak,
            Room::Bytes(room, _) => {
                below_peak.min(room.saturating_sub(bytes) / self.serial.bytes().max(1))
            }
        };
        let full = most.saturating_sub(1).saturating_mul(self.serial.least()).min(NEVER.0);
        (full + 1).saturating_sub(Tie::EARLY)
    }

    /// What happened until the end of the run.
    pub(crate) fn outcome(self) -> LinkOutcome {
        let idle_since = self.end_of_run.saturating_sub(self.free_at);
        let busy_ns = self.end_of_run - self.idle_ns - idle_since;
        let (packets, bytes) = (self.held.taken, self.held.taken_bytes());
        let queued = self.extras.as_ref().and_then(|extras| extras.queued.as_ref());
        let totals = match queued {
            Some(queued) => Totals { losses: self.totals.losses, ..queued.totals() },
            None => Totals { packets, bytes, busy_ns, ..self.totals },
        };
        let samples = self.extras.and_then(|extras| extras.samples);
        LinkOutcome { totals, series: samples.map_or_else(Vec::new, |samples| samples.series) }
    }

    /// The packet in service does not count against the buffer unless the profile says so. What
    /// would never leave finds no room.
    fn is_full(&self, bytes: u64) -> bool {
        let full = match self.room {
            Room::Packets(room) => self.held.len() >= room,
            Room::Bytes(room, in_service_counts) => {
                let first = self.held.first_bytes();
                let in_service = first.filter(|_| !in_service_counts).unwrap_or(0);
                first.is_some() && self.held.bytes() - in_service + bytes > room
            }
        };
        full || self.free_at > NEVER.0
    }
}

impl Room {
    fn new(buffer: Buffer, in_service_counts: bool) -> Self {
        match buffer {
            Buffer::Unlimited => Self::Packets(u64::MAX),
            Buffer::Packets(limit) if in_service_counts => Self::Packets(limit.max(1)),
            Buffer::Packets(limit) => Self::Packets(limit.saturating_add(1)),
            Buffer::Bytes(limit) => Self::Bytes(limit, in_service_counts),
        }
    }
}

/// How far rounding puts apart, in nanoseconds, what falls together on paper. A round trip takes up
/// to eight delays that are each rounded to whole nanoseconds: over three links with the packet,
/// over three with its ACK, one for SACK blocks, one for the remainder that a shared link carries
/// on.
pub const ROUNDING_NS: u64 = 8;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::loss::LossSpec;
    use crate::random::stream;

    /// One packet of 1 us in service and one that waits, and no more room, at a given time.
    fn arrival_at(at: u64, tie: Tie) -> bool {
        let spec = spec(8_000_000_000, Buffer::Packets(1));
        let mut link = Link::new(&spec, stream(1, 0), Instant(1_000_000));
        for _ in 0..2 {
            assert!(link.arrive(Instant(0), 1000, tie).is_some());
        }
        link.arrive(Instant(at), 1000, tie).is_some()
    }

    fn spec(rate_bps: u64, buffer: Buffer) -> LinkSpec {
        let (delay, in_service_counts, drop_nth) = (Span(0), false, Vec::new());
        let (mark_from, loss) = (None, LossSpec::NONE);
        let (elements, back, queue) = (Vec::new(), None, None);
        LinkSpec {
            rate_bps,
            delay,
            buffer,
            in_service_counts,
            mark_from,
            queue,
            loss,
            drop_nth,
            elements,
            back,
        }
    }

    /// When the packets held leave, each noted as it comes, and how large they are.
    #[derive(Default)]
    struct Noted {
        held: VecDeque<(u64, u64)>,
        free_at: u64,
        /// Parts of a nanosecond, of as many as the rate.
        owed: u128,
        totals: Totals,
    }

    impl Noted {
        fn arrive(&mut self, spec: &LinkSpec, at: u64, bytes: u64, tie: Tie) -> Option<Instant> {
            self.held.retain(|(departure, _)| *departure > tie.over_by(at));
            let waiting = self.held.iter().skip(usize::from(!spec.in_service_counts));
            let fits = match spec.buffer {
                Buffer::Packets(room) => waiting.count() < room as usize,
                Buffer::Bytes(room) => waiting.map(|(_, bytes)| bytes).sum::<u64>() + bytes <= room,
                Buffer::Unlimited => true,
            };
            if !fits && !self.held.is_empty() {
                self.totals.drops += 1;
                return None;
            }
            let bit_nanos = u128::from(bytes) * 8_000_000_000 + self.owed;
            self.free_at = self.free_at.max(at) + (bit_nanos / u128::from(spec.rate_bps)) as u64;
            self.owed = bit_nanos % u128::from(spec.rate_bps);
            self.held.push_back((self.free_at, bytes));
            self.totals.packets += 1;
            self.totals.bytes += bytes;
            self.totals.held_ns += u128::from(self.free_at - at);
            self.totals.peak_packets = self.totals.peak_packets.max(self.held.len() as u64);
            Some(Instant(self.free_at))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Whatever is calm, all is as if every packet had been noted.
        #[test]
        fn a_link_takes_short_ways_to_where_the_long_one_leads(
            rate in prop_oneof![100_000u64..40_000_000_000, Just(8_000_000_000)],
            room in 1u64..40,
            (count_bytes, in_service_counts) in any::<(bool, bool)>(),
            tie in prop::sample::select(vec![
                Tie::DEPARTURE_FIRST,
                Tie::ROUNDED_DEPARTURE_FIRST,
                Tie::ROUNDED_ARRIVAL_FIRST,
            ]),
            sizes in prop::collection::vec(40u64..1500, 1..3),
            // Of bursts: how far apart packets are, in percent of what the first size takes.
            bursts in prop::collection::vec((0u64..250, 1..60, any::<Index>()), 1..40),
        ) {
            let buffers = [Buffer::Packets(room), Buffer::Bytes(room * 700)];
            let buffer = buffers[usize::from(count_bytes)];
            let spec = LinkSpec { in_service_counts, ..spec(rate, buffer) };
            let mut link = Link::new(&spec, stream(1, 0), Instant(1 << 45));
            let (mut noted, mut at) = (Noted::default(), 0);
            for (percent, packets, size) in bursts {
                for _ in 0..packets {
                    let bytes = *size.get(&sizes);
                    at += sizes[0] * 80_000_000 / rate * percent;
                    let expected = noted.arrive(&spec, at, bytes, tie);
                    prop_assert_eq!(link.arrive(Instant(at), bytes, tie), expected);
                }
            }
            let totals = link.outcome().totals;
            prop_assert_eq!(Totals { busy_ns: 0, ..totals }, noted.totals);
        }
    }

    #[test]
    fn packets_of_any_size_take_their_whole_room() {
        let spec = spec(8_000_000_000, Buffer::Bytes(900_000));
        let mut link = Link::new(&spec, stream(1, 0), Instant(1_000_000_000));
        // One in service, which does not count, and two that wait.
        let taken = [(); 4].map(|()| link.arrive(Instant(0), 400_000, Tie::DEPARTURE_FIRST));
        assert_eq!(taken.map(|at| at.is_some()), [true, true, true, false]);
        assert_eq!(link.outcome().totals.bytes, 1_200_000);
    }

    #[test]
    fn a_departure_that_only_rounding_put_later_makes_room() {
        assert!(arrival_at(1000, Tie::DEPARTURE_FIRST));
        assert!(!arrival_at(999, Tie::DEPARTURE_FIRST));
        assert!(arrival_at(992, Tie::ROUNDED_DEPARTURE_FIRST));
        assert!(!arrival_at(991, Tie::ROUNDED_DEPARTURE_FIRST));
    }

    #[test]
    fn with_the_arrival_first_room_comes_when_the_departure_is_surely_over() {
        assert!(!arrival_at(1008, Tie::ROUNDED_ARRIVAL_FIRST));
        assert!(arrival_at(1009, Tie::ROUNDED_ARRIVAL_FIRST));
    }
}
