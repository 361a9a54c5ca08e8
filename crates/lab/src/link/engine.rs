//! The thread that carries the packets.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;

use super::direction::Direction;
use super::lateness::Lateness;
use super::pace::{Next, Pace};
use super::packet::Pool;
use super::rate::ns;
use super::{DirectionReport, LinkReport, LinkSpec};
use crate::sys;

/// Nanoseconds since one moment, for everybody who takes part in a run.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Nanoseconds since its start.
    pub fn now(&self) -> u64 {
        ns(self.0.elapsed())
    }
}

/// A link that carries packets until it is stopped or dropped.
#[derive(Debug)]
pub struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<LinkReport>>,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    from: AtomicU64,
    until: AtomicU64,
}

/// Starts a link between two TUN devices.
///
/// # Errors
/// No thread can be made.
pub fn start(near: File, far: File, spec: &LinkSpec, clock: Clock) -> io::Result<Running> {
    let shared = Arc::new(Shared {
        stop: AtomicBool::new(false),
        from: AtomicU64::new(0),
        until: AtomicU64::new(u64::MAX),
    });
    let mut engine = Engine {
        ends: [near, far],
        directions: [
            Direction::new(&spec.forward, spec.seed, 0),
            Direction::new(&spec.backward, spec.seed, 1),
        ],
        pool: Pool::new(spec.mtu.max(576)),
        refused: [0; 2],
        depth_every: spec.depth_every_ns,
        measured: (0, u64::MAX),
        looked_at: clock.now(),
        longest_absence: 0,
        pace: Pace::new(spec.spin_ns, clock.now()),
        clock,
        shared: Arc::clone(&shared),
    };
    let thread = thread::Builder::new().name("link".to_owned()).spawn(move || engine.run())?;
    Ok(Running { shared, thread: Some(thread) })
}

impl Running {
    /// Counts from now on only what happens between these times of the link's clock, ns.
    pub fn measure(&self, from: u64, until: u64) {
        self.shared.until.store(until, Ordering::Relaxed);
        self.shared.from.store(from, Ordering::Release);
    }

    /// Stops the link and tells what it did.
    pub fn stop(mut self) -> LinkReport {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<LinkReport> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

struct Engine {
    /// Near and far.
    ends: [File; 2],
    /// Forward, which the near end feeds, and backward.
    directions: [Direction; 2],
    pool: Pool,
    refused: [u64; 2],
    pace: Pace,
    depth_every: Option<u64>,
    measured: (u64, u64),
    /// When the devices were last found empty.
    looked_at: u64,
    longest_absence: u64,
    clock: Clock,
    shared: Arc<Shared>,
}

impl Engine {
    fn run(&mut self) -> LinkReport {
        // Without either the link works, only later; the report says how late.
        let realtime = sys::set_realtime().is_ok();
        let _ = set_timerslack(1);
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.note_measure();
            let mut busy = false;
            for end in 0..2 {
                busy |= self.read(end);
            }
            self.release();
            self.wait(busy);
        }
        self.report(realtime)
    }

    /// Begins the measured period when one was set.
    fn note_measure(&mut self) {
        let from = self.shared.from.load(Ordering::Acquire);
        let wanted = (from, self.shared.until.load(Ordering::Relaxed));
        if wanted == self.measured {
            return;
        }
        self.measured = wanted;
        self.longest_absence = 0;
        self.refused = [0; 2];
        for direction in &mut self.directions {
            direction.measure(wanted.0, wanted.1, self.depth_every);
        }
    }

    /// Takes packets from one end; whether there may be more.
    fn read(&mut self, end: usize) -> bool {
        for _ in 0..BATCH {
            let slot = self.pool.take();
            let length = match self.ends[end].read(self.pool.room(slot)) {
                Ok(length) if length > 0 => length,
                _ => {
                    self.pool.give(slot);
                    self.note_look();
                    return false;
                }
            };
            self.pool.set_length(slot, length);
            let now = self.clock.now();
            if !self.directions[end].offer(now, slot, self.pool.packet(slot)) {
                self.pool.give(slot);
            }
        }
        true
    }

    fn note_look(&mut self) {
        let now = self.clock.now();
        if (self.measured.0..self.measured.1).contains(&now) {
            let absence = now.saturating_sub(self.looked_at.max(self.measured.0));
            self.longest_absence = self.longest_absence.max(absence);
        }
        self.looked_at = now;
    }

    /// Hands on what is due, at most a batch each way so that reading is not kept waiting.
    fn release(&mut self) {
        for way in 0..2 {
            for _ in 0..BATCH {
                let now = self.clock.now();
                let Some((due, slot)) = self.directions[way].take_due(now) else { break };
                let packet = self.pool.packet(slot);
                self.directions[way].delivered(due, now, packet.len());
                // A kernel that takes no packet now takes none later: it is lost, and counted.
                if self.ends[1 - way].write(packet).is_err() {
                    self.refused[way] += 1;
                }
                self.pool.give(slot);
            }
        }
    }

    /// Sleeps until shortly before the next packet is due, or until one comes. A `busy` link does
    /// not sleep, but for the rests that a real-time thread owes the machine.
    fn wait(&mut self, busy: bool) {
        let now = self.clock.now();
        let due = self.directions.iter().filter_map(Direction::next_due).min();
        let left = due.map_or(LONGEST_WAIT, |due| due.saturating_sub(now)).min(LONGEST_WAIT);
        match self.pace.next(now, left, busy) {
            Next::Go => {}
            Next::Rest(rest) => thread::sleep(Duration::from_nanos(rest)),
            Next::Sleep(wait) => {
                let wait = TimeSpec::new(0, wait as i64);
                let [near, far] = &self.ends;
                let mut ends = [near, far].map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
                // An interrupted wait is a short one.
                let _ = ppoll(&mut ends, Some(wait), None);
                // Asleep, the link misses nothing: a packet wakes it.
                self.looked_at = self.clock.now();
            }
        }
    }

    fn report(&mut self, realtime: bool) -> LinkReport {
        let now = self.clock.now();
        let length = self.measured.1.min(now).saturating_sub(self.measured.0);
        let mut late = Lateness::new();
        let refused = self.refused;
        let [forward, backward] = [0, 1].map(|way| {
            let direction = &mut self.directions[way];
            late.add(&direction.lateness);
            DirectionReport { refused_packets: refused[way], ..direction.report(now, length) }
        });
        let longest_absence_us = self.longest_absence as f64 / 1e3;
        LinkReport { forward, backward, lateness: late.report(), realtime, longest_absence_us }
    }
}

impl Direction {
    fn report(&mut self, now: u64, length_ns: u64) -> DirectionReport {
        let totals = self.totals;
        let mut report = DirectionReport {
            offered_packets: totals.offered,
            lost_packets: totals.lost,
            delivered_packets: totals.delivered,
            delivered_bytes: totals.delivered_bytes,
            losses: self.take_losses(),
            ..DirectionReport::default()
        };
        if let Some(queue) = &mut self.queue {
            let length = length_ns.max(1) as f64;
            report.dropped_packets = queue.totals.drops;
            report.utilization = queue.totals.busy_ns as f64 / length;
            report.peak_queue_packets = queue.totals.peak_waiting;
            report.mean_queue_packets = queue.totals.waited_ns as f64 / length;
            report.depth = queue.take_samples(now);
        }
        report
    }
}

/// Packets read or handed on at a time.
const BATCH: usize = 64;
/// Between two looks at whether to stop.
const LONGEST_WAIT: u64 = 20_000_000;
