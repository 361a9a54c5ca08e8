//! TCP-EBN (Dutta and Zhang, "An early bandwidth notification (EBN) architecture for dynamic
//! bandwidth environments", ICC 2002): cwnd follows the bandwidth that the routers report.
//!
//! What it believes: the rate reported is the connection's. What it does: on every ACK the window
//! is what that rate fills ([`crate::estimate::router_share`]), at once, up or down, and leaves at
//! that rate. Without a rate it is NewReno.
//!
//! Published: cwnd rises and falls by a bandwidth estimate that routers send, in a normalized form;
//! a router needs a state per flow to be accurate, or must assume that flows share fairly
//! (abstract; Agile Probing paper, section VI). The paper was not available. Inferred: the law
//! above; that a loss leaves the window of the reported rate if that is less, because EBN's point
//! is that a loss need not mean a full path. What the routers do is in the simulator
//! (`router/ebn.rs`), and only there.

use crate::card::{Card, Listed};
use crate::estimate::router_share::RouterShare;
use crate::event::{Ack, Loss};
use crate::feedback::Feedback;
use crate::knob::Knobs;
use crate::linear::{LinearGrowth, additive_increase, halve};
use crate::needs::{Facilities, Needs};
use crate::policy::{Avoidance, Observer, Step};
use crate::view::{View, Window};

/// The window of the rate that the routers report.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpEbn {
    share: RouterShare,
    linear: LinearGrowth,
}

impl Listed for TcpEbn {
    const CARD: Card = Card::new(
        "tcp-ebn",
        "the window that the path's routers tell",
        "Dutta and Zhang, ICC 2002",
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
}

impl Avoidance for TcpEbn {
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // ICC 2002 (abstract): cwnd follows the bandwidth reported, up and down. Ours: at once.
        let by_share = self.share.step(view);
        by_share.unwrap_or_else(|| additive_increase(&mut self.linear, ack, view))
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // Ours: a loss leaves the window of the reported rate; without one it is RFC 5681's half.
        let Some(window) = self.share.window(view) else { return halve(loss, view) };
        let left = window.min(view.window.cwnd.max(view.window.ssthresh));
        Window { cwnd: left, ssthresh: left }
    }
}

impl Knobs for TcpEbn {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LossKind;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};
    use crate::units::{Instant, Rate};

    fn reported(rate: u64) -> TcpEbn {
        let mut policy = TcpEbn::default();
        policy.on_feedback(&Feedback::Share(Rate(rate)), &view(10, MSS));
        policy
    }

    fn left(policy: &mut TcpEbn, cwnd: u64) -> u64 {
        let (kind, flight) = (LossKind::Recovery, MSS * cwnd);
        let loss = Loss::of(Instant(0), kind, MSS, flight);
        policy.cut(&loss, &view(cwnd, MSS)).cwnd.0 / MSS.0
    }

    #[test]
    fn the_window_follows_the_reported_rate_up_and_down_at_once() {
        for (rate, segments) in [(5_000_000, 500), (300_000, 30)] {
            let view = view(100, MSS);
            let step = reported(rate).step(&ack(&view, 1), &view);
            assert_eq!(step.window.cwnd, MSS * segments);
            assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(rate))));
        }
    }

    #[test]
    fn a_loss_leaves_the_reported_window_and_half_where_there_is_none() {
        assert_eq!(left(&mut reported(5_000_000), 600), 500);
        assert_eq!(left(&mut reported(5_000_000), 80), 80, "a loss gives nothing");
        assert_eq!(left(&mut TcpEbn::default(), 80), 40);
    }

    #[test]
    fn without_routers_that_report_it_is_newreno() {
        let view = view(10, MSS);
        let step = TcpEbn::default().step(&ack(&view, 1), &view);
        assert_eq!((step.window.cwnd.0, step.pace), (10_100, Pace::Default));
    }
}
