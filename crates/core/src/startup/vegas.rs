//! Vegas' slow start (Brakmo, O'Malley and Peterson, SIGCOMM 1994), as ns-2.35's agent runs it.
//!
//! What it believes: the window is right when it begins to queue. What it does: once per RTT
//! ([`crate::estimate::vegas_diff`]) it turns to the other of two kinds of round. In a holding
//! round the window stays. At the start of a growing one, if more than `gamma` segments queue, it
//! gives an eighth of the window back and leaves; otherwise every ACK adds a segment.
//!
//! ssthresh of two segments after leaving says "never again before a timeout", as in that agent.
//! Growth waits while more than two segments of the window are unused.
//!
//! What the papers leave open: whether the first round holds. The agent counts the handshake as a
//! round that held, so the first round of data grows; without a handshake that first round is the
//! one that holds. The knob `first` says so outright.

use crate::card::{Card, Listed};
use crate::estimate::vegas_diff::{MIN_SEGMENTS, VegasDiff, is_used};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, words};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Entry, Exit, Observer, Startup, Step};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Slow start in every other round, until a queue shows.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    diff: VegasDiff,
    gamma: u64,
    grow_every: u64,
    first: First,
    opening: Opening,
    /// Rounds decided since the last that grew; a round grows when it reaches `grow_every`.
    held: u64,
    /// This round grows.
    growing: bool,
}

/// What the first round of data does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// Grows after a handshake, else holds.
    Auto,
    Grows,
    Holds,
}

impl Listed for Vegas {
    const CARD: Card = Card::new(
        "vegas",
        "slow start in every other round, until segments queue",
        "Brakmo and others, SIGCOMM 1994",
    )
    .with("vegas")
    .about(
        "How far the rate of a round falls short of cwnd over the smallest RTT.",
        "The window is right when its first packets queue.",
        "A round's burst queues long before the path is full, so that it leaves far too early on \
         a large BDP, and it takes two round trips to double.",
    )
    .finds_its_end()
    .in_kernel("vegas_start")
    .knobs(Self::KNOBS);
}

impl Observer for Vegas {
    fn on_handshake(&mut self, view: &View) {
        self.diff.on_handshake(view);
        if self.first == First::Auto {
            self.held = self.grow_every;
        }
    }

    fn on_begin(&mut self, view: &View) {
        self.diff.on_begin(view);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.diff.on_ack(ack, view);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.diff.gauges(report);
    }
}

impl Startup for Vegas {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn restart_window(&self, mss: Bytes) -> Bytes {
        mss * RESTART_SEGMENTS
    }

    fn enter(&mut self, why: Entry, _view: &View) {
        self.growing = false;
        if (why, self.first) == (Entry::Connect, First::Grows) {
            self.held = self.grow_every;
        }
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            self.growing = false;
            return window.hold().until_threshold();
        }
        // ns-2's `VegasTcpAgent::recv()`: once per RTT the kind of the round changes;
        // at the beginning of a growing one more than gamma segments queued end slow start.
        if let Some(queued) = self.diff.decision() {
            self.held += 1;
            self.growing = self.held >= self.grow_every;
            if self.growing {
                self.held = 0;
                if queued > self.gamma as i64 {
                    self.growing = false;
                    return give_back(view);
                }
            }
        }
        // ns-2's `tcp-vegas.cc`: no growth in a holding round, nor while the window is unused.
        if !self.growing || !is_used(view) {
            return window.hold();
        }
        window.grow(ack.acked.min(view.mss)).until_threshold()
    }
}

impl Default for Vegas {
    fn default() -> Self {
        Self {
            diff: VegasDiff::new(),
            gamma: 1,
            grow_every: 2,
            first: First::Auto,
            opening: Opening::default(),
            held: 0,
            growing: false,
        }
    }
}

impl Knobs for Vegas {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("gamma")
            .means("segments in queues that end slow start")
            .count(0..=1_000, |p| &mut p.gamma),
        Knob::new("grow_every")
            .means("one round in so many grows")
            .count(1..=16, |p| &mut p.grow_every),
        Knob::new("first")
            .means("what the first round of data does; auto: grows after a handshake, else holds")
            .word(words!(
                |p| p.first,
                ["auto" = First::Auto, "grows" = First::Grows, "holds" = First::Holds]
            )),
    ];
}

/// An eighth less, at least two segments, and no slow start again before a timeout.
pub(crate) fn give_back(view: &View) -> Step {
    // `tcp-vegas.cc`: `ssthresh = 2`, `cwnd -= cwnd / 8`.
    let floor = view.mss * MIN_SEGMENTS;
    let mut window = view.window;
    window.cwnd = (window.cwnd - window.cwnd / 8).max(floor);
    window.ssthresh = floor;
    window.hold().exit(Exit::Heuristic)
}

/// The window after a timeout.
pub(crate) const RESTART_SEGMENTS: u64 = 2;
