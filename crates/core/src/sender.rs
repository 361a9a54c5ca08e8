//! The sender: both policies and the mechanism between them ([`crate::mechanism`]), and what only a
//! loss brings about: one cut per recovery, the phases after it, undo.

use crate::event::{Ack, Loss, LossKind, Sent};
use crate::feedback::{Feedback, Signals};
use crate::hint::PathHint;
use crate::mechanism::Mechanism;
use crate::policy::{Avoidance, Entry, Exit, Startup};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Phase, View, Window};

/// What an endpoint fixes for its sender.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Largest payload of one segment; at least one byte.
    pub mss: Bytes,
    /// First window where the start-up policy has none of its own.
    pub initial_window: Bytes,
    /// First ssthresh where the start-up policy has none of its own.
    pub initial_ssthresh: Bytes,
    /// Largest window, for example what the receiver can ever advertise.
    pub max_cwnd: Bytes,
    /// Limit growth to twice the largest flight since the last cut in start-up, and to one segment
    /// more than it in avoidance (draft-ietf-ccwg-ratelimited-increase). Off, only an ACK marked
    /// application-limited stops growth, as in ns-2. Off for a control that listens to routers.
    pub limit_growth_to_flight: bool,
}

/// How the first start-up of a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartupExit {
    /// When.
    pub at: Instant,
    /// Why.
    pub why: Exit,
    /// The window just before, in bytes.
    pub cwnd: Bytes,
    /// Payload in flight then.
    pub in_flight: Bytes,
}

/// A congestion controller: a start-up policy, an avoidance policy, and the rules both obey.
#[derive(Clone, Debug)]
pub struct Sender<S, A> {
    mechanism: Mechanism,
    startup: S,
    avoidance: A,
    watches_sends: bool,
    /// Everything sent before the last cut: what it suffers has been answered for.
    answered: Option<Bytes>,
    /// The last cut answered a mark, or took back what a hint had led to: the window grows on, and
    /// a loss may follow of what was sent before it.
    goes_on: bool,
    before_cut: Option<BeforeCut<A>>,
}

/// What undoing a cut brings back.
#[derive(Clone, Debug)]
struct BeforeCut<A> {
    window: Window,
    phase: Phase,
    avoidance: A,
    first_exit: Option<StartupExit>,
}

impl<S: Startup, A: Avoidance + Clone> Sender<S, A> {
    /// A sender for a new connection.
    pub fn new(mut startup: S, avoidance: A, mut config: Config) -> Self {
        config.mss = config.mss.max(Bytes(1));
        config.max_cwnd = config.max_cwnd.max(config.mss);
        // What routers grant, the path carries, whatever is in flight.
        config.limit_growth_to_flight &= !(startup.listens() | avoidance.listens()).any();
        let mss = config.mss;
        let default = Window { cwnd: config.initial_window, ssthresh: config.initial_ssthresh };
        let first = startup.open(default, mss);
        let mechanism = Mechanism::new(first, startup.eligible(), config);
        startup.enter(Entry::Connect, &mechanism.view);
        let watches_sends = startup.watches_sends() || avoidance.watches_sends();
        Self {
            mechanism,
            startup,
            avoidance,
            watches_sends,
            answered: None,
            goes_on: false,
            before_cut: None,
        }
    }

    /// The rate the start-up wants of the path's routers, if it asks for one.
    pub fn asks(&self) -> Option<Rate> {
        self.startup.asks()
    }

    /// What the control needs the routers of the path to tell it.
    pub fn listens(&self) -> Signals {
        self.startup.listens() | self.avoidance.listens()
    }

    /// One of the policies reads times ([`Observer::reads_times`](crate::policy::Observer)).
    pub fn reads_times(&self) -> bool {
        self.startup.reads_times() || self.avoidance.reads_times()
    }

    /// The ACK to be reported next brings back what the routers told.
    #[cold]
    pub fn on_feedback(&mut self, now: Instant, feedback: &Feedback) {
        self.mechanism.view.now = now;
        self.startup.on_feedback(feedback, &self.mechanism.view);
        self.avoidance.on_feedback(feedback, &self.mechanism.view);
    }

    /// Something is known of the path. Before the first data only, later it has no effect; after
    /// [`Sender::on_handshake`] if there was one.
    pub fn on_hint(&mut self, now: Instant, hint: &PathHint) {
        self.mechanism.view.now = now;
        if self.mechanism.view.sent > Bytes(0) {
            return;
        }
        let step = self.startup.inform(hint, &self.mechanism.view);
        self.mechanism.set_cwnd(step.window.cwnd);
        self.mechanism.view.window.ssthresh = step.window.ssthresh;
        self.mechanism.pace = step.pace;
        self.mechanism.max_flight = self.mechanism.view.window.cwnd;
    }

    /// The handshake finished: an RTT sample before any data.
    pub fn on_handshake(&mut self, now: Instant, rtt: Span) {
        self.mechanism.view.now = now;
        self.mechanism.view.rtt.observe(rtt);
        self.startup.on_handshake(&self.mechanism.view);
        self.avoidance.on_handshake(&self.mechanism.view);
    }

    /// New data left.
    #[inline(always)]
    pub fn on_sent(&mut self, sent: &Sent) {
        self.mechanism.count_sent(sent);
        if self.watches_sends {
            self.tell_sent(*sent);
        }
    }

    #[inline(never)]
    fn tell_sent(&mut self, sent: Sent) {
        self.startup.on_sent(&sent, &self.mechanism.view);
        self.avoidance.on_sent(&sent, &self.mechanism.view);
    }

    /// An ACK arrived.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.mechanism.count_ack(ack);
        if ack.marked > Bytes(0) {
            return self.on_mark(ack);
        }
        self.startup.receive(&mut self.avoidance, &mut self.mechanism, ack);
    }

    /// An ACK that tells of marks.
    #[inline(never)]
    fn on_mark(&mut self, ack: &Ack) {
        self.startup.on_ack(ack, &self.mechanism.view);
        self.avoidance.on_ack(ack, &self.mechanism.view);
        let (kind, flight) = (LossKind::Mark, ack.in_flight + ack.credited);
        let loss = Loss { now: ack.now, kind, lost: Bytes(0), flight, again: false };
        if !self.on_loss(&loss) {
            self.mechanism.decide(ack, &mut self.startup, &mut self.avoidance);
        }
    }

    /// Data was found lost. Returns whether the window was cut: once for all that was in flight
    /// when it was cut last (RFC 6582 section 3.2, RFC 3168 section 6.1.2), but for every timeout.
    #[cold]
    pub fn on_loss(&mut self, loss: &Loss) -> bool {
        let timeout = loss.kind == LossKind::Timeout;
        if !timeout && self.is_answered(loss.kind) {
            self.mechanism.view.recovering |= loss.kind == LossKind::Recovery;
            return false;
        }
        let Self { mechanism, startup, avoidance, .. } = self;
        mechanism.view.now = loss.now;
        mechanism.view.eligible = startup.eligible();
        startup.on_loss(loss, &mechanism.view);
        avoidance.on_loss(loss, &mechanism.view);
        let before = mechanism.view.window;
        if !(timeout && loss.again && self.before_cut.is_some()) {
            self.before_cut = Some(BeforeCut {
                window: before,
                phase: mechanism.view.phase,
                avoidance: avoidance.clone(),
                first_exit: mechanism.first_exit,
            });
        }
        let retreat = startup.retreat(loss, &mechanism.view);
        let cut = retreat.unwrap_or_else(|| avoidance.cut(loss, &mechanism.view));
        let mss = mechanism.view.mss;
        mechanism.set_cwnd(if timeout { startup.restart_window(mss) } else { cut.cwnd });
        mechanism.view.window.ssthresh =
            cut.ssthresh.whole_segments(mss).max(mss * MIN_SSTHRESH_SEGMENTS);
        self.answered = Some(mechanism.view.sent);
        self.goes_on = loss.kind == LossKind::Mark || retreat.is_some();
        mechanism.max_flight = Bytes(0);
        mechanism.pace = None;
        if mechanism.view.phase == Phase::Startup {
            let why = match loss.kind {
                LossKind::Recovery => Exit::Loss,
                LossKind::Timeout => Exit::Timeout,
                LossKind::Mark => Exit::Mark,
            };
            mechanism.leave_startup(why, before.cwnd, avoidance);
        }
        // What is taken back is repaired in slow start, as after a timeout.
        mechanism.view.recovering = loss.kind == LossKind::Recovery && retreat.is_none();
        if timeout {
            mechanism.round_end = mechanism.view.acked;
            mechanism.enter_startup(Entry::Timeout, startup);
        } else if retreat.is_some() {
            mechanism.enter_startup(Entry::Retreat, startup);
        }
        true
    }

    /// The loss just told is not recovered from: everything unacknowledged is sent again in slow
    /// start, from one segment, as Tahoe does (Jacobson 1988) and a timeout makes everyone do.
    #[cold]
    pub fn on_restart(&mut self) {
        let cwnd = self.startup.restart_window(self.mechanism.view.mss);
        self.mechanism.set_cwnd(cwnd);
        self.mechanism.view.recovering = false;
        self.mechanism.round_end = self.mechanism.view.acked;
        self.mechanism.enter_startup(Entry::Timeout, &mut self.startup);
    }

    /// Recovery is over. `cwnd` is the window it leaves, where the recovery algorithm has a say in
    /// it (RFC 6582 section 3.2, full and partial acknowledgements).
    pub fn on_recovered(&mut self, cwnd: Option<Bytes>) {
        self.mechanism.view.recovering = false;
        if let Some(cwnd) = cwnd {
            self.mechanism.set_cwnd(cwnd);
        }
    }

    /// The last cut answered a loss that never was: the window before it returns. Of timeouts in a
    /// row, all are undone.
    pub fn on_spurious_loss(&mut self) {
        let Some(before) = self.before_cut.take() else { return };
        let view = &mut self.mechanism.view;
        let cwnd = view.window.cwnd.max(before.window.cwnd);
        view.window.ssthresh = before.window.ssthresh;
        view.phase = before.phase;
        view.recovering = false;
        self.avoidance = before.avoidance;
        self.mechanism.first_exit = before.first_exit;
        self.answered = None;
        self.mechanism.set_cwnd(cwnd);
    }

    /// The largest segment payload changed.
    pub fn set_mss(&mut self, mss: Bytes) {
        let Mechanism { view, config, .. } = &mut self.mechanism;
        config.mss = mss.max(Bytes(1));
        config.max_cwnd = config.max_cwnd.max(config.mss);
        view.mss = config.mss;
        let cwnd = view.window.cwnd;
        self.mechanism.set_cwnd(cwnd);
    }

    /// What the policies see.
    pub fn view(&self) -> &View {
        &self.mechanism.view
    }

    /// Congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.mechanism.view.window.cwnd
    }

    /// Slow-start threshold; [`Bytes::MAX`] while unset.
    pub fn ssthresh(&self) -> Bytes {
        self.mechanism.view.window.ssthresh
    }

    /// The rate to pace at; `None` sends as the window allows.
    pub fn pace(&self) -> Option<Rate> {
        self.mechanism.pace
    }

    /// How the first start-up ended, once it has.
    pub fn first_exit(&self) -> Option<StartupExit> {
        self.mechanism.first_exit
    }

    /// How often start-up began again because the avoidance policy asked for it.
    pub fn reprobes(&self) -> u64 {
        self.mechanism.reprobes
    }

    /// Reports the internal quantities of both policies.
    pub fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.startup.gauges(report);
        self.avoidance.gauges(report);
    }

    /// The window was cut for this already. A mark tells of data at or below what is acknowledged,
    /// a loss of data above it. A loss outside recovery is a new one, unless the last cut let the
    /// window grow on.
    fn is_answered(&self, kind: LossKind) -> bool {
        let Some(answered) = self.answered else { return false };
        match kind {
            LossKind::Mark => {
                self.mechanism.view.recovering || self.mechanism.view.acked <= answered
            }
            _ => {
                self.mechanism.view.recovering
                    || self.goes_on && self.mechanism.view.acked < answered
            }
        }
    }
}

/// No loss leaves an ssthresh below two segments (RFC 5681 section 3.1, equation 4).
const MIN_SSTHRESH_SEGMENTS: u64 = 2;
