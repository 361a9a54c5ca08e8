//! Smooth-start (Wang, Xin, Reeves and Shin, "A Simple Refinement of Slow-Start of TCP Congestion
//! Control", ISCC 2000; before that Wang and Williamson, MASCOTS 1998): slow start that approaches
//! ssthresh step by step.
//!
//! What it believes: the abrupt change from doubling to linear growth is what loses packets. What
//! it does: slow start up to a separator below ssthresh; from there the window grows by a segment
//! for every second ACK, then every third, and so on.
//!
//! Published: the idea and that it needs the sender only (abstract). The M-Start paper (section 2)
//! adds: the separator is `ssthresh / 4`; above it the window grows "only upon receipt of two or
//! more ACKs", by a factor of at most 1.5 per RTT; a coarse and a fine parameter set the gradient.
//! A public ns-3 version calls them depth and grain number, has both at 2, and puts the separator
//! at `ssthresh / 2^depth`, which agrees with the M-Start paper.
//!
//! Inferred: when the number of ACKs rises. Here `[separator, ssthresh]` is cut into `grain` equal
//! bands, and in band j, from 0, every (j + 2)th ACK adds a segment. The ns-3 version raises the
//! number after every segment instead, so that a window of hundreds of segments would take minutes;
//! this cannot be meant.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::needs::Needs;
use crate::opening::{Opening, opening};
use crate::policy::{Entry, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, mul_div};
use crate::view::{View, Window};

/// Slow start that grows on every second, third, and so on ACK as it nears ssthresh.
#[derive(Clone, Copy, Debug)]
pub struct SmoothStart {
    opening: Opening,
    depth: u64,
    grain: u64,
    /// ACKs since the window last grew.
    acks: u64,
}

impl SmoothStart {
    /// ACKs for the next segment, above the separator and below ssthresh.
    fn acks_wanted(&self, separator: Bytes, view: &View) -> u64 {
        // Ours: `grain` equal bands above the separator, and in band j every (j + 2)th ACK counts.
        let (above, all) = (view.window.cwnd - separator, view.window.ssthresh - separator);
        mul_div(above.0, self.grain, all.0) + 2
    }
}

impl Listed for SmoothStart {
    const CARD: Card = Card::new(
        "smooth-start",
        "slow start that grows on every second, then every third ACK near ssthresh",
        "Wang and others, ISCC 2000",
    )
    .with("newreno")
    .about(
        "How far the window is from ssthresh.",
        "It is the abrupt change from doubling to linear growth that loses packets.",
        "Without an ssthresh it is slow start.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for SmoothStart {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Startup for SmoothStart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, _why: Entry, _view: &View) {
        self.acks = 0;
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        // M-Start paper, section 2, reference 11: the separator is ssthresh / 4; above it two or
        // more ACKs make one segment.
        let separator = Bytes(window.ssthresh.0 >> self.depth);
        if window.cwnd <= separator || window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        self.acks += 1;
        if self.acks < self.acks_wanted(separator, view) {
            return window.hold();
        }
        self.acks = 0;
        window.grow(view.mss).until_threshold()
    }
}

impl Default for SmoothStart {
    fn default() -> Self {
        Self { opening: Opening::default(), depth: 2, grain: 2, acks: 0 }
    }
}

impl Knobs for SmoothStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("depth")
            .means("it is slow start up to ssthresh / 2^depth")
            .count(1..=16, |p| &mut p.depth),
        Knob::new("grain")
            .means("bands above; each wants one ACK more per segment than the one below")
            .count(1..=1_000, |p| &mut p.grain),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};

    /// ACKs from `cwnd` to the next segment, with an ssthresh of 100.
    fn acks_at(cwnd: u64) -> usize {
        let mut policy = SmoothStart::default();
        let view = view(cwnd, MSS * 100);
        (1..10)
            .find(|_| policy.step(&ack(&view, 1), &view).window.cwnd > view.window.cwnd)
            .unwrap_or(0)
    }

    #[test]
    fn above_a_quarter_every_second_ack_counts_and_above_five_eighths_every_third() {
        assert_eq!([10, 25, 26, 62, 63, 99].map(acks_at), [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_round_multiplies_the_window_by_at_most_one_and_a_half() {
        let (mut policy, mut view) = (SmoothStart::default(), view(40, MSS * 100));
        for _ in 0..40 {
            view.window = policy.step(&ack(&view, 1), &view).window;
        }
        assert_eq!(view.window.cwnd, MSS * 60);
    }

    #[test]
    fn it_ends_at_ssthresh() {
        let mut policy = SmoothStart { acks: 2, ..SmoothStart::default() };
        let view = view(99, MSS * 100);
        assert!(policy.step(&ack(&view, 1), &view).exit.is_some());
    }

    #[test]
    fn acks_from_before_a_timeout_do_not_count() {
        let (mut policy, view) = (SmoothStart::default(), view(40, MSS * 100));
        let mut grows = || policy.step(&ack(&view, 1), &view).window.cwnd > view.window.cwnd;
        assert!(!grows());
        policy.enter(Entry::Timeout, &view);
        let mut grows = || policy.step(&ack(&view, 1), &view).window.cwnd > view.window.cwnd;
        assert_eq!([grows(), grows()], [false, true]);
    }
}
