//! Delivered data packets per second of CPU.
//!
//! The clock is the thread's CPU time, so that other programs on the machine take as little part in
//! the figure as they can. It comes from the `cpu-time` crate, because the standard library has
//! none and the system call needs code that this workspace forbids; `/proc/thread-self/schedstat`
//! would do on Linux, but moves in steps of a scheduler tick, which is a fifth of the shortest run.

use cpu_time::ThreadTime;
use firstflight_sim::Network;

use crate::cases::{Case, Control};

/// How fast one control ran one scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    pub(crate) delivered: u64,
    pub(crate) events: u64,
    pub(crate) runs: u32,
    /// Of the fastest and the slowest run, in seconds of CPU.
    pub(crate) best_s: f64,
    pub(crate) worst_s: f64,
}

/// One control on one scenario, run now and then.
pub(crate) struct Runs {
    network: Network,
    pub(crate) speed: Speed,
}

impl Runs {
    pub(crate) fn new(case: &Case, control: &Control) -> Self {
        let speed = Speed { delivered: 0, events: 0, runs: 0, best_s: f64::INFINITY, worst_s: 0.0 };
        Self { network: case.network(control), speed }
    }

    /// Runs once, and short scenarios until [`ENOUGH_S`] have passed.
    pub(crate) fn round(&mut self) {
        let mut total_s = 0.0;
        while total_s < ENOUGH_S {
            let start = ThreadTime::now();
            let outcome = firstflight_sim::run(&self.network);
            let seconds = start.elapsed().as_secs_f64();
            let speed = &mut self.speed;
            speed.delivered = outcome.flows.iter().map(|flow| flow.delivered_packets).sum();
            speed.events = outcome.events;
            speed.runs += 1;
            speed.best_s = speed.best_s.min(seconds);
            speed.worst_s = speed.worst_s.max(seconds);
            total_s += seconds;
        }
    }
}

impl Speed {
    /// Millions of delivered packets per second of CPU, in the fastest run.
    pub(crate) fn millions(&self) -> f64 {
        self.delivered as f64 / self.best_s / 1e6
    }

    /// The same in the slowest run.
    pub(crate) fn worst_millions(&self) -> f64 {
        self.delivered as f64 / self.worst_s / 1e6
    }
}

const ENOUGH_S: f64 = 0.05;
