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

/// [`Policies`] of what holds policies.
macro_rules! pass_on_policies {
    ($to:ident!) => {
        crate::pass_on! { self, $to! {};
            fn needs(&self) -> Needs;
            fn open(&self, default: Window, mss: Bytes) -> Window;
            fn connect(&mut self, mechanism: &mut Mechanism);
            fn asks(&self) -> Option<Rate>;
            fn on_handshake(&mut self, mechanism: &mut Mechanism);
            fn on_hint(&mut self, mechanism: &mut Mechanism, hint: &PathHint);
            fn begin(&mut self, mechanism: &mut Mechanism);
            fn on_sent(&mut self, mechanism: &Mechanism, sent: &Sent);
            #[inline(always)]
            fn on_ack(&mut self, mechanism: &mut Mechanism, ack: &Ack);
            #[inline(always)]
            fn on_new_data(
                &mut self,
                mechanism: &mut Mechanism,
                now: Instant,
                acked: Bytes,
                rtt: Span,
                in_flight: Bytes
            );
            #[inline(always)]
            fn on_packet_acked(
                &mut self,
                mechanism: &mut Mechanism,
                now: Instant,
                acked: Bytes,
                rtt: Option<Span>,
                in_flight: Bytes
            );
            fn on_feedback(&mut self, mechanism: &mut Mechanism, feedback: &Feedback);
            fn on_loss(&mut self, mechanism: &mut Mechanism, loss: &Loss) -> bool;
            fn cut_at(&self) -> Option<Instant>;
            fn reduced_at(&self) -> Option<Instant>;
            fn on_rest(&mut self, mechanism: &mut Mechanism, idle: Span, window: Option<Window>);
            fn on_restart(&mut self, mechanism: &mut Mechanism);
            fn on_recovered(&mut self, mechanism: &mut Mechanism);
            fn on_spurious_loss(&mut self, mechanism: &mut Mechanism);
            fn on_wake(&mut self, mechanism: &mut Mechanism);
            fn repeats(&self, mechanism: &Mechanism) -> bool;
            fn refutes_hint(&self) -> bool;
            fn gauges(&self, report: &mut dyn FnMut(&'static str, u64));
        }
    };
}

macro_rules! chosen {
    ({} $self:ident.$call:ident $arguments:tt) => {
        match $self {
            Self::NewReno(it) => it.$call $arguments,
            Self::Astart(it) => it.$call $arguments,
            Self::Any(it) => it.$call $arguments,
        }
    };
}

impl<P: Policies> Policies for Chosen<P> {
    pass_on_policies!(chosen!);
}

#[cfg(feature = "alloc")]
macro_rules! boxed {
    ({} $self:ident.$call:ident $arguments:tt) => {
        (**$self).$call $arguments
    };
}

/// A boxed pair of policies is a pair of policies.
#[cfg(feature = "alloc")]
impl<P: Policies + ?Sized> Policies for alloc::boxed::Box<P> {
    pass_on_policies!(boxed!);
}
