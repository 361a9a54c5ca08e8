//! e-speed, a start-up with selectable speeds (Oyeyinka, Oluwatope, Akinwale, Folorunso, Aderounmu
//! and Abiona, "TCP window based congestion control slow-start approach", Communications and
//! Network 3, 2011).
//!
//! What it believes: one speed of slow start cannot suit small and large paths. What it does: slow
//! start until pairs of ACKs have shown the bottleneck's rate ([`crate::estimate::ack_spacing`]).
//! Then `beta` is the BDP over a reference window. At beta of 1 or less it goes on as slow start;
//! above, every segment acknowledged adds `speed` segments until cwnd is the BDP, which becomes
//! ssthresh.
//!
//! Published: the speed is one of n start-ups, chosen by the condition of the network, and with two
//! of them by a calculated beta that depends on the available bandwidth and other conditions (the
//! abstracts of that survey and of a paper on the method's stability); it is to perform best on
//! large as on small bandwidths (M-Start paper, section 2, reference 13). Neither paper's text was
//! available.
//!
//! Inferred: everything with a number. beta is the BDP over 64 KiB, the largest window without
//! scaling (RFC 7323 section 2). There are two speeds, and the faster one quadruples the window per
//! RTT, in half of slow start's round trips. It stops at the BDP, because it would otherwise
//! overflow the buffer as slow start does, and sooner. After a timeout it is slow start. It is not
//! paced, so its bursts leave at up to four times the bottleneck's rate and want three quarters of
//! a BDP of buffer.

use crate::card::{Card, Listed};
use crate::estimate::ack_spacing::AckSpacing;
use crate::event::Ack;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::Bytes;
use crate::view::{Phase, View, Window};

/// Slow start at one of two speeds.
#[derive(Clone, Copy, Debug)]
pub struct ESpeed {
    opening: Opening,
    spacing: AckSpacing,
    /// Segments per segment acknowledged on a large path.
    speed: u64,
    /// The BDP at which beta is one, in bytes.
    reference: u64,
    /// Pairs of ACKs before it chooses.
    pairs: u64,
    /// The speed.
    choice: Choice,
}

/// The speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Nothing is known of the path yet.
    Open,
    /// Slow start.
    Slow,
    /// The faster one, to this window.
    Fast(Bytes),
}

impl ESpeed {
    fn choose(&self, view: &View) -> Choice {
        if self.spacing.samples() < self.pairs {
            return Choice::Open;
        }
        // Survey of 2011 (abstract): beta, which depends on the available bandwidth, chooses the
        // start-up. Ours: beta is the BDP over a reference window.
        let bdp = self.spacing.rate().over(view.rtt.min).whole_segments(view.mss);
        if bdp.0 <= self.reference { Choice::Slow } else { Choice::Fast(bdp) }
    }
}

impl Listed for ESpeed {
    const CARD: Card = Card::new(
        "e-speed",
        "one of two speeds of slow start, chosen by the measured BDP",
        "Oyeyinka and others, 2011; M-Start paper, reference 13",
    )
    .with("newreno")
    .about(
        "The spacing of the first ACKs.",
        "One speed of slow start cannot suit small and large paths.",
        "It multiplies by four in a round toward a BDP that a few gaps tell: if they are wrong it \
         overshoots as fast.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for ESpeed {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let decides = view.phase == Phase::Startup && !view.plain_slow_start;
        if self.choice == Choice::Open && decides {
            self.spacing.on_ack(ack, view);
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("pair_rate", self.spacing.rate().0);
    }
}

impl Startup for ESpeed {
    /// Ours: after a timeout it is slow start (RFC 5681 section 3.1).
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if self.choice == Choice::Open {
            self.choice = self.choose(view);
        }
        let Choice::Fast(bdp) = self.choice else { return double(ack, view) };
        // Ours: `speed` segments for each one acknowledged, up to the BDP.
        let cwnd = view.window.cwnd;
        let grown = (cwnd + ack.acked.min(view.mss) * self.speed).min(bdp).max(cwnd);
        Window { cwnd: grown, ssthresh: bdp }.hold().until_threshold()
    }
}

impl Default for ESpeed {
    fn default() -> Self {
        let (opening, spacing) = (Opening::default(), AckSpacing::default());
        let (speed, reference, pairs) = (SPEED, REFERENCE_BYTES, PAIRS);
        Self { opening, spacing, speed, reference, pairs, choice: Choice::Open }
    }
}

impl Knobs for ESpeed {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("speed")
            .means("segments that a segment acknowledged adds on a large path (inferred)")
            .count(1..=100, |p| &mut p.speed),
        Knob::new("reference")
            .means("bytes of BDP above which a path is large: where beta is 1 (inferred)")
            .count(1..=1 << 40, |p| &mut p.reference),
        Knob::new("pairs")
            .means("pairs of ACKs before it chooses (inferred)")
            .count(1..=1_000, |p| &mut p.pairs),
    ];
}

/// Doubling adds one; three more make four of one.
const SPEED: u64 = 3;

/// 64 KiB (RFC 7323 section 2).
const REFERENCE_BYTES: u64 = 1 << 16;

/// The fewest that have an error.
const PAIRS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::policy::Exit;
    use crate::testing::{MSS, ack, view};
    use crate::units::Span;

    /// The decision on the last of so many ACKs, so far apart, from a window of four.
    fn after(policy: &mut ESpeed, acks: u64, gap_us: u64) -> Step {
        let mut view = view(4, MSS * 5_000);
        let mut step = view.window.hold();
        for _ in 0..acks {
            view.now = view.now + Span::from_micros(gap_us);
            let ack = ack(&view, 1);
            policy.on_ack(&ack, &view);
            step = policy.step(&ack, &view);
        }
        step
    }

    #[test]
    fn a_large_path_gets_the_fast_start_to_its_bdp() {
        // 200 us apart: 5 MB/s, 500 segments in 100 ms.
        let mut policy = ESpeed::default();
        assert_eq!(after(&mut policy, 2, 200).window.cwnd, MSS * 5, "slow start until it knows");
        let step = after(&mut ESpeed::default(), 3, 200);
        assert_eq!(step.window, Window { cwnd: MSS * 7, ssthresh: MSS * 500 });
        let mut policy = ESpeed { choice: Choice::Fast(MSS * 500), ..policy };
        let near = view(499, MSS * 500);
        let step = policy.step(&ack(&near, 1), &near);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 500, Some(Exit::Threshold)));
    }

    #[test]
    fn a_small_path_gets_slow_start_and_keeps_its_ssthresh() {
        // 2 ms apart: 500 kB/s, 50 kB in 100 ms, under 64 KiB.
        let step = after(&mut ESpeed::default(), 3, 2_000);
        assert_eq!(step.window, Window { cwnd: MSS * 5, ssthresh: MSS * 5_000 });
        let mut smaller = ESpeed::default();
        assert!(smaller.set("reference", KnobValue::Count(49_999)));
        assert_eq!(after(&mut smaller, 3, 2_000).window.ssthresh, MSS * 50);
    }

    #[test]
    fn acks_of_avoidance_are_not_measured() {
        let rate = |phase| {
            let (mut policy, mut view) = (ESpeed::default(), view(4, MSS * 5_000));
            view.phase = phase;
            for _ in 0..3 {
                view.now = view.now + Span::from_micros(200);
                policy.on_ack(&ack(&view, 1), &view);
            }
            crate::testing::gauge(&policy, "pair_rate")
        };
        assert_eq!([Phase::Startup, Phase::Avoidance].map(rate), [Some(5_000_000), Some(0)]);
    }
}
