//! Prague (draft-briscoe-iccrg-prague-congestion-control-04), the sender of L4S.
//!
//! What it believes: as DCTCP, of a queue that marks L4S packets (ECT(1)) from a shallow threshold
//! on. What it does:
//!
//! ```text
//! first mark of start-up    cwnd = cwnd/2;  alpha = 0, measured from a round trip later on
//! once per window of data   alpha = (1 - g) alpha + g M,  g = 1/16
//! a mark, once per window   cwnd = cwnd (1 - alpha/2)
//! growth                    (1 - alpha) segments per window
//! a loss                    half
//! ```
//!
//! Published: alpha and its gain (the draft's 2.3.2), the cut by alpha (2.4.2) and the reaction to
//! a loss (2.4.1). That growth is thinned by alpha is picoquic's rule (`prague.c`), the draft's is
//! that marked bytes add nothing (2.4.3); over a window both come to the same. The draft leaves
//! flow start open: implementations of it begin alpha at 1, so that the first mark halves, and let
//! it fall by a sixteenth per round trip. Here it begins anew at 0 after that cut, as in picoquic.
//! Inferred: that the measure begins a round trip after start-up, as the marks of that round trip
//! belong to the window before the cut.
//!
//! `preset=picoquic` has three rules more: the first mark of start-up takes one segment only; a
//! window of data more than half marked sets alpha to that share; and an alpha above a half halves
//! the window and begins again from 0. There the cut comes at the end of a window of data with
//! marks in it, here with the first mark of one.
//!
//! Not here: the draft's reduced dependence on the RTT (section 2.4.4), which scales growth below
//! 25 ms, and fractional windows, which are future work there (section 3).

use crate::card::{Card, Listed};
use crate::estimate::mark_share::MarkShare;
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobOf, Knobs, words};
use crate::linear::{LinearGrowth, halve};
use crate::needs::{Facilities, Needs};
use crate::policy::{Avoidance, Observer, Step};
use crate::units::{Bytes, mul_div};
use crate::view::{Phase, View, Window};

/// DCTCP's answer to marks, with a start-up that a mark ends.
#[derive(Clone, Copy, Debug)]
pub struct Prague {
    share: MarkShare,
    linear: LinearGrowth,
    /// The last window of data, if more than half of it was marked.
    sudden_share: Option<u64>,
    /// It has picoquic's rules.
    by_picoquic: bool,
}

impl Prague {
    fn alpha(&self) -> u64 {
        self.sudden_share.filter(|_| self.by_picoquic).unwrap_or(self.share.alpha())
    }

    /// What a mark leaves of the window.
    fn answer_mark(&mut self, view: &View) -> Bytes {
        // picoquic's `prague.c`: the first mark of start-up takes a segment, an alpha above a half
        // halves and begins anew. The draft: half, and `alpha / 2` (section 2.4.2).
        let (cwnd, one) = (view.window.cwnd, self.share.one());
        if view.phase == Phase::Startup {
            self.restart(view);
            return if self.by_picoquic { cwnd - view.mss } else { cwnd / 2 };
        }
        let alpha = self.alpha();
        if self.by_picoquic && alpha > one / 2 {
            self.restart(view);
            return cwnd / 2;
        }
        cwnd - Bytes(mul_div(cwnd.0, alpha, one * 2))
    }

    fn restart(&mut self, view: &View) {
        self.share.restart(view);
        self.sudden_share = None;
    }
}

impl Listed for Prague {
    const CARD: Card = Card::new(
        "prague",
        "half the share of marked bytes less at a mark, growth thinned by it (L4S)",
        "draft-briscoe-iccrg-prague-congestion-control-04; picoquic prague.c",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Prague {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::MARKS).wanting(Facilities::L4S)
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if let Some(share) = self.share.on_ack(ack, view) {
            self.sudden_share = Some(share).filter(|share| *share > self.share.one() / 2);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("prague_alpha", mul_div(self.alpha(), 1_000_000, self.share.one()));
    }
}

impl Avoidance for Prague {
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd < window.ssthresh {
            return window.grow(view.slow_start_growth(ack));
        }
        // Section 2.4.3: marked bytes add nothing; by alpha, as `prague.c` does it.
        let one = self.share.one();
        window.grow(self.linear.per_ack_times(view, one - self.alpha().min(one), one))
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        let window = match loss.kind {
            LossKind::Mark => self.answer_mark(view),
            // Section 2.4.1: a loss is answered as Reno answers it.
            _ => halve(loss, view).cwnd,
        };
        let left = window.max(view.mss * MIN_SEGMENTS);
        Window { cwnd: left, ssthresh: left }
    }
}

impl Default for Prague {
    fn default() -> Self {
        let (share, linear) = (MarkShare::new(0), LinearGrowth::default());
        Self { share, linear, sudden_share: None, by_picoquic: false }
    }
}

impl Knobs for Prague {
    const ROWS: &'static [KnobOf<Self>] = &[Knob::new("preset")
        .means(
            "the first mark halves; or takes a segment, and a share above a half counts at \
                 once",
        )
        .word(words!(|p| p.by_picoquic, ["draft" = false, "picoquic" = true]))];
}

/// RFC 5681 section 3.1, equation 4.
const MIN_SEGMENTS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{self, MSS, ack, gauge};
    use crate::units::Instant;

    fn picoquic() -> Prague {
        let mut policy = Prague::default();
        assert!(policy.set("preset", KnobValue::Word("picoquic")));
        policy
    }

    fn mark(policy: &mut Prague, phase: Phase, cwnd: u64) -> Bytes {
        let view = View { phase, ..testing::view(cwnd, MSS) };
        policy.cut(&Loss::of(Instant(0), LossKind::Mark, Bytes(0), MSS * cwnd), &view).cwnd
    }

    /// A window of data of ten segments, so many of them marked; after the first, which is empty.
    fn windows(policy: &mut Prague, marked: &[u64]) {
        for (round, marked) in (0..).zip(marked) {
            let (acked, snd_nxt) = (MSS * (round * 10 + 1), MSS * (round * 10 + 10));
            let view = View { acked, snd_nxt, ..testing::view(10, MSS) };
            policy.on_ack(&Ack { marked: MSS * *marked, ..ack(&view, 10) }, &view);
        }
    }

    #[test]
    fn the_mark_that_ends_start_up_halves_or_takes_a_segment() {
        assert_eq!(mark(&mut Prague::default(), Phase::Startup, 100), MSS * 50);
        assert_eq!(mark(&mut picoquic(), Phase::Startup, 100), MSS * 99);
        assert_eq!(mark(&mut Prague::default(), Phase::Startup, 3), MSS * 2);
    }

    /// Four of ten marked: alpha is 0.4/16 = 0.025, and a mark takes 1.25 %; growth is 0.975 of
    /// NewReno's.
    #[test]
    fn later_marks_take_half_of_alpha() {
        let mut policy = Prague::default();
        windows(&mut policy, &[0, 4]);
        assert_eq!(gauge(&policy, "prague_alpha"), Some(24_999));
        assert_eq!(mark(&mut policy, Phase::Avoidance, 100), Bytes(98_751));
        let view = testing::view(10, MSS);
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, Bytes(10_097));
    }

    /// 0.8/16 and 0.8, rounded down to parts of 2^20.
    #[test]
    fn a_window_that_was_marked_by_more_than_half_counts_at_once_in_picoquic() {
        let (mut draft, mut pico) = (Prague::default(), picoquic());
        windows(&mut draft, &[0, 8]);
        windows(&mut pico, &[0, 8]);
        assert_eq!(gauge(&draft, "prague_alpha"), Some(49_999));
        assert_eq!(gauge(&pico, "prague_alpha"), Some(799_999));
        assert_eq!(mark(&mut pico, Phase::Avoidance, 100), MSS * 50);
        assert_eq!(gauge(&pico, "prague_alpha"), Some(0), "begins again");
        assert_eq!(mark(&mut draft, Phase::Avoidance, 100), Bytes(97_501));
    }

    /// The marks of the round trip after start-up belong to the window before the cut.
    #[test]
    fn the_round_trip_after_start_up_does_not_count() {
        let mut policy = Prague::default();
        assert_eq!(mark(&mut policy, Phase::Startup, 10), MSS * 5);
        windows(&mut policy, &[10, 10]);
        assert_eq!(gauge(&policy, "prague_alpha"), Some(0));
        windows(&mut policy, &[10, 10, 10, 10]);
        assert!(gauge(&policy, "prague_alpha") > Some(0));
    }

    #[test]
    fn a_loss_halves() {
        let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS * 100);
        assert_eq!(Prague::default().cut(&loss, &testing::view(100, MSS)).cwnd, MSS * 50);
    }

    /// picoquic's `prague.c`: only an alpha *above* a half halves, and only a window of data of
    /// which *more* than half was marked counts at once.
    #[test]
    fn half_is_not_more_than_half_in_picoquic() {
        let mut few = picoquic();
        windows(&mut few, &[0, 4]);
        assert_eq!(mark(&mut few, Phase::Avoidance, 100), Bytes(98_751), "half of alpha");
        let mut five = picoquic();
        windows(&mut five, &[0, 5]);
        assert_eq!(gauge(&five, "prague_alpha"), Some(31_250), "smoothed");
        let mut half = Prague { share: MarkShare::new(512), ..picoquic() };
        assert_eq!(mark(&mut half, Phase::Avoidance, 100), MSS * 75);
    }
}
