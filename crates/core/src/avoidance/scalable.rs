//! Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM
//! SIGCOMM Computer Communication Review 33(2), 2003): growth and loss in proportion to the window.
//!
//! What it believes: the time a connection takes to recover from a loss should not depend on how
//! large its window is. What it does: every segment acknowledged adds `a` = 0.01 of a segment,
//! every loss takes `b` = 1/8 of the window, so that what a loss took is back after `ln(8/7) /
//! ln(1.01)`, 13.4 round trips, at any rate. Up to the legacy window `lwnd`, 16 segments, it is
//! standard TCP.
//!
//! Published: all of it. Linux' `tcp_scalable.c` has the same two numbers but no legacy window; it
//! grows as Reno up to 100 segments, where both are equal. Inferred: a timeout leaves half, as the
//! author changes congestion avoidance only.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE};
use crate::linear::{LinearGrowth, additive_increase, halve};
use crate::needs::Needs;
use crate::policy::{Avoidance, Observer, Step};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Multiplicative increase, multiplicative decrease.
#[derive(Clone, Copy, Debug)]
pub struct Scalable {
    /// What a segment acknowledged adds, in millionths of a segment.
    a: u64,
    /// What a loss takes, in millionths of the window.
    b: u64,
    /// The legacy window, in segments.
    lwnd: u64,
    /// Growth up to the legacy window.
    linear: LinearGrowth,
    /// Millionths of a byte that growth left over.
    remainder: u64,
}

impl Listed for Scalable {
    const CARD: Card = Card::new(
        "scalable",
        "a hundredth of a segment more per segment acknowledged, an eighth less at a loss",
        "Kelly, Scalable TCP, 2003",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Scalable {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Avoidance for Scalable {
    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd < window.ssthresh || window.cwnd <= view.mss * self.lwnd {
            return additive_increase(&mut self.linear, ack, view);
        }
        // Kelly, 2003: `cwnd += a` for each segment acknowledged.
        let sum =
            ack.acked.min(window.cwnd).0.saturating_mul(self.a).saturating_add(self.remainder);
        self.remainder = sum % RATIO_ONE;
        window.grow(Bytes(sum / RATIO_ONE))
    }

    /// The share that is left of a window larger than `lwnd`; a smaller one is halved.
    fn beta(&self) -> u64 {
        RATIO_ONE - self.b
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        if loss.kind == LossKind::Timeout || loss.flight <= view.mss * self.lwnd {
            return halve(loss, view);
        }
        // Kelly, 2003: `cwnd -= b cwnd`; up to the legacy window, and after a timeout, as TCP.
        let left = loss.flight.scaled(RATIO_ONE - self.b, RATIO_ONE);
        Window { cwnd: left, ssthresh: left }
    }
}

impl Default for Scalable {
    fn default() -> Self {
        let linear = LinearGrowth::default();
        Self { a: 10_000, b: 125_000, lwnd: LEGACY_WINDOW, linear, remainder: 0 }
    }
}

impl Knobs for Scalable {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("a")
            .means("segments that each segment acknowledged adds")
            .ratio(1_000..=RATIO_ONE, |p| &mut p.a),
        Knob::new("b")
            .means("part of the window that a loss takes")
            .ratio(10_000..=900_000, |p| &mut p.b),
        Knob::new("lwnd")
            .means("legacy window: segments up to which it is standard TCP")
            .count(0..=1_000_000, |p| &mut p.lwnd),
    ];
}

/// Standard TCP up to here, in segments.
const LEGACY_WINDOW: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};
    use crate::units::Instant;

    fn loss(kind: LossKind, flight: u64) -> Loss {
        Loss::of(Instant(0), kind, MSS, MSS * flight)
    }

    /// The window after so many ACKs for a segment.
    fn after(policy: &mut Scalable, acks: u64, cwnd: u64) -> Bytes {
        let mut view = view(cwnd, MSS);
        for _ in 0..acks {
            view.window = policy.step(&ack(&view, 1), &view).window;
        }
        view.window.cwnd
    }

    #[test]
    fn a_hundred_segments_acknowledged_add_one_at_any_window() {
        for cwnd in [20, 1_000, 50_000] {
            assert_eq!(after(&mut Scalable::default(), 100, cwnd), MSS * (cwnd + 1), "{cwnd}");
        }
    }

    #[test]
    fn a_loss_takes_an_eighth_which_is_back_after_fourteen_round_trips() {
        let mut policy = Scalable::default();
        let left = policy.cut(&loss(LossKind::Recovery, 8_000), &view(8_000, MSS));
        assert_eq!((left.cwnd, left.ssthresh), (MSS * 7_000, MSS * 7_000));
        let mut rounds = 0;
        let mut cwnd = 7_000;
        while cwnd < 8_000 {
            cwnd = after(&mut policy, cwnd, cwnd).0 / MSS.0;
            rounds += 1;
        }
        assert_eq!(rounds, 14);
    }

    #[test]
    fn up_to_the_legacy_window_and_after_a_timeout_it_is_standard_tcp() {
        let mut policy = Scalable::default();
        assert_eq!(after(&mut policy, 1, 10), Bytes(10_100));
        assert_eq!(policy.cut(&loss(LossKind::Recovery, 16), &view(16, MSS)).cwnd, MSS * 8);
        let timeout = policy.cut(&loss(LossKind::Timeout, 1_000), &view(1_000, MSS));
        assert_eq!(timeout.ssthresh, MSS * 500);
        assert!(policy.set("lwnd", KnobValue::Count(0)));
        assert_eq!(after(&mut policy, 1, 10), Bytes(10_010));
    }

    #[test]
    fn what_is_less_than_a_byte_is_kept() {
        let mut policy = Scalable::default();
        assert!(policy.set("a", KnobValue::Ratio(1_500)));
        // 1.5 bytes an ACK.
        assert_eq!([1, 1].map(|acks| after(&mut policy, acks, 20).0 - 20_000), [1, 2]);
    }
}
