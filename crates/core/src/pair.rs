//! The two policies of a control as one thing, so that a sender need not know which they are.

use crate::event::{Ack, Loss, LossKind};
use crate::mechanism::Mechanism;
use crate::needs::Needs;
use crate::policy::{Avoidance, Startup};
use crate::units::{Bytes, Instant, Span};

/// What a [`crate::sender::Sender`] calls: both policies for all that is rare, a copy of them, and
/// a call of its own for each of the events that are not rare, so that both policies and the rules
/// of [`Mechanism`] are compiled as one there. Object-safe, so that a simulator can hold pairs of
/// any types.
pub trait Policies {
    /// The start-up.
    fn startup(&self) -> &dyn Startup;

    /// The avoidance.
    fn avoidance(&self) -> &dyn Avoidance;

    /// The start-up and the avoidance.
    fn both(&mut self) -> (&mut dyn Startup, &mut dyn Avoidance);

    /// Keeps a copy of both as they are, in the place of the last one.
    fn keep(&mut self);

    /// Both are again what [`Policies::keep`] kept last, if they have not been made so yet.
    fn restore(&mut self);

    /// What the two together need of the transport.
    fn needs(&self) -> Needs {
        self.startup().needs() | self.avoidance().needs()
    }

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

    /// [`Policies::on_ack`] for the commonest ACK of QUIC, which never sends a packet again: new
    /// data, all of it credited, and perhaps an RTT sample. All that is outstanding is in flight,
    /// so that SND.NXT is what is acknowledged plus the flight.
    fn on_packet_acked(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Option<Span>,
        in_flight: Bytes,
    );
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
    /// Both as they were before the last cut.
    kept: Option<(S, A)>,
}

impl<S: Startup + Clone, A: Avoidance + Clone> Pair<S, A> {
    /// The two, before anything happened.
    pub fn new(startup: S, avoidance: A) -> Self {
        Self { startup, avoidance, kept: None }
    }

    /// The start-up.
    pub fn startup(&self) -> &S {
        &self.startup
    }

    /// The avoidance.
    pub fn avoidance(&self) -> &A {
        &self.avoidance
    }

    /// An ACK that reports marks (RFC 3168, RFC 9002 section 7.1). A mark is answered like a loss:
    /// where that cuts the window and not the flight, so does the mark.
    #[inline(never)]
    fn on_mark(&mut self, mechanism: &mut Mechanism, ack: &Ack) {
        self.startup.on_ack(ack, &mechanism.view);
        self.avoidance.on_ack(ack, &mechanism.view);
        let flight = match mechanism.cuts_window {
            true => mechanism.view.window.cwnd,
            false => ack.in_flight + ack.credited,
        };
        let loss = Loss::of(ack.now, LossKind::Mark, Bytes(0), flight);
        if !mechanism.on_loss(&loss, self) {
            mechanism.decide(ack, &mut self.startup, &mut self.avoidance);
        }
    }
}

impl<S: Startup + Clone, A: Avoidance + Clone> Policies for Pair<S, A> {
    fn startup(&self) -> &dyn Startup {
        &self.startup
    }

    fn avoidance(&self) -> &dyn Avoidance {
        &self.avoidance
    }

    fn both(&mut self) -> (&mut dyn Startup, &mut dyn Avoidance) {
        (&mut self.startup, &mut self.avoidance)
    }

    fn keep(&mut self) {
        self.kept = Some((self.startup.clone(), self.avoidance.clone()));
    }

    fn restore(&mut self) {
        if let Some((startup, avoidance)) = self.kept.take() {
            (self.startup, self.avoidance) = (startup, avoidance);
        }
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
}
