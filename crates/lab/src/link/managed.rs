//! A bottleneck with a queue discipline in place of a plain buffer, or with more to it than a rate:
//! schedules, jitter, a policer. Queue and elements are those of the simulator.
//!
//! Which packet leaves next, and which is dropped on the way, is known only when the link is free,
//! so that packets stay here until then. The link still keeps its own time: a call that comes late
//! carries out what was due before it, each packet at the time at which it was due.

use firstflight_control::quantity::Rate;
use firstflight_core::units::{Instant, Span};
use firstflight_link::{
    Buffer, Crossing, DropTail, Ecn, Elements, Fate, Happened, Packet, QUEUE_STREAMS, Queue,
    Server, stream,
};

use super::DirectionSpec;
use super::queue::{Depth, QueueTotals};

/// A packet in this link, with what its direction needs to forward and to count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Where its bytes are.
    pub(crate) slot: u32,
    /// Which lane it takes.
    pub(crate) lane: usize,
    /// To which port it goes, if it is TCP's.
    pub(crate) port: Option<u16>,
    /// It takes part in random loss.
    pub(crate) at_risk: bool,
    /// Its flow, and its payload in bytes.
    pub(crate) flow: Option<((u8, u16, u16), u64)>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) held: Held,
    /// When it came, ns.
    pub(crate) arrived_at: u64,
    /// When its transmission ends, ns; `None` of one that was dropped.
    pub(crate) departs: Option<u64>,
    /// When it was dropped, or its transmission began, ns.
    pub(crate) at: u64,
    /// It has been marked here.
    pub(crate) marked: bool,
    crossing: Crossing,
}

/// A queue with its link.
#[derive(Debug)]
pub(crate) struct Managed {
    server: Server<(Held, Crossing)>,
    elements: Option<Elements>,
    /// What a run begins with.
    spec: DirectionSpec,
    seed: u64,
    /// Number of the streams of random numbers.
    place: u64,
    /// What schedules take for the beginning, ns; with the first packet where it is not known.
    origin: Option<u64>,
    /// Totals of the measured period.
    pub(crate) totals: QueueTotals,
    /// The measured period, ns.
    period: (u64, u64),
    /// The series of the depth.
    depth: Depth,
}

impl Managed {
    /// The link that a direction asks for, if it is more than a rate and a buffer.
    pub(crate) fn of(spec: &DirectionSpec, seed: u64, place: u64) -> Option<Self> {
        if spec.rate.is_none() || spec.queue.is_none() && spec.elements.is_empty() {
            return None;
        }
        Some(Self {
            server: server(spec, seed, place),
            elements: Elements::new(&spec.elements, seed, place),
            spec: spec.clone(),
            seed,
            place,
            origin: (!spec.begins_with_traffic).then_some(0),
            totals: QueueTotals::default(),
            period: (0, u64::MAX),
            depth: Depth::default(),
        })
    }

    /// Counts from now on only what happens in this period, with depths `every` so many ns.
    /// Schedules and chance begin anew.
    pub(crate) fn measure(&mut self, from: u64, until: u64, every: Option<u64>) {
        self.totals = QueueTotals::default();
        self.period = (from, until);
        self.depth = Depth::new(from, every);
        self.origin = (!self.spec.begins_with_traffic).then_some(from);
        self.elements = Elements::new(&self.spec.elements, self.seed, self.place);
        if self.server.waiting() == 0 {
            self.server = server(&self.spec, self.seed, self.place);
        }
    }

    /// A packet of `bytes` arrives at `now`; what has left by then, and for it, goes to `left`.
    pub(crate) fn arrive(
        &mut self,
        now: u64,
        (bytes, ecn): (u64, Ecn),
        held: Held,
        left: &mut Vec<Left>,
    ) {
        self.catch_up(now, left);
        let origin = *self.origin.get_or_insert(now);
        let sends = self.server.busy_until() > now;
        let mut crossing = Crossing {
            at: Instant(now.saturating_sub(origin)),
            bytes,
            flow: 0,
            ecn_capable: ecn != Ecn::NotCapable,
            marked: false,
            held: self.server.held(now),
            waits: Span(self.server.waits(now)),
        };
        let fate = self.elements.as_mut().map_or(Fate::Pass, |all| all.arrive(&mut crossing));
        if fate == Fate::Drop {
            self.totals.drops += u64::from(self.counts(now));
            let (arrived_at, at, departs, marked) = (now, now, None, false);
            left.push(Left { held, arrived_at, departs, at, marked, crossing });
            return;
        }
        let in_service = u64::from(self.spec.buffer_counts_in_service && sends);
        let waiting = self.server.waiting() + in_service;
        if self.spec.ecn_threshold.is_some_and(|most| waiting >= most) {
            crossing.marked |= crossing.ecn_capable;
        }
        let ecn = if crossing.marked { Ecn::Ce } else { ecn };
        let flow = held.flow.map_or(0, |((protocol, from, to), _)| {
            u64::from(protocol) << 32 | u64::from(from) << 16 | u64::from(to)
        });
        let bytes = crossing.bytes;
        let packet = Packet { id: 0, bytes, flow, ecn, marked: false, at: now };
        let mut out = Vec::new();
        self.server.arrive(packet, (held, crossing), &mut |held, packet, what| {
            out.push((held, packet, what));
        });
        self.count(out, left);
        // A free link takes it at once, so that it does not count as waiting.
        self.catch_up(now, left);
        let waiting = self.server.waiting();
        self.depth.note(waiting);
        if self.counts(now) {
            self.totals.peak_waiting = self.totals.peak_waiting.max(waiting);
        }
    }

    /// What has left by `now`, in the order of time.
    pub(crate) fn catch_up(&mut self, now: u64, left: &mut Vec<Left>) {
        self.roll(now);
        let mut out = Vec::new();
        let Self { server, elements, origin, .. } = self;
        let origin = origin.unwrap_or(now);
        let mut sent_at = |bytes: u64, start: u64| {
            let since = Instant(start.saturating_sub(origin));
            let at = elements.as_mut()?.sent_at(bytes, since)?;
            Some(origin.saturating_add(at.0))
        };
        server.serve(now, &mut sent_at, &mut |held, packet, what| out.push((held, packet, what)));
        self.count(out, left);
    }

    /// When a packet reaches the far end, ns, over a link of this delay.
    pub(crate) fn far_end(&mut self, left: &Left, departs: u64, delay: u64) -> u64 {
        let origin = self.origin.unwrap_or(0);
        let plain = departs.saturating_add(delay);
        let Some(elements) = &mut self.elements else { return plain };
        let at = Instant(plain.saturating_sub(origin));
        origin.saturating_add(elements.pass_on(&left.crossing, at).0)
    }

    /// When the link next takes a packet from its queue, if any waits.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.server.next_at().filter(|_| self.server.waiting() > 0)
    }

    /// Start of each interval, ns of the measured period, and the most packets waiting in it.
    pub(crate) fn take_samples(&mut self, now: u64) -> Vec<(u64, u64)> {
        self.roll(now);
        self.depth.take()
    }

    fn counts(&self, at: u64) -> bool {
        (self.period.0..self.period.1).contains(&at)
    }

    fn roll(&mut self, now: u64) {
        let waiting = self.server.waiting();
        self.depth.roll(now.min(self.period.1), |_| waiting);
    }

    fn count(&mut self, out: Vec<((Held, Crossing), Packet, Happened)>, left: &mut Vec<Left>) {
        let (from, until) = self.period;
        for ((held, crossing), packet, happened) in out {
            let counted = self.counts(packet.at);
            let (at, departs) = match happened {
                Happened::Dropped(at) => (at, None),
                Happened::Sent(start, end) => (start, Some(end)),
            };
            if counted {
                self.totals.waited_ns += u128::from(at.min(until) - packet.at.min(until));
            }
            match departs {
                None => self.totals.drops += u64::from((from..until).contains(&at)),
                Some(end) if counted => {
                    self.totals.packets += 1;
                    self.totals.bytes += packet.bytes;
                    self.totals.busy_ns += end.min(until).saturating_sub(at);
                }
                Some(_) => {}
            }
            let (arrived_at, marked) = (packet.at, packet.marked || crossing.marked);
            left.push(Left { held, arrived_at, departs, at, marked, crossing });
        }
    }
}

/// An empty queue with its link. Without a discipline it is the buffer.
fn server(spec: &DirectionSpec, seed: u64, place: u64) -> Server<(Held, Crossing)> {
    let rate_bps = spec.rate.map_or(1, Rate::bps);
    let queue: Box<dyn Queue> = match (spec.queue, spec.buffer) {
        (Some(discipline), _) => discipline.build(spec.full_bytes, rate_bps),
        (None, Buffer::Packets(packets)) => Box::new(DropTail::of_packets(packets)),
        (None, Buffer::Bytes(bytes)) => Box::new(DropTail::of_bytes(bytes)),
        (None, Buffer::Unlimited) => Box::new(DropTail::of_bytes(u64::MAX)),
    };
    let random = stream(seed, QUEUE_STREAMS + place);
    Server::new(queue, rate_bps, random, spec.buffer_counts_in_service).rounding_up()
}
