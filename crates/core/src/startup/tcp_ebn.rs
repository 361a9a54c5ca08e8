//! The start of TCP-EBN (Dutta and Zhang, "An early bandwidth notification (EBN) architecture for
//! dynamic bandwidth environments", ICC 2002): the first window that the routers report.
//!
//! What it believes: the rate that the routers report ([`crate::estimate::router_share`]). What it
//! does: slow start until an ACK brings one; then cwnd and ssthresh become what that rate fills,
//! and start-up ends.
//!
//! Published, in the abstract: explicit notification of bandwidth, a new control that responds
//! promptly to its changes; nothing of a start. The paper was not available. Inferred: everything
//! here.

use crate::card::{Card, Listed};
use crate::estimate::router_share::RouterShare;
use crate::event::Ack;
use crate::feedback::Feedback;
use crate::knob::{KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Exit, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::Bytes;
use crate::view::{View, Window};

/// A jump to the window of the rate that the routers report.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpEbn {
    opening: Opening,
    share: RouterShare,
}

impl Listed for TcpEbn {
    const CARD: Card = Card::new(
        "tcp-ebn",
        "a jump to the window that the path's routers tell",
        "Dutta and Zhang, ICC 2002",
    )
    .with("tcp-ebn")
    .about(
        "The share that routers tell.",
        "The routers.",
        "Without such routers it is slow start, and it jumps to what it is told in one burst.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for TcpEbn {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::ROUTER_SHARES).wanting(Facilities::PACING)
    }

    fn on_feedback(&mut self, feedback: &Feedback, _view: &View) {
        self.share.on_feedback(feedback);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("told_rate", self.share.rate().0);
    }
}

impl Startup for TcpEbn {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // Ours: ICC 2002 has nothing of a start. A reported rate ends it.
        let Some(step) = self.share.step(view) else { return double(ack, view) };
        step.threshold(step.window.cwnd).exit(Exit::Heuristic)
    }
}

impl Knobs for TcpEbn {
    const ROWS: &'static [KnobOf<Self>] = &[opening(|p| &mut p.opening)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};
    use crate::units::Rate;

    #[test]
    fn it_is_slow_start_until_a_rate_is_reported_and_then_that_window_at_that_rate() {
        let (mut policy, first) = (TcpEbn::default(), view(2, MSS * 32));
        assert_eq!(policy.step(&ack(&first, 1), &first).window.cwnd, MSS * 3);
        policy.on_feedback(&Feedback::Share(Rate(5_000_000)), &first);
        let step = policy.step(&ack(&first, 1), &first);
        assert_eq!(step.window, Window { cwnd: MSS * 500, ssthresh: MSS * 500 });
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(5_000_000))));
        assert_eq!(step.exit, Some(Exit::Heuristic));
    }

    #[test]
    fn its_gauge_is_the_reported_rate() {
        let mut policy = TcpEbn::default();
        policy.on_feedback(&Feedback::Share(Rate(5_000_000)), &view(2, MSS * 32));
        assert_eq!(crate::testing::gauge(&policy, "told_rate"), Some(5_000_000));
    }
}
