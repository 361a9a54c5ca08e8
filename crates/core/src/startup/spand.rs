//! SPAND-style start: a new connection takes the window that connections of its site have learned
//! the path to hold, and sends it evenly.
//!
//! Published: SPAND (Seshan, Stemm and Katz, "Shared Passive Network Performance Discovery", USITS
//! 1997) lets the hosts of a site share what their transfers measured; Zhang, Qiu and Keshav
//! ("Optimizing TCP Start-up Performance", Cornell, 1999) choose the first cwnd and ssthresh of a
//! connection from it, and pace with a leaky bucket, without which the first window is one burst.
//! The Astart paper (section II) says so much of it and that the pacing is the costly part.
//!
//! Inferred: how the two values are chosen, as the two papers were not at hand. Both are what the
//! path held: the ssthresh of the newest connection of the site over the same path, half the
//! window at its last loss, or its cwnd if it had no loss. So no slow start is left to do. The
//! first window is paced over the smallest RTT, so all of it has left when the first ACK comes,
//! from which on ACKs space the data. Losses are answered by the avoidance, whether or not the
//! shared window was too large: neither source has a way back.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::hint::{PathHint, TEN_MINUTES, max_age};
use crate::knob::{KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// Starts at the window its site knows of, else with slow start.
#[derive(Clone, Copy, Debug)]
pub struct Spand {
    opening: Opening,
    max_age: Span,
}

impl Listed for Spand {
    const CARD: Card = Card::new(
        "spand",
        "starts at the window that connections of its site have learned",
        "SPAND, USITS 1997; Zhang and others, 1999",
    )
    .with("newreno")
    .about(
        "What connections of the site learned of this path.",
        "What the path held for others it holds now.",
        "Without a memory it is slow start. It has no way back from a window that is too large.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Spand {
    fn needs(&self) -> Needs {
        Needs::TIMES.wanting(Facilities::MEMORY | Facilities::PACING)
    }
}

impl Startup for Spand {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        let ordinary = view.window;
        let PathHint::Shared(last) = hint else { return ordinary.hold() };
        // Astart paper, section II: a new connection takes what its site has learned, and paces it.
        // Ours: which values that are.
        let held = last.window.ssthresh.min(last.window.cwnd).whole_segments(view.mss);
        if last.age > self.max_age || held <= ordinary.cwnd {
            return ordinary.hold();
        }
        Window { cwnd: held, ssthresh: held }.hold().paced(held.per(last.min_rtt))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        double(ack, view)
    }
}

impl Default for Spand {
    fn default() -> Self {
        Self { opening: Opening::default(), max_age: TEN_MINUTES }
    }
}

impl Knobs for Spand {
    const ROWS: &'static [KnobOf<Self>] =
        &[opening(|p| &mut p.opening), max_age(|p| &mut p.max_age)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::Learned;
    use crate::pacing::Pacing;
    use crate::policy::{Exit, Pace};
    use crate::testing::{MSS, ack, view};
    use crate::units::Rate;

    fn opened(cwnd: u64, ssthresh: Bytes) -> Step {
        opened_after(5, cwnd, ssthresh)
    }

    fn opened_after(age_s: u64, cwnd: u64, ssthresh: Bytes) -> Step {
        let rtt = Span::from_millis(200);
        let window = Window { cwnd: MSS * cwnd, ssthresh };
        let (delivered, age) = (MSS * 1_000, Span::from_secs(age_s));
        let (min_rtt, per_round) = (rtt, window.cwnd);
        let hint = PathHint::Shared(Learned {
            window,
            rtt,
            min_rtt,
            delivered,
            per_round,
            rate: None,
            age,
        });
        Spand::default().inform(&hint, &view(1, MSS * 32))
    }

    #[test]
    fn it_starts_where_the_path_held_and_paces_the_first_window() {
        let step = opened(70, MSS * 50);
        assert_eq!(step.window, Window { cwnd: MSS * 50, ssthresh: MSS * 50 });
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(250_000))));
        let without_loss = opened(60, Bytes::MAX);
        assert_eq!(without_loss.window, Window { cwnd: MSS * 60, ssthresh: MSS * 60 });
    }

    #[test]
    fn the_first_ack_is_for_avoidance() {
        let view = view(50, MSS * 50);
        let step = Spand::default().step(&ack(&view, 1), &view);
        assert_eq!((step.window, step.exit), (view.window, Some(Exit::Threshold)));
    }

    #[test]
    fn a_connection_that_learned_less_than_the_first_window_changes_nothing() {
        assert_eq!(opened(1, Bytes::MAX), view(1, MSS * 32).window.hold());
    }

    #[test]
    fn what_is_ten_minutes_old_is_used_and_what_is_older_is_not() {
        let cwnd = |age_s| opened_after(age_s, 70, MSS * 50).window.cwnd;
        assert_eq!([600, 601].map(cwnd), [MSS * 50, MSS]);
    }
}
