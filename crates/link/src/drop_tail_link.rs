//! A drop-tail link: a rate and a buffer.
//!
//! A drop-tail FIFO knows when a packet will leave the moment it arrives, so a link needs no event
//! for departures: it knows what it holds and when that leaves ([`Held`]), and looks only when it
//! matters.

use firstflight_core::units::Instant;

use crate::held::Held;
use crate::serialisation::{NEVER, Serialisation};

/// A drop-tail link while it runs.
#[derive(Debug)]
pub struct DropTailLink {
    room: Room,
    held: Held,
    /// A packet that continues the newest run is calm ([`DropTailLink::is_calm`]) if the link is
    /// busy for less than this time before it, in nanoseconds. 0 if no packet is calm.
    calm_ns: u64,
    /// When the link has sent all that it holds, in nanoseconds.
    free_at: u64,
    /// How long packets of the newest size take.
    serial: Serialisation,
    /// The times of packets that follow each other are rounded up, not down.
    rounds_up: bool,
    /// Nothing after this counts, in nanoseconds.
    end_of_run: u64,
    /// Time without anything to send, until the newest packet came.
    idle_ns: u64,
    drops: u64,
    peak_packets: u64,
    held_ns: u128,
}

/// A drop-tail buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffer {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(u64),
    /// No limit.
    #[default]
    Unlimited,
}

impl Buffer {
    /// How many packets of so many bytes it has room for, the largest number without a limit.
    pub fn packets_of(self, bytes: u64) -> u64 {
        match self {
            Self::Packets(packets) => packets,
            Self::Bytes(room) => room / bytes.max(1),
            Self::Unlimited => u64::MAX,
        }
    }

    /// How many bytes it has room for in packets of so many, the largest number without a limit.
    pub fn bytes_of(self, packet: u64) -> u64 {
        match self {
            Self::Packets(packets) => packets.saturating_mul(packet),
            Self::Bytes(room) => room,
            Self::Unlimited => u64::MAX,
        }
    }
}

/// What the buffer has room for.
#[derive(Debug)]
enum Room {
    /// A number of packets, at least one, which includes the packet in service.
    Packets(u64),
    /// A number of bytes, and whether it includes the packet in service.
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
pub struct Tie(u64);

impl Tie {
    /// At the same nanosecond the departure comes first.
    pub const DEPARTURE_FIRST: Self = Self(Self::EARLY);

    /// The departure comes first, also where only rounding to whole nanoseconds parts the two.
    pub const ROUNDED_DEPARTURE_FIRST: Self = Self(Self::EARLY + ROUNDING_NS);

    /// The arrival comes first, also where only rounding to whole nanoseconds parts the two.
    pub const ROUNDED_ARRIVAL_FIRST: Self = Self(Self::EARLY - ROUNDING_NS - 1);

    const EARLY: u64 = ROUNDING_NS + 1;

    /// Departures until then are over when a packet arrives at `at`.
    fn over_by(self, at: u64) -> u64 {
        (at + self.0).saturating_sub(Self::EARLY)
    }
}

impl DropTailLink {
    /// An idle link, which counts until `end_of_run`. The packet in service takes a place in the
    /// buffer if `in_service_counts`.
    pub fn new(
        rate_bps: u64,
        buffer: Buffer,
        in_service_counts: bool,
        end_of_run: Instant,
    ) -> Self {
        let serial = Serialisation::new(rate_bps);
        Self {
            room: Room::new(buffer, in_service_counts),
            held: Held::new(serial.clone()),
            calm_ns: 0,
            free_at: 0,
            serial,
            rounds_up: false,
            end_of_run: end_of_run.0,
            idle_ns: 0,
            drops: 0,
            peak_packets: 0,
            held_ns: 0,
        }
    }

    /// A packet leaves at the whole nanosecond after its time, counted from when the link was idle.
    pub fn rounding_up(self) -> Self {
        Self { rounds_up: true, ..self }
    }

    /// When the link has sent all that it holds, in nanoseconds.
    #[inline]
    pub fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Packets held by a packet's arrival, the one in service included.
    pub fn held_at(&mut self, at: Instant, tie: Tie) -> u64 {
        self.held.release(tie.over_by(at.0));
        self.held.len()
    }

    /// Packets held, the one in service and some that have left included.
    pub fn held(&self) -> u64 {
        self.held.len()
    }

    /// Packets and bytes taken in.
    pub fn taken(&self) -> (u64, u64) {
        (self.held.taken, self.held.taken_bytes())
    }

    /// Whether a packet is calm, as nearly every one is: the link is sending packets of its size,
    /// it fits, and makes no new peak of packets held even if none of them has left. Then it need
    /// only be taken in ([`DropTailLink::take_in`]): the newest run grows by one.
    #[inline(always)]
    pub fn is_calm(&self, at: Instant, bytes: u64) -> bool {
        // Less than nothing, on an idle link, wraps to a very long time.
        let ahead = self.free_at.wrapping_sub(at.0);
        ahead < self.calm_ns && bytes == self.serial.bytes()
    }

    /// A packet of `bytes` arrives. Arrivals must come in order of time and within the run. Of a
    /// departure at the same nanosecond, or nearly, `tie` says whether it comes first. Returns when
    /// the packet has been sent, unless it is dropped.
    #[inline(always)]
    pub fn arrive(&mut self, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        let over_by = tie.over_by(at.0);
        if self.free_at <= over_by && over_by < NEVER.0 {
            return Some(self.arrive_alone(at, bytes));
        }
        if !self.makes_room(over_by, bytes) {
            return None;
        }
        let departure = self.take_in_behind(at, bytes);
        self.calm_ns = self.calm_ns();
        Some(departure)
    }

    /// [`DropTailLink::arrive`] where no packet is calm and something else may say when one that
    /// begins to be sent has been sent.
    #[inline]
    pub fn arrive_seen(
        &mut self,
        at: Instant,
        bytes: u64,
        tie: Tie,
        sent_at: impl FnOnce(Instant) -> Option<Instant>,
    ) -> Option<Instant> {
        if !self.makes_room(tie.over_by(at.0), bytes) {
            return None;
        }
        Some(match sent_at(Instant(self.free_at.max(at.0))) {
            Some(departure) => self.take_in_until(at, bytes, departure),
            None => self.take_in_behind(at, bytes),
        })
    }

    /// Takes in a packet of `bytes` that arrives at `at`, on a link without a limit of which
    /// nothing held is counted. Returns when it has been sent.
    #[inline]
    pub fn carry(&mut self, at: Instant, bytes: u64) -> Instant {
        self.free_at = self.free_at.max(at.0) + self.serial.time(bytes);
        Instant(self.free_at)
    }

    /// What happened until the end of the run.
    pub fn totals(&self) -> Totals {
        let idle_since = self.end_of_run.saturating_sub(self.free_at);
        let busy_ns = self.end_of_run - self.idle_ns - idle_since;
        let (packets, bytes) = self.taken();
        let Self { drops, peak_packets, held_ns, .. } = *self;
        Totals { drops, packets, bytes, peak_packets, held_ns, busy_ns, ..Totals::default() }
    }

    /// A packet that continues the newest run is taken in: when it has been sent.
    #[inline(always)]
    pub fn take_in(&mut self, at: Instant) -> Instant {
        self.held.taken += 1;
        self.free_at += self.serial.step();
        self.held_ns += u128::from(self.free_at.min(self.end_of_run) - at.0);
        Instant(self.free_at)
    }

    /// Whether a packet fits; one that does not is counted.
    #[inline(always)]
    fn makes_room(&mut self, over_by: u64, bytes: u64) -> bool {
        self.held.release(over_by);
        if self.is_full(bytes) {
            self.drops += 1;
            return false;
        }
        true
    }

    /// A packet is taken in behind those held.
    #[inline(always)]
    fn take_in_behind(&mut self, at: Instant, bytes: u64) -> Instant {
        let idle_at = self.free_at;
        if at.0 > idle_at || bytes != self.serial.bytes() || self.held.len() == 0 {
            self.come_idle(at);
            self.serial.set(bytes);
            self.held.begin_run(self.free_at, self.serial.clone());
        }
        let departure = self.take_in(at);
        self.peak_packets = self.peak_packets.max(self.held.len());
        departure
    }

    /// A packet is taken in whose transmission lasts as long as something else says.
    #[inline(never)]
    fn take_in_until(&mut self, at: Instant, bytes: u64, departure: Instant) -> Instant {
        let departure = departure.min(Instant(NEVER.0 + 1));
        self.idle_ns += at.0.saturating_sub(self.free_at);
        self.held.begin_single(departure.0, self.serial.clone(), bytes);
        self.held.taken += 1;
        self.free_at = departure.0;
        self.held_ns += u128::from(self.free_at.min(self.end_of_run) - at.0);
        self.peak_packets = self.peak_packets.max(self.held.len());
        departure
    }

    /// A packet that finds the link empty, as most of a paced flow do: it fits, and begins a run.
    #[inline(never)]
    fn arrive_alone(&mut self, at: Instant, bytes: u64) -> Instant {
        self.come_idle(at);
        self.serial.set(bytes);
        self.held.begin_alone(self.free_at, &self.serial);
        let departure = self.take_in(at);
        self.peak_packets = self.peak_packets.max(1);
        self.calm_ns = self.calm_ns();
        departure
    }

    /// The link was idle until a packet came, if it is at all.
    #[inline(always)]
    fn come_idle(&mut self, at: Instant) {
        if at.0 > self.free_at {
            if self.rounds_up {
                self.serial.round_up();
            }
            self.idle_ns += at.0 - self.free_at;
            self.free_at = at.0;
        }
    }

    /// What [`DropTailLink::calm_ns`] is now, for packets as large as the newest. It is an upper
    /// bound: of the newest run no more packets are held than fill that time, under every tie rule,
    /// and all packets of earlier runs count as held.
    fn calm_ns(&self) -> u64 {
        let (packets, bytes) = self.held.before_newest_run();
        let below_peak = self.peak_packets - packets;
        let most = match self.room {
            Room::Packets(_) => below_peak,
            Room::Bytes(room, _) => {
                below_peak.min(room.saturating_sub(bytes) / self.serial.bytes().max(1))
            }
        };
        let full = most.saturating_sub(1).saturating_mul(self.serial.least()).min(NEVER.0);
        (full + 1).saturating_sub(Tie::EARLY)
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

    /// One packet of 1 us in service and one that waits, and no more room, at a given time.
    fn arrival_at(at: u64, tie: Tie) -> bool {
        let end = Instant(1_000_000);
        let mut link = DropTailLink::new(8_000_000_000, Buffer::Packets(1), false, end);
        for _ in 0..2 {
            assert!(arrive(&mut link, Instant(0), 1000, tie).is_some());
        }
        arrive(&mut link, Instant(at), 1000, tie).is_some()
    }

    fn arrive(link: &mut DropTailLink, at: Instant, bytes: u64, tie: Tie) -> Option<Instant> {
        if link.is_calm(at, bytes) { Some(link.take_in(at)) } else { link.arrive(at, bytes, tie) }
    }

    /// A link that lists when each packet held leaves, and how large it is.
    struct ListedLink {
        rate_bps: u64,
        buffer: Buffer,
        in_service_counts: bool,
        held: VecDeque<(u64, u64)>,
        free_at: u64,
        /// Parts of a nanosecond, of as many as the rate.
        owed: u128,
        totals: Totals,
    }

    impl ListedLink {
        fn arrive(&mut self, at: u64, bytes: u64, tie: Tie) -> Option<Instant> {
            self.held.retain(|(departure, _)| *departure > tie.over_by(at));
            let waiting = self.held.iter().skip(usize::from(!self.in_service_counts));
            let fits = match self.buffer {
                Buffer::Packets(room) => waiting.count() < room as usize,
                Buffer::Bytes(room) => waiting.map(|(_, bytes)| bytes).sum::<u64>() + bytes <= room,
                Buffer::Unlimited => true,
            };
            if !fits && !self.held.is_empty() {
                self.totals.drops += 1;
                return None;
            }
            let bit_nanos = u128::from(bytes) * 8_000_000_000 + self.owed;
            self.free_at = self.free_at.max(at) + (bit_nanos / u128::from(self.rate_bps)) as u64;
            self.owed = bit_nanos % u128::from(self.rate_bps);
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

        /// Whatever is calm, the link is equal to one that lists every packet.
        #[test]
        fn a_link_equals_one_that_lists_every_packet(
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
            let end = Instant(1 << 45);
            let mut link = DropTailLink::new(rate, buffer, in_service_counts, end);
            let mut listed = ListedLink {
                rate_bps: rate,
                buffer,
                in_service_counts,
                held: VecDeque::new(),
                free_at: 0,
                owed: 0,
                totals: Totals::default(),
            };
            let mut at = 0;
            for (percent, packets, size) in bursts {
                for _ in 0..packets {
                    let bytes = *size.get(&sizes);
                    at += sizes[0] * 80_000_000 / rate * percent;
                    let expected = listed.arrive(at, bytes, tie);
                    prop_assert_eq!(arrive(&mut link, Instant(at), bytes, tie), expected);
                }
            }
            let totals = link.totals();
            prop_assert_eq!(Totals { busy_ns: 0, ..totals }, listed.totals);
        }
    }

    #[test]
    fn packets_of_any_size_take_their_whole_room() {
        let (rate, end) = (8_000_000_000, Instant(1_000_000_000));
        let mut link = DropTailLink::new(rate, Buffer::Bytes(900_000), false, end);
        // One in service, which does not count, and two that wait.
        let taken = [(); 4].map(|()| arrive(&mut link, Instant(0), 400_000, Tie::DEPARTURE_FIRST));
        assert_eq!(taken.map(|at| at.is_some()), [true, true, true, false]);
        assert_eq!(link.totals().bytes, 1_200_000);
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
