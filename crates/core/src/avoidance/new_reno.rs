//! Reno and NewReno congestion avoidance (RFC 5681 section 3.1): one segment more per RTT, half the
//! flight at a loss. Whether a second loss in the same window is a new one is for the recovery
//! algorithm of the transport to say (RFC 6582), so both names share this policy.
//!
//! With the knob `sums=double` the window is kept as ns-2.35 keeps it (`ieee_double.rs`), whose
//! last bits decide with which ACK a packet more may leave. With `growth=bytes` the window grows
//! by what an ACK acknowledges, so that delayed ACKs do not halve its growth, as in Linux
//! (`tcp_reno_cong_avoid`; RFC 5681's "recommended way", RFC 3465 without its limit). The ACK
//! that ends a recovery acknowledges one packet that no SACK block had reported. Linux grows by it
//! at once (`tcp_cong_control`). Here the mechanism asks no policy on that ACK, so that the packet
//! is counted with the next one.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss, LossKind};
use crate::ieee_double::DoubleWindow;
use crate::knob::{EXACT_OR_DOUBLE, Knob, KnobOf, Knobs, SUMS, Words, words};
use crate::linear::{LinearGrowth, additive_increase, halve};
use crate::needs::Needs;
use crate::policy::{Avoidance, Observer, Step};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Additive increase, multiplicative decrease by one half.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewReno {
    linear: LinearGrowth,
    double: Option<DoubleWindow>,
    /// Growth is by what is acknowledged, not per ACK.
    counts_bytes: bool,
}

impl Listed for NewReno {
    const CARD: Card = Card::new(
        "newreno",
        "one segment more per RTT, half the flight at a loss",
        "RFC 5681, RFC 6582",
    )
    .in_kernel("new_reno")
    .knobs(Self::KNOBS);
}

impl Observer for NewReno {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Avoidance for NewReno {
    #[inline(always)]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Window { cwnd, ssthresh } = view.window;
        match &mut self.double {
            // ns-2.35's `opencwnd()`: `cwnd_ += 1 / cwnd_`, in double precision.
            Some(double) if cwnd >= ssthresh => {
                let now = double.at(cwnd, view.mss);
                view.window.grow(double.set(now.plus(now.inverse()), view.mss) - cwnd)
            }
            // Linux's `tcp_reno_cong_avoid()`: what is acknowledged counts, in `tcp_slow_start()`
            // up to ssthresh, and above it as long as the window limits what is sent.
            _ if self.counts_bytes => {
                if cwnd < ssthresh {
                    return view.window.grow(ack.acked.min(ssthresh - cwnd));
                }
                if ack.app_limited {
                    return view.window.hold();
                }
                view.window.grow(self.linear.per_acked(ack.acked, view))
            }
            // RFC 5681 section 3.1, equation 3.
            _ => additive_increase(&mut self.linear, ack, view),
        }
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        let window = halve(loss, view);
        // Linux's `tcp_cong_control()`: the ACK that ends a recovery is the first to report one
        // packet.
        if self.counts_bytes {
            let counted = if loss.kind == LossKind::Recovery { view.mss } else { Bytes(0) };
            self.linear.begin(counted);
        }
        let cwnd = view.window.cwnd;
        // ns-2.35's `slowdown()`: half of the window in double precision.
        if let Some(double) = self.double.as_mut().filter(|_| window.cwnd == cwnd / 2) {
            let half = double.at(cwnd, view.mss).half();
            double.set(half, view.mss);
        }
        window
    }
}

impl Knobs for NewReno {
    const ROWS: &'static [KnobOf<Self>] = &[
        SUMS.word(Words {
            all: EXACT_OR_DOUBLE,
            get: |p| Some(EXACT_OR_DOUBLE[usize::from(p.double.is_some())]),
            set: |p, word| p.double = (word == "double").then(DoubleWindow::new),
        }),
        Knob::new("growth")
            .means(
                "a segment per window of ACKs, or of bytes acknowledged, as in Linux; with \
                 sums=exact",
            )
            .word(words!(|p| p.counts_bytes, ["acks" = false, "bytes" = true])),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{self, MSS};
    use crate::units::Instant;
    use crate::view::Phase;

    /// 50 ACKs of two packets each for a window of 100.
    #[test]
    fn delayed_acks_halve_the_growth_unless_bytes_count() {
        let ack = Ack { acked: MSS * 2, credited: MSS * 2, ..Ack::default() };
        let view = View { phase: Phase::Avoidance, ..testing::view(100, MSS * 50) };
        let grown = |mut reno: NewReno| -> Bytes {
            let each = (0..50).map(|_| reno.step(&ack, &view).window.cwnd - view.window.cwnd);
            each.fold(Bytes(0), |sum, grown| sum + grown)
        };
        let mut counting = NewReno::default();
        assert!(counting.set("growth", KnobValue::Word("bytes")));
        assert_eq!((grown(NewReno::default()), grown(counting)), (MSS / 2, MSS));
        // What there is of a 101st segment does not count, and at ssthresh there is no slow start.
        for (more, ssthresh) in [(MSS / 2, MSS * 50), (Bytes(0), MSS * 100)] {
            let window = Window { cwnd: MSS * 100 + more, ssthresh };
            let view = View { window, ..view };
            let grown = [(); 50].map(|()| counting.step(&ack, &view).window.cwnd - window.cwnd);
            assert_eq!((grown[48], grown[49]), (Bytes(0), MSS));
        }
        // Below ssthresh by as much, and not beyond it.
        let below = View { window: Window { ssthresh: MSS * 101, ..view.window }, ..view };
        assert_eq!(counting.step(&ack, &below).window.cwnd, MSS * 101);
        assert_eq!(NewReno::default().step(&ack, &below).window.cwnd, MSS * 101);
        let far = View { window: Window { ssthresh: MSS * 200, ..view.window }, ..view };
        assert_eq!(counting.step(&ack, &far).window.cwnd, MSS * 102);
    }

    /// `tcp_cong_avoid_ai`, ACKs of two packets and a window of three: three packets grow it by
    /// one, and what is left over counts toward the next. While the application limits the
    /// sender nothing is counted. A count kept from a larger window is worth one packet.
    #[test]
    fn what_is_acknowledged_beyond_a_window_counts_toward_the_next_segment() {
        let mut counting = NewReno::default();
        assert!(counting.set("growth", KnobValue::Word("bytes")));
        let ack = Ack { acked: MSS * 2, credited: MSS * 2, ..Ack::default() };
        let mut grown = |cwnd: u64, app_limited| {
            let view = View { phase: Phase::Avoidance, ..testing::view(cwnd, MSS * 2) };
            let step = counting.step(&Ack { app_limited, ..ack }, &view);
            (step.window.cwnd - view.window.cwnd).0 / MSS.0
        };
        assert_eq!([(); 6].map(|()| grown(3, false)), [0, 1, 1, 0, 1, 1]);
        assert_eq!([(); 6].map(|()| grown(3, true)), [0; 6]);
        assert_eq!([100, 100, 100, 3, 3].map(|cwnd| grown(cwnd, false)), [0, 0, 0, 1, 1]);
    }

    /// A window of four grows by a packet with the third ACK after a recovery.
    #[test]
    fn the_ack_that_ends_a_recovery_counts_where_bytes_do() {
        let ack = Ack { acked: MSS, credited: MSS, ..Ack::default() };
        let view = View { phase: Phase::Avoidance, ..testing::view(4, MSS * 2) };
        let grown = |mut reno: NewReno, kind: LossKind| {
            reno.cut(&Loss::of(Instant(0), kind, MSS, MSS * 8), &view);
            let mut sum = Bytes(0);
            [(); 5].map(|()| {
                sum += reno.step(&ack, &view).window.cwnd - view.window.cwnd;
                sum
            })
        };
        let mut counting = NewReno::default();
        assert!(counting.set("growth", KnobValue::Word("bytes")));
        let quarters = |of: [u64; 5]| of.map(|quarters| MSS * quarters / 4);
        assert_eq!(grown(counting, LossKind::Recovery), quarters([0, 0, 4, 4, 4]));
        assert_eq!(grown(counting, LossKind::Timeout), quarters([0, 0, 0, 4, 4]));
        assert_eq!(grown(NewReno::default(), LossKind::Recovery), quarters([1, 2, 3, 4, 5]));
    }
}
