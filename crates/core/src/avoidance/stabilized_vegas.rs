//! Stabilized Vegas (Choe and Low, "Stabilized Vegas", INFOCOM 2003), which the Agile Probing paper
//! cites for FAST TCP: Vegas that looks at where the queue is going.
//!
//! What it believes: Vegas' windows can oscillate when delays are long, because each decision is
//! about a queue of a round trip ago; how fast the queue changes shows what it will be. What it
//! does: Vegas' decision once per RTT ([`crate::avoidance::Vegas`]) on the segments that will wait
//! `lead` round trips from now if they go on as in the last one:
//!
//! ```text
//! queued + lead (queued - queued a round ago)
//! ```
//!
//! Published: the question, how stable Vegas' equilibrium is under delay (abstract of the chapter
//! of the same name, 2005). Known of the paper without having read it again: the cure is the
//! source's alone and uses how fast the queueing delay changes. Inferred: the law above, and a lead
//! of one round trip, which is the delay of the signal; the paper has a gain per source. Losses are
//! answered as Vegas does.

use crate::avoidance::Vegas;
use crate::card::{Card, Listed};
use crate::event::{Ack, Loss};
use crate::knob::{Knob, KnobOf, Knobs};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::view::{View, Window};

/// Vegas with a look ahead.
#[derive(Clone, Copy, Debug)]
pub struct StabilizedVegas {
    vegas: Vegas,
}

impl Listed for StabilizedVegas {
    const CARD: Card = Card::new(
        "stabilized-vegas",
        "Vegas that looks at where the queue is going",
        "Choe and Low, INFOCOM 2003",
    )
    .knobs(Self::KNOBS);
}

impl Observer for StabilizedVegas {
    fn on_handshake(&mut self, view: &View) {
        self.vegas.on_handshake(view);
    }

    #[inline]
    fn on_begin(&mut self, view: &View) {
        self.vegas.on_begin(view);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.vegas.on_ack(ack, view);
    }
}

impl Avoidance for StabilizedVegas {
    fn enter(&mut self, found: &Found, view: &View) {
        self.vegas.enter(found, view);
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // SIGCOMM 1994 (Vegas), on what will be queued `lead` rounds from now; the law is ours.
        self.vegas.step(ack, view)
    }

    fn beta(&self) -> u64 {
        self.vegas.beta()
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        self.vegas.cut(loss, view)
    }
}

impl Default for StabilizedVegas {
    fn default() -> Self {
        let mut vegas = Vegas::default();
        vegas.lead = 1;
        Self { vegas }
    }
}

impl Knobs for StabilizedVegas {
    const ROWS: &'static [KnobOf<Self>] = &[
        KnobOf::part(Vegas::KNOBS.split_at(2).0, |p| &mut p.vegas),
        Knob::new("lead")
            .means("round trips to look ahead; 0 is Vegas (inferred)")
            .count(0..=100, |p| &mut p.vegas.lead),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::KnobValue;

    fn decided_on(lead: u64, queued: [i64; 4]) -> [i64; 4] {
        let mut policy = StabilizedVegas::default();
        assert!(policy.set("lead", KnobValue::Count(lead)));
        queued.map(|queued| policy.vegas.ahead(queued))
    }

    #[test]
    fn a_queue_that_grows_counts_for_what_it_will_be() {
        assert_eq!(decided_on(1, [2, 4, 5, 3]), [2, 6, 6, 1]);
        assert_eq!(decided_on(3, [2, 4, 5, 3]), [2, 10, 8, -3]);
    }

    #[test]
    fn without_a_lead_it_is_vegas() {
        assert_eq!(decided_on(0, [2, 4, 5, 3]), [2, 4, 5, 3]);
    }

    /// A round of 150 ms from the first data, then one of 200 ms: of 20 segments 5 would queue at a
    /// base of 150 ms, and 10 more if it goes on; timed from zero both took 200 ms.
    #[test]
    fn the_first_round_is_timed_from_the_first_data() {
        use crate::testing::{MSS, ack, view};
        use crate::units::Instant;
        let window = |begins: bool| {
            let (mut policy, mut view) = (StabilizedVegas::default(), view(20, MSS * 2));
            view.now = Instant(50_000_000);
            if begins {
                policy.on_begin(&view);
            }
            for (ms, acked) in [(200, 1), (400, 21)] {
                (view.now, view.acked) = (Instant(ms * 1_000_000), MSS * acked);
                view.snd_nxt = view.acked + MSS * 19;
                let ack = crate::event::Ack { rtt: None, ..ack(&view, 1) };
                policy.on_ack(&ack, &view);
                view.window = policy.step(&ack, &view).window;
            }
            view.window.cwnd
        };
        assert_eq!(window(true), MSS * 19 + MSS / 20);
        assert!(window(false) > MSS * 20);
    }

    #[test]
    fn a_queue_of_before_avoidance_began_is_no_trend() {
        let mut policy = StabilizedVegas::default();
        assert_eq!([2, 4].map(|queued| policy.vegas.ahead(queued)), [2, 6]);
        policy.enter(&Found::default(), &crate::testing::view(20, crate::testing::MSS));
        assert_eq!(policy.vegas.ahead(9), 9);
    }
}
