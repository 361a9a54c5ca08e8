//! `landed(x)`: the growth of any start-up, and one landing for all of them, so that growth can be
//! compared.
//!
//! What it believes: how a start-up grows and what it does when it has overshot are two
//! questions. Many start-ups end with the window they happened to have, which is some rounds too
//! old or holds a queue. What the path delivered says more. What it does, in the first slow start:
//!
//! ```text
//! x leaves by what it saw (Exit::Heuristic):
//!     pipe = minrtt * the larger of what arrived in the last minrtt/4 and in the last minrtt,
//!            each per its time
//!     leave with min(x's window, 1.1 pipe)
//! a loss or a mark at which x leaves or lands:
//!     land at 0.85 of what arrives of what is outstanding, as Rapid Start does; leave
//! all else, and until then:   x
//! ```
//!
//! A quarter of a minrtt, because the path has just become full: what arrived in the whole of it
//! left while the window was smaller by a half (doubling) or more. The whole counts where ACKs come
//! in lumps, of which the quarter may have none. 1.1 is Scout's: what delayed ACKs can hide, one
//! packet in ten.
//!
//! Known before: the landing by counting (draft-kazuho-ccwg-rapid-start section 3.3), and a window
//! of rate times minrtt (TCP Westwood). Ours: both behind any growth. Scout has them built in.
//!
//! A start-up that ends at a given ssthresh, retreats from a hint or ignores a loss has its way.

use crate::estimate::ack_history::AckHistory;
use crate::event::{Ack, Loss, LossKind};
use crate::landing::{BETA, LEAST_SEGMENTS, Landing};
use crate::needs::Facilities;
use crate::policy::{Answer, Exit, Found, Startup, Step};
use crate::units::{Bytes, Span};
use crate::view::{Phase, View, Window};

/// A start-up with another landing.
#[derive(Clone, Debug)]
pub struct DeliveryExit<S> {
    startup: S,
    /// It is the first slow start of the connection; later ones of a start-up that has them
    /// ([`Startup::once`]) end as that does.
    first: bool,
    /// What arrived in the last minrtt.
    history: AckHistory,
    /// The recovery of the first loss.
    landing: Option<Landing>,
    /// What the path holds, once start-up has ended without a loss.
    pipe: Option<Bytes>,
}

impl<S> DeliveryExit<S> {
    /// The growth of this start-up.
    pub const fn new(startup: S) -> Self {
        Self { startup, first: true, history: AckHistory::new(), landing: None, pipe: None }
    }

    /// The start-up inside.
    pub const fn startup(&self) -> &S {
        &self.startup
    }

    /// The start-up inside, to set its knobs.
    pub const fn startup_mut(&mut self) -> &mut S {
        &mut self.startup
    }

    /// Notes what arrives in the first slow start.
    fn take_in(&mut self, ack: &Ack, view: &View) {
        if self.first && view.phase == Phase::Startup && ack.credited > Bytes(0) {
            let credited = ack.credited.0.try_into().unwrap_or(u32::MAX);
            self.history.push(ack.now.0, credited, view.rtt.min.0);
        }
    }

    /// What arrives in a minrtt at the rate of the last ACKs.
    fn arrives(&mut self, min_rtt: Span) -> Bytes {
        let quarter = Span(min_rtt.0 / 4).max(Span(1));
        let newest = Bytes(self.history.within(quarter.0).into()).per(quarter).over(min_rtt);
        newest.max(Bytes(self.history.within_span(min_rtt.0).into()))
    }

    /// The end of start-up, if this is one.
    fn land(&mut self, step: Step, view: &View) -> Step {
        if step.exit != Some(Exit::Heuristic) || !self.first || view.rtt.min == Span::MAX {
            return step;
        }
        let pipe = self.arrives(view.rtt.min);
        self.pipe = Some(pipe);
        let most = pipe.scaled(11, 10).max(view.mss * LEAST_SEGMENTS);
        let cwnd = step.window.cwnd.min(most);
        Step { window: Window { cwnd, ssthresh: cwnd }, ..step }
    }

    /// What is known of the path in the place of what the start-up inside has found.
    fn found_instead(&self, found: Found, view: &View) -> Found {
        match (self.landing, self.pipe) {
            (Some(landing), _) => {
                Found { peak: landing.peak(view.window.cwnd), ..Found::default() }
            }
            (None, Some(_)) => Found { pipe: self.pipe, peak: None, ..found },
            (None, None) => found,
        }
    }
}

impl<S: Startup> DeliveryExit<S> {
    /// A loss or a mark at which the start-up inside leaves or lands begins a landing.
    fn answer_loss(&mut self, loss: &Loss, view: &View) -> Answer {
        let answer = self.startup.answer(loss, view);
        let ends = matches!(answer, Answer::Leave | Answer::Land(_));
        let in_first = self.first && view.phase == Phase::Startup;
        if !ends || !in_first || loss.kind == LossKind::Timeout {
            return answer;
        }
        let landing = Landing::from_outstanding(loss, view, BETA);
        self.landing = Some(landing);
        Answer::Land(landing.window(view.window))
    }

    /// An ACK of a recovery in which it, or the start-up inside, sets the window.
    fn recover(&mut self, ack: &Ack, view: &View) -> Step {
        let Some(landing) = &mut self.landing else {
            let step = self.startup.recovering(ack, view);
            return self.land(step, view);
        };
        landing.on_ack(ack);
        landing.window(view.window).hold()
    }
}

/// The calls of the contract in which `landed` does something besides passing the call on to the
/// start-up inside. Calls that are not named here are only passed on.
macro_rules! around_the_start_up {
    ({} $self:ident.needs()) => {
        $self.startup.needs() | Needs::required(Facilities::TIMES | Facilities::RECOVERY_WINDOW)
    };
    ({} $self:ident.on_ack($ack:ident, $view:ident)) => {{
        $self.take_in($ack, $view);
        $self.startup.on_ack($ack, $view);
    }};
    ({} $self:ident.on_further_loss($loss:ident, $view:ident)) => {{
        if let Some(landing) = &mut $self.landing {
            landing.on_loss($loss);
        }
        $self.startup.on_further_loss($loss, $view);
    }};
    ({} $self:ident.gauges($report:ident)) => {{
        $self.startup.gauges($report);
        $report("landed_pipe", $self.pipe.unwrap_or_default().0);
        $report("landed_acked", $self.landing.map_or(0, |landing| landing.acked.0));
    }};
    ({} $self:ident.enter($why:ident, $view:ident)) => {{
        $self.first = $why == Entry::Connect;
        ($self.landing, $self.pipe) = (None, None);
        $self.startup.enter($why, $view);
    }};
    ({} $self:ident.step($ack:ident, $view:ident)) => {{
        let step = $self.startup.step($ack, $view);
        $self.land(step, $view)
    }};
    ({} $self:ident.on_wake($view:ident)) => {{
        let step = $self.startup.on_wake($view);
        $self.land(step, $view)
    }};
    ({} $self:ident.answer($loss:ident, $view:ident)) => {
        $self.answer_loss($loss, $view)
    };
    ({} $self:ident.recovering($ack:ident, $view:ident)) => {
        $self.recover($ack, $view)
    };
    ({} $self:ident.land_further($loss:ident, $view:ident)) => {
        match $self.landing {
            Some(_) => $view.window,
            None => $self.startup.land_further($loss, $view),
        }
    };
    ({} $self:ident.landed_at($view:ident)) => {
        match $self.landing {
            Some(_) => $view.window.cwnd,
            None => $self.startup.landed_at($view),
        }
    };
    ({} $self:ident.found($view:ident)) => {
        $self.found_instead($self.startup.found($view), $view)
    };
    ({} $self:ident.$call:ident($($argument:ident),*)) => {
        $self.startup.$call($($argument),*)
    };
}

crate::pass_on_observer! { DeliveryExit<S: Observer>, around_the_start_up! {} }

crate::pass_on_startup! { DeliveryExit<S: Startup>, around_the_start_up! {} }

#[cfg(test)]
#[allow(clippy::panic, reason = "it fails the test")]
mod tests {
    use super::*;
    use crate::policy::{Entry, Observer};
    use crate::startup::{RapidStart, SlowStart};
    use crate::testing::{MSS, ack, gauge, view};
    use crate::units::{Instant, Rate};

    /// Slow start that leaves, and answers a loss, as its fields say.
    #[derive(Clone, Debug, Default)]
    struct Inner {
        leaves: bool,
        answer: Option<Answer>,
    }

    impl Observer for Inner {}

    impl Startup for Inner {
        fn step(&mut self, ack: &Ack, view: &View) -> Step {
            let step = view.window.grow(ack.acked);
            if self.leaves { step.exit(Exit::Heuristic) } else { step }
        }

        fn answer(&mut self, _loss: &Loss, _view: &View) -> Answer {
            self.answer.unwrap_or(Answer::Leave)
        }

        fn found(&self, _view: &View) -> Found {
            Found { peak: Some(MSS * 7), rate: Some(Rate(5)), ..Found::default() }
        }
    }

    /// What the last of such ACKs leads to, one every so many milliseconds each.
    fn acks(landed: &mut DeliveryExit<Inner>, gaps: &[(u64, u64)]) -> Step {
        let mut view = view(100, Bytes::MAX);
        view.now = Instant(0) + Span::from_secs(1);
        let mut step = view.window.hold();
        for (count, gap_ms) in gaps {
            for _ in 0..*count {
                view.now = view.now + Span::from_millis(*gap_ms);
                let ack = ack(&view, 1);
                landed.on_ack(&ack, &view);
                step = landed.step(&ack, &view);
            }
        }
        step
    }

    #[test]
    fn until_the_start_up_inside_ends_it_decides() {
        let mut landed = DeliveryExit::new(Inner::default());
        let step = acks(&mut landed, &[(40, 5)]);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 101, None));
        assert_eq!(landed.growth(), 2);
        assert_eq!(landed.found(&view(10, Bytes::MAX)).peak, Some(MSS * 7));
    }

    #[test]
    fn it_lands_at_what_arrived_in_the_last_quarter_of_the_smallest_rtt() {
        let mut landed = DeliveryExit::new(Inner { leaves: true, answer: None });
        // 20 per RTT, and then, in the last 25 ms, 10: 40 per RTT of 100 ms.
        let step = acks(&mut landed, &[(40, 5), (12, 2)]);
        let quarter = 12 + 1;
        let expected = MSS * (quarter * 4) * 11 / 10;
        let found = landed.found(&view(10, Bytes::MAX));
        assert_eq!((found.pipe, found.peak, found.rate), (Some(MSS * 52), None, Some(Rate(5))));
        assert_eq!(step.window, Window { cwnd: expected, ssthresh: expected });
        assert_eq!(step.exit, Some(Exit::Heuristic));
    }

    #[test]
    fn where_acks_come_in_lumps_the_whole_rtt_counts() {
        let mut landed = DeliveryExit::new(Inner { leaves: true, answer: None });
        // Thirty within 30 ms, 40 ms ago, and one now.
        let step = acks(&mut landed, &[(30, 1), (1, 40)]);
        assert_eq!(step.window.cwnd, MSS * 31 * 11 / 10);
    }

    #[test]
    fn it_never_lands_above_the_start_up_inside_or_below_four_segments() {
        let mut landed = DeliveryExit::new(Inner { leaves: true, answer: None });
        // Five per millisecond would be 500 per RTT.
        let step = acks(&mut landed, &[(5, 0), (5, 1), (5, 0), (5, 0), (5, 0), (5, 0)]);
        assert_eq!(step.window.cwnd, MSS * 101);
        // Before any ACK has been counted.
        let mut landed = DeliveryExit::new(Inner { leaves: true, answer: None });
        let view = view(100, Bytes::MAX);
        assert_eq!(landed.step(&ack(&view, 1), &view).window.cwnd, MSS * 4);
    }

    fn lost(kind: LossKind) -> Loss {
        Loss::of(Instant(0), kind, MSS, MSS * 99)
    }

    #[test]
    fn a_loss_lands_at_a_share_of_what_arrives_of_what_was_outstanding() {
        let mut landed = DeliveryExit::new(Inner::default());
        let mut view = view(400, Bytes::MAX);
        view.snd_nxt = MSS * 50;
        let Answer::Land(window) = landed.answer(&lost(LossKind::Recovery), &view) else {
            panic!()
        };
        // (0.85 + 0.1) (50 - 1).
        assert_eq!(window.cwnd, Bytes(46_550));
        landed.on_further_loss(&Loss { lost: MSS * 9, ..lost(LossKind::Recovery) }, &view);
        view.window = window;
        let step = landed.recovering(&ack(&view, 40), &view);
        assert_eq!(step.window.cwnd, MSS * 34, "40 of 50 arrived");
        assert_eq!(gauge(&landed, "landed_acked"), Some(40_000));
        view.window = step.window;
        assert_eq!(landed.found(&view).peak, Some(MSS * 40));
        assert_eq!(landed.landed_at(&view), MSS * 34);
        assert_eq!(landed.land_further(&lost(LossKind::Recovery), &view), view.window);
    }

    #[test]
    fn its_landing_takes_the_place_of_the_start_up_s_own() {
        let mut landed = DeliveryExit::new(RapidStart::default());
        let mut view = view(50, Bytes::MAX);
        landed.enter(Entry::Connect, &view);
        let Answer::Land(window) = landed.answer(&lost(LossKind::Mark), &view) else { panic!() };
        assert_eq!(window.cwnd, Bytes(46_550));
        view.window = window;
        // Rapid Start itself would leave half.
        assert_eq!(landed.recovering(&ack(&view, 49), &view).window.cwnd, Bytes(41_650));
        assert_eq!(landed.growth(), 3);
    }

    #[test]
    fn timeouts_retreats_and_what_is_ignored_are_the_start_up_s() {
        let view = view(50, Bytes::MAX);
        let answer = |answer, kind| {
            DeliveryExit::new(Inner { leaves: false, answer }).answer(&lost(kind), &view)
        };
        let retreat = Answer::Retreat(view.window);
        assert_eq!(answer(Some(retreat), LossKind::Recovery), retreat);
        assert_eq!(answer(Some(Answer::Ignore), LossKind::Recovery), Answer::Ignore);
        assert_eq!(answer(None, LossKind::Timeout), Answer::Leave);
    }

    #[test]
    fn later_slow_starts_and_a_given_threshold_are_the_start_up_s() {
        let mut landed = DeliveryExit::new(Inner { leaves: true, answer: None });
        landed.enter(Entry::Timeout, &view(1, Bytes::MAX));
        assert_eq!(acks(&mut landed, &[(20, 5)]).window.cwnd, MSS * 101);
        let view = view(50, Bytes::MAX);
        assert_eq!(landed.answer(&lost(LossKind::Recovery), &view), Answer::Leave);
        let mut landed = DeliveryExit::new(SlowStart::default());
        let mut view = self::view(50, MSS * 50);
        view.rtt.min = Span::MAX;
        let step = landed.step(&ack(&view, 1), &view);
        assert_eq!((step.window.cwnd, step.exit), (MSS * 50, Some(Exit::Threshold)));
    }

    #[test]
    fn it_needs_what_the_start_up_needs_and_a_window_in_a_recovery() {
        let needs = DeliveryExit::new(Inner::default()).needs();
        assert_eq!(needs.required, Facilities::TIMES | Facilities::RECOVERY_WINDOW);
    }
}
