//! The start of XCP (Katabi, Handley and Rohrs, "Congestion control for high bandwidth-delay
//! product networks", SIGCOMM 2002), which has no slow start: the routers say from the first packet
//! on how much faster each connection may become.
//!
//! What it believes: the routers. What it does: puts the changes that every ACK brings into the
//! window ([`crate::estimate::granted_change`]), and leaves start-up after the first round trip in
//! which they came to nothing or less again: the routers have no more to give. ssthresh does not
//! matter to it, and becomes the window it leaves. What the routers do is in the simulator
//! (`router/xcp.rs`), and only there.
//!
//! Published: all of the above but the end. Inferred: the end, since XCP itself has one phase only;
//! `xcp+newreno` takes it for the moment to go on without routers. While a loss is repaired
//! what comes back is not used.

use crate::card::{Card, Listed};
use crate::estimate::granted_change::GrantedChange;
use crate::event::{Ack, Loss};
use crate::feedback::Feedback;
use crate::knob::{KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::{IW, Opening};
use crate::policy::{Entry, Exit, Observer, Startup, Step};
use crate::view::{Phase, View, Window};

/// The routers' changes, until they come to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xcp {
    opening: Opening,
    granted: GrantedChange,
    /// A round trip has brought a gain.
    gained: bool,
}

impl Listed for Xcp {
    const CARD: Card = Card::new(
        "xcp",
        "a window that the path's routers raise packet by packet",
        "Katabi and others, SIGCOMM 2002",
    )
    .with("xcp")
    .about(
        "The change of cwnd that the path's routers write into the header of each packet.",
        "The routers.",
        "Without such routers it cannot run.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Xcp {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::ROUTER_CHANGES)
    }

    fn on_feedback(&mut self, feedback: &Feedback, view: &View) {
        if view.phase == Phase::Startup && !view.recovering {
            self.granted.on_feedback(feedback);
        }
    }

    fn on_loss(&mut self, _loss: &Loss, _view: &View) {
        self.granted.forget();
    }
}

impl Startup for Xcp {
    fn open(&self, default: Window, mss: crate::units::Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn enter(&mut self, _why: Entry, _view: &View) {
        self.granted.forget();
        self.gained = false;
    }

    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        // SIGCOMM 2002, section 3.2: the window changes by what each ACK brings. Ours: a round
        // without a gain after one with a gain ends start-up.
        let spare = if view.round_start { self.granted.end_round() } else { None };
        let window = Window { cwnd: self.granted.apply(view), ..view.window };
        match spare {
            Some(sum) if sum > 0 => self.gained = true,
            Some(_) if self.gained => {
                return window.hold().threshold(window.cwnd).exit(Exit::Heuristic);
            }
            _ => {}
        }
        window.hold()
    }
}

impl Knobs for Xcp {
    const ROWS: &'static [KnobOf<Self>] = &[KnobOf::part(&[IW], |p| &mut p.opening)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};

    fn step(policy: &mut Xcp, change: i64, view: &View) -> Step {
        policy.on_feedback(&Feedback::Change(change), view);
        policy.step(&ack(view, 1), view)
    }

    #[test]
    fn the_window_is_what_the_routers_make_of_it_whatever_ssthresh_is() {
        let mut policy = Xcp::default();
        // 40 Mbit/s over 100 ms are 500 segments.
        let grown = step(&mut policy, 40_000_000, &view(10, MSS * 32));
        assert_eq!((grown.window.cwnd, grown.exit), (MSS * 510, None));
        let shrunk = step(&mut policy, -800_000, &view(510, MSS * 32));
        assert_eq!((shrunk.window.cwnd, shrunk.exit), (MSS * 500, None));
    }

    #[test]
    fn a_round_without_a_gain_ends_start_up() {
        let mut policy = Xcp::default();
        let round = View { round_start: true, ..view(10, MSS * 32) };
        assert_eq!(policy.step(&ack(&round, 1), &round).exit, None, "nothing was reported yet");
        // The routers give nothing to a packet that left before there was an RTT.
        assert_eq!(step(&mut policy, 0, &round).exit, None);
        assert_eq!(step(&mut policy, 8_000, &round).exit, None);
        let end = step(&mut policy, -8_000, &round);
        assert_eq!(end.exit, Some(Exit::Heuristic));
        assert_eq!(end.window.ssthresh, end.window.cwnd);
    }

    #[test]
    fn what_comes_back_in_avoidance_or_in_recovery_is_not_kept() {
        let mut policy = Xcp::default();
        let avoidance = View { phase: Phase::Avoidance, ..view(10, MSS * 32) };
        policy.on_feedback(&Feedback::Change(800_000), &avoidance);
        let recovery = View { recovering: true, ..view(10, MSS * 32) };
        policy.on_feedback(&Feedback::Change(800_000), &recovery);
        let view = view(10, MSS * 32);
        assert_eq!(policy.step(&ack(&view, 1), &view).window, view.window);
    }

    #[test]
    fn what_was_granted_before_a_loss_or_a_new_start_is_forgotten() {
        let view = view(10, MSS * 32);
        let (kind, now) = (crate::event::LossKind::Recovery, crate::units::Instant(0));
        let loss = Loss::of(now, kind, MSS, MSS * 10);
        let left = |forget: &dyn Fn(&mut Xcp)| {
            let mut policy = Xcp::default();
            policy.on_feedback(&Feedback::Change(800_000), &view);
            forget(&mut policy);
            policy.step(&ack(&view, 1), &view).window.cwnd
        };
        assert_eq!(left(&|_| ()), MSS * 20);
        assert_eq!(left(&|policy| policy.on_loss(&loss, &view)), MSS * 10);
        assert_eq!(left(&|policy| policy.enter(Entry::Timeout, &view)), MSS * 10);
    }

    #[test]
    fn start_up_gains_anew_before_it_ends() {
        let mut policy = Xcp::default();
        let round = View { round_start: true, ..view(10, MSS * 32) };
        assert_eq!(step(&mut policy, 8_000, &round).exit, None);
        policy.enter(Entry::Timeout, &round);
        assert_eq!(step(&mut policy, -8_000, &round).exit, None);
    }
}
