//! HyStart++ (RFC 9406, May 2023): slow start that doubts before it leaves.
//!
//! What it believes: a round whose smallest RTT is an eighth above that of the round before has met
//! a queue, or jitter; some rounds of slower growth show which. What it does on every ACK, where
//! `last` and `cur` are the smallest RTTs of the last round and of this one, and `n` counts the
//! samples:
//!
//! ```text
//! slow start (4.2):  cwnd += min(N, L MSS)
//!                    n >= 8, cur >= last + clamp(last / 8, 4 ms, 16 ms):
//!                        conservative slow start begins, base = cur, n = 0
//! conservative (CSS): cwnd += min(N, L MSS) / 4
//!                    n >= 8, cur < base: it was jitter, slow start goes on
//!                    five rounds are over: ssthresh = cwnd, leave
//! ```
//!
//! The round in which CSS begins counts as one of the five, however little of it is left. A round
//! ends when more than what had been sent by its beginning is acknowledged ([`View::round_start`]),
//! and the next begins there; the sample of that ACK belongs to the old round. The first ACK of a
//! connection ends a round, because nothing had been sent when it began.
//!
//! Published: all of it but what follows. RFC 9406 does not say that the count of samples restarts
//! when CSS begins; neqo lets it (mozilla/neqo 3505), and without it the first sample below `base`
//! would end CSS. `base=threshold` is neqo's alternative, `last` and the rise that counts: with the
//! RFC's `cur` a sample a microsecond shorter ends CSS.
//!
//! L is 8 segments, and none where packets are paced (section 4.3; [`View::paced`]); the knob `l`
//! says otherwise. L holds for what one ACK frame of QUIC acknowledges, however many parts it is
//! reported in ([`Ack::continues`]), and so does the quarter: the frame that begins CSS counts in
//! full.
//!
//! On a path of 20 Mbit/s and 100 ms without end of the buffer (208 packets of 1200 bytes;
//! `tests/hystart_rounds.rs`) it leaves at 1969 packets, 9.5 BDP, in bursts and paced at two
//! windows per RTT: three times what it had as CSS began (five rounds of a quarter are 1.25^5 =
//! 3.05). Paced as quinn does it leaves at 1707. `validation/readings` has a plain reading of it.
//!
//! Only the first slow start has it (a SHOULD of section 4.3); after a timeout, and whenever
//! start-up begins again, it is slow start (RFC 5681 section 3.1). A loss or a mark ends it, and
//! the avoidance cuts.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Amount, Knob, KnobKind, KnobOf, Knobs, words};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Entry, Exit, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Span};
use crate::view::{Paced, View, Window};

/// Slow start that grows by a quarter for some rounds when the RTT rises, and then leaves.
#[derive(Clone, Copy, Debug)]
pub struct HyStartPp {
    opening: Opening,
    base: Base,
    /// What one ACK may count for; `None` leaves it to whether packets are paced.
    l: Option<Amount>,
    /// `CSS_ROUNDS`.
    css_rounds: u64,
    /// `CSS_GROWTH_DIVISOR`.
    css_growth_divisor: u64,
    /// What is known of the round.
    round: Round,
    /// Conservative slow start, while the flow is in it.
    css: Option<Conservative>,
    /// The rest of `L * SMSS` after the parts of the acknowledgement that have been reported.
    limit_left: Bytes,
    /// By how much the count of that acknowledgement is divided.
    growth_divisor: u64,
}

/// Below which smallest RTT of a round CSS was a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// Below that of the round in which it began.
    Current,
    /// Below the one that made it begin.
    Threshold,
}

/// What section 4.2 keeps of a round. [`Span::MAX`] is the smallest RTT of none.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// `lastRoundMinRTT`.
    last_round_min_rtt: Span,
    /// `currentRoundMinRTT`.
    current_round_min_rtt: Span,
    /// `rttSampleCount`.
    rtt_sample_count: u8,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// `cssBaselineMinRtt`.
    css_baseline_min_rtt: Span,
    /// Rounds of CSS that are over, the one in which it began included.
    css_round_count: u64,
}

impl HyStartPp {
    /// Takes an RTT sample and moves between slow start and CSS (RFC 9406 section 4.2).
    fn take_rtt_sample(&mut self, rtt: Span) {
        // Section 4.2: each ACK keeps the smallest RTT of the round and counts its sample; nothing
        // is decided before N_RTT_SAMPLE of them.
        self.round.observe(rtt);
        if self.round.rtt_sample_count < N_RTT_SAMPLE {
            return;
        }
        let Round { last_round_min_rtt, current_round_min_rtt, .. } = self.round;
        // Section 4.2, CSS: a round below the baseline shows that the rise was jitter, and slow
        // start goes on.
        if let Some(css) = self.css {
            if current_round_min_rtt < css.css_baseline_min_rtt {
                self.css = None;
            }
            return;
        }
        // Section 4.2, slow start: both rounds must have a sample.
        if last_round_min_rtt == Span::MAX {
            return;
        }
        // Section 4.2, `RttThresh`: an eighth of the last round's RTT, within 4 and 16 ms.
        let rtt_thresh =
            (last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
        let threshold = last_round_min_rtt + rtt_thresh;
        // Section 4.2: such a rise begins CSS, with this round's RTT as its baseline.
        if current_round_min_rtt >= threshold {
            let css_baseline_min_rtt = match self.base {
                Base::Current => current_round_min_rtt,
                Base::Threshold => threshold,
            };
            self.css = Some(Conservative { css_baseline_min_rtt, css_round_count: 0 });
            // The RFC does not say so; neqo lets the count begin anew (mozilla/neqo 3505).
            self.round.rtt_sample_count = 0;
        }
    }

    /// The round is over; whether CSS has lasted its time with it.
    fn end_round(&mut self) -> bool {
        // Section 4.2: as a round begins, its RTT is unknown and no sample counted.
        self.round = Round { last_round_min_rtt: self.round.current_round_min_rtt, ..Round::NEW };
        // Section 4.2: CSS lasts CSS_ROUNDS, of which the partial one in which it began is one.
        let Some(css) = &mut self.css else { return false };
        css.css_round_count += 1;
        css.css_round_count >= self.css_rounds
    }

    /// What one ACK may count for (RFC 9406 section 4.3, L).
    fn limit(&self, view: &View) -> Bytes {
        match (self.l, view.paced) {
            (Some(l), _) => l.bytes(view.mss),
            // Section 4.3: 8 where packets leave in bursts, and no limit (a SHOULD) where they are
            // paced.
            (None, Paced::No) => view.mss * L_SEGMENTS,
            (None, _) => Bytes::MAX,
        }
    }

    /// What an ACK adds to the window.
    fn increase(&mut self, ack: &Ack, view: &View) -> Bytes {
        if !ack.continues {
            // What an ACK may count for, and by how much it is divided, is settled by its first
            // part.
            self.limit_left = self.limit(view);
            self.growth_divisor = if self.css.is_some() { self.css_growth_divisor } else { 1 };
        }
        // Section 4.2: `cwnd += min(N, L * SMSS)`, in CSS divided by CSS_GROWTH_DIVISOR.
        let counted = ack.acked.min(self.limit_left);
        self.limit_left -= counted;
        counted / self.growth_divisor
    }
}

impl Round {
    const NEW: Self = Self {
        last_round_min_rtt: Span::MAX,
        current_round_min_rtt: Span::MAX,
        rtt_sample_count: 0,
    };

    fn observe(&mut self, rtt: Span) {
        self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
        self.rtt_sample_count = self.rtt_sample_count.saturating_add(1);
    }
}

impl Listed for HyStartPp {
    const CARD: Card = Card::new(
        "hystart-pp",
        "slow start that grows by a quarter when the RTT rises, and leaves five rounds later",
        "RFC 9406",
    )
    .with("cubic")
    .about(
        "The smallest RTT of each round beside that of the round before.",
        "A rise by an eighth is a queue, or jitter; some rounds of slower growth tell which.",
        "Five rounds of a quarter multiply the window by three after the rise was seen: loss \
         comes first unless the buffer is deep. A rise of less than an eighth per round goes \
         unseen.",
    )
    .finds_its_end()
    .in_kernel("hystart_pp")
    .knobs(Self::KNOBS);
}

impl Observer for HyStartPp {
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("hystart_pp_round_rtt", self.round.current_round_min_rtt.reported());
        report("hystart_pp_css_base", self.css.map_or(0, |css| css.css_baseline_min_rtt.0));
    }
}

impl Startup for HyStartPp {
    /// Section 4.3, a SHOULD.
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, _why: Entry, _view: &View) {
        self.round = Round::NEW;
        self.css = None;
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        if window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        let step = window.grow(self.increase(ack, view));
        if let Some(rtt) = ack.rtt {
            self.take_rtt_sample(rtt);
        }
        // Section 4.2: the round ends with the first ACK beyond `windowEnd`; CSS that has lasted
        // its rounds leaves, with ssthresh = cwnd.
        if view.round_start && self.end_round() {
            return step.threshold(step.window.cwnd).exit(Exit::Heuristic);
        }
        step.until_threshold()
    }
}

impl Default for HyStartPp {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            base: Base::Current,
            l: None,
            css_rounds: CSS_ROUNDS,
            css_growth_divisor: CSS_GROWTH_DIVISOR,
            round: Round::NEW,
            css: None,
            limit_left: Bytes(0),
            growth_divisor: 1,
        }
    }
}

impl Knobs for HyStartPp {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("base")
            .means(
                "RTT below which slow start goes on: the round's when it slowed (RFC 9406), or the \
                 one that slowed it (neqo)",
            )
            .word(words!(|p| p.base, ["current" = Base::Current, "threshold" = Base::Threshold])),
        Knob::new("l")
            .means("what one ACK may count for (RFC 9406 section 4.3)")
            .by_default("8 segments, none where packets are paced")
            .of_kind(KnobKind::Threshold)
            .if_set(|p| &mut p.l),
        Knob::new("css_rounds")
            .means("rounds of slower growth before it leaves (RFC 9406 section 4.3)")
            .count(1..=MOST, |p| &mut p.css_rounds),
        Knob::new("css_growth_divisor")
            .means("by how much growth is divided in them, at least 2 (RFC 9406 section 4.3)")
            .count(2..=MOST, |p| &mut p.css_growth_divisor),
    ];
}

/// Smallest rise of the RTT that counts (RFC 9406 section 4.3, as all below).
pub(super) const MIN_RTT_THRESH: Span = Span::from_millis(4);

/// Rise of the RTT that always counts.
pub(super) const MAX_RTT_THRESH: Span = Span::from_millis(16);

/// In between, this part of the last round's smallest RTT counts.
const MIN_RTT_DIVISOR: u64 = 8;

/// Samples of a round before its smallest RTT counts.
const N_RTT_SAMPLE: u8 = 8;

/// By how much growth is divided in CSS.
const CSS_GROWTH_DIVISOR: u64 = 4;

/// Rounds of CSS.
const CSS_ROUNDS: u64 = 5;

/// Segments by which one ACK may at most open the window, without pacing.
const L_SEGMENTS: u64 = 8;

/// Largest value of the knobs that count.
const MOST: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, gauge, view};

    /// A policy on a path that gets one ACK for a segment after another.
    struct Path {
        policy: HyStartPp,
        view: View,
    }

    impl Path {
        fn new(knobs: &[(&str, KnobValue)]) -> Self {
            let (mut policy, view) = (HyStartPp::default(), view(100, Bytes::MAX));
            for (name, value) in knobs {
                assert!(policy.set(name, *value), "{name}");
            }
            policy.enter(Entry::Connect, &view);
            Self { policy, view }
        }

        /// Takes `count` ACKs with this RTT, the last of which ends the round if `ends`.
        fn acks(&mut self, count: usize, rtt_us: u64, ends: bool) -> Step {
            let mut step = self.view.window.hold();
            self.view.rtt.latest = Span::from_micros(rtt_us);
            for left in (0..count).rev() {
                self.view.round_start = ends && left == 0;
                step = self.policy.step(&ack(&self.view, 1), &self.view);
                self.view.window = step.window;
            }
            step
        }

        /// In CSS: a round of 100 ms, then eight samples of so much.
        fn slowed(knobs: &[(&str, KnobValue)], rtt_us: u64) -> Self {
            let mut path = Self::new(knobs);
            let _ = path.acks(8, 100_000, true);
            let _ = path.acks(8, rtt_us, false);
            path
        }

        /// What an ACK for so many segments adds.
        fn added(&mut self, segments: u64, continues: bool) -> u64 {
            self.view.round_start = false;
            let ack = Ack { continues, rtt: None, ..ack(&self.view, segments) };
            (self.policy.step(&ack, &self.view).window.cwnd - self.view.window.cwnd).0
        }
    }

    #[test]
    fn an_rtt_an_eighth_longer_for_eight_samples_slows_growth_to_a_quarter() {
        let mut path = Path::slowed(&[], 112_499);
        assert_eq!(path.added(1, false), 1_000, "100 ms + 12.5 ms is not reached");
        let mut path = Path::new(&[]);
        let _ = path.acks(8, 100_000, true);
        let _ = path.acks(7, 112_500, false);
        assert_eq!(path.added(1, false), 1_000, "seven samples are too few");
        let eighth = path.acks(1, 112_500, false);
        assert_eq!(eighth.window.cwnd, MSS * 116, "the eighth counts in full");
        assert_eq!(path.added(1, false), 250);
        assert_eq!(eighth.exit, None);
    }

    #[test]
    fn the_rise_that_counts_is_at_least_4_and_at_most_16_ms() {
        for (last, least) in [(8_000, 12_000), (100_000, 112_500), (400_000, 416_000)] {
            for (rtt, slow) in [(least - 1, false), (least, true)] {
                let mut path = Path::new(&[]);
                let _ = path.acks(8, last, true);
                let _ = path.acks(8, rtt, false);
                assert_eq!(path.policy.css.is_some(), slow, "{last} {rtt}");
            }
        }
    }

    #[test]
    fn without_a_sample_in_the_round_before_nothing_is_compared() {
        let mut path = Path::new(&[]);
        let _ = path.acks(20, 500_000, false);
        assert!(path.policy.css.is_none());
    }

    #[test]
    fn a_shorter_rtt_resumes_slow_start_below_the_base() {
        let threshold = [("base", KnobValue::Word("threshold"))];
        let resumes = |knobs: &[_], rtt_us| {
            let mut path = Path::slowed(knobs, 120_000);
            assert_eq!(path.added(1, false), 250);
            let _ = path.acks(8, rtt_us, false);
            path.added(1, false) == 1_000
        };
        assert!(!resumes(&[], 120_000));
        assert!(resumes(&[], 119_999));
        assert!(!resumes(&threshold, 119_999));
        assert!(!resumes(&threshold, 112_500));
        assert!(resumes(&[], 112_499) && resumes(&threshold, 112_499));
    }

    #[test]
    fn samples_are_counted_anew_when_growth_slows_and_in_every_round() {
        let mut path = Path::slowed(&[], 120_000);
        let _ = path.acks(7, 100_000, false);
        assert_eq!(path.added(1, false), 250, "seven short samples are too few");
        let _ = path.acks(1, 130_000, false);
        assert_eq!(path.added(1, false), 1_000, "the eighth sample decides, by the smallest");
        let mut path = Path::slowed(&[], 120_000);
        let _ = path.acks(7, 120_000, true);
        let _ = path.acks(7, 100_000, false);
        assert_eq!(path.added(1, false), 250);
    }

    #[test]
    fn the_ack_that_ends_a_round_is_a_sample_of_that_round() {
        // It is the eighth: CSS begins with it, and the round that it ends is the first of five.
        let mut path = Path::new(&[]);
        let _ = path.acks(8, 100_000, true);
        let _ = path.acks(8, 120_000, true);
        assert_eq!(path.policy.css.map(|css| css.css_round_count), Some(1));
        assert_eq!(path.policy.round.rtt_sample_count, 0);
    }

    #[test]
    fn five_rounds_end_it_with_ssthresh_at_the_window() {
        let mut path = Path::slowed(&[], 120_000);
        for round in 1..5 {
            assert_eq!(path.acks(8, 120_000, true).exit, None, "round {round}");
        }
        let step = path.acks(8, 120_000, true);
        assert_eq!(step.exit, Some(Exit::Heuristic));
        // 16 ACKs in full, 40 for a quarter, the last included.
        assert_eq!(step.window, Window { cwnd: MSS * 126, ssthresh: MSS * 126 });
    }

    #[test]
    fn jitter_gives_the_five_rounds_anew() {
        let mut path = Path::slowed(&[], 120_000);
        for _ in 0..4 {
            let _ = path.acks(8, 120_000, true);
        }
        let _ = path.acks(8, 100_000, true);
        let _ = path.acks(8, 120_000, false);
        assert_eq!(path.policy.css.map(|css| css.css_round_count), Some(0));
    }

    #[test]
    fn an_ack_counts_for_eight_segments_or_as_set() {
        let l = |l| [("l", KnobValue::Window(l))];
        assert_eq!(Path::new(&[]).added(8, false), 8_000);
        assert_eq!(Path::new(&[]).added(20, false), 8_000);
        assert_eq!(Path::new(&l(Amount::Segments(2))).added(20, false), 2_000);
        assert_eq!(Path::new(&l(Amount::Unlimited)).added(20, false), 20_000);
        assert_eq!(Path::slowed(&[], 120_000).added(20, false), 2_000);
        for paced in [Paced::ByEndpoint(125), Paced::ByPolicy] {
            let mut path = Path::new(&[]);
            path.view.paced = paced;
            assert_eq!(path.added(20, false), 20_000);
            let mut path = Path::new(&l(Amount::Segments(2)));
            path.view.paced = paced;
            assert_eq!(path.added(20, false), 2_000, "the knob's");
        }
    }

    #[test]
    fn the_limit_holds_for_all_parts_of_one_acknowledgement() {
        let mut path = Path::new(&[]);
        let parts = [false, true, true, true].map(|continues| path.added(3, continues));
        assert_eq!(parts, [3_000, 3_000, 2_000, 0]);
        assert_eq!(path.added(3, false), 3_000, "the next one has its own");
    }

    #[test]
    fn the_acknowledgement_that_slows_growth_counts_in_full_to_its_last_part() {
        let mut path = Path::slowed(&[], 120_000);
        assert_eq!((path.added(2, true), path.added(2, false)), (2_000, 500));
    }

    #[test]
    fn an_ssthresh_ends_it_too() {
        let mut path = Path::new(&[]);
        path.view.window.ssthresh = MSS * 102;
        assert_eq!(path.acks(1, 100_000, false).exit, None);
        assert_eq!(path.acks(1, 100_000, false).exit, Some(Exit::Threshold));
    }

    #[test]
    fn it_reports_the_rtt_of_the_round_and_the_base_of_css() {
        let reported = |path: &Path| {
            ["hystart_pp_round_rtt", "hystart_pp_css_base"].map(|name| gauge(&path.policy, name))
        };
        let mut path = Path::new(&[]);
        assert_eq!(reported(&path), [Some(0); 2]);
        let _ = path.acks(3, 100_000, false);
        assert_eq!(reported(&path), [Some(100_000_000), Some(0)]);
        assert_eq!(reported(&Path::slowed(&[], 120_000)), [Some(120_000_000); 2]);
    }
}
