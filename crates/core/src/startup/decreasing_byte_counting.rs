//! Decreasing Byte Counting (Barakat and Altman, "Performance of Short TCP Transfers", Networking
//! 2000, section 4.3).
//!
//! What it believes: the buffer absorbs the bursts of a small window at any pace but not those of a
//! large one, so growth must become gentler as the window nears its threshold. What it does in the
//! first slow start, on an ACK for n segments:
//!
//! ```text
//! d(W) = 1 + (dmax - 1) (W - 1) / (Wth - 1)
//! W   += min(n, 2) / d(W)
//! ```
//!
//! At the first window this is Byte Counting, at the threshold with dmax = 2 it is slow start with
//! delayed ACKs; in between it passes from one to the other. The fraction is kept: W is bytes here,
//! and what a division leaves is carried to the next ACK. Another initial window takes the place of
//! the 1s, as the paper says. Every later slow start is RFC 5681's.
//!
//! The threshold is what the formula hangs on: without one d stays 1 and this is Byte Counting. It
//! is the endpoint's or a fixed one (`ssthresh`), for which the paper takes the BDP; or it is
//! measured: `hoe` sets it once from closely spaced ACKs ([`crate::estimate::packet_pair`]), `ere`
//! raises it to the Eligible Rate Estimate times the smallest RTT ([`crate::estimate::ere`], preset
//! `figures`). Inferred: with `ere` and no threshold given the first is 32 segments, Astart's,
//! because an estimate can only raise one that is set; and start-up ends at the threshold in either
//! case.

use crate::card::{Card, Listed};
use crate::estimate::ere::{Ere, EreKnobs};
use crate::estimate::packet_pair::{PacketPair, QUARTER};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs, RATIO_ONE, Words};
use crate::opening::{Opening, opening};
use crate::policy::{Entry, Observer, Startup, Step};
use crate::units::{Bytes, Span, mul_div};
use crate::view::{Eligible, View, Window};

/// Slow start that grows by less the nearer its threshold is.
#[derive(Clone, Debug)]
pub struct DecreasingByteCounting {
    opening: Opening,
    /// d at the threshold, in millionths.
    dmax: u64,
    /// Where the threshold comes from.
    threshold: Threshold,
    /// The window that the connection began with: the 1 of the formula.
    first_window: Bytes,
    /// What divisions left, in millionths of a byte before the division by d.
    carry: u64,
}

/// Where the threshold comes from.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nothing is allocated, so nothing is boxed")]
enum Threshold {
    Given,
    Hoe { pair: PacketPair, used: bool },
    Ere(Ere),
}

impl Threshold {
    /// Passes an ACK to the estimator of the threshold, if there is one. Not inlined, so that
    /// connections without one do not pay for its registers on every ACK.
    #[inline(never)]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        match self {
            Self::Given => {}
            Self::Hoe { pair, .. } => pair.on_ack(ack, view),
            Self::Ere(ere) => ere.on_ack(ack, view),
        }
    }
}

impl Listed for DecreasingByteCounting {
    const CARD: Card = Card::new(
        "dbc",
        "byte counting that becomes gentler as the window nears ssthresh",
        "Short-transfers paper, section 4.3",
    )
    .with("newreno")
    .about(
        "How far the window is from ssthresh.",
        "A buffer absorbs the bursts of a small window at any pace, but not those of a large one.",
        "Without an ssthresh there is no distance to measure, and it is byte counting.",
    )
    .in_kernel("decreasing_byte_counting")
    .knobs(Self::KNOBS);
}

impl Observer for DecreasingByteCounting {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if !matches!(self.threshold, Threshold::Given) {
            self.threshold.on_ack(ack, view);
        }
    }

    #[inline]
    fn eligible(&self) -> Option<Eligible> {
        match &self.threshold {
            Threshold::Ere(ere) => Some(ere.eligible()),
            _ => None,
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        match &self.threshold {
            Threshold::Given => {}
            Threshold::Hoe { pair, .. } => report("pair_rate", pair.rate().map_or(0, |r| r.0)),
            Threshold::Ere(ere) => ere.gauges(["ere", "re", "tk"], report),
        }
    }
}

impl Startup for DecreasingByteCounting {
    /// Section 4.3: the first slow start only.
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        match self.threshold {
            Threshold::Ere(_) => self.opening.window_to_raise(default, mss),
            _ => self.opening.window(default, mss),
        }
    }

    fn enter(&mut self, _why: Entry, view: &View) {
        self.first_window = view.window.cwnd;
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let mut window = view.window;
        window.ssthresh = self.threshold(view);
        if window.cwnd >= window.ssthresh {
            return window.hold().until_threshold();
        }
        // Section 4.3: `W += min(n, 2) / d(W)`, and the fraction is kept.
        let d = self.divisor(window.cwnd, window.ssthresh);
        let credit = ack.acked.min(view.mss * MOST_SEGMENTS);
        let total = mul_div(credit.0, RATIO_ONE, 1).saturating_add(self.carry);
        let increase = total / d;
        self.carry = total % d;
        window.grow(Bytes(increase)).until_threshold()
    }
}

impl DecreasingByteCounting {
    /// ssthresh after this ACK.
    #[inline]
    fn threshold(&mut self, view: &View) -> Bytes {
        let ssthresh = view.window.ssthresh;
        if view.rtt.min == Span::MAX {
            return ssthresh;
        }
        match &mut self.threshold {
            // Section 4.3 takes Wth, the BDP, as given.
            Threshold::Given => ssthresh,
            // SIGCOMM 1996, section 3 (Hoe): once, `rate * RTT`.
            Threshold::Hoe { pair, used } => match pair.rate() {
                Some(rate) if !*used => {
                    *used = true;
                    rate.over(view.rtt.first).whole_segments(view.mss).max(view.mss * 2)
                }
                _ => ssthresh,
            },
            // Astart paper, section IV: raised to `ERE * RTTmin`, never lowered.
            Threshold::Ere(ere) => ssthresh.max(ere.over(view.rtt.min).whole_segments(view.mss)),
        }
    }

    /// d(W) in millionths, between 1 and dmax.
    #[inline]
    fn divisor(&self, cwnd: Bytes, ssthresh: Bytes) -> u64 {
        // Section 4.3: `d(W) = 1 + (dmax - 1) (W - 1) / (Wth - 1)`.
        let way = (ssthresh - self.first_window).0.max(1);
        RATIO_ONE + mul_div(self.dmax - RATIO_ONE, (cwnd - self.first_window).0.min(way), way)
    }
}

impl Default for DecreasingByteCounting {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            dmax: 2 * RATIO_ONE,
            threshold: Threshold::Given,
            first_window: Bytes(0),
            carry: 0,
        }
    }
}

impl Knobs for DecreasingByteCounting {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("dmax")
            .means("d at the threshold: 1 is byte counting, 2 ends as slow start with delayed ACKs")
            .by_default("2 (paper)")
            .ratio(RATIO_ONE..=LARGEST_DMAX, |p| &mut p.dmax),
        Knob::new("wth")
            .means(
                "the threshold: ssthresh as given, or `fixed` (the paper's BDP is `--ssthresh \
                 1bdp`); or measured by Hoe or ERE",
            )
            .word(Words {
                all: &["ssthresh", "fixed", "hoe", "ere"],
                get: |p| {
                    Some(match p.threshold {
                        Threshold::Given => "ssthresh",
                        Threshold::Hoe { .. } => "hoe",
                        Threshold::Ere(_) => "ere",
                    })
                },
                set: |p, word| {
                    p.threshold = match word {
                        "hoe" => Threshold::Hoe { pair: PacketPair::new(QUARTER), used: false },
                        "ere" => Threshold::Ere(Ere::new(EreKnobs::FIGURES)),
                        _ => Threshold::Given,
                    };
                },
            }),
    ];
}

/// Segments that one ACK counts for at most.
const MOST_SEGMENTS: u64 = 2;

/// Growth by a hundredth per RTT.
const LARGEST_DMAX: u64 = 100 * RATIO_ONE;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avoidance::NewReno;
    use crate::knob::KnobValue;
    use crate::pair::Pair;
    use crate::sender::{Config, Sender};
    use crate::testing::gauge;
    use crate::units::Instant;

    const MSS: u64 = 1_000;

    fn sender(
        policy: DecreasingByteCounting,
        iw: u64,
        ssthresh: u64,
    ) -> Sender<Pair<DecreasingByteCounting, NewReno>> {
        let config = Config {
            mss: Bytes(MSS),
            initial_window: Bytes(MSS * iw),
            initial_ssthresh: Bytes(MSS.saturating_mul(ssthresh)),
            max_cwnd: Bytes::MAX,
            limit_growth_to_flight: false,
            segment_per_ack: true,
            paces: false,
        };
        Sender::new(policy, NewReno::default(), config)
    }

    fn ack(segments: u64) -> Ack {
        let acked = Bytes(MSS * segments);
        let (rtt, snd_nxt) = (Some(Span::from_millis(100)), Bytes(MSS * 1_000));
        Ack { now: Instant(1), acked, credited: acked, rtt, snd_nxt, ..Ack::default() }
    }

    /// Wth 11, dmax 2: d(1) = 1, d(3) = 1.2, d(4.666) = 1.3666, d(6.130) = 1.5130.
    #[test]
    fn growth_slows_from_byte_counting_to_slow_start_with_delayed_acks() {
        let mut sender = sender(DecreasingByteCounting::default(), 1, 11);
        let windows = [2, 2, 2, 2].map(|segments| {
            sender.on_ack(&ack(segments));
            sender.cwnd().0
        });
        // 3000, then 4666.67, 6130.08 and 7451.95 in real numbers.
        assert_eq!(windows, [3_000, 4_666, 6_130, 7_451]);
    }

    #[test]
    fn the_first_window_takes_the_place_of_one_and_an_ack_counts_for_two_segments() {
        let mut sender = sender(DecreasingByteCounting::default(), 3, 13);
        sender.on_ack(&ack(7));
        assert_eq!(sender.cwnd(), Bytes(5_000));
    }

    #[test]
    fn without_a_threshold_it_is_byte_counting() {
        let mut sender = sender(DecreasingByteCounting::default(), 1, u64::MAX);
        for _ in 0..100 {
            sender.on_ack(&ack(2));
        }
        assert_eq!(sender.cwnd(), Bytes(201_000));
    }

    #[test]
    fn fractions_of_a_byte_are_not_lost() {
        let mut policy = DecreasingByteCounting::default();
        policy.set("dmax", KnobValue::Ratio(3 * RATIO_ONE));
        // MSS 1 and a distant threshold: d stays within 1.5 and 1.52 over the ACKs below.
        let config = Config {
            mss: Bytes(1),
            initial_window: Bytes(1),
            initial_ssthresh: Bytes(4_000_001),
            max_cwnd: Bytes::MAX,
            limit_growth_to_flight: false,
            segment_per_ack: true,
            paces: false,
        };
        let mut sender = Sender::new(policy, NewReno::default(), config);
        let one = Ack { acked: Bytes(1), credited: Bytes(1), ..Ack::default() };
        for _ in 0..1_000_000 {
            sender.on_ack(&one);
        }
        // dW/dn = 1 / (1 + W / 2e6), so W + W^2 / 4e6 = 1e6 and W = 2e6 (sqrt(2) - 1) = 828427.
        assert!(sender.cwnd().0.abs_diff(828_428) <= 2, "{}", sender.cwnd().0);
    }

    #[test]
    fn hoe_gives_the_threshold_once() {
        let mut policy = DecreasingByteCounting::default();
        policy.set("wth", KnobValue::Word("hoe"));
        let mut sender = sender(policy, 4, u64::MAX);
        // A segment per ms over an RTT of 100 ms: 100 segments.
        for ms in 0..4 {
            sender.on_ack(&Ack { now: Instant(100_000_000 + ms * 1_000_000), ..ack(1) });
        }
        assert_eq!(sender.ssthresh(), Bytes(100 * MSS));
    }

    /// On one segment per ms: `bytes` of it in each ACK.
    fn measured(wth: &'static str, acks: u64, bytes: u64) -> DecreasingByteCounting {
        let mut policy = DecreasingByteCounting::default();
        assert!(policy.set("wth", KnobValue::Word(wth)));
        let mut view = crate::testing::view(4, Bytes(MSS * 32));
        for ms in 0..acks {
            view.now = Instant(100_000_000 + ms * 1_000_000);
            view.delivered += Bytes(bytes);
            policy.on_ack(&crate::testing::ack(&view, 1), &view);
        }
        policy
    }

    fn threshold(policy: &mut DecreasingByteCounting, ssthresh: u64) -> u64 {
        let view = crate::testing::view(4, Bytes(MSS * ssthresh));
        policy.step(&crate::testing::ack(&view, 1), &view).window.ssthresh.0 / MSS
    }

    #[test]
    fn a_threshold_lowered_after_hoe_gave_one_stays() {
        let mut policy = measured("hoe", 3, MSS);
        assert_eq!([32, 20].map(|ssthresh| threshold(&mut policy, ssthresh)), [100, 20]);
    }

    /// 10 bytes every ms are one segment in 100 ms.
    #[test]
    fn hoe_gives_two_segments_at_least() {
        assert_eq!(threshold(&mut measured("hoe", 3, 10), 32), 2);
    }

    #[test]
    fn ere_only_raises_the_threshold_and_is_passed_to_the_avoidance() {
        let mut policy = measured("ere", 1_000, MSS);
        let rate = policy.eligible().map_or(0, |it| it.rate.0);
        assert_eq!(gauge(&policy, "ere"), Some(rate));
        assert!(rate.abs_diff(1_000_000) < 10_000, "{rate}");
        let window = rate / 10 / MSS;
        assert_eq!([32, 5_000].map(|it| threshold(&mut policy, it)), [window, 5_000]);
        let policy = measured("hoe", 300, MSS);
        assert_eq!((policy.eligible(), gauge(&policy, "pair_rate")), (None, Some(1_000_000)));
    }

    #[test]
    fn with_ere_and_no_threshold_the_first_is_of_32_segments() {
        let default = Window { cwnd: Bytes(MSS), ssthresh: Bytes::MAX };
        let ssthresh = |wth| measured(wth, 0, 0).open(default, Bytes(MSS)).ssthresh;
        assert_eq!(["ere", "hoe"].map(ssthresh), [Bytes(32 * MSS), Bytes::MAX]);
    }
}
