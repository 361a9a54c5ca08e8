//! One test for all transports: a start-up that checks every event and call as it comes. Behind the
//! feature `conformance`, which takes the standard library.
//!
//! A transport's test runs a [`Recorder`] over a script of its own, with what the transport
//! declares to provide, and asks for the [`Report`]: what was promised arrives, once, in order, and
//! the totals agree with the transport's own.

mod report;

extern crate std;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::needs::Facilities;
use crate::policy::{Answer, Startup, Step};
use crate::startup::SlowStart;
use crate::units::{Bytes, Rate, Span};
use crate::view::View;

pub use report::Report;

/// A start-up that decides as `S` does, needs all that the transport provides, and checks what is
/// reported to it. All its copies write into one report, so that undoing a loss takes nothing out
/// of it: one recorder is for one connection.
#[derive(Clone, Debug)]
pub struct Recorder<S = SlowStart> {
    inner: S,
    answer: Option<Answer>,
    pace: Option<Rate>,
    report: Arc<Mutex<Report>>,
}

impl Recorder {
    /// Around slow start, for a transport that provides `these`.
    pub fn new(these: Facilities) -> Self {
        Self::around(SlowStart::default(), these)
    }
}

impl<S> Recorder<S> {
    /// Around another start-up.
    pub fn around(inner: S, these: Facilities) -> Self {
        let report = Arc::new(Mutex::new(Report::on(these)));
        Self { inner, answer: None, pace: None, report }
    }

    /// Answers every loss so, and not as the inner start-up does.
    #[must_use]
    pub fn answering(self, answer: Answer) -> Self {
        Self { answer: Some(answer), ..self }
    }

    /// The transport's clock measures RTTs in ticks of this length; without it they are exact.
    #[must_use]
    pub fn ticking(self, tick: Span) -> Self {
        self.book().set_tick(tick);
        self
    }

    /// Sets this pacing rate from the first data on, and checks that what leaves keeps to it while
    /// start-up lasts. Takes a transport that provides [`Facilities::PACING`].
    #[must_use]
    pub fn paced(self, rate: Rate) -> Self {
        Self { pace: Some(rate), ..self }
    }

    /// The transport's pacer lets so many bytes leave at once, and the rate holds beyond them.
    /// Small windows may then never wait for the pacer.
    #[must_use]
    pub fn in_bursts_of(self, burst: Bytes) -> Self {
        self.book().set_burst(burst);
        self
    }

    /// What has been reported to it by now.
    pub fn report(&self) -> Report {
        self.book().clone()
    }

    fn book(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A decision, paced and with a wish to be woken.
    fn with_wishes(&self, mut step: Step, view: &View) -> Step {
        let mut report = self.book();
        if let Some(rate) = self.pace {
            step = step.paced(rate);
            report.on_paced(rate, view);
        }
        if let Some(at) = step.wake {
            report.wishes_wake(at);
        } else if report.wants_wake() {
            let at = view.now + WAKE_AFTER;
            report.wishes_wake(at);
            step = step.wake_at(at);
        }
        step
    }
}

/// Report and start-up both see an event, the report first; the start-up alone is asked.
macro_rules! report_and_start_up {
    ({} $self:ident.needs()) => {
        $self.inner.needs().wanting($self.book().promised())
    };
    ({} $self:ident.eligible()) => {
        $self.inner.eligible()
    };
    ({} $self:ident.follows_model()) => {
        $self.inner.follows_model()
    };
    ({} $self:ident.gauges($report:ident)) => {
        $self.inner.gauges($report)
    };
    ({} $self:ident.$event:ident($($argument:ident),*)) => {{
        $self.book().$event($($argument),*);
        $self.inner.$event($($argument),*);
    }};
}

crate::pass_on_observer! { Recorder<S: Startup>, report_and_start_up! {} }

/// The questions to start-ups that the report sees too. A question that is not named here goes to
/// the start-up inside alone.
macro_rules! reported {
    ({} $self:ident.inform($hint:ident, $view:ident)) => {{
        $self.book().on_hint($hint);
        $self.inner.inform($hint, $view)
    }};
    ({} $self:ident.begin($view:ident)) => {{
        let step = $self.inner.begin($view);
        $self.with_wishes(step, $view)
    }};
    ({} $self:ident.step($ack:ident, $view:ident)) => {{
        $self.book().on_step($ack, $view);
        let step = $self.inner.step($ack, $view);
        let step = $self.with_wishes(step, $view);
        if step.exit.is_some() {
            $self.book().on_exit();
        }
        step
    }};
    ({} $self:ident.answer($loss:ident, $view:ident)) => {{
        let answer = $self.answer.unwrap_or_else(|| $self.inner.answer($loss, $view));
        $self.book().on_answer(answer, $loss);
        answer
    }};
    ({} $self:ident.recovering($ack:ident, $view:ident)) => {{
        $self.book().on_recovering($view);
        let step = $self.inner.recovering($ack, $view);
        $self.with_wishes(step, $view)
    }};
    ({} $self:ident.on_wake($view:ident)) => {{
        $self.book().on_wake($view);
        $self.inner.on_wake($view)
    }};
    ({} $self:ident.repeats($view:ident)) => {{
        let repeats = $self.inner.repeats($view);
        $self.book().on_asked_to_repeat(repeats, $view);
        repeats
    }};
    ({} $self:ident.$question:ident($($argument:ident),*)) => {
        $self.inner.$question($($argument),*)
    };
}

crate::pass_on_startup! { Recorder<S: Startup>, reported! {} }

/// When a recorder asks to be woken after a decision.
const WAKE_AFTER: Span = Span::from_millis(10);
