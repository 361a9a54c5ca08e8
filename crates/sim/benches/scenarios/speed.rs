//! Delivered data packets per second of CPU.
//!
//! The clock is the thread's CPU time, so that other programs on the machine take as little part in
//! the figure as they can. `/proc/thread-self/schedstat` moves in steps of a scheduler tick, which
//! is a fifth of the shortest run.

use std::time::Duration;

use firstflight_sim::{FastPaths, Network};
use nix::time::{ClockId, clock_gettime};

use crate::cases::{Case, Control};

/// How fast one control ran one scenario. Times are seconds of CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Speed {
    pub(crate) delivered: u64,
    pub(crate) events: u64,
    pub(crate) runs: u32,
    /// The fastest time of every part of a run, added up. All runs do the same, so that a part
    /// which took longer was disturbed.
    pub(crate) calm_s: f64,
    /// Time of the fastest run, s.
    pub(crate) best_s: f64,
    /// Time of the slowest run, s.
    pub(crate) worst_s: f64,
}

/// One control on one scenario, run now and then.
pub(crate) struct Runs {
    network: Network,
    /// The fastest times of the parts.
    parts: Vec<f64>,
    speed: Speed,
}

impl Runs {
    pub(crate) fn new(case: &Case, control: &Control) -> Self {
        let speed = Speed { best_s: f64::INFINITY, ..Speed::default() };
        Self { network: case.network(control), parts: Vec::new(), speed }
    }

    pub(crate) fn speed(&self) -> Speed {
        Speed { calm_s: self.parts.iter().sum(), ..self.speed }
    }

    /// Runs once, and short scenarios until [`ENOUGH_S`] have passed.
    pub(crate) fn round(&mut self) {
        let mut total_s = 0.0;
        while total_s < ENOUGH_S {
            total_s += self.run();
        }
    }

    fn run(&mut self) -> f64 {
        let mut parts = Vec::with_capacity(self.parts.len());
        let now = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from);
        let now = || now().expect("every thread has this clock");
        let mut since = now();
        let mut part_ends = || {
            let now = now();
            parts.push((now - std::mem::replace(&mut since, now)).as_secs_f64());
            true
        };
        let outcome = firstflight_sim::run_watched(&self.network, FastPaths::On, &mut part_ends);
        part_ends();
        let outcome = outcome.expect("nobody stops it");
        let seconds = parts.iter().sum();
        self.parts.resize(parts.len(), f64::INFINITY);
        self.parts.iter_mut().zip(parts).for_each(|(best, part)| *best = best.min(part));
        let speed = &mut self.speed;
        speed.delivered = outcome.flows.iter().map(|flow| flow.delivered_packets).sum();
        speed.events = outcome.events;
        speed.runs += 1;
        speed.best_s = speed.best_s.min(seconds);
        speed.worst_s = speed.worst_s.max(seconds);
        seconds
    }
}

impl Speed {
    /// Delivered packets per second of CPU, when so many seconds went by.
    pub(crate) fn packets_per(&self, seconds: f64) -> f64 {
        self.delivered as f64 / seconds
    }
}

const ENOUGH_S: f64 = 0.05;
