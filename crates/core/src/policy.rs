//! The contract: estimators observe, policies decide, only the sender writes.
//!
//! A policy owns the estimators it uses. Both policies of a sender see every event in every phase,
//! so an estimator is warm when its policy takes over.

use crate::event::{Ack, Loss, Sent};
use crate::feedback::{Feedback, Signals};
use crate::hint::PathHint;
use crate::mechanism::Mechanism;
use crate::registry::AnyAvoidance;
use crate::units::{Bytes, Rate};
use crate::view::{View, Window};

/// Watches the connection in every phase. Estimators and policies share this shape.
pub trait Observer {
    /// The handshake ended; `view.rtt` holds its sample. Not called where none is modelled.
    fn on_handshake(&mut self, _view: &View) {}

    /// New data left. Called if one of the control's policies [`Observer::watches_sends`].
    fn on_sent(&mut self, _sent: &Sent, _view: &View) {}

    /// It has an [`Observer::on_sent`].
    fn watches_sends(&self) -> bool {
        false
    }

    /// An ACK arrived; `view` already counts it. Called before any decision on it.
    fn on_ack(&mut self, _ack: &Ack, _view: &View) {}

    /// The window was cut, or the connection timed out; `view` still has the window before the cut.
    fn on_loss(&mut self, _loss: &Loss, _view: &View) {}

    /// It reads times: `now` and `rtt` of the view or the ACK, or [`Ack::sample`]. Where none of a
    /// control does, a transport need not work them out for every ACK after start-up.
    fn reads_times(&self) -> bool {
        true
    }

    /// What this policy needs the routers of the path to tell it.
    fn listens(&self) -> Signals {
        Signals::NONE
    }

    /// The next ACK brings back what the routers told; called before anything else about it.
    fn on_feedback(&mut self, _feedback: &Feedback, _view: &View) {}

    /// The rate this policy's estimator believes the path has for the connection, if it keeps one.
    /// A start-up's is put into [`View::eligible`] before a loss is answered, so that the avoidance
    /// need not keep it twice.
    fn eligible(&self) -> Option<Rate> {
        None
    }

    /// Reports internal quantities by name, in base units, for traces and reports.
    fn gauges(&self, _report: &mut dyn FnMut(&'static str, u64)) {}
}

/// Why start-up begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The connection is new.
    Connect,
    /// The retransmission timer fired.
    Timeout,
    /// The avoidance policy asked for it ([`Avoidance::wants_reprobe`]).
    Reprobe,
    /// What a hint had led to was taken back ([`Startup::retreat`]).
    Retreat,
}

/// Why start-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// cwnd reached ssthresh.
    Threshold,
    /// The policy saw a queue build or the path fill, before any loss.
    Heuristic,
    /// Duplicate ACKs or SACK reported a loss.
    Loss,
    /// The retransmission timer fired.
    Timeout,
    /// A congestion-experienced mark.
    Mark,
}

impl Exit {
    /// The word for it in results and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threshold => "ssthresh",
            Self::Heuristic => "heuristic",
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Mark => "ecn",
        }
    }
}

/// What a policy decides on one ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Step {
    /// The window from now on.
    pub window: Window,
    /// The rate to pace at from now on; `None` sends as the window allows.
    pub pace: Option<Rate>,
    /// Start-up ends here. Avoidance policies leave it `None`.
    pub exit: Option<Exit>,
}

/// Decides the window until the path is believed full.
pub trait Startup: Observer {
    /// First cwnd and ssthresh of a connection. `default` is the endpoint's own.
    fn open(&self, default: Window, _mss: Bytes) -> Window {
        default
    }

    /// The window after a timeout: one segment (RFC 5681 section 3.1, loss window).
    fn restart_window(&self, mss: Bytes) -> Bytes {
        mss
    }

    /// The rate this start-up wants of the path's routers; what they grant comes back as
    /// [`PathHint::Granted`] where a transport can ask them.
    fn asks(&self) -> Option<Rate> {
        None
    }

    /// Only a transport whose network has routers that answer can run it.
    fn needs_routers(&self) -> bool {
        self.asks().is_some() || self.listens().any()
    }

    /// Something is known of the path before data has left on it: the window to begin with, and
    /// the rate to pace it at until the first ACK.
    fn inform(&mut self, _hint: &PathHint, view: &View) -> Step {
        view.window.hold()
    }

    /// Data was lost, in either phase. The window it leaves, if that is for the start-up to say,
    /// because what was lost had been sent on a hint; start-up then begins again. Otherwise
    /// [`Avoidance::cut`] decides.
    fn retreat(&mut self, _loss: &Loss, _view: &View) -> Option<Window> {
        None
    }

    /// Start-up begins, or begins again.
    fn enter(&mut self, _why: Entry, _view: &View) {}

    /// Decides on an ACK for new data outside recovery. Only [`Step::exit`] ends start-up; if the
    /// window is unchanged then, the avoidance policy decides on the same ACK.
    fn step(&mut self, ack: &Ack, view: &View) -> Step;

    /// Has an ACK passed on to this policy and to `avoidance`. One that stands for a policy chosen
    /// at run time names the one chosen instead; no other need say anything here.
    #[inline(always)]
    fn receive(&mut self, avoidance: &mut impl Avoidance, mechanism: &mut Mechanism, ack: &Ack)
    where
        Self: Sized,
    {
        mechanism.pass_on(ack, self, avoidance);
    }
}

/// Decides the window after start-up, and what a loss costs in either phase.
pub trait Avoidance: Observer {
    /// As [`Startup::needs_routers`].
    fn needs_routers(&self) -> bool {
        self.listens().any()
    }

    /// Avoidance begins, or begins again.
    fn enter(&mut self, _view: &View) {}

    /// Decides on an ACK for new data outside recovery.
    fn step(&mut self, ack: &Ack, view: &View) -> Step;

    /// The window a loss leaves. For [`crate::event::LossKind::Timeout`] the sender takes only
    /// ssthresh from it and restarts at one segment (RFC 5681 section 3.1).
    fn cut(&mut self, loss: &Loss, view: &View) -> Window;

    /// Asks for start-up again; checked after every [`Avoidance::step`]. The wish must be gone
    /// after the next [`Avoidance::enter`].
    fn wants_reprobe(&self) -> bool {
        false
    }

    /// The policy chosen at run time, of one that stands for it ([`Startup::receive`]).
    #[inline(always)]
    fn chosen(&mut self) -> Option<&mut AnyAvoidance> {
        None
    }
}

impl Window {
    /// Keeps the window.
    pub fn hold(self) -> Step {
        Step { window: self, pace: None, exit: None }
    }

    /// Opens cwnd by `bytes`.
    pub fn grow(self, bytes: Bytes) -> Step {
        Self { cwnd: self.cwnd + bytes, ..self }.hold()
    }
}

impl Step {
    /// Sets ssthresh.
    pub fn threshold(mut self, ssthresh: Bytes) -> Self {
        self.window.ssthresh = ssthresh;
        self
    }

    /// Paces at `rate`.
    pub fn paced(mut self, rate: Rate) -> Self {
        self.pace = Some(rate);
        self
    }

    /// Ends start-up.
    pub fn exit(mut self, why: Exit) -> Self {
        self.exit = Some(why);
        self
    }

    /// Ends start-up once cwnd has reached ssthresh: the classic rule, said by the policy, because
    /// Astart stays in start-up above its threshold.
    pub fn until_threshold(self) -> Self {
        if self.window.cwnd >= self.window.ssthresh { self.exit(Exit::Threshold) } else { self }
    }
}
