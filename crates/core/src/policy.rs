//! The contract: estimators observe, policies decide, only the sender writes.
//!
//! A policy owns the estimators it uses. Both policies of a sender see every event in every phase,
//! so an estimator is warm when its policy takes over. Both traits are object-safe, and know
//! neither the sender nor any policy by name.
//!
//! The calls in the order of a connection's life. Both policies see every event ([`Observer`]); the
//! last column says who is asked what to do.
//!
//! ```text
//! when                               both see          who decides
//! the connection begins                                Startup::open, then enter
//! the SYN may ask the routers                          Startup::asks
//! the handshake ended                on_handshake
//! something is known of the path                       Startup::inform
//! the first data is about to leave   on_begin          Startup::begin
//! routers reported something         on_feedback
//! an ACK, in start-up                on_ack            Startup::step, then repeats
//! start-up's wake-up                                   Startup::on_wake
//! start-up ended                                       Startup::found, passed to Avoidance::enter
//! an ACK, after start-up             on_ack            Avoidance::step, then wants_reprobe
//! a loss, a mark or a timeout        on_loss           Startup::answer, or Avoidance::cut
//! more of that loss                  on_further_loss   Startup::land_further, if it lands
//! an ACK, in the recovery            on_ack            recovering, of a policy still in charge
//! the recovery is over                                 Startup::landed_at, if it lands
//! a timeout, after the cut                             Startup::restart_window, then enter
//! the loss was spurious                                both are what they were
//! data leaves after a rest           on_rest           Startup::enter, if below ssthresh
//! ```
//!
//! A connection begins in steps, because what is known of it comes in steps. It has a window from
//! the first ([`Startup::open`]) and a start-up that is in charge ([`Startup::enter`]); a control
//! that is chosen for a socket that has sent already, as Linux allows, has no more. Hints may come
//! without data to follow them ([`Startup::inform`]). Data that is about to leave concerns both
//! policies, which see it as they see an ACK ([`Observer::on_begin`]), and the start-up decides
//! ([`Startup::begin`]).
//!
//! Where a start-up that is for the first slow start only ([`Startup::once`]) would begin again,
//! the sender grows as slow start does, and asks it nothing but what it has found.
//!
//! At any time both are asked for [`Observer::needs`], [`Observer::eligible`], `growth` and
//! [`Observer::gauges`], the start-up for [`Startup::once`] and [`Startup::refutes_hint`], the
//! avoidance for [`Avoidance::beta`] and [`Avoidance::goes_on`].

use crate::event::{Ack, Loss, LossKind};
use crate::feedback::Feedback;
use crate::hint::PathHint;
use crate::needs::Needs;
use crate::pacing::Pacing;
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Eligible, View, Window};

/// Watches the connection in every phase. Estimators and policies share this shape.
pub trait Observer {
    /// What this policy needs of the transport besides ACKs and losses. No other place says so. A
    /// transport that lacks something required refuses the policy, and a transport may leave out
    /// what neither policy needs.
    fn needs(&self) -> Needs {
        Needs::TIMES
    }

    /// The handshake ended; `view.rtt` holds its sample. Not called where none is modelled.
    fn on_handshake(&mut self, _view: &View) {}

    /// The first data is about to leave: all that the transport knows before has been reported.
    fn on_begin(&mut self, _view: &View) {}

    /// An ACK arrived; `view` already counts it. Called before any decision on it.
    fn on_ack(&mut self, _ack: &Ack, _view: &View) {}

    /// Data was lost, or the connection timed out, and the window will be cut for it; `view` still
    /// has the window before the cut.
    fn on_loss(&mut self, _loss: &Loss, _view: &View) {}

    /// More data was found lost, for which the window has been cut already.
    fn on_further_loss(&mut self, _loss: &Loss, _view: &View) {}

    /// Data leaves again after the source had none for this time and all was acknowledged. An event
    /// of its own, besides what an avoidance in charge decides then ([`Avoidance::rested`]): a rest
    /// in start-up, too, does not count for CUBIC's curve (RFC 9438 section 5.8), to which that
    /// start-up leads back, and from the next ACK a rest can no longer be told from a long RTT.
    fn on_rest(&mut self, _idle: Span, _view: &View) {}

    /// The next ACK brings back what the routers report; called before anything else about it.
    fn on_feedback(&mut self, _feedback: &Feedback, _view: &View) {}

    /// Whether a model of the path bounds its window (draft-ietf-ccwg-bbr section 5.6.4), and not
    /// what is sent: then neither the largest flight nor a source that leaves the window unused
    /// holds its growth. Linux asks `tcp_is_cwnd_limited` of no control with `cong_control`.
    fn follows_model(&self) -> bool {
        false
    }

    /// The rate this policy's estimator believes the path has for the connection, and the clock
    /// that it knows RTTmin by, if it keeps one. A start-up's is put into [`View::eligible`] before
    /// a loss is answered, so that the avoidance need not keep it twice.
    fn eligible(&self) -> Option<Eligible> {
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
    /// The window that a hint had led to was taken back ([`Answer::Retreat`]).
    Retreat,
    /// The transport took back what an idle source had left unused of the window, which is now
    /// below ssthresh ([`crate::sender::Sender::on_rest`]).
    Rest,
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
    /// The end by a loss of that kind.
    pub(crate) const fn by(kind: LossKind) -> Self {
        match kind {
            LossKind::Recovery => Self::Loss,
            LossKind::Timeout => Self::Timeout,
            LossKind::Mark => Self::Mark,
        }
    }

    /// The name of the reason in results and logs.
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
#[non_exhaustive]
pub struct Step {
    /// The window from now on.
    pub window: Window,
    /// How to pace from now on.
    pub pace: Pace,
    /// Start-up ends here. Avoidance policies leave it `None`.
    pub exit: Option<Exit>,
    /// When start-up wants to be woken ([`Startup::on_wake`]) even if no ACK comes. The last time
    /// set holds until start-up ends or begins again; an avoidance is never woken.
    pub wake: Option<Instant>,
}

/// How packets are paced after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As the transport does by default ([`Pacing`]).
    Default,
    /// As before: what an earlier step set goes on, less what has left of [`Pacing::first`].
    Unchanged,
    /// So.
    Set(Pacing),
}

impl Pace {
    /// The pacing that a policy has set after the step, where it was `before`, which is copied only
    /// where it stays.
    #[inline(always)]
    pub(crate) fn after(self, before: &Option<Pacing>) -> Option<Pacing> {
        match self {
            Self::Default => None,
            Self::Unchanged => *before,
            Self::Set(pacing) => Some(pacing),
        }
    }
}

/// How a start-up answers a loss or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Start-up ends, and the window is what [`Avoidance::cut`] leaves: RFC 5681, and the default.
    Leave,
    /// The lost data had been sent because of a hint. Start-up sets this window and begins again
    /// ([`Entry::Retreat`]). What is lost is repaired in slow start, as after a timeout.
    Retreat(Window),
    /// Start-up sets this window, stays in charge until the recovery ends, decides on every ACK
    /// of it ([`Startup::recovering`]), and ends with it; ssthresh is then the window it reached.
    /// After a mark it lands until what was outstanding is acknowledged.
    Land(Window),
    /// What is lost is repaired, and start-up goes on: it decides on every ACK of the recovery
    /// ([`Startup::recovering`]) and after it.
    Ignore,
}

/// What start-up found out about the path, for the avoidance that follows it. A value that it does
/// not know is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// What the path holds without a queue, in bytes of payload.
    pub pipe: Option<Bytes>,
    /// The largest window it believes the path has room for, queue included, in bytes.
    pub peak: Option<Bytes>,
    /// The rate of the bottleneck, in payload per second.
    pub rate: Option<Rate>,
    /// Rates that were measured towards its end say too much, because what start-up had sent too
    /// much of pushed others out (RFC 9959, Safe Retreat of BBR): `rate` counts, and nothing that
    /// the avoidance has measured itself.
    pub tainted: bool,
}

/// Decides the window until the path is believed full.
pub trait Startup: Observer {
    /// Whether it is for the first slow start of a connection only. Whenever start-up begins again,
    /// RFC 5681's slow start then stands in its place: it sees everything as before, but of what
    /// start-ups decide it is only asked what it has found ([`Startup::found`]).
    fn once(&self) -> bool {
        false
    }

    /// First cwnd and ssthresh of a connection. `default` is the endpoint's own.
    fn open(&self, default: Window, _mss: Bytes) -> Window {
        default
    }

    /// The window after a timeout: one segment (RFC 5681 section 3.1, loss window). ns-2's Vegas
    /// has two; no published rule lets a user choose, so that it is no knob. Nor is it on the card,
    /// because a sender's policies need none.
    fn restart_window(&self, mss: Bytes) -> Bytes {
        mss
    }

    /// The rate this start-up wants of the path's routers; what they grant comes back as
    /// [`PathHint::Granted`] where a transport can ask them. A policy that asks needs
    /// [`Facilities::GRANTS`](crate::needs::Facilities::GRANTS). No card can hold the rate: a knob
    /// may set it, and a sender's policies need no card.
    fn asks(&self) -> Option<Rate> {
        None
    }

    /// Something is known of the path before data has left on it: the window to begin with, and
    /// how to pace it until the first ACK.
    fn inform(&mut self, _hint: &PathHint, view: &View) -> Step {
        view.window.hold()
    }

    /// The first data is about to leave, after the handshake and all hints: the window, and how to
    /// pace it until the first ACK. Without a start-up's own, what [`Startup::inform`] set stands.
    /// Start-up cannot end here.
    fn begin(&mut self, view: &View) -> Step {
        view.window.hold().keep_pace()
    }

    /// Start-up begins, or begins again.
    fn enter(&mut self, _why: Entry, _view: &View) {}

    /// Decides on an ACK for new data outside recovery. Only [`Step::exit`] ends start-up; if the
    /// window is unchanged then, the avoidance policy decides on the same ACK.
    fn step(&mut self, ack: &Ack, view: &View) -> Step;

    /// How to answer a loss or a mark, in either phase; after start-up everything but
    /// [`Answer::Retreat`] counts as [`Answer::Leave`], as it does for a timeout.
    fn answer(&mut self, _loss: &Loss, _view: &View) -> Answer {
        Answer::Leave
    }

    /// Decides on every ACK of a recovery that it has answered by [`Answer::Land`] or
    /// [`Answer::Ignore`], duplicate ACKs too. Only [`Step::exit`] ends it before the recovery
    /// ends, and then ssthresh is what the step says. The flight limits growth after
    /// [`Answer::Ignore`], not after [`Answer::Land`].
    fn recovering(&mut self, _ack: &Ack, view: &View) -> Step {
        view.window.hold()
    }

    /// More was found lost in a recovery that it has answered by [`Answer::Land`]: the window from
    /// now on, before anything leaves in answer to the ACK that reported it.
    fn land_further(&mut self, _loss: &Loss, view: &View) -> Window {
        view.window
    }

    /// The recovery that it has answered by [`Answer::Land`] is over: the window that it leaves,
    /// which ssthresh becomes too.
    fn landed_at(&mut self, view: &View) -> Bytes {
        view.window.cwnd
    }

    /// The time of the last [`Step::wake`] has come.
    fn on_wake(&mut self, view: &View) -> Step {
        view.window.hold().keep_pace()
    }

    /// By what factor this start-up grows a window per round when all of it is acknowledged: the
    /// window may grow up to that multiple of the largest flight
    /// (draft-ietf-ccwg-ratelimited-increase-10). 2 for slow start, 3 for Rapid Start, 4 for SUSS.
    fn growth(&self) -> u64 {
        2
    }

    /// Whether the ACK on which it has decided repeats a packet: if nothing else leaves with it,
    /// the transport sends again the last packet that is neither acknowledged nor found lost nor
    /// sent again. Asked during start-up if it needs
    /// [`Facilities::REPEATS`](crate::needs::Facilities::REPEATS).
    fn repeats(&self, _view: &View) -> bool {
        false
    }

    /// What it found out about the path; asked when it ends, and for the next connection when this
    /// one does ([`Learned::rate`](crate::hint::Learned::rate)).
    fn found(&self, _view: &View) -> Found {
        Found::default()
    }

    /// Whether the hint that it used proved wrong. The transport or service that keeps the hint
    /// should then forget it.
    fn refutes_hint(&self) -> bool {
        false
    }
}

/// Decides the window after start-up, and what a loss costs in either phase.
pub trait Avoidance: Observer {
    /// Avoidance begins, or begins again, with what start-up has found out.
    fn enter(&mut self, _found: &Found, _view: &View) {}

    /// Decides on an ACK for new data outside recovery.
    fn step(&mut self, ack: &Ack, view: &View) -> Step;

    /// Data leaves again after a rest ([`Observer::on_rest`]) outside recovery: the window, and how
    /// to pace it until the next ACK. Without an avoidance's own, both stay as they are.
    fn rested(&mut self, view: &View) -> Step {
        view.window.hold().keep_pace()
    }

    /// The window a loss leaves. For [`crate::event::LossKind::Timeout`] the sender takes only
    /// ssthresh from it and restarts at one segment (RFC 5681 section 3.1).
    fn cut(&mut self, loss: &Loss, view: &View) -> Window;

    /// What a loss leaves of the window, in millionths: start-up reads it as [`View::beta`]. An
    /// avoidance whose cut is no constant factor leaves it at RFC 5681's half.
    fn beta(&self) -> u64 {
        HALF
    }

    /// Whether it answers losses and marks by what it decides from then on, so that what is lost
    /// is only repaired: [`Avoidance::cut`] is not asked then but for a timeout and for what ends
    /// start-up, and the policy decides on every ACK of a recovery ([`Avoidance::recovering`]).
    fn goes_on(&self) -> bool {
        false
    }

    /// Decides on every ACK of a recovery in which it goes on ([`Avoidance::goes_on`]), duplicate
    /// ACKs too.
    fn recovering(&mut self, _ack: &Ack, view: &View) -> Step {
        view.window.hold()
    }

    /// Up to what multiple of the largest flight, and a segment more, its window may grow
    /// (draft-ietf-ccwg-ratelimited-increase-10). 1 for growth by a segment per round; asked only
    /// where the window would be larger.
    fn growth(&self) -> u64 {
        1
    }

    /// Asks for start-up again; checked after every [`Avoidance::step`]. The wish must be gone
    /// after the next [`Avoidance::enter`].
    fn wants_reprobe(&self) -> bool {
        false
    }
}

impl Window {
    /// Keeps the window, paced as the transport does by default.
    pub fn hold(self) -> Step {
        Step { window: self, pace: Pace::Default, exit: None, wake: None }
    }

    /// Opens cwnd by `bytes`.
    pub fn grow(self, bytes: Bytes) -> Step {
        Self { cwnd: self.cwnd + bytes, ..self }.hold()
    }

    /// Opens cwnd by `bytes`, but no further than ssthresh, where start-up ends (Linux's
    /// `tcp_slow_start()`).
    pub(crate) fn grow_to_threshold(self, bytes: Bytes) -> Step {
        self.grow(bytes.min(self.ssthresh - self.cwnd)).until_threshold()
    }
}

impl Step {
    /// Sets ssthresh.
    pub fn threshold(mut self, ssthresh: Bytes) -> Self {
        self.window.ssthresh = ssthresh;
        self
    }

    /// Paces packet by packet at `rate`.
    pub fn paced(self, rate: Rate) -> Self {
        self.pacing(Pacing::at(rate))
    }

    /// Sets the pacing.
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pace = Pace::Set(pacing);
        self
    }

    /// Leaves the pacing as it was.
    pub fn keep_pace(mut self) -> Self {
        self.pace = Pace::Unchanged;
        self
    }

    /// The pacing that it sets, if it sets one.
    pub fn pacing_set(&self) -> Option<Pacing> {
        if let Pace::Set(pacing) = self.pace { Some(pacing) } else { None }
    }

    /// Ends start-up.
    pub fn exit(mut self, why: Exit) -> Self {
        self.exit = Some(why);
        self
    }

    /// Wakes start-up at that time.
    pub fn wake_at(mut self, at: Instant) -> Self {
        self.wake = Some(at);
        self
    }

    /// Ends start-up once cwnd has reached ssthresh: the classic rule, said by the policy, because
    /// Astart stays in start-up above its threshold.
    pub fn until_threshold(self) -> Self {
        if self.window.cwnd >= self.window.ssthresh { self.exit(Exit::Threshold) } else { self }
    }
}

/// RFC 5681 section 3.1, equation 4, in millionths.
const HALF: u64 = 500_000;
