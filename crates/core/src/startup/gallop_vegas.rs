//! Gallop-Vegas (Ho, Chan and Chen, "Gallop-Vegas: an enhanced slow-start mechanism for TCP Vegas",
//! Journal of Communications and Networks 8(3), 2006; first at ICPADS 2005): Vegas' slow start
//! without its holding rounds and without their bursts.
//!
//! What it believes: doubling in one round leaves a queue that makes Vegas leave slow start too
//! early on a path with a large BDP.
//!
//! Published (abstract): the window grows at a rate between exponential and linear during slow
//! start, which ramps up more quickly than Vegas and is less bursty; only the sender changes. The
//! increment itself is not in any text that was available, nor in the M-Start paper, which names it
//! (section 2, reference 7).
//!
//! Inferred: a segment for every second ACK in every round, a factor of 1.5 per RTT where Vegas has
//! 2 every other round, 1.41 per RTT. A burst then is two segments for every second ACK, half of
//! Vegas'. The end is Vegas': more than `gamma` segments queued by [`crate::estimate::vegas_diff`],
//! here at the end of any round; an eighth of the window goes back.

use crate::card::{Card, Listed};
use crate::estimate::vegas_diff::{VegasDiff, is_used};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Observer, Startup, Step};
use crate::startup::vegas::{RESTART_SEGMENTS, give_back};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Vegas' slow start at an even pace.
#[derive(Clone, Copy, Debug)]
pub struct GallopVegas {
    opening: Opening,
    diff: VegasDiff,
    gamma: u64,
    /// ACKs for one segment.
    acks: u64,
}

impl Listed for GallopVegas {
    const CARD: Card = Card::new(
        "gallop-vegas",
        "half a segment per ACK in every round, until segments queue",
        "Ho, Chan and Chen, JCN 2006",
    )
    .with("vegas")
    .about(
        "How far the rate of a round falls short of cwnd over the smallest RTT.",
        "Vegas leaves too early because doubling in one round leaves a queue.",
        "Its own bursts still queue in every round: on a large BDP it leaves long before the path \
         is full.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for GallopVegas {
    fn on_handshake(&mut self, view: &View) {
        self.diff.on_handshake(view);
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

impl Startup for GallopVegas {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn restart_window(&self, mss: Bytes) -> Bytes {
        mss * RESTART_SEGMENTS
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        // SIGCOMM 1994 (Vegas): more than gamma segments queued end slow start; ours: in any round.
        if self.diff.decision().is_some_and(|queued| queued > self.gamma as i64) {
            return give_back(view);
        }
        // ns-2's `tcp-vegas.cc`: no growth while more than two segments of the window are unused.
        if !is_used(view) {
            return window.hold();
        }
        // Abstract: between exponential and linear. Ours: half a segment per ACK.
        window.grow(ack.acked.min(view.mss) / self.acks).until_threshold()
    }
}

impl Default for GallopVegas {
    fn default() -> Self {
        Self { opening: Opening::default(), diff: VegasDiff::new(), gamma: 1, acks: 2 }
    }
}

impl Knobs for GallopVegas {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("gamma")
            .means("segments in queues that end slow start")
            .count(0..=1_000, |p| &mut p.gamma),
        Knob::new("acks")
            .means("ACKs that the growth by a segment takes (inferred)")
            .count(1..=1_000, |p| &mut p.acks),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Exit;
    use crate::testing::{MSS, ack, view};
    use crate::units::Span;

    /// Rounds of one ACK each, the whole window outstanding, at these RTTs.
    fn rounds(rtts_ms: &[u64]) -> Step {
        let (mut policy, mut view) = (GallopVegas::default(), view(16, Bytes::MAX));
        let mut step = view.window.hold();
        for rtt in rtts_ms {
            view.rtt.latest = Span::from_millis(*rtt);
            view.now = view.now + view.rtt.latest;
            view.acked += MSS * 16;
            view.snd_nxt = view.acked + MSS * 15;
            let ack = ack(&view, 1);
            policy.on_ack(&ack, &view);
            step = policy.step(&ack, &view);
        }
        step
    }

    #[test]
    fn every_ack_adds_half_a_segment_in_every_round() {
        for count in 1..6 {
            assert_eq!(rounds(&[100; 6][..count]).window.cwnd, Bytes(16_500));
        }
    }

    #[test]
    fn a_queue_ends_it_with_an_eighth_less_at_the_end_of_any_round() {
        // 16 (1 - 100/120) = 2.67 segments queue in the round that the third ACK measures.
        assert_eq!(rounds(&[100, 100, 120]).exit, None);
        let step = rounds(&[100, 100, 120, 120]);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 14, Some(Exit::Heuristic)));
    }

    #[test]
    fn growth_waits_while_more_than_two_segments_are_unused() {
        // The ACK answers one segment of what was outstanding before it.
        let grown = |outstanding| {
            let (mut policy, mut view) = (GallopVegas::default(), view(16, Bytes::MAX));
            (view.acked, view.snd_nxt) = (MSS, MSS + MSS * outstanding);
            policy.step(&ack(&view, 1), &view).window.cwnd - view.window.cwnd
        };
        assert_eq!([12, 13, 15].map(grown), [Bytes(0), MSS / 2, MSS / 2]);
    }

    /// Without samples the RTT is the time since the first data left; with a handshake its RTT.
    #[test]
    fn the_first_round_is_timed_from_the_handshake_or_the_first_data() {
        let base = |handshake| {
            let (mut policy, mut view) = (GallopVegas::default(), view(16, Bytes::MAX));
            view.now = view.now + Span::from_millis(50);
            if handshake {
                policy.on_handshake(&view);
            }
            policy.on_begin(&view);
            view.now = view.now + Span::from_millis(150);
            view.acked = MSS;
            policy.on_ack(&Ack { rtt: None, ..ack(&view, 1) }, &view);
            crate::testing::gauge(&policy, "vegas_base_rtt")
        };
        assert_eq!([true, false].map(base), [Some(100_000_000), Some(150_000_000)]);
    }
}
