//! DCTCP (RFC 8257): the window falls by half the share of bytes that were marked.
//!
//! What it believes: a queue that marks from a small threshold on shows by the share of marks how
//! far the window is above what the path holds. What it does, with RFC 8257's letters:
//!
//! ```text
//! once per window of data   M = BytesMarked / BytesAcked;  alpha = (1 - g) alpha + g M     3.3
//! a mark, once per window   cwnd = cwnd (1 - alpha/2)                                      3.3
//! a loss                    half, as NewReno                                               3.5
//! growth                    NewReno's; start-up is slow start                              3.4
//! ```
//!
//! `alpha` begins at 1 and falls by a sixteenth with every window that has no mark, so that the
//! first mark takes nearly half after a short slow start, less after a long one: `0.5 (15/16)^n`
//! after `n` windows. The first ACK ends an empty window and counts as one.
//!
//! `preset=linux` is `tcp_dctcp.c` of Linux 6.1: `alpha` in 1024ths, a window of data ends with the
//! ACK for its last byte, cwnd falls by whole segments (`cwnd * alpha >> 11`), so that a small
//! `alpha` takes nothing from a small window, and what is acknowledged counts for growth, not ACKs.
//!
//! It needs a receiver that reports which bytes were marked: DCTCP's own feedback (section 3.2) or
//! AccECN. RFC 3168's echo goes on until the sender answers, so that `alpha` is too large with it.

use crate::avoidance::new_reno::NewReno;
use crate::card::{Card, Listed};
use crate::estimate::mark_share::MarkShare;
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobOf, KnobValue, Knobs, Words};
use crate::needs::{Facilities, Needs};
use crate::policy::{Avoidance, Observer, Step};
use crate::units::{Bytes, mul_div};
use crate::view::{View, Window};

/// NewReno, but for marks.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    share: MarkShare,
    reno: NewReno,
    by_linux: bool,
}

impl Listed for Dctcp {
    const CARD: Card = Card::new(
        "dctcp",
        "half the share of marked bytes less at a mark; else NewReno",
        "RFC 8257; Linux tcp_dctcp.c",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Dctcp {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::MARKS)
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let _ = self.share.on_ack(ack, view);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("dctcp_alpha", mul_div(self.share.alpha(), 1_000_000, self.share.one()));
    }
}

impl Avoidance for Dctcp {
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // RFC 8257 section 3.4: growth is TCP's.
        self.reno.step(ack, view)
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // RFC 8257 section 3.5: a loss is answered as TCP answers it.
        let of_loss = self.reno.cut(loss, view);
        if loss.kind != LossKind::Mark {
            return of_loss;
        }
        // Section 3.3: `cwnd * (1 - alpha / 2)`; `dctcp_ssthresh()` of Linux in whole segments.
        let unit = if self.by_linux { view.mss.0.max(1) } else { 1 };
        let whole = view.window.cwnd.0 / unit;
        let less = mul_div(whole, self.share.alpha(), self.share.one() * 2);
        let left = Bytes((whole - less).saturating_mul(unit)).max(view.mss * MIN_SEGMENTS);
        Window { cwnd: left, ssthresh: left }
    }
}

impl Default for Dctcp {
    fn default() -> Self {
        Self { share: MarkShare::new(ALPHA_ON_INIT), reno: NewReno::default(), by_linux: false }
    }
}

impl Knobs for Dctcp {
    const ROWS: &'static [KnobOf<Self>] = &[Knob::new("preset")
        .means("as in RFC 8257, or with the windows and the rounding of Linux's module")
        .word(Words {
            all: &["rfc", "linux"],
            get: |p| Some(if p.by_linux { "linux" } else { "rfc" }),
            set: |p, word| {
                *p = Self::default();
                if word == "linux" {
                    (p.share, p.by_linux) = (MarkShare::as_linux(ALPHA_ON_INIT), true);
                    p.reno.set("growth", KnobValue::Word("bytes"));
                }
            },
        })];
}

/// 1: the first mark halves (`dctcp_alpha_on_init`).
const ALPHA_ON_INIT: u64 = 1_024;

/// `dctcp_ssthresh`; RFC 5681 section 3.1, equation 4.
const MIN_SEGMENTS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, MSS, ack, gauge};
    use crate::units::Instant;

    fn linux() -> Dctcp {
        let mut policy = Dctcp::default();
        assert!(policy.set("preset", KnobValue::Word("linux")));
        policy
    }

    fn cut(policy: &mut Dctcp, kind: LossKind, cwnd: u64) -> Bytes {
        let window = testing::view(cwnd, MSS);
        policy.cut(&Loss::of(Instant(0), kind, MSS, MSS * cwnd), &window).cwnd
    }

    /// Takes `windows` windows of ten segments without a mark.
    fn calm_windows(policy: &mut Dctcp, windows: u64) {
        for round in 0..windows {
            let (acked, snd_nxt) = (MSS * (round * 10 + 1), MSS * (round * 10 + 10));
            let view = View { acked, snd_nxt, ..testing::view(10, MSS) };
            policy.on_ack(&ack(&view, 10), &view);
        }
    }

    /// 1024, 960, 900, 844: of 100 segments 50, 46 (46.9), 43 (43.9), 41 (41.2) go.
    #[test]
    fn the_first_mark_takes_half_less_a_sixteenth_per_calm_window() {
        for (windows, left) in [(0, 50), (1, 54), (2, 57), (3, 59)] {
            let mut policy = linux();
            calm_windows(&mut policy, windows);
            assert_eq!(cut(&mut policy, LossKind::Mark, 100), MSS * left, "{windows}");
        }
        let mut policy = Dctcp::default();
        calm_windows(&mut policy, 2);
        assert_eq!(gauge(&policy, "dctcp_alpha"), Some(878_906));
        // 100,000 (1 - 225/512), to the byte.
        assert_eq!(cut(&mut policy, LossKind::Mark, 100), Bytes(56_055));
    }

    /// After 30 windows Linux's alpha is 155 of 1024 (147.7 without its rounding): of 10 segments
    /// it takes none, where the RFC's takes bytes.
    #[test]
    fn a_small_alpha_takes_no_whole_segment_in_linux() {
        let (mut kernel, mut rfc) = (linux(), Dctcp::default());
        calm_windows(&mut kernel, 30);
        calm_windows(&mut rfc, 30);
        assert_eq!(cut(&mut kernel, LossKind::Mark, 10), MSS * 10);
        let left = cut(&mut rfc, LossKind::Mark, 10);
        assert!(left < MSS * 10 && left > MSS * 9, "{left:?}");
    }

    #[test]
    fn a_loss_halves_and_the_window_never_falls_below_two_segments() {
        let mut policy = linux();
        calm_windows(&mut policy, 30);
        for kind in [LossKind::Recovery, LossKind::Timeout] {
            assert_eq!(cut(&mut policy, kind, 100), MSS * 50);
        }
        assert_eq!(cut(&mut linux(), LossKind::Mark, 3), MSS * 2);
        assert_eq!(cut(&mut Dctcp::default(), LossKind::Mark, 3), MSS * 2);
    }

    #[test]
    fn linux_grows_by_what_is_acknowledged() {
        let view = testing::view(100, MSS);
        let grown = |mut policy: Dctcp| {
            let steps =
                [(); 50].map(|()| policy.step(&ack(&view, 2), &view).window.cwnd - MSS * 100);
            steps.into_iter().fold(Bytes(0), |sum, step| sum + step)
        };
        assert_eq!((grown(Dctcp::default()), grown(linux())), (MSS / 2, MSS));
    }
}
