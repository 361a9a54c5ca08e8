//! Policies chosen while the program runs, some pairs of them known to the compiler.

use crate::avoidance::{NewReno, Westwood};
use crate::event::{Ack, Loss, Sent};
use crate::feedback::Feedback;
use crate::hint::PathHint;
use crate::mechanism::Mechanism;
use crate::needs::Needs;
use crate::pair::{Pair, Policies};
use crate::registry::{AnyAvoidance, AnyStartup};
use crate::startup::{Astart, SlowStart};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::Window;

/// The policies of a connection. The pairs with which speed is measured are known to the compiler,
/// so that what a sender does with an ACK is compiled as one; each costs its code once more. All
/// others are a `P`.
#[allow(clippy::large_enum_variant, reason = "what every ACK touches stays in one place")]
#[derive(Clone, Debug)]
pub enum Chosen<P> {
    /// `slow-start+newreno`.
    NewReno(Pair<SlowStart, NewReno>),
    /// `astart+westwood`.
    Astart(Pair<Astart, Westwood>),
    /// Any other.
    Any(P),
}

impl<P> Chosen<P> {
    /// These two of the core's; `any` makes of them what is no pair of its own.
    pub fn of(
        startup: AnyStartup,
        avoidance: AnyAvoidance,
        any: impl FnOnce(AnyStartup, AnyAvoidance) -> P,
    ) -> Self {
        match (startup, avoidance) {
            (AnyStartup::SlowStart(startup), AnyAvoidance::NewReno(avoidance)) => {
                Self::NewReno(Pair::new(startup, avoidance))
            }
            (AnyStartup::Astart(startup), AnyAvoidance::Westwood(avoidance)) => {
                Self::Astart(Pair::new(startup, avoidance))
            }
            (startup, avoidance) => Self::Any(any(startup, avoidance)),
        }
    }
}

/// Passes a call on to the policies.
macro_rules! chosen {
    ($self:ident, $it:ident => $call:expr) => {
        match $self {
            Self::NewReno($it) => $call,
            Self::Astart($it) => $call,
            Self::Any($it) => $call,
        }
    };
}

impl<P: Policies> Policies for Chosen<P> {
    fn needs(&self) -> Needs {
        chosen!(self, it => it.needs())
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        chosen!(self, it => it.open(default, mss))
    }

    fn connect(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.connect(mechanism));
    }

    fn asks(&self) -> Option<Rate> {
        chosen!(self, it => it.asks())
    }

    fn on_handshake(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_handshake(mechanism));
    }

    fn on_hint(&mut self, mechanism: &mut Mechanism, hint: &PathHint) {
        chosen!(self, it => it.on_hint(mechanism, hint));
    }

    fn begin(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.begin(mechanism));
    }

    fn on_sent(&mut self, mechanism: &Mechanism, sent: &Sent) {
        chosen!(self, it => it.on_sent(mechanism, sent));
    }

    #[inline]
    fn on_ack(&mut self, mechanism: &mut Mechanism, ack: &Ack) {
        chosen!(self, it => it.on_ack(mechanism, ack));
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
        chosen!(self, it => it.on_new_data(mechanism, now, acked, rtt, in_flight));
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
        chosen!(self, it => it.on_packet_acked(mechanism, now, acked, rtt, in_flight));
    }

    fn on_feedback(&mut self, mechanism: &mut Mechanism, feedback: &Feedback) {
        chosen!(self, it => it.on_feedback(mechanism, feedback));
    }

    fn on_loss(&mut self, mechanism: &mut Mechanism, loss: &Loss) -> bool {
        chosen!(self, it => it.on_loss(mechanism, loss))
    }

    fn cut_at(&self) -> Option<Instant> {
        chosen!(self, it => it.cut_at())
    }

    fn on_restart(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_restart(mechanism));
    }

    fn on_recovered(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_recovered(mechanism));
    }

    fn on_spurious_loss(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_spurious_loss(mechanism));
    }

    fn on_wake(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_wake(mechanism));
    }

    fn refutes_hint(&self) -> bool {
        chosen!(self, it => it.refutes_hint())
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        chosen!(self, it => it.gauges(report));
    }
}
