//! A link: a rate, a delay and a drop-tail buffer.
//!
//! A drop-tail FIFO knows when a packet will leave the moment it arrives, so a link needs no event
//! for departures: it keeps the departure times of what it holds and forgets those that have
//! passed.

use std::collections::VecDeque;

use firstflight_core::units::{Instant, NANOS_PER_SECOND, Span};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

use crate::network::{Buffer, LinkSpec};

/// A link while the simulation runs.
#[derive(Debug)]
pub(crate) struct Link {
    delay: Span,
    rate: u64,
    capacity: Buffer,
    in_service_counts: bool,
    /// Departure time and size of every packet held, packed as in [`pack`].
    held: VecDeque<u64>,
    held_bytes: u64,
    free_at: u64,
    serial: Serialisation,
    loss: Option<(u64, Pcg64Mcg)>,
    drop_nth: Vec<u64>,
    arrivals: u64,
    end_of_run: u64,
    pub(crate) totals: Totals,
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
struct Serialisation {
    bytes: u64,
    quotient: u64,
    remainder: u64,
    carry: u64,
}

/// Which of an arrival and a departure at the same nanosecond comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tie {
    DepartureFirst,
    ArrivalFirst,
}

/// What became of a packet at a link.
pub(crate) enum Fate {
    /// It reaches the far end then; the link held this many packets, it included.
    Delivered(Instant, u64),
    /// It is gone.
    Lost,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, rng: Pcg64Mcg, end_of_run: Instant) -> Self {
        let mut drop_nth = spec.drop_nth.clone();
        drop_nth.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            delay: spec.delay,
            rate: spec.rate_bps.max(1),
            capacity: spec.buffer,
            in_service_counts: spec.in_service_counts,
            held: VecDeque::new(),
            held_bytes: 0,
            free_at: 0,
            serial: Serialisation::default(),
            loss: (spec.loss_ppb > 0).then_some((spec.loss_ppb, rng)),
            drop_nth,
            arrivals: 0,
            end_of_run: end_of_run.0,
            totals: Totals::default(),
        }
    }

    /// A packet of `bytes` arrives. Arrivals must come in order of time. Of a departure at the same
    /// nanosecond `tie` says whether it comes first.
    #[inline]
    pub(crate) fn arrive(&mut self, at: Instant, bytes: u64, tie: Tie) -> Fate {
        self.release(match tie {
            Tie::DepartureFirst => at.0,
            Tie::ArrivalFirst => at.0.saturating_sub(1),
        });
        if self.is_full(bytes) {
            self.totals.drops += 1;
            return Fate::Lost;
        }
        let start = self.free_at.max(at.0);
        let departure = start + self.serial.time(bytes, self.rate);
        self.free_at = departure;
        self.held.push_back(pack(departure, bytes));
        self.held_bytes += bytes;
        let held = self.held.len() as u64;
        self.totals.packets += 1;
        self.totals.bytes += bytes;
        self.totals.peak_packets = self.totals.peak_packets.max(held);
        let until = departure.min(self.end_of_run);
        self.totals.held_ns += u128::from(until.saturating_sub(at.0));
        self.totals.busy_ns += until.saturating_sub(start);
        self.arrivals += 1;
        if self.is_unlucky() {
            self.totals.losses += 1;
            return Fate::Lost;
        }
        Fate::Delivered(Instant(departure) + self.delay, held)
    }

    #[inline]
    fn release(&mut self, now: u64) {
        while let Some(&first) = self.held.front() {
            let (departure, bytes) = unpack(first);
            if departure > now {
                return;
            }
            self.held.pop_front();
            self.held_bytes -= bytes;
        }
    }

    /// The packet in service does not count against the buffer unless the profile says so.
    fn is_full(&self, bytes: u64) -> bool {
        let Some(&first) = self.held.front() else { return false };
        match self.capacity {
            Buffer::Unlimited => false,
            Buffer::Packets(limit) => {
                let in_service = u64::from(!self.in_service_counts);
                self.held.len() as u64 >= limit + in_service
            }
            Buffer::Bytes(limit) => {
                let in_service = if self.in_service_counts { 0 } else { unpack(first).1 };
                self.held_bytes - in_service + bytes > limit
            }
        }
    }

    fn is_unlucky(&mut self) -> bool {
        if self.drop_nth.last() == Some(&self.arrivals) {
            self.drop_nth.pop();
            return true;
        }
        match &mut self.loss {
            None => false,
            Some((ppb, rng)) => rng.next_u64() % PARTS_PER_BILLION < *ppb,
        }
    }
}

impl Serialisation {
    #[inline]
    fn time(&mut self, bytes: u64, rate: u64) -> u64 {
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

/// The largest packet a link can carry, in bytes.
pub(crate) const MAX_PACKET_BYTES: u64 = (1 << 18) - 1;

const PARTS_PER_BILLION: u64 = 1_000_000_000;
