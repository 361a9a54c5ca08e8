//! LEDBAT++'s slow start (draft-irtf-iccrg-ledbat-plus-plus-06), which Windows uses for background
//! transfers.
//!
//! What it believes: a queue of three quarters of the target delay is one that foreground traffic
//! would notice, and on a short path a doubling per round trip builds it too fast. What it does:
//!
//! ```text
//! base  = smallest RTT;  delay = smallest of the last four RTTs, less base
//! GAIN  = 1 / min(16, ceil(2 TARGET / base))           section 4.2
//! cwnd += GAIN * acknowledged, per ACK                 section 4.3
//! delay > 3/4 TARGET:  leave, in the initial slow start only
//! ```
//!
//! So a round of slow start grows by `GAIN` of itself: it doubles from a base of 120 ms on, and
//! takes 1/16 more on paths below 8 ms.
//!
//! The draft's text was not at hand, but for its abstract. The rules are those of three public
//! implementations (freenet's transport, a model for ns-3, and a module for Linux that says it
//! follows -01), which agree on GAIN, TARGET and 3/4; the module has the four samples too, and
//! leaves by delay in the first slow start alone. The section numbers are from them or from memory.
//! An ACK counts for all that it acknowledges, as in the module, or for a segment at most, as in
//! RFC 5681: as the endpoint has it ([`View::segment_per_ack`]).
//!
//! Not here: LEDBAT++'s avoidance, and with it the slowdown two RTTs after slow start. The start-up
//! hands over to another avoidance, CUBIC by default.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::opening::{Opening, opening_of_own_end};
use crate::policy::{Entry, Exit, Observer, Startup, Step};
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// Slow start with a gain below one, which leaves at a small queue.
#[derive(Clone, Copy, Debug)]
pub struct LedbatPp {
    opening: Opening,
    /// `TARGET`: the queueing delay that the sender may cause.
    target: Span,
    /// The last RTT samples in a ring; [`Span::MAX`] where there is none.
    current_delays: [Span; FILTER],
    /// How many samples have come: the next goes to this place, modulo [`FILTER`].
    samples: usize,
    /// This is the slow start that the connection began with. Later ones have the gain too, so that
    /// it is not [`Startup::once`].
    is_initial: bool,
}

impl LedbatPp {
    /// 1/GAIN (section 4.2).
    fn gain_divisor(&self, base: Span) -> u64 {
        (self.target.0.saturating_mul(2)).div_ceil(base.0.max(1)).clamp(1, MAX_GAIN_DIVISOR)
    }

    /// The queueing delay: the smallest of the last samples over the smallest RTT (RFC 6817
    /// section 2.4.2, with RTTs for one-way delays: section 4.1 of the draft).
    fn queueing_delay(&self, base: Span) -> Span {
        let current = self.current_delays.iter().copied().min().unwrap_or(Span::MAX);
        if current == Span::MAX { Span(0) } else { current - base }
    }
}

impl Listed for LedbatPp {
    const CARD: Card = Card::new(
        "ledbat-pp",
        "LEDBAT++'s slow start: slower on short paths, ends at a small queue",
        "draft-irtf-iccrg-ledbat-plus-plus-06 section 4.3",
    )
    .with("cubic")
    .about(
        "How far the smallest of four RTT samples is above the smallest RTT.",
        "A queue of 45 ms is as much as a background transfer may cause.",
        "Below an RTT of 120 ms it takes several round trips to double. What follows it here is \
         no scavenger: LEDBAT++'s avoidance is not built.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for LedbatPp {
    fn on_ack(&mut self, ack: &Ack, _view: &View) {
        if let Some(rtt) = ack.rtt {
            self.current_delays[self.samples % FILTER] = rtt;
            self.samples = self.samples.wrapping_add(1);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        let filtered = self.current_delays.iter().copied().min().unwrap_or(Span::MAX);
        report("ledbat_pp_filtered_rtt", filtered.reported());
    }
}

impl Startup for LedbatPp {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, why: Entry, _view: &View) {
        self.is_initial = why == Entry::Connect;
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let base = view.rtt.min;
        // Section 4.3: the delay ends the initial slow start; later ones end at ssthresh.
        let limit = self.target.scaled(3, 4);
        if self.is_initial && self.queueing_delay(base) > limit {
            return view.window.hold().threshold(view.window.cwnd).exit(Exit::Heuristic);
        }
        // Section 4.2: GAIN of what an ACK counts for.
        let increase = view.slow_start_growth(ack) / self.gain_divisor(base);
        view.window.grow_to_threshold(increase)
    }
}

impl Default for LedbatPp {
    fn default() -> Self {
        Self {
            opening: Opening::default(),
            target: TARGET,
            current_delays: [Span::MAX; FILTER],
            samples: 0,
            is_initial: true,
        }
    }
}

impl Knobs for LedbatPp {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening_of_own_end(|p| &mut p.opening),
        Knob::new("target")
            .means("queueing delay that it may cause (TARGET)")
            .time(MIN_TARGET..=MAX_TARGET, |p| &mut p.target),
    ];
}

/// Section 4.2: what LEDBAT++ aims at, where RFC 6817 had 100 ms.
const TARGET: Span = Span::from_millis(60);
const MIN_TARGET: Span = Span::from_millis(1);
const MAX_TARGET: Span = Span::from_millis(1_000);

/// Section 4.2.
const MAX_GAIN_DIVISOR: u64 = 16;

/// `CURRENT_FILTER` of RFC 6817 section 2.4.2.
const FILTER: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};

    /// 120 ms over the base, rounded up, from 1 to 16.
    #[test]
    fn the_gain_falls_with_the_rtt() {
        let divisor = |us: u64| LedbatPp::default().gain_divisor(Span(us * 1_000));
        let found = [200_000, 120_000, 119_999, 60_000, 20_000, 8_000, 7_500, 1_000].map(divisor);
        assert_eq!(found, [1, 1, 2, 2, 6, 15, 16, 16]);
    }

    fn at_rtt(cwnd: u64, ms: u64) -> View {
        let mut view = view(cwnd, Bytes::MAX);
        (view.rtt.min, view.rtt.latest) = (Span::from_millis(ms), Span::from_millis(ms));
        view
    }

    #[test]
    fn an_ack_adds_its_share_of_a_segment() {
        let grown = |ms, segments| {
            let view = at_rtt(10, ms);
            let step = LedbatPp::default().step(&ack(&view, segments), &view);
            step.window.cwnd - view.window.cwnd
        };
        assert_eq!([grown(120, 1), grown(100, 1), grown(20, 1)], [MSS, Bytes(500), Bytes(166)]);
        assert_eq!(grown(200, 2), MSS, "a segment an ACK at most");
        let view = View { segment_per_ack: false, ..at_rtt(10, 100) };
        let all = LedbatPp::default().step(&ack(&view, 6), &view);
        assert_eq!(all.window.cwnd - view.window.cwnd, MSS * 3, "half of all that it acknowledges");
    }

    /// What each of these RTT samples, over a base of 50 ms, makes it do.
    fn leaves(policy: &mut LedbatPp, rtts_ms: &[u64]) -> Option<usize> {
        let mut view = at_rtt(40, 50);
        rtts_ms.iter().position(|ms| {
            view.rtt.latest = Span::from_millis(*ms);
            let ack = ack(&view, 1);
            policy.on_ack(&ack, &view);
            policy.step(&ack, &view).exit == Some(Exit::Heuristic)
        })
    }

    #[test]
    fn four_samples_beyond_three_quarters_of_the_target_end_it() {
        let mut policy = LedbatPp::default();
        assert_eq!(leaves(&mut policy, &[50, 96, 96, 96, 96]), Some(4));
        assert_eq!(leaves(&mut LedbatPp::default(), &[50, 95, 95, 95, 95, 95]), None);
        let spikes = [50, 96, 96, 96, 60, 96, 96, 96, 60, 96, 96, 96];
        assert_eq!(leaves(&mut LedbatPp::default(), &spikes), None);
    }

    #[test]
    fn it_leaves_with_its_window_as_ssthresh() {
        let (mut policy, mut view) = (LedbatPp::default(), at_rtt(40, 50));
        view.rtt.latest = Span::from_millis(200);
        let ack = ack(&view, 1);
        policy.on_ack(&ack, &view);
        let step = policy.step(&ack, &view);
        assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 40, MSS * 40));
    }

    #[test]
    fn after_a_timeout_only_ssthresh_ends_it() {
        let mut policy = LedbatPp::default();
        policy.enter(Entry::Timeout, &at_rtt(1, 50));
        assert_eq!(leaves(&mut policy, &[200; 8]), None);
        let view =
            View { window: Window { cwnd: MSS * 9, ssthresh: Bytes(9_100) }, ..at_rtt(9, 120) };
        let step = policy.step(&ack(&view, 1), &view);
        assert_eq!((step.window.cwnd, step.exit), (Bytes(9_100), Some(Exit::Threshold)));
        policy.enter(Entry::Connect, &view);
        assert!(leaves(&mut policy, &[200; 8]).is_some());
    }

    #[test]
    fn the_target_is_a_knob_within_its_range() {
        let mut policy = LedbatPp::default();
        assert!(policy.set("target", KnobValue::Time(Span::from_millis(100))));
        assert_eq!(leaves(&mut policy, &[50, 125, 125, 125, 125, 125]), None);
        assert_eq!(leaves(&mut policy, &[126; 4]), Some(3));
        assert!(policy.set("target", KnobValue::Time(Span(0))));
        assert_eq!(policy.target, MIN_TARGET);
        assert!(policy.set("iw", KnobValue::Window(crate::knob::Amount::Segments(3))));
        assert!(!policy.set("no such knob", KnobValue::Count(1)));
        assert_eq!(policy.open(view(9, Bytes::MAX).window, MSS).cwnd, MSS * 3);
    }
}
