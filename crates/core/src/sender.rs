//! The mechanism, written once: phases, floor and cap of the window, one cut per recovery,
//! the limit on growth of a sender that does not use its window, undo, and who decides when.

use crate::event::{Ack, Loss, LossKind, Sent};
use crate::feedback::{Feedback, Signals};
use crate::hint::PathHint;
use crate::policy::{Avoidance, Entry, Exit, Startup, Step};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Phase, Rtt, View, Window};

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
    view: View,
    config: Config,
    startup: S,
    avoidance: A,
    pace: Option<Rate>,
    round_end: Bytes,
    max_flight: Bytes,
    first_exit: Option<StartupExit>,
    reprobes: u64,
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
        let view = View {
            now: Instant(0),
            window: Window { cwnd: first.cwnd.clamp(mss, config.max_cwnd), ..first },
            mss,
            rtt: Rtt::UNKNOWN,
            in_flight: Bytes(0),
            acked: Bytes(0),
            sent: Bytes(0),
            delivered: Bytes(0),
            phase: Phase::Startup,
            eligible: startup.eligible(),
            recovering: false,
            round: 0,
            round_start: false,
        };
        startup.enter(Entry::Connect, &view);
        let max_flight = view.window.cwnd;
        Self {
            view,
            config,
            startup,
            avoidance,
            pace: None,
            round_end: Bytes(0),
            max_flight,
            first_exit: None,
            reprobes: 0,
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
        self.view.now = now;
        self.startup.on_feedback(feedback, &self.view);
        self.avoidance.on_feedback(feedback, &self.view);
    }

    /// Something is known of the path. Before the first data only, later it has no effect; after
    /// [`Sender::on_handshake`] if there was one.
    pub fn on_hint(&mut self, now: Instant, hint: &PathHint) {
        self.view.now = now;
        if self.view.sent > Bytes(0) {
            return;
        }
        let step = self.startup.inform(hint, &self.view);
        self.view.window = step.window;
        self.pace = step.pace;
        self.bound_cwnd();
        self.max_flight = self.view.window.cwnd;
    }

    /// The handshake finished: an RTT sample before any data.
    pub fn on_handshake(&mut self, now: Instant, rtt: Span) {
        self.view.now = now;
        self.view.rtt.observe(rtt);
        self.startup.on_handshake(&self.view);
        self.avoidance.on_handshake(&self.view);
    }

    /// New data left.
    #[inline]
    pub fn on_sent(&mut self, sent: &Sent) {
        self.view.now = sent.now;
        self.view.in_flight = sent.in_flight;
        self.view.sent += sent.bytes;
        self.startup.on_sent(sent, &self.view);
        self.avoidance.on_sent(sent, &self.view);
    }

    /// An ACK arrived.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.observe(ack);
        self.startup.on_ack(ack, &self.view);
        self.avoidance.on_ack(ack, &self.view);
        if ack.marked > Bytes(0) {
            let (kind, flight) = (LossKind::Mark, ack.in_flight + ack.credited);
            let lost = Bytes(0);
            if self.on_loss(&Loss { now: ack.now, kind, lost, flight, again: false }) {
                return;
            }
        }
        if ack.acked == Bytes(0) || self.view.recovering {
            return;
        }
        let before = self.view.window;
        if self.view.phase == Phase::Startup {
            let step = self.startup.step(ack, &self.view);
            self.apply(step, ack);
            let Some(why) = step.exit else { return };
            self.leave_startup(why, before.cwnd.max(self.view.window.cwnd));
            if step.window.cwnd != before.cwnd {
                return;
            }
        }
        let step = self.avoidance.step(ack, &self.view);
        self.apply(step, ack);
        if self.avoidance.wants_reprobe() {
            self.reprobes += 1;
            self.enter_startup(Entry::Reprobe);
        }
    }

    /// Data was found lost. Returns whether the window was cut: once for all that was in flight
    /// when it was cut last (RFC 6582 section 3.2, RFC 3168 section 6.1.2), but for every timeout.
    #[cold]
    pub fn on_loss(&mut self, loss: &Loss) -> bool {
        let timeout = loss.kind == LossKind::Timeout;
        if !timeout && self.is_answered(loss.kind) {
            self.view.recovering |= loss.kind == LossKind::Recovery;
            return false;
        }
        self.view.now = loss.now;
        self.view.eligible = self.startup.eligible();
        self.startup.on_loss(loss, &self.view);
        self.avoidance.on_loss(loss, &self.view);
        let cwnd_before = self.view.window.cwnd;
        if !(timeout && loss.again && self.before_cut.is_some()) {
            self.before_cut = Some(BeforeCut {
                window: self.view.window,
                phase: self.view.phase,
                avoidance: self.avoidance.clone(),
                first_exit: self.first_exit,
            });
        }
        let retreat = self.startup.retreat(loss, &self.view);
        let cut = retreat.unwrap_or_else(|| self.avoidance.cut(loss, &self.view));
        let mss = self.view.mss;
        self.view.window = Window {
            cwnd: if timeout { self.startup.restart_window(mss) } else { cut.cwnd },
            ssthresh: cut.ssthresh.whole_segments(mss).max(mss * MIN_SSTHRESH_SEGMENTS),
        };
        self.bound_cwnd();
        self.answered = Some(self.view.sent);
        self.goes_on = loss.kind == LossKind::Mark || retreat.is_some();
        self.max_flight = Bytes(0);
        self.pace = None;
        if self.view.phase == Phase::Startup {
            let why = match loss.kind {
                LossKind::Recovery => Exit::Loss,
                LossKind::Timeout => Exit::Timeout,
                LossKind::Mark => Exit::Mark,
            };
            self.leave_startup(why, cwnd_before);
        }
        // What is taken back is repaired in slow start, as after a timeout.
        self.view.recovering = loss.kind == LossKind::Recovery && retreat.is_none();
        if timeout {
            self.round_end = self.view.acked;
            self.enter_startup(Entry::Timeout);
        } else if retreat.is_some() {
            self.enter_startup(Entry::Retreat);
        }
        true
    }

    /// The loss just told is not recovered from: everything unacknowledged is sent again in slow
    /// start, from one segment, as Tahoe does (Jacobson 1988) and a timeout makes everyone do.
    #[cold]
    pub fn on_restart(&mut self) {
        self.view.window.cwnd = self.startup.restart_window(self.view.mss);
        self.bound_cwnd();
        self.view.recovering = false;
        self.round_end = self.view.acked;
        self.enter_startup(Entry::Timeout);
    }

    /// Recovery is over. `cwnd` is the window it leaves, where the recovery algorithm has a say in
    /// it (RFC 6582 section 3.2, full and partial acknowledgements).
    pub fn on_recovered(&mut self, cwnd: Option<Bytes>) {
        self.view.recovering = false;
        if let Some(cwnd) = cwnd {
            self.view.window.cwnd = cwnd;
            self.bound_cwnd();
        }
    }

    /// The last cut answered a loss that never was: the window before it returns. Of timeouts in a
    /// row, all are undone.
    pub fn on_spurious_loss(&mut self) {
        let Some(before) = self.before_cut.take() else { return };
        self.view.window.cwnd = self.view.window.cwnd.max(before.window.cwnd);
        self.view.window.ssthresh = before.window.ssthresh;
        self.view.phase = before.phase;
        self.view.recovering = false;
        self.avoidance = before.avoidance;
        self.first_exit = before.first_exit;
        self.answered = None;
        self.bound_cwnd();
    }

    /// The largest segment payload changed.
    pub fn set_mss(&mut self, mss: Bytes) {
        self.config.mss = mss.max(Bytes(1));
        self.config.max_cwnd = self.config.max_cwnd.max(self.config.mss);
        self.view.mss = self.config.mss;
        self.bound_cwnd();
    }

    /// What the policies see.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.view.window.cwnd
    }

    /// Slow-start threshold; [`Bytes::MAX`] while unset.
    pub fn ssthresh(&self) -> Bytes {
        self.view.window.ssthresh
    }

    /// The rate to pace at; `None` sends as the window allows.
    pub fn pace(&self) -> Option<Rate> {
        self.pace
    }

    /// How the first start-up ended, once it has.
    pub fn first_exit(&self) -> Option<StartupExit> {
        self.first_exit
    }

    /// How often start-up began again because the avoidance policy asked for it.
    pub fn reprobes(&self) -> u64 {
        self.reprobes
    }

    /// Reports the internal quantities of both policies.
    pub fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.startup.gauges(report);
        self.avoidance.gauges(report);
    }

    #[inline(always)]
    fn observe(&mut self, ack: &Ack) {
        let view = &mut self.view;
        view.now = ack.now;
        view.in_flight = ack.in_flight;
        view.sent = ack.sent;
        view.acked += ack.acked;
        view.delivered += ack.credited;
        if let Some(sample) = ack.rtt {
            view.rtt.observe(sample);
        }
        view.round_start = ack.acked > Bytes(0) && view.acked >= self.round_end;
        if view.round_start {
            view.round += 1;
            self.round_end = view.sent;
        }
        self.max_flight = self.max_flight.max(ack.in_flight + ack.credited.max(ack.acked));
    }

    /// The window was cut for this already. A mark tells of data at or below what is acknowledged,
    /// a loss of data above it. A loss outside recovery is a new one, unless the last cut let the
    /// window grow on.
    fn is_answered(&self, kind: LossKind) -> bool {
        let Some(answered) = self.answered else { return false };
        match kind {
            LossKind::Mark => self.view.recovering || self.view.acked <= answered,
            _ => self.view.recovering || self.goes_on && self.view.acked < answered,
        }
    }

    #[inline(always)]
    fn apply(&mut self, step: Step, ack: &Ack) {
        // Number by number: a copy of several at once would wait until each of them has been
        // written.
        let old = self.view.window.cwnd;
        let Window { mut cwnd, ssthresh } = step.window;
        if cwnd > old {
            cwnd = cwnd.min(self.growth_limit(ack)).max(old);
        }
        self.view.window.cwnd = cwnd.clamp(self.config.mss, self.config.max_cwnd);
        self.view.window.ssthresh = ssthresh;
        if step.pace.is_some() || self.pace.is_some() {
            self.pace = step.pace;
        }
    }

    fn growth_limit(&self, ack: &Ack) -> Bytes {
        if ack.app_limited {
            return Bytes(0);
        }
        if !self.config.limit_growth_to_flight {
            return Bytes::MAX;
        }
        match self.view.phase {
            Phase::Startup => self.max_flight * 2,
            Phase::Avoidance => self.max_flight + self.view.mss,
        }
    }

    fn bound_cwnd(&mut self) {
        let cwnd = &mut self.view.window.cwnd;
        *cwnd = (*cwnd).clamp(self.config.mss, self.config.max_cwnd);
    }

    #[cold]
    fn enter_startup(&mut self, why: Entry) {
        self.view.phase = Phase::Startup;
        self.startup.enter(why, &self.view);
    }

    #[cold]
    fn leave_startup(&mut self, why: Exit, cwnd: Bytes) {
        self.view.phase = Phase::Avoidance;
        let (at, in_flight) = (self.view.now, self.view.in_flight);
        self.first_exit.get_or_insert(StartupExit { at, why, cwnd, in_flight });
        self.avoidance.enter(&self.view);
    }
}

/// No loss leaves an ssthresh below two segments (RFC 5681 section 3.1, equation 4).
const MIN_SSTHRESH_SEGMENTS: u64 = 2;
