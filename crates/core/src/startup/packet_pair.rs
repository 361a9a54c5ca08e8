//! Quick start by packet pair, for satellite paths: the window is set at once to what the spacing
//! of the first ACKs says the path holds.
//!
//! What it believes: two ACKs that answer one burst are as far apart as two packets at the
//! bottleneck. What it does: slow start until it has seen a few pairs; then cwnd and ssthresh
//! become `rate * RTTmin`, and start-up ends.
//!
//! Published, in the M-Start paper's words on its reference 10 (section 2): the window starts at
//! the detected bandwidth, estimated from the time between subsequent ACKs with weights that follow
//! the error ([`crate::estimate::ack_spacing`]); its flaw is that the abrupt change may fill the
//! bottleneck's queue. That paper was not available.
//!
//! Inferred: the formulas of the average; that the window is the rate over the smallest RTT in
//! whole segments, at least two; that it takes two pairs, since one has no error to weigh it by.
//! The burst is not paced, as the flaw says. Where the sender limits growth to twice the flight,
//! the window takes a few ACKs to get there.

use crate::card::{Card, Listed};
use crate::estimate::ack_spacing::AckSpacing;
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::Bytes;
use crate::view::{Phase, View, Window};

/// A jump to the window that the first pairs of ACKs show.
#[derive(Clone, Copy, Debug)]
pub struct PacketPairStart {
    opening: Opening,
    spacing: AckSpacing,
    /// Pairs before the jump.
    pairs: u64,
}

impl Listed for PacketPairStart {
    const CARD: Card = Card::new(
        "packet-pair",
        "a jump to the window that the spacing of the first ACKs shows",
        "M-Start paper, reference 10",
    )
    .with("newreno")
    .about(
        "The spacing of the first ACKs.",
        "Two ACKs that answer one burst are as far apart as two packets at the bottleneck.",
        "Its whole window leaves in one burst, and rests on a few gaps that other traffic or \
         delayed ACKs change, and that pacing hides.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for PacketPairStart {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if view.phase == Phase::Startup && !view.plain_slow_start {
            self.spacing.on_ack(ack, view);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("pair_rate", self.spacing.rate().0);
        report("pair_error", self.spacing.error().0);
    }
}

impl Startup for PacketPairStart {
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if self.spacing.samples() < self.pairs {
            return double(ack, view);
        }
        // M-Start paper, section 2, reference 10: the window starts at the detected bandwidth.
        // Ours: over the smallest RTT, in whole segments.
        let held = self.spacing.rate().over(view.rtt.min).whole_segments(view.mss);
        let mut window = view.window;
        window.ssthresh = held.max(view.mss * MIN_SEGMENTS);
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        window.cwnd = window.ssthresh;
        window.hold()
    }
}

impl Default for PacketPairStart {
    fn default() -> Self {
        let (opening, spacing) = (Opening::default(), AckSpacing::default());
        Self { opening, spacing, pairs: PAIRS }
    }
}

impl Knobs for PacketPairStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("pairs")
            .means("pairs of ACKs before the window jumps")
            .count(1..=1_000, |p| &mut p.pairs),
    ];
}

/// The fewest that have an error.
const PAIRS: u64 = 2;

/// The smallest window it sets.
const MIN_SEGMENTS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Exit;
    use crate::testing::{MSS, ack, gauge, view};
    use crate::units::{Instant, Span};

    /// The decision on the last of so many ACKs, 200 us apart: 5 MB/s, 500 segments in 100 ms.
    fn after(acks: u64) -> Step {
        let (mut policy, mut view) = (PacketPairStart::default(), view(4, MSS * 32));
        let mut step = view.window.hold();
        for _ in 0..acks {
            view.now = view.now + Span::from_micros(200);
            let ack = ack(&view, 1);
            policy.on_ack(&ack, &view);
            step = policy.step(&ack, &view);
        }
        step
    }

    #[test]
    fn the_second_pair_sets_the_window_to_rate_times_rtt_and_start_up_ends_there() {
        assert_eq!(after(2).window.cwnd, MSS * 5, "slow start until then");
        let step = after(3);
        assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 500, MSS * 500));
        assert_eq!(step.exit, None, "not before the sender has let it grow so far");
        let view = view(500, MSS * 500);
        let mut policy = PacketPairStart { pairs: 0, ..PacketPairStart::default() };
        assert_eq!(policy.step(&ack(&view, 1), &view).exit, Some(Exit::Threshold));
    }

    #[test]
    fn acks_of_avoidance_are_not_measured() {
        let mut policy = PacketPairStart::default();
        let mut view = View { phase: Phase::Avoidance, ..view(4, MSS * 32) };
        let mut reported = |phase| {
            view.phase = phase;
            for _ in 0..3 {
                view.now = view.now + Span::from_micros(200);
                policy.on_ack(&ack(&view, 1), &view);
            }
            gauge(&policy, "pair_rate")
        };
        assert_eq!(reported(Phase::Avoidance), Some(0));
        assert_eq!(reported(Phase::Startup), Some(5_000_000));
        view.plain_slow_start = true;
        view.now = view.now + Span::from_micros(100);
        policy.on_ack(&ack(&view, 1), &view);
        assert_eq!(gauge(&policy, "pair_rate"), Some(5_000_000), "after a timeout nothing is");
    }

    /// 10 bytes every ms are 1000 bytes in 100 ms, one segment.
    #[test]
    fn the_window_that_it_sets_has_two_segments_at_least() {
        let (mut policy, mut view) = (PacketPairStart::default(), view(1, MSS * 32));
        for ms in 1..=3 {
            view.now = Instant(ms * 1_000_000);
            policy.on_ack(&Ack { credited: Bytes(10), ..ack(&view, 1) }, &view);
        }
        let step = policy.step(&ack(&view, 1), &view);
        assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 2, MSS * 2));
    }
}
