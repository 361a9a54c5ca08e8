//! The threads that carry the packets: one each way, or one for both where there is one processor.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::{TimeSpec, TimeValLike as _};
use nix::time::{ClockId, clock_gettime};

use super::lateness::Lateness;
use super::pace::{Next, Pace};
use super::way::{Done, Way};
use super::{LinkReport, LinkSpec};
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

/// A TUN device for an end of a link; each packet begins with a `virtio_net_hdr`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Device {
    /// Open without blocking.
    pub file: File,
    /// How many packets its kernel hands over as one; 1 without segmentation offload.
    pub segments: u32,
}

/// A link that carries packets until it is stopped or dropped.
#[derive(Debug)]
pub struct Running {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<(Vec<Done>, bool)>>,
    /// Open, it keeps the processors from sleeping.
    awake: Option<File>,
}

#[derive(Debug)]
struct Shared {
    /// The devices' files, near and far.
    ends: [File; 2],
    /// What all times are in.
    clock: Clock,
    /// The threads shall end.
    stop: AtomicBool,
    /// Beginning of the measured period, ns.
    from: AtomicU64,
    /// Its end, ns.
    until: AtomicU64,
    /// When the first packet of a transfer arrived; `u64::MAX` before.
    transfer_began: AtomicU64,
}

/// Starts a link between two TUN devices.
///
/// # Errors
/// No thread can be made.
pub fn start(near: Device, far: Device, spec: &LinkSpec, clock: Clock) -> io::Result<Running> {
    let way = |end, device, direction| Way::new(end, device, direction, spec, clock.now());
    let (forward, backward) = (way(0, &near, &spec.forward), way(1, &far, &spec.backward));
    let shared = Shared {
        ends: [near.file, far.file],
        clock,
        stop: AtomicBool::new(false),
        from: AtomicU64::new(0),
        until: AtomicU64::new(u64::MAX),
        transfer_began: AtomicU64::new(u64::MAX),
    };
    // Two real-time threads on one processor would keep each other waiting.
    let alone = thread::available_parallelism().is_ok_and(|processors| processors.get() == 1);
    let each =
        if alone { vec![vec![forward, backward]] } else { vec![vec![forward], vec![backward]] };
    // A link that may not spin leaves idle processors asleep.
    let awake = (spec.spin_ns > 0).then(sys::stay_awake).and_then(Result::ok);
    let mut running = Running { shared: Arc::new(shared), threads: Vec::new(), awake };
    for ways in each {
        let pace = Pace::new(spec.spin_ns, clock.now());
        let mut engine = Engine { ways, pace, shared: Arc::clone(&running.shared) };
        let thread = thread::Builder::new().name("link".to_owned());
        running.threads.push(thread.spawn(move || engine.run())?);
    }
    Ok(running)
}

impl Running {
    /// Counts from now on only what happens between these times of the link's clock, ns.
    pub fn measure(&self, from: u64, until: u64) {
        self.shared.until.store(until, Ordering::Relaxed);
        self.shared.from.store(from, Ordering::Release);
    }

    /// When the first packet of a transfer arrived, ns of the clock, if flows are counted.
    pub(crate) fn transfer_began(&self) -> Option<u64> {
        Some(self.shared.transfer_began.load(Ordering::Relaxed)).filter(|at| *at < u64::MAX)
    }

    /// Stops the link and returns its report.
    pub fn stop(mut self) -> LinkReport {
        let mut report =
            LinkReport { awake: self.awake.is_some(), realtime: true, ..LinkReport::default() };
        let mut late = Lateness::new();
        let mut reports = Vec::new();
        for (ways, realtime) in self.end() {
            report.realtime &= realtime;
            for done in ways {
                late.add(&done.lateness);
                report.longest_absence_us = report.longest_absence_us.max(done.longest_absence_us);
                reports.push(done.report);
            }
        }
        let mut reports = reports.into_iter();
        report.forward = reports.next().unwrap_or_default();
        report.backward = reports.next().unwrap_or_default();
        report.lateness = late.report();
        report
    }

    fn end(&mut self) -> Vec<(Vec<Done>, bool)> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).filter_map(|thread| thread.join().ok()).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// The work of one thread.
struct Engine {
    /// One direction, or both.
    ways: Vec<Way>,
    /// When to spin and when to sleep.
    pace: Pace,
    /// What both threads and the path see.
    shared: Arc<Shared>,
}

impl Engine {
    /// Carries packets until `stop`. Returns whether it did so with real-time priority.
    fn run(&mut self) -> (Vec<Done>, bool) {
        // Without either the link works, but later; the report has its lateness.
        let realtime = sys::set_realtime().is_ok();
        let _ = set_timerslack(1);
        let shared = Arc::clone(&self.shared);
        while !shared.stop.load(Ordering::Relaxed) {
            let from = shared.from.load(Ordering::Acquire);
            let wanted = (from, shared.until.load(Ordering::Relaxed));
            let mut busy = false;
            for way in &mut self.ways {
                way.note_measure(wanted);
                busy |= way.read(&shared.ends, shared.clock);
                if let Some(began) = way.direction.transfer_began() {
                    shared.transfer_began.store(began, Ordering::Relaxed);
                }
            }
            for way in &mut self.ways {
                way.release(&shared.ends, shared.clock);
            }
            self.wait(busy);
        }
        let now = shared.clock.now();
        (self.ways.drain(..).map(|way| way.finish(now)).collect(), realtime)
    }

    /// Sleeps until shortly before the next packet is due, or until one comes. A `busy` link sleeps
    /// only for the rests that a real-time thread must take.
    fn wait(&mut self, busy: bool) {
        let now = self.shared.clock.now();
        let due = self.ways.iter().filter_map(|way| way.direction.next_wakeup()).min();
        let left = due.map_or(LONGEST_WAIT, |due| due.saturating_sub(now)).min(LONGEST_WAIT);
        match self.pace.next(now, left, busy, processor_time) {
            Next::Go => {}
            Next::Rest(rest) => thread::sleep(Duration::from_nanos(rest)),
            Next::Sleep(wait) => {
                let until = now + wait;
                let wait = TimeSpec::new(0, wait as i64);
                let device = |way: &Way| self.shared.ends[way.end].as_fd();
                let ends = self.ways.iter().map(|way| PollFd::new(device(way), PollFlags::POLLIN));
                // An interrupted wait is a short one.
                let ready = ppoll(&mut ends.collect::<Vec<_>>(), Some(wait), None);
                let now = self.shared.clock.now();
                if ready == Ok(0) {
                    self.pace.overslept(now.saturating_sub(until));
                }
                self.ways.iter_mut().for_each(|way| way.woke(now));
            }
        }
    }
}

/// What the calling thread has had of a processor, ns.
fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(0, |time| u64::try_from(time.num_nanoseconds()).unwrap_or(0))
}

/// The longest wait before `stop` is read again, ns.
const LONGEST_WAIT: u64 = 20_000_000;

/// Nanoseconds of a duration, as all times of the link are.
fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
