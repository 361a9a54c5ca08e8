//! Two-phase slow start, P-TCP: slow start to half of ssthresh, then growth that dies away toward
//! ssthresh.
//!
//! What it believes: the burst that ends slow start overflows the buffer because it doubles the
//! window; near ssthresh small steps suffice.
//!
//! Published, in the M-Start paper's words on its reference 9 only (section 2): traditional slow
//! start up to half of ssthresh, from there growth "like negatively exponential", to avoid multiple
//! losses at the end of slow start at the price of throughput. P-TCP's own paper was not available.
//!
//! Inferred: the law of the second phase. The simplest with that shape adds per ACK
//!
//! ```text
//! (ssthresh - W) / (ssthresh / 2) segments,
//! so that after n ACKs  ssthresh - W = ssthresh / 2  e^(-n / (ssthresh / 2))
//! ```
//!
//! which is one segment at the knee, as in slow start, and never arrives. So the growth is never
//! less than congestion avoidance's one segment per RTT, which ends start-up a little later.
//! Without an ssthresh it is slow start.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{KnobOf, Knobs};
use crate::linear::LinearGrowth;
use crate::needs::Needs;
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::Bytes;
use crate::view::{View, Window};

/// Slow start whose second half is ever slower.
#[derive(Clone, Copy, Debug, Default)]
pub struct TwoPhase {
    opening: Opening,
    linear: LinearGrowth,
}

impl Listed for TwoPhase {
    const CARD: Card = Card::new(
        "two-phase",
        "slow start to half of ssthresh, then ever smaller steps",
        "P-TCP; M-Start paper, reference 9",
    )
    .with("newreno")
    .about(
        "How far the window is from ssthresh.",
        "It is the doubling of the last round that overflows the buffer; near ssthresh small \
         steps do.",
        "Without an ssthresh it is slow start.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for TwoPhase {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Startup for TwoPhase {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        // M-Start paper, section 2, reference 9: slow start up to half of ssthresh.
        let half = window.ssthresh / 2;
        if window.cwnd < half || window.cwnd >= window.ssthresh {
            return double(ack, view);
        }
        // Its growth beyond dies away like a negative exponential; the law is ours.
        let left = window.ssthresh - window.cwnd;
        let share = ack.acked.min(view.mss).scaled(left.0, half.0);
        window.grow(share.max(self.linear.per_ack(view))).until_threshold()
    }
}

impl Knobs for TwoPhase {
    const ROWS: &'static [KnobOf<Self>] = &[opening(|p| &mut p.opening)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};

    fn grown(cwnd: u64) -> u64 {
        let view = view(cwnd, MSS * 100);
        (TwoPhase::default().step(&ack(&view, 1), &view).window.cwnd - view.window.cwnd).0
    }

    #[test]
    fn growth_falls_from_a_segment_at_half_of_ssthresh_to_that_of_avoidance() {
        assert_eq!([10, 49, 50, 75, 90].map(grown), [1_000, 1_000, 1_000, 500, 200]);
        // (100 - 99.9) / 50 would be 2 bytes; avoidance adds 10.
        let mut view = view(0, MSS * 100);
        view.window.cwnd = Bytes(99_900);
        let step = TwoPhase::default().step(&ack(&view, 1), &view);
        assert_eq!(step.window.cwnd, Bytes(99_910));
    }

    #[test]
    fn after_half_of_ssthresh_in_acks_an_eth_of_the_second_half_is_left() {
        let (mut policy, mut view) = (TwoPhase::default(), view(500, MSS * 1_000));
        for _ in 0..500 {
            view.window = policy.step(&ack(&view, 1), &view).window;
        }
        // 500 / e = 183.9.
        let left = (MSS * 1_000 - view.window.cwnd).0;
        assert!((183_000..185_000).contains(&left), "{left}");
    }

    #[test]
    fn it_arrives_and_ends() {
        let (mut policy, mut view) = (TwoPhase::default(), view(50, MSS * 100));
        let ended = (0..1_000).any(|_| {
            let step = policy.step(&ack(&view, 1), &view);
            view.window = step.window;
            step.exit.is_some()
        });
        assert!(ended && view.window.cwnd >= MSS * 100);
    }

    #[test]
    fn without_an_ssthresh_it_is_slow_start() {
        let view = view(5_000, Bytes::MAX);
        let step = TwoPhase::default().step(&ack(&view, 1), &view);
        assert_eq!(step.window.cwnd, MSS * 5_001);
    }

    /// From half of ssthresh on an ACK for a byte adds what it adds in avoidance, 1000 / 50 bytes.
    #[test]
    fn the_second_half_begins_at_half_of_ssthresh() {
        let one = |cwnd: u64| {
            let view =
                View { window: Window { cwnd: Bytes(cwnd), ssthresh: MSS * 100 }, ..view(0, MSS) };
            let ack = Ack { acked: Bytes(1), ..ack(&view, 1) };
            TwoPhase::default().step(&ack, &view).window.cwnd.0 - cwnd
        };
        assert_eq!([49_999, 50_000].map(one), [1, 20]);
    }
}
