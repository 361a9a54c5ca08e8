//! XCP (Katabi, Handley and Rohrs, "Congestion control for high bandwidth-delay product networks",
//! SIGCOMM 2002): the routers say with every packet by how much each connection's window is to
//! change.
//!
//! What it believes: the routers know how much of the link is free, and share it. What it does:
//! puts the changes that every ACK brings into the window ([`crate::estimate::granted_change`]).
//! The routers' two controllers, of efficiency and of fairness, are in the simulator
//! (`router/xcp.rs`), and only there.
//!
//! Published: the window, and that a loss is answered as TCP answers it (section 3.2): half of the
//! flight stays. Inferred: while a loss is repaired what comes back is not used.

use crate::card::{Card, Listed};
use crate::estimate::granted_change::GrantedChange;
use crate::event::{Ack, Loss};
use crate::feedback::Feedback;
use crate::knob::Knobs;
use crate::linear::halve;
use crate::needs::{Facilities, Needs};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::view::{Phase, View, Window};

/// The routers' changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xcp {
    granted: GrantedChange,
}

impl Listed for Xcp {
    const CARD: Card = Card::new(
        "xcp",
        "the changes that the path's routers give",
        "Katabi and others, SIGCOMM 2002",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Xcp {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::ROUTER_CHANGES)
    }

    fn on_feedback(&mut self, feedback: &Feedback, view: &View) {
        if view.phase == Phase::Avoidance && !view.recovering {
            self.granted.on_feedback(feedback);
        }
    }
}

impl Avoidance for Xcp {
    fn enter(&mut self, _found: &Found, _view: &View) {
        self.granted.forget();
    }

    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        // SIGCOMM 2002, section 3.2: `cwnd = max(cwnd + feedback, one segment)`.
        Window { cwnd: self.granted.apply(view), ..view.window }.hold()
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // SIGCOMM 2002, section 3.2: a loss is answered as TCP answers it.
        self.granted.forget();
        halve(loss, view)
    }
}

impl Knobs for Xcp {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LossKind;
    use crate::testing::{MSS, ack, view};
    use crate::units::Instant;

    fn avoiding(cwnd: u64) -> View {
        View { phase: Phase::Avoidance, ..view(cwnd, MSS * 900) }
    }

    #[test]
    fn the_window_is_what_the_routers_make_of_it_and_nothing_else_grows_it() {
        let (mut policy, view) = (Xcp::default(), avoiding(100));
        assert_eq!(policy.step(&ack(&view, 1), &view).window, view.window);
        policy.on_feedback(&Feedback::Change(-1_600_000), &view);
        policy.on_feedback(&Feedback::Change(800_000), &view);
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 90);
    }

    #[test]
    fn a_loss_halves_and_what_was_reported_before_it_is_void() {
        let (mut policy, view) = (Xcp::default(), avoiding(100));
        policy.on_feedback(&Feedback::Change(800_000), &view);
        let (kind, flight) = (LossKind::Recovery, MSS * 100);
        let loss = Loss::of(Instant(0), kind, MSS, flight);
        assert_eq!(policy.cut(&loss, &view).cwnd, MSS * 50);
        let after = avoiding(50);
        assert_eq!(policy.step(&ack(&after, 1), &after).window.cwnd, MSS * 50);
    }

    #[test]
    fn what_comes_back_in_start_up_or_in_recovery_is_not_kept() {
        let (mut policy, view) = (Xcp::default(), avoiding(100));
        policy.on_feedback(&Feedback::Change(800_000), &View { phase: Phase::Startup, ..view });
        policy.on_feedback(&Feedback::Change(800_000), &View { recovering: true, ..view });
        assert_eq!(policy.step(&ack(&view, 1), &view).window, view.window);
    }

    #[test]
    fn what_was_reported_before_avoidance_began_is_void() {
        let (mut policy, view) = (Xcp::default(), avoiding(100));
        policy.on_feedback(&Feedback::Change(800_000), &view);
        policy.enter(&Found::default(), &view);
        assert_eq!(policy.step(&ack(&view, 1), &view).window, view.window);
    }
}
