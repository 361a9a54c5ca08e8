//! The two policies of a control as one thing, so that a sender need not know which they are.

use crate::event::{Ack, Loss, LossKind, Sent};
use crate::feedback::Feedback;
use crate::hint::PathHint;
use crate::loss::LossState;
use crate::mechanism::{Mechanism, Repair};
use crate::needs::Needs;
use crate::policy::{Avoidance, Entry, Startup};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::{Phase, Window};

/// What a [`crate::sender::Sender`] calls: a pair of policies under the rules both obey, which are
/// those of [`Mechanism`]. Object-safe, so that a simulator can hold pairs of any types.
pub trait Policies {
    /// What the two policies together need of the transport.
    fn needs(&self) -> Needs;

    /// The first window of a connection, where `default` is the endpoint's.
    fn open(&self, default: Window, mss: Bytes) -> Window;

    /// The connection begins.
    fn connect(&mut self, mechanism: &mut Mechanism);

    /// See [`Startup::asks`].
    fn asks(&self) -> Option<Rate>;

    /// See [`crate::sender::Sender::on_handshake`].
    fn on_handshake(&mut self, mechanism: &mut Mechanism);

    /// See [`crate::sender::Sender::on_hint`].
    fn on_hint(&mut self, mechanism: &mut Mechanism, hint: &PathHint);

    /// See [`crate::sender::Sender::begin`].
    fn begin(&mut self, mechanism: &mut Mechanism);

    /// Data left; the mechanism has counted it.
    fn on_sent(&mut self, mechanism: &Mechanism, sent: &Sent);

    /// An ACK arrived.
    fn on_ack(&mut self, mechanism: &mut Mechanism, ack: &Ack);

    /// [`Policies::on_ack`] for the commonest ACK: new data, all of it credited, with an RTT sample
    /// and SND.NXT where it was. So few numbers stay in registers.
    fn on_new_data(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Span,
        in_flight: Bytes,
    );

    /// [`Policies::on_ack`] for the commonest ACK of a transport that never sends a packet again
    /// (QUIC): new data, all of it credited, perhaps an RTT sample, and nothing outstanding but
    /// what is in flight, so that SND.NXT is so far ahead of what is acknowledged.
    fn on_packet_acked(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Option<Span>,
        in_flight: Bytes,
    );

    /// See [`crate::sender::Sender::on_feedback`].
    fn on_feedback(&mut self, mechanism: &mut Mechanism, feedback: &Feedback);

    /// See [`crate::sender::Sender::on_loss`].
    fn on_loss(&mut self, mechanism: &mut Mechanism, loss: &Loss) -> bool;

    /// When the window was cut last.
    fn cut_at(&self) -> Option<Instant>;

    /// The same, unless the policy in charge went on instead.
    fn reduced_at(&self) -> Option<Instant>;

    /// See [`crate::sender::Sender::on_rest`].
    fn on_rest(&mut self, mechanism: &mut Mechanism, idle: Span, window: Option<Window>);

    /// See [`crate::sender::Sender::on_restart`].
    fn on_restart(&mut self, mechanism: &mut Mechanism);

    /// The transport's recovery is over.
    fn on_recovered(&mut self, mechanism: &mut Mechanism);

    /// See [`crate::sender::Sender::on_spurious_loss`].
    fn on_spurious_loss(&mut self, mechanism: &mut Mechanism);

    /// See [`crate::sender::Sender::on_wake`].
    fn on_wake(&mut self, mechanism: &mut Mechanism);

    /// See [`Startup::repeats`].
    fn repeats(&self, mechanism: &Mechanism) -> bool;

    /// See [`Startup::refutes_hint`].
    fn refutes_hint(&self) -> bool;

    /// Reports the internal quantities of both.
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64));
}

impl core::fmt::Debug for dyn Policies {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Policies")
    }
}

/// A start-up and an avoidance.
#[derive(Clone, Debug)]
pub struct Pair<S, A> {
    startup: S,
    avoidance: A,
    losses: LossState<S, A>,
}

impl<S: Startup + Clone, A: Avoidance + Clone> Pair<S, A> {
    /// The two, before anything happened.
    pub fn new(startup: S, avoidance: A) -> Self {
        Self { startup, avoidance, losses: LossState::NONE }
    }

    /// The start-up.
    pub fn startup(&self) -> &S {
        &self.startup
    }

    /// The avoidance.
    pub fn avoidance(&self) -> &A {
        &self.avoidance
    }

    /// An ACK that tells of marks (RFC 3168, RFC 9002 section 7.1).
    #[inline(never)]
    fn on_mark(&mut self, mechanism: &mut Mechanism, ack: &Ack) {
        self.startup.on_ack(ack, &mechanism.view);
        self.avoidance.on_ack(ack, &mechanism.view);
        let (kind, flight) = (LossKind::Mark, ack.in_flight + ack.credited);
        let loss = Loss::of(ack.now, kind, Bytes(0), flight);
        if !self.on_loss(mechanism, &loss) {
            mechanism.decide(ack, &mut self.startup, &mut self.avoidance);
        }
    }
}

impl<S: Startup + Clone, A: Avoidance + Clone> Policies for Pair<S, A> {
    fn needs(&self) -> Needs {
        self.startup.needs() | self.avoidance.needs()
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.startup.open(default, mss)
    }

    fn connect(&mut self, mechanism: &mut Mechanism) {
        mechanism.view.eligible = self.startup.eligible();
        mechanism.view.beta = self.avoidance.beta();
        mechanism.enter_startup(Entry::Connect, &mut self.startup);
    }

    fn asks(&self) -> Option<Rate> {
        self.startup.asks()
    }

    fn on_handshake(&mut self, mechanism: &mut Mechanism) {
        self.startup.on_handshake(&mechanism.view);
        self.avoidance.on_handshake(&mechanism.view);
    }

    fn on_hint(&mut self, mechanism: &mut Mechanism, hint: &PathHint) {
        let step = self.startup.inform(hint, &mechanism.view);
        mechanism.set_pace(None);
        mechanism.apply_unprompted(step);
        mechanism.max_flight = mechanism.view.window.cwnd;
    }

    fn begin(&mut self, mechanism: &mut Mechanism) {
        self.startup.on_begin(&mechanism.view);
        self.avoidance.on_begin(&mechanism.view);
        let step = self.startup.begin(&mechanism.view);
        mechanism.apply_unprompted(step);
        mechanism.max_flight = mechanism.view.window.cwnd;
    }

    fn on_sent(&mut self, mechanism: &Mechanism, sent: &Sent) {
        self.startup.on_sent(sent, &mechanism.view);
        self.avoidance.on_sent(sent, &mechanism.view);
    }

    #[inline(always)]
    fn on_ack(&mut self, mechanism: &mut Mechanism, ack: &Ack) {
        mechanism.count_ack(ack);
        if ack.marked > Bytes(0) {
            return self.on_mark(mechanism, ack);
        }
        mechanism.pass_on(ack, &mut self.startup, &mut self.avoidance);
    }

    #[inline(always)]
    fn on_new_data(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Span,
        in_flight: Bytes,
    ) {
        let snd_nxt = mechanism.view.snd_nxt;
        let (credited, rtt) = (acked, Some(rtt));
        let ack = Ack { now, acked, credited, rtt, in_flight, snd_nxt, ..Ack::default() };
        mechanism.count_ack(&ack);
        mechanism.pass_on(&ack, &mut self.startup, &mut self.avoidance);
    }

    #[inline(always)]
    fn on_packet_acked(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Option<Span>,
        in_flight: Bytes,
    ) {
        let snd_nxt = mechanism.view.acked + acked + in_flight;
        let credited = acked;
        let ack = Ack { now, acked, credited, rtt, in_flight, snd_nxt, ..Ack::default() };
        mechanism.count_ack(&ack);
        mechanism.pass_on(&ack, &mut self.startup, &mut self.avoidance);
    }

    #[cold]
    fn on_feedback(&mut self, mechanism: &mut Mechanism, feedback: &Feedback) {
        self.startup.on_feedback(feedback, &mechanism.view);
        self.avoidance.on_feedback(feedback, &mechanism.view);
    }

    #[cold]
    fn on_loss(&mut self, mechanism: &mut Mechanism, loss: &Loss) -> bool {
        self.losses.on_loss(loss, mechanism, &mut self.startup, &mut self.avoidance)
    }

    fn cut_at(&self) -> Option<Instant> {
        self.losses.cut_at()
    }

    fn reduced_at(&self) -> Option<Instant> {
        self.losses.reduced_at()
    }

    #[cold]
    fn on_rest(&mut self, mechanism: &mut Mechanism, idle: Span, window: Option<Window>) {
        if idle > Span(0) {
            self.startup.on_rest(idle, &mechanism.view);
            self.avoidance.on_rest(idle, &mechanism.view);
        }
        let Some(window) = window.filter(|_| !self.avoidance.goes_on()) else { return };
        mechanism.set_cwnd(window.cwnd);
        mechanism.view.window.ssthresh = window.ssthresh;
        let below = mechanism.view.window.cwnd < window.ssthresh;
        if below && mechanism.view.phase == Phase::Avoidance && !mechanism.view.recovering {
            mechanism.enter_startup(Entry::Rest, &mut self.startup);
        }
    }

    #[cold]
    fn on_restart(&mut self, mechanism: &mut Mechanism) {
        mechanism.set_cwnd(self.startup.restart_window(mechanism.view.mss));
        mechanism.view.recovering = false;
        mechanism.repair = Repair::Transport;
        mechanism.round_end = mechanism.view.acked;
        mechanism.enter_startup(Entry::Timeout, &mut self.startup);
    }

    fn on_recovered(&mut self, mechanism: &mut Mechanism) {
        mechanism.end_recovery(&mut self.startup, &mut self.avoidance);
    }

    fn on_spurious_loss(&mut self, mechanism: &mut Mechanism) {
        self.losses.undo(mechanism, &mut self.startup, &mut self.avoidance);
    }

    fn on_wake(&mut self, mechanism: &mut Mechanism) {
        let before = mechanism.view.window.cwnd;
        let step = self.startup.on_wake(&mechanism.view);
        mechanism.apply_woken(step, self.startup.growth());
        if let Some(why) = step.exit {
            let cwnd = before.max(mechanism.view.window.cwnd);
            mechanism.leave_startup(why, cwnd, &self.startup, &mut self.avoidance);
        }
    }

    fn repeats(&self, mechanism: &Mechanism) -> bool {
        self.startup.repeats(&mechanism.view)
    }

    fn refutes_hint(&self) -> bool {
        self.startup.refutes_hint()
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.startup.gauges(report);
        self.avoidance.gauges(report);
    }
}
