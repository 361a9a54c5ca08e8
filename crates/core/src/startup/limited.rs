//! Limited Slow Start (RFC 3742): slow start whose growth per RTT has an upper limit.
//!
//! What it believes: a burst of more than so many segments does harm, however large the window.
//! What it does above `max_ssthresh`, 100 segments unless set, up to ssthresh (section 2):
//!
//! ```text
//! K = int(cwnd / (0.5 max_ssthresh)),  cwnd += int(MSS / K)  per ACK
//! ```
//!
//! Published: all of it. But K is a whole number, so a round does not add the `max_ssthresh / 2`
//! that the rule is designed for, but a whole fraction of the window: half of it up to 1.5
//! `max_ssthresh`, a third up to 2, and so on. From 149 segments a round adds up to 75 instead of
//! 50. Linux, while it had the option `tcp_max_ssthresh`, added up shares instead of dividing by K
//! and kept to the limit; `k=exact` is that.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Amount, Knob, KnobOf, Knobs, words};
use crate::needs::Needs;
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, mul_div};
use crate::view::{View, Window};

/// Slow start with a limit on its growth per RTT.
#[derive(Clone, Copy, Debug)]
pub struct Limited {
    opening: Opening,
    max_ssthresh: Amount,
    exact: bool,
    /// With `exact`: what the division left, in bytes times bytes.
    remainder: u64,
}

impl Limited {
    /// The growth for one ACK above `max`.
    fn increase(&mut self, max: Bytes, view: &View) -> Bytes {
        let (cwnd, half) = (view.window.cwnd.0.max(1), (max.0 / 2).max(1));
        // RFC 3742 section 2: `K = int(cwnd / (0.5 max_ssthresh))`, and `int(MSS / K)` per ACK.
        if !self.exact {
            return view.mss / (cwnd / half);
        }
        // Linux's `tcp_slow_start()` while it had `tcp_max_ssthresh`: shares are added up.
        let share = mul_div(view.mss.0, half, 1).saturating_add(self.remainder);
        self.remainder = share % cwnd;
        Bytes(share / cwnd)
    }
}

impl Listed for Limited {
    const CARD: Card = Card::new(
        "limited",
        "slow start by at most about 50 segments per RTT above 100",
        "RFC 3742",
    )
    .with("newreno")
    .about(
        "The size of the window.",
        "A burst of more than so many packets does harm, however large the window.",
        "At some 50 packets per round trip a path of thousands takes dozens of round trips.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Limited {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Startup for Limited {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let (window, max) = (view.window, self.max_ssthresh.bytes(view.mss));
        // RFC 3742 section 2: at or below max_ssthresh, RFC 5681's slow start.
        if window.cwnd <= max || window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        window.grow(self.increase(max, view).min(view.mss)).until_threshold()
    }
}

impl Default for Limited {
    fn default() -> Self {
        let max_ssthresh = Amount::Segments(MAX_SSTHRESH_SEGMENTS);
        Self { opening: Opening::default(), max_ssthresh, exact: false, remainder: 0 }
    }
}

impl Knobs for Limited {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("max_ssthresh")
            .means("window up to which it is slow start, and twice the growth per RTT above")
            .threshold(|p| &mut p.max_ssthresh),
        Knob::new("k")
            .means("K in whole numbers (RFC 3742 section 2), or exact, as Linux counted")
            .word(words!(|p| p.exact, ["int" = false, "exact" = true])),
    ];
}

/// The value that RFC 3742 section 2 names.
const MAX_SSTHRESH_SEGMENTS: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;
    use crate::testing::{MSS, ack, view};

    fn grown(policy: &mut Limited, cwnd: u64) -> u64 {
        let view = view(cwnd, Bytes::MAX);
        (policy.step(&ack(&view, 1), &view).window.cwnd - view.window.cwnd).0
    }

    #[test]
    fn an_ack_adds_a_kth_of_a_segment() {
        let found =
            [100, 101, 149, 150, 199, 200, 1_000].map(|cwnd| grown(&mut Limited::default(), cwnd));
        assert_eq!(found, [1_000, 500, 500, 333, 333, 250, 50]);
    }

    /// The window after a round that acknowledges all of `cwnd`.
    fn after_round(policy: &mut Limited, cwnd: u64) -> Bytes {
        let mut view = view(cwnd, Bytes::MAX);
        for _ in 0..cwnd {
            view.window = policy.step(&ack(&view, 1), &view).window;
        }
        view.window.cwnd
    }

    #[test]
    fn exactly_counted_it_never_grows_by_more_than_half_of_max_ssthresh_per_round() {
        let mut policy = Limited::default();
        assert!(policy.set("k", KnobValue::Word("exact")));
        for cwnd in [101, 149, 150, 199, 400, 5_000] {
            let grown = after_round(&mut policy, cwnd) - MSS * cwnd;
            assert!(grown <= MSS * 50 && grown > MSS * 39, "{cwnd}: {grown:?}");
        }
    }

    #[test]
    fn exactly_counted_it_keeps_what_the_division_leaves() {
        let mut policy = Limited::default();
        assert!(policy.set("k", KnobValue::Word("exact")));
        // 1000 * 50,000 / 3,000,000 = 16 2/3 bytes an ACK.
        assert_eq!([(); 3].map(|()| grown(&mut policy, 3_000)), [16, 17, 17]);
    }

    #[test]
    fn with_a_whole_k_it_may_grow_by_half_as_much_again() {
        let grown = |cwnd| after_round(&mut Limited::default(), cwnd) - MSS * cwnd;
        // From 110: 40 segments at K = 2 take 80 ACKs, the other 30 ACKs give a third each.
        assert_eq!(grown(110).0, 40_000 + 30 * 333);
        assert!(grown(5_000) < MSS * 51);
    }

    #[test]
    fn it_ends_at_ssthresh() {
        let view = view(300, Bytes(300_100));
        assert!(Limited::default().step(&ack(&view, 1), &view).exit.is_some());
    }
}
