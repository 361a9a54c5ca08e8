//! Conservative slow start: growth by a fraction of a segment per ACK, and less the fuller the
//! bottleneck's buffer seems.
//!
//! Idea: the queue can be measured before it overflows, so that a sender can stop without a loss.
//!
//! Published, in the M-Start paper's words on its reference 16 only (section 2): from the first
//! data on it estimates capacity, buffer size and buffer level, and from these fractional
//! increments of the window; path estimators see queues build up; it avoids a significant part of
//! the losses and makes transactions take five times as long. No formula, and the paper was not
//! available.
//!
//! Inferred, all of this: per ACK
//!
//! ```text
//! level / size = (srtt - RTTmin) / (buffer RTTmin)
//! W += fraction (1 - level / size),   leave when level >= size / 2
//! ```
//!
//! The level is capacity times the growth of the RTT, and the size is capacity times RTTmin times
//! `buffer` (1, the usual rule for sizing), so that the capacity cancels out. 0.15 of a segment per
//! ACK multiplies the window by 1.15 per RTT, and five such rounds double it: the five times of the
//! source. Growth is never less than congestion avoidance's, so that a window of one segment moves.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::linear::LinearGrowth;
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Exit, Observer, Startup, Step};
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// Slow start by fractions, watching the queue.
#[derive(Clone, Copy, Debug)]
pub struct Conservative {
    opening: Opening,
    linear: LinearGrowth,
    /// In millionths of a segment per ACK.
    fraction: u64,
    /// In millionths of a BDP.
    buffer: u64,
}

impl Conservative {
    /// How full the buffer seems, in millionths, at most one.
    fn level(&self, view: &View) -> u64 {
        // Ours: the buffer is one BDP, so that the capacity cancels out of level and size.
        let queueing = view.rtt.smoothed - view.rtt.min;
        let full = view.rtt.min.scaled(self.buffer, RATIO_ONE);
        Span(RATIO_ONE).scaled(queueing.0, full.0).0.min(RATIO_ONE)
    }
}

impl Listed for Conservative {
    const CARD: Card = Card::new(
        "conservative",
        "slow start by fractions of a segment, less as the queue grows",
        "M-Start paper, reference 16",
    )
    .with("newreno")
    .about(
        "The smoothed RTT beside the smallest.",
        "The queue can be measured before it overflows.",
        "It grows by 15 % a round, a fifth of slow start's pace, and assumes a buffer of one BDP.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for Conservative {}

impl Startup for Conservative {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        // M-Start paper, section 2, reference 16: growth falls with the level of the buffer. Ours:
        // by how much, and that half of the buffer ends it.
        let level = self.level(view);
        if level >= RATIO_ONE / 2 {
            return window.hold().threshold(window.cwnd).exit(Exit::Heuristic);
        }
        let whole = ack.acked.min(view.mss);
        let share = whole.scaled(self.fraction, RATIO_ONE).scaled(RATIO_ONE - level, RATIO_ONE);
        window.grow(share.max(self.linear.per_ack(view).min(whole))).until_threshold()
    }
}

impl Default for Conservative {
    fn default() -> Self {
        let (opening, linear) = (Opening::default(), LinearGrowth::default());
        Self { opening, linear, fraction: FRACTION, buffer: RATIO_ONE }
    }
}

impl Knobs for Conservative {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("fraction")
            .means("growth per ACK without a queue, in segments (inferred)")
            .ratio(1_000..=RATIO_ONE, |p| &mut p.fraction),
        Knob::new("buffer")
            .means("size of the bottleneck's buffer to reckon with, in BDPs (inferred)")
            .ratio(1_000..=100 * RATIO_ONE, |p| &mut p.buffer),
    ];
}

/// log 2 / log 1.15 is 4.96 rounds for one of slow start's.
const FRACTION: u64 = 150_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};

    fn step(cwnd: u64, srtt_ms: u64) -> Step {
        let mut view = view(cwnd, Bytes::MAX);
        view.rtt.smoothed = Span::from_millis(srtt_ms);
        Conservative::default().step(&ack(&view, 1), &view)
    }

    #[test]
    fn growth_shrinks_with_the_queue() {
        let grown = [100, 120, 140].map(|srtt_ms| step(100, srtt_ms).window.cwnd.0 - 100_000);
        assert_eq!(grown, [150, 120, 90]);
    }

    #[test]
    fn a_half_full_buffer_ends_it() {
        assert_eq!(step(100, 149).exit, None);
        let step = step(100, 150);
        assert_eq!((step.exit, step.window.ssthresh), (Some(Exit::Heuristic), MSS * 100));
    }

    #[test]
    fn a_small_window_grows_as_in_avoidance() {
        assert_eq!(
            [step(1, 100).window.cwnd, step(4, 100).window.cwnd],
            [Bytes(2_000), Bytes(4_250)]
        );
    }

    #[test]
    fn five_rounds_double_the_window() {
        let (mut policy, mut view) = (Conservative::default(), view(100, Bytes::MAX));
        for _ in 0..5 {
            for _ in 0..view.window.cwnd.0 / MSS.0 {
                view.window = policy.step(&ack(&view, 1), &view).window;
            }
        }
        assert!((198..=202).contains(&(view.window.cwnd.0 / MSS.0)), "{:?}", view.window.cwnd);
    }

    #[test]
    fn a_buffer_of_two_bdps_is_half_full_after_one() {
        let ends = |srtt_ms| {
            let mut view = view(100, Bytes::MAX);
            view.rtt.smoothed = Span::from_millis(srtt_ms);
            let mut policy = Conservative::default();
            assert!(policy.set("buffer", KnobValue::Ratio(2 * RATIO_ONE)));
            policy.step(&ack(&view, 1), &view).exit.is_some()
        };
        assert_eq!([199, 200].map(ends), [false, true]);
    }
}
