//! A link: a rate, a delay and a drop-tail buffer.
//!
//! A drop-tail FIFO knows when a packet will leave the moment it arrives, so a link needs no event
//! for departures: it keeps the departure times of what it holds and forgets those that have
//! passed.

use firstflight_core::feedback::Signals;
use firstflight_core::units::{Instant, NANOS_PER_SECOND, Span};
use rand_pcg::Pcg64Mcg;

use crate::extras::{Extras, Samples};
use crate::network::{Buffer, LinkSpec};
use crate::outcome::LinkOutcome;
use crate::ring::Ring;
use crate::router::{Arrival, Header, Router};

/// A link while the simulation runs.
#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    rate: u64,
    room: Room,
    /// Bytes that fit; `u64::MAX` where packets count.
    room_bytes: u64,
    /// Departure time and size of every packet held, packed as in [`pack`], and of some that have
    /// left.
    held: Ring<u64>,
    held_bytes: u64,
    free_at: u64,
    /// Time without anything to send, until the newest packet came.
    idle_ns: u64,
    serial: Serialisation,
    end_of_run: u64,
    /// Boxed because few links have any.
    extras: Option<Box<Extras>>,
    totals: Totals,
}

/// What the buffer has room for.
#[derive(Debug)]
enum Room {
    /// So many packets, the one in service included, and always one.
    Packets(u64),
    /// So many bytes, and whether the packet in service counts.
    Bytes(u64, bool),
}

/// What happened at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets that did not fit the buffer.
    pub drops: u64,
    /// Packets lost on purpose: random loss and chosen packets.
    pub losses: u64,
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

/// Bytes to nanoseconds at the link's rate, keeping the remainder so that rates do not drift.
#[derive(Debug, Default)]
pub(crate) struct Serialisation {
    bytes: u64,
    quotient: u64,
    remainder: u64,
    carry: u64,
}

/// Which of an arrival and a departure that fall together comes first: departures up to this many
/// nanoseconds after [`Tie::EARLY`] before an arrival are over when it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tie(u64);

impl Tie {
    /// At the same nanosecond the departure comes first.
    pub(crate) const DEPARTURE_FIRST: Self = Self(Self::EARLY);

    /// The departure comes first, and what falls together but for the rounding of times to whole
    /// nanoseconds falls together.
    pub(crate) const ROUNDED_DEPARTURE_FIRST: Self = Self(Self::EARLY + ROUNDING_NS);

    /// The same with the arrival first.
    pub(crate) const ROUNDED_ARRIVAL_FIRST: Self = Self(Self::EARLY - ROUNDING_NS - 1);

    const EARLY: u64 = ROUNDING_NS + 1;

    /// Departures until then are over when a packet arrives at `at`.
    #[inline]
    fn over_by(self, at: u64) -> u64 {
        (at + self.0).saturating_sub(Self::EARLY)
    }
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, rng: Pcg64Mcg, end_of_run: Instant) -> Self {
        Self {
            delay: spec.delay,
            rate: spec.rate_bps.max(1),
            room: Room::new(spec.buffer, spec.in_service_counts),
            room_bytes: if let Buffer::Bytes(room) = spec.buffer { room } else { u64::MAX },
            held: Ring::new(),
            held_bytes: 0,
            free_at: 0,
            idle_ns: 0,
            serial: Serialisation::default(),
            end_of_run: end_of_run.0,
            extras: Extras::new(spec, rng).map(Box::new),
            totals: Totals::default(),
        }
    }

    /// From now on the router at its entry serves a flow that asks for rates, or listens.
    pub(crate) fn serve(&mut self, asks: bool, listens: Signals) {
        let router = &mut self.extras.get_or_insert_default().router;
        router.get_or_insert_with(|| Router::new(self.rate)).serve(asks, listens);
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
        (flow, listens): (u16, Signals),
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
    #[inline(always)]
    pub(crate) fn arrive(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        if self.is_crowded(bytes) && !self.make_room(at, bytes, tie) {
            self.totals.drops += 1;
            return None;
        }
        let idle_at = self.free_at;
        if at.0 > idle_at {
            self.idle_ns += at.0 - idle_at;
            self.free_at = at.0;
        }
        self.free_at += self.serial.time(bytes, self.rate);
        let departure = self.free_at;
        self.held.push_back(pack(departure, bytes));
        self.held_bytes += bytes;
        self.totals.packets += 1;
        self.totals.bytes += bytes;
        self.totals.held_ns += u128::from(departure.min(self.end_of_run) - at.0);
        if self.extras.is_some() && !self.pass_extras(Arrival { at, idle_at, bytes }, tie) {
            return None;
        }
        Some(Instant(departure) + self.delay)
    }

    /// A packet has been taken in. False if it is lost on purpose.
    #[inline(never)]
    fn pass_extras(&mut self, packet: Arrival, tie: Tie) -> bool {
        let Some(mut extras) = self.extras.take() else { return true };
        let lost = extras.loses(packet, self.totals.packets);
        if lost {
            self.totals.losses += 1;
        } else if let Some(samples) = &mut extras.samples {
            self.release(tie.over_by(packet.at.0));
            samples.take(packet.at, self.held.len() as u64);
        }
        self.extras = Some(extras);
        !lost
    }

    /// What happened until the end of the run.
    pub(crate) fn outcome(self) -> LinkOutcome {
        let idle_since = self.end_of_run.saturating_sub(self.free_at);
        let busy_ns = self.end_of_run - self.idle_ns - idle_since;
        let samples = self.extras.and_then(|extras| extras.samples);
        LinkOutcome {
            totals: Totals { busy_ns, ..self.totals },
            series: samples.map_or_else(Vec::new, |samples| samples.series),
        }
    }

    /// A packet of `bytes` may not fit, or be one more than were ever held, which is never more
    /// than fit. If so it matters which of the packets held have left, and only then they are
    /// forgotten, many at once.
    #[inline]
    fn is_crowded(&self, bytes: u64) -> bool {
        self.held.len() as u64 >= self.totals.peak_packets
            || self.held_bytes + bytes > self.room_bytes
    }

    /// Whether a packet of `bytes` fits, as one more than are held then.
    #[inline(never)]
    fn make_room(&mut self, at: Instant, bytes: u64, tie: Tie) -> bool {
        self.release(tie.over_by(at.0));
        if self.is_full(bytes) {
            return false;
        }
        let held = self.held.len() as u64 + 1;
        self.totals.peak_packets = self.totals.peak_packets.max(held);
        true
    }

    /// Forgets the packets that have left by `now`.
    fn release(&mut self, now: u64) {
        let latest = pack(now, MAX_PACKET_BYTES);
        let mut left = 0;
        self.held.pop_while(|packed| *packed <= latest, |packed| left += unpack(packed).1);
        self.held_bytes -= left;
    }

    /// The packet in service does not count against the buffer unless the profile says so.
    #[inline]
    fn is_full(&self, bytes: u64) -> bool {
        match self.room {
            Room::Packets(room) => self.held.len() as u64 >= room,
            Room::Bytes(room, in_service_counts) => {
                let Some(first) = self.held.front() else { return false };
                let in_service = if in_service_counts { 0 } else { unpack(first).1 };
                self.held_bytes - in_service + bytes > room
            }
        }
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

impl Serialisation {
    #[inline]
    pub(crate) fn time(&mut self, bytes: u64, rate: u64) -> u64 {
        if bytes != self.bytes {
            let bit_nanos = bytes * 8 * NANOS_PER_SECOND;
            (self.bytes, self.quotient, self.remainder) =
                (bytes, bit_nanos / rate, bit_nanos % rate);
        }
        self.carry += self.remainder;
        if self.carry >= rate {
            self.carry -= rate;
            return self.quotient + 1;
        }
        self.quotient
    }
}

/// Time to send `bytes` at `rate_bps`, at least one nanosecond.
pub(crate) fn serialisation(bytes: u64, rate_bps: u64) -> Span {
    Span((bytes * 8 * NANOS_PER_SECOND / rate_bps.max(1)).max(1))
}

/// 46 bits of time, 18 bits of size: jumbo frames fit four times over.
fn pack(departure: u64, bytes: u64) -> u64 {
    departure << 18 | bytes.min(MAX_PACKET_BYTES)
}

fn unpack(packed: u64) -> (u64, u64) {
    (packed >> 18, packed & MAX_PACKET_BYTES)
}

/// How far rounding puts apart, in nanoseconds, what falls together on paper. A round trip takes up
/// to eight delays that are each rounded to whole nanoseconds: over three links with the packet,
/// over three with its ACK, one for SACK blocks, one for the remainder that a shared link carries
/// on.
pub const ROUNDING_NS: u64 = 8;

/// The largest packet a link can carry, in bytes.
pub(crate) const MAX_PACKET_BYTES: u64 = (1 << 18) - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// One packet of 1 us in service and one that waits, and no more room, at a given time.
    fn arrival_at(at: u64, tie: Tie) -> bool {
        let spec = LinkSpec {
            rate_bps: 8_000_000_000,
            delay: Span(0),
            buffer: Buffer::Packets(1),
            in_service_counts: false,
            loss_ppb: 0,
            drop_nth: Vec::new(),
        };
        let mut link = Link::new(&spec, stream(1, 0), Instant(1_000_000));
        for _ in 0..2 {
            assert!(link.arrive(Instant(0), 1000, tie).is_some());
        }
        link.arrive(Instant(at), 1000, tie).is_some()
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
