//! Delivered data packets per second of CPU.
//!
//! The clock is the thread's CPU time, so that other programs on the machine take as little part in
//! the figure as they can. It comes from the `cpu-time` crate, because the standard library has
//! none and the system call needs code that this workspace forbids; `/proc/thread-self/schedstat`
//! would do on Linux, but moves in steps of a scheduler tick, which is a fifth of the shortest run.

use cpu_time::ThreadTime;

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

impl Speed {
    /// Runs at least [`LEAST_RUNS`] times, and short scenarios until [`ENOUGH_S`] have passed.
    pub(crate) fn measure(case: &Case, control: &Control) -> Self {
        let network = case.network(control);
        let mut speed =
            Self { delivered: 0, events: 0, runs: 0, best_s: f64::INFINITY, worst_s: 0.0 };
        let mut total_s = 0.0;
        while speed.runs < LEAST_RUNS || (total_s < ENOUGH_S && speed.runs < MOST_RUNS) {
            let start = ThreadTime::now();
            let outcome = firstflight_sim::run(&network);
            let seconds = start.elapsed().as_secs_f64();
            speed.delivered = outcome.flows.iter().map(|flow| flow.delivered_packets).sum();
            speed.events = outcome.events;
            speed.runs += 1;
            speed.best_s = speed.best_s.min(seconds);
            speed.worst_s = speed.worst_s.max(seconds);
            total_s += seconds;
        }
        speed
    }

    /// Millions of delivered packets per second of CPU, in the fastest run.
    pub(crate) fn millions(&self) -> f64 {
        self.delivered as f64 / self.best_s / 1e6
    }

    /// The same in the slowest run.
    pub(crate) fn worst_millions(&self) -> f64 {
        self.delivered as f64 / self.worst_s / 1e6
    }
}

const LEAST_RUNS: u32 = 5;
const MOST_RUNS: u32 = 20;
const ENOUGH_S: f64 = 0.3;
