//! The bottleneck's virtual clock: a drop-tail link ([`firstflight_link`]) that knows each packet's
//! departure when the packet arrives.
//!
//! Nothing here sleeps or reads a clock. The link is busy until a virtual time; a packet departs
//! one serialisation after the later of that and its arrival. So one late wake-up of the emulator
//! delays the packets it touches, and none after them: errors do not add up.

use firstflight_control::quantity::Rate;
use firstflight_core::units::Instant;
use firstflight_link::{Buffer, DropTailLink, Tie};

/// A drop-tail link and what it did in the measured period.
#[derive(Debug)]
pub(crate) struct Queue {
    link: DropTailLink,
    /// Packets waiting from which on packets are marked.
    marks_from: Option<u64>,
    /// The packet in service takes a place of the buffer.
    in_service_counts: bool,
    /// Totals of the measured period.
    pub(crate) totals: QueueTotals,
    /// The measured period, ns.
    period: (u64, u64),
    /// The series of the depth.
    depth: Depth,
}

/// What the queue did in the measured period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueTotals {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) drops: u64,
    pub(crate) peak_waiting: u64,
    /// Sum over packets of the time each waited, ns.
    pub(crate) waited_ns: u128,
    /// Time in which the link was busy, ns.
    pub(crate) busy_ns: u64,
}

/// The most packets waiting in each interval.
#[derive(Debug, Default)]
pub(crate) struct Depth {
    every: u64,
    /// When the first begins.
    from: u64,
    /// End of the open interval, and the most in it so far.
    open: (u64, u64),
    /// The intervals that are over: their start after the beginning, and the most in each.
    samples: Vec<(u64, u64)>,
}

impl Depth {
    /// From `from` on, an interval every so many ns; without them nothing is kept.
    pub(crate) fn new(from: u64, every: Option<u64>) -> Self {
        let every = every.unwrap_or(0);
        Self { every, from, open: (from.saturating_add(every), 0), samples: Vec::new() }
    }

    /// Notes how many wait.
    pub(crate) fn note(&mut self, waiting: u64) {
        self.open.1 = self.open.1.max(waiting);
    }

    /// Closes the intervals that ended by `now`; `waiting` gives how many waited at such an end.
    pub(crate) fn roll(&mut self, now: u64, mut waiting: impl FnMut(u64) -> u64) {
        while self.every > 0 && self.open.0 <= now {
            let (end, most) = self.open;
            self.samples.push((end - self.every - self.from, most));
            self.open = (end + self.every, waiting(end));
        }
    }

    /// The intervals that are over: their start after the beginning, and the most in each.
    pub(crate) fn take(&mut self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.samples)
    }
}

impl Queue {
    pub(crate) fn new(rate: Rate, buffer: Buffer, in_service_counts: bool) -> Self {
        let end = Instant(u64::MAX);
        Self {
            link: DropTailLink::new(rate.bps(), buffer, in_service_counts, end).rounding_up(),
            marks_from: None,
            in_service_counts,
            totals: QueueTotals::default(),
            period: (0, u64::MAX),
            depth: Depth::default(),
        }
    }

    /// Marks packets that find so many waiting.
    pub(crate) fn marking(self, marks_from: Option<u64>) -> Self {
        Self { marks_from, ..self }
    }

    /// Whether a packet that arrives at `now` is to be marked: as many packets wait as the marking
    /// threshold, or more. `now` must not go backwards.
    pub(crate) fn is_congested(&mut self, now: u64) -> bool {
        let Some(most) = self.marks_from else { return false };
        self.roll(now);
        let held = held_at(&mut self.link, now);
        held.saturating_sub(u64::from(!self.in_service_counts)) >= most
    }

    /// Counts from now on only what happens in this period, with depths `every` so many ns.
    pub(crate) fn measure(&mut self, from: u64, until: u64, every: Option<u64>) {
        self.totals = QueueTotals::default();
        self.period = (from, until);
        self.depth = Depth::new(from, every);
    }

    /// A packet arrives; arrivals come in order of time. Its departure, or `None` if there is no
    /// room. A departure at the same nanosecond comes first.
    pub(crate) fn arrive(&mut self, now: u64, bytes: u64) -> Option<u64> {
        self.roll(now);
        let counted = (self.period.0..self.period.1).contains(&now);
        let (at, start) = (Instant(now), self.link.free_at().max(now));
        let Some(Instant(departure)) = self.link.arrive(at, bytes, Tie::DEPARTURE_FIRST) else {
            self.totals.drops += u64::from(counted);
            return None;
        };
        let waiting = waiting_at(&mut self.link, now);
        self.depth.note(waiting);
        if counted {
            let end = self.period.1;
            self.totals.packets += 1;
            self.totals.bytes += bytes;
            self.totals.peak_waiting = self.totals.peak_waiting.max(waiting);
            self.totals.waited_ns += u128::from(start.min(end) - now);
            self.totals.busy_ns += departure.min(end).saturating_sub(start);
        }
        Some(departure)
    }

    /// Closes the intervals that ended by `now`. Called with every arrival and by the idle loop.
    pub(crate) fn roll(&mut self, now: u64) {
        let Self { link, depth, .. } = self;
        depth.roll(now.min(self.period.1), |end| waiting_at(link, end));
    }

    /// Start of each interval, ns of the measured period, and the most packets waiting in it.
    pub(crate) fn take_samples(&mut self, now: u64) -> Vec<(u64, u64)> {
        self.roll(now);
        self.depth.take()
    }
}

fn held_at(link: &mut DropTailLink, now: u64) -> u64 {
    link.held_at(Instant(now), Tie::DEPARTURE_FIRST)
}

fn waiting_at(link: &mut DropTailLink, now: u64) -> u64 {
    held_at(link, now).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 1000-byte packets take 1 ms.
    fn queue(buffer: Buffer, in_service_counts: bool) -> Queue {
        Queue::new(Rate::from_bps(8_000_000), buffer, in_service_counts)
    }

    fn burst(queue: &mut Queue, at: u64, packets: usize) -> Vec<Option<u64>> {
        (0..packets).map(|_| queue.arrive(at, 1_000).map(|at| at / MS)).collect()
    }

    #[test]
    fn a_burst_leaves_at_the_rate_and_the_rest_is_dropped() {
        let mut queue = queue(Buffer::Packets(2), false);
        assert_eq!(burst(&mut queue, 0, 5), [Some(1), Some(2), Some(3), None, None]);
        assert_eq!((queue.totals.drops, queue.totals.peak_waiting), (2, 2));
        // The second waited 1 ms and the third 2.
        assert_eq!(queue.totals.waited_ns, u128::from(3 * MS));
        assert_eq!(queue.totals.busy_ns, 3 * MS);
    }

    #[test]
    fn a_buffer_that_counts_the_packet_in_service_holds_one_less() {
        let mut queue = queue(Buffer::Packets(2), true);
        assert_eq!(burst(&mut queue, 0, 3), [Some(1), Some(2), None]);
    }

    #[test]
    fn a_buffer_of_bytes_takes_what_fits() {
        let mut queue = queue(Buffer::Bytes(1_500), false);
        assert_eq!(burst(&mut queue, 0, 3), [Some(1), Some(2), None]);
        assert!(queue.arrive(0, 500).is_some());
    }

    #[test]
    fn a_departure_makes_room_at_its_own_nanosecond() {
        let mut queue = queue(Buffer::Packets(1), false);
        assert_eq!(burst(&mut queue, 0, 2), [Some(1), Some(2)]);
        assert_eq!(queue.arrive(MS - 1, 1_000), None);
        assert_eq!(queue.arrive(MS, 1_000), Some(3 * MS));
    }

    #[test]
    fn late_arrivals_do_not_move_the_virtual_clock() {
        let mut queue = queue(Buffer::Packets(100), false);
        burst(&mut queue, 0, 10);
        // Read late, in one batch: they depart as if nothing had happened.
        assert_eq!(burst(&mut queue, 9 * MS, 2), [Some(11), Some(12)]);
        // An idle link starts at the arrival.
        assert_eq!(burst(&mut queue, 100 * MS, 1), [Some(101)]);
    }

    #[test]
    fn only_the_measured_period_counts() {
        let mut queue = queue(Buffer::Packets(100), false);
        burst(&mut queue, 0, 1);
        queue.measure(10 * MS, 20 * MS, Some(5 * MS));
        burst(&mut queue, 9 * MS, 1);
        burst(&mut queue, 18 * MS, 4);
        burst(&mut queue, 21 * MS, 7);
        assert_eq!(queue.totals.packets, 4);
        assert_eq!(queue.totals.busy_ns, 2 * MS);
        assert_eq!(queue.take_samples(30 * MS), [(0, 0), (5 * MS, 3)]);
    }
}
