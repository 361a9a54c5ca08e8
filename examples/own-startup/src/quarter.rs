//! `quarter`: slow start that ends when the smoothed RTT exceeds the smallest by a quarter.
//!
//! What it believes: the smallest RTT is the path's, and what is above it is queue. A queue of a
//! quarter of the RTT holds a quarter of the BDP: the path is full. The ACK that tells so left the
//! queue a round ago, and the window has doubled since. Where packets are paced, as in quinn, cwnd
//! is 2.5 BDP then, and a buffer of 1.5 BDP is enough. Where they leave in bursts, as in the
//! simulator's TCP, every burst queues for a while, and it leaves at about 1.2 BDP.
//!
//! What it does, on every ACK for new data while cwnd < ssthresh:
//!
//! ```text
//! srtt > (1 + share) * smallest RTT:   ssthresh = cwnd, leave
//! otherwise:                           cwnd += what the ACK acknowledges (RFC 5681, as ABC)
//! ```
//!
//! The smoothed RTT moves by an eighth of each sample's distance (RFC 6298 section 2), so that one
//! late ACK, unless it is late by two RTTs, ends nothing. The price is time: several samples pass
//! before a queue shows.

use firstflight_core::card::{Card, Listed};
use firstflight_core::event::Ack;
use firstflight_core::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use firstflight_core::policy::{Exit, Observer, Startup, Step};
use firstflight_core::view::View;

/// Slow start until the smoothed RTT shows a queue.
#[derive(Clone, Copy, Debug)]
pub struct Quarter {
    /// How far the smoothed RTT may exceed the smallest, in millionths of the smallest.
    share: u64,
}

impl Quarter {
    /// Whether the smoothed RTT shows a queue. Before the first sample the smallest is
    /// `Span::MAX`, and nothing exceeds it.
    fn sees_a_queue(&self, view: &View) -> bool {
        view.rtt.smoothed > view.rtt.min + view.rtt.min.scaled(self.share, RATIO_ONE)
    }
}

impl Listed for Quarter {
    const CARD: Card = Card::new(
        "quarter",
        "slow start that leaves when the smoothed RTT exceeds the smallest by a quarter",
        "an example of firstflight's",
    )
    .with("newreno")
    .finds_its_end()
    .knobs(Self::KNOBS);
}

/// The times of ACKs are all it needs, which is what a policy gets unless it says otherwise.
impl Observer for Quarter {
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("quarter_share", self.share);
    }
}

impl Startup for Quarter {
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if self.sees_a_queue(view) {
            return view.window.hold().threshold(view.window.cwnd).exit(Exit::Heuristic);
        }
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        window.grow(ack.acked.min(window.ssthresh - window.cwnd)).until_threshold()
    }
}

impl Default for Quarter {
    fn default() -> Self {
        Self { share: SHARE }
    }
}

impl Knobs for Quarter {
    const ROWS: &'static [KnobOf<Self>] = &[Knob::new("share")
        .means("how far the smoothed RTT may exceed the smallest, as a share of the smallest")
        .ratio(SMALLEST_SHARE..=RATIO_ONE, |p| &mut p.share)];
}

/// A quarter, in millionths.
const SHARE: u64 = RATIO_ONE / 4;
/// Below a hundredth the rounding of timers would count as a queue.
const SMALLEST_SHARE: u64 = RATIO_ONE / 100;
