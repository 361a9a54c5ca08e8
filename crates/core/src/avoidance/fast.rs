//! FAST TCP (Wei, Jin, Low and Hegde, "FAST TCP: Motivation, Architecture, Algorithms,
//! Performance", IEEE/ACM Transactions on Networking 14(6), 2006), on which AFStart was tried.
//!
//! What it believes: the queue should hold `alpha` segments of this connection, and the farther it
//! is from that, the larger the step should be. What it does in every other round:
//!
//! ```text
//! W = min(2 W, (1 - gamma) W + gamma (baseRTT / RTT W + alpha))
//! ```
//!
//! Published: the law, `gamma` of a half, and that growth is spread over the following round; a
//! public ns-2 module agrees.
//!
//! Inferred: RTT is the mean of the samples since the last decision, where the prototype averages
//! over about a third of a window's ACKs. `alpha` has no value that fits every path; a hundred
//! segments of 1000 bytes wait 20 ms at 40 Mbps, which can be measured, and fit a buffer of a BDP.
//! A loss costs half, as for Reno. Left out: the ns-2 module's slow start while the queueing delay
//! is under a threshold, because start-up is another policy's.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::linear::halve;
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// Keeps `alpha` segments queued, with steps in proportion to the distance.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    /// In segments.
    alpha: u64,
    /// In millionths.
    gamma: u64,
    /// The sum of the RTT samples since the last decision.
    rtt_sum: Span,
    /// Their number.
    rtt_samples: u64,
    /// This round the window is left as it was decided.
    rests: bool,
    /// The window decided last.
    target: Bytes,
    /// The window it was decided from.
    decided_from: Bytes,
}

impl Fast {
    fn decide(&mut self, view: &View) {
        // Wei and others, 2006, window update: `min(2 W, (1 - gamma) W + gamma (baseRTT / RTT W +
        // alpha))`.
        let (cwnd, alpha) = (view.window.cwnd, view.mss * self.alpha);
        let rtt = self.rtt_sum / self.rtt_samples;
        let wanted = cwnd.scaled(view.rtt.min.0, rtt.0) + alpha;
        let kept = cwnd.scaled(RATIO_ONE - self.gamma, RATIO_ONE);
        let target = kept + wanted.scaled(self.gamma, RATIO_ONE);
        self.target = target.min(cwnd * 2).max(view.mss * MIN_SEGMENTS);
        self.decided_from = cwnd;
        (self.rtt_sum, self.rtt_samples) = (Span(0), 0);
    }
}

impl Listed for Fast {
    const CARD: Card = Card::new(
        "fast",
        "keeps a number of segments queued, by steps in proportion to what is missing",
        "Wei and others, FAST TCP, 2006",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Fast {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _view: &View) {
        if let Some(rtt) = ack.rtt {
            self.rtt_sum += rtt;
            self.rtt_samples += 1;
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("fast_target", self.target.0);
    }
}

impl Avoidance for Fast {
    fn enter(&mut self, _found: &Found, view: &View) {
        (self.rtt_sum, self.rtt_samples, self.rests) = (Span(0), 0, true);
        (self.target, self.decided_from) = (view.window.cwnd, view.window.cwnd);
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let mut window = view.window;
        // Wei and others, 2006: in every other round, and the growth is spread over the next.
        if view.round_start {
            self.rests = !self.rests;
            if !self.rests && self.rtt_samples > 0 {
                self.decide(view);
                window.cwnd = window.cwnd.min(self.target);
            }
        }
        let share = ack.acked.scaled((self.target - self.decided_from).0, self.decided_from.0);
        window.grow(share.min(self.target - window.cwnd))
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // As Reno (RFC 5681 section 3.1, equation 4).
        let window = halve(loss, view);
        (self.target, self.decided_from) = (window.cwnd, window.cwnd);
        (self.rtt_sum, self.rtt_samples) = (Span(0), 0);
        window
    }
}

impl Default for Fast {
    fn default() -> Self {
        let (rtt_sum, rtt_samples, rests) = (Span(0), 0, true);
        let (target, decided_from) = (Bytes(0), Bytes(0));
        Self {
            alpha: ALPHA,
            gamma: RATIO_ONE / 2,
            rtt_sum,
            rtt_samples,
            rests,
            target,
            decided_from,
        }
    }
}

impl Knobs for Fast {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("alpha")
            .means("segments in queues to keep (inferred)")
            .count(1..=1_000_000, |p| &mut p.alpha),
        Knob::new("gamma")
            .means("part of the distance that a decision goes")
            .ratio(1_000..=RATIO_ONE, |p| &mut p.gamma),
    ];
}

/// Segments to keep queued.
const ALPHA: u64 = 100;

/// The smallest window.
const MIN_SEGMENTS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};

    /// The window in segments after each of `rounds` rounds that acknowledge all of it, at this RTT
    /// over a base of 100 ms.
    fn rounds<const ROUNDS: usize>(cwnd: u64, rtt_ms: u64) -> [u64; ROUNDS] {
        let (mut policy, mut view) = (Fast::default(), view(cwnd, MSS));
        view.rtt.latest = Span::from_millis(rtt_ms);
        policy.enter(&Found::default(), &view);
        let round = |_round| {
            for i in 0..view.window.cwnd.0 / MSS.0 {
                view.round_start = i == 0;
                let ack = ack(&view, 1);
                policy.on_ack(&ack, &view);
                view.window = policy.step(&ack, &view).window;
            }
            view.window.cwnd.0 / MSS.0
        };
        core::array::from_fn(round)
    }

    #[test]
    fn without_a_queue_every_other_round_adds_half_of_alpha() {
        // Shares are rounded down, so the last of them come in the round after.
        assert_eq!(rounds(500, 100), [550, 550, 599, 600]);
    }

    #[test]
    fn with_alpha_segments_queued_the_window_stays() {
        // 600 (1 - 100/120) = 100.
        assert_eq!(rounds(600, 120), [600; 4]);
    }

    #[test]
    fn a_longer_queue_takes_half_of_the_distance_at_once() {
        // 100/150 of 900 and 100 are 700; half of the way from 900 is 800.
        assert_eq!(rounds(900, 150), [800]);
    }

    #[test]
    fn the_window_at_most_doubles() {
        assert_eq!(rounds(10, 100), [20]);
    }

    #[test]
    fn the_target_has_two_segments_at_least() {
        // One segment queued is wanted: a tenth of a segment and one are 1.1, half of the way there
        // from one is 1.05.
        let (mut policy, mut view) = (Fast::default(), view(1, MSS));
        assert!(policy.set("alpha", KnobValue::Count(1)));
        policy.enter(&Found::default(), &view);
        (view.rtt.latest, view.round_start) = (Span::from_millis(1_000), true);
        let ack = ack(&view, 1);
        policy.on_ack(&ack, &view);
        let _ = policy.step(&ack, &view);
        assert_eq!(crate::testing::gauge(&policy, "fast_target"), Some(2_000));
    }

    #[test]
    fn without_a_sample_in_the_round_nothing_is_decided() {
        let (mut policy, mut view) = (Fast::default(), view(500, MSS));
        policy.enter(&Found::default(), &view);
        view.round_start = true;
        for _ in 0..4 {
            assert_eq!(policy.step(&ack(&view, 1), &view).window, view.window);
        }
    }
}
