//! Policies chosen while the program runs, some pairs of them known to the compiler.

use crate::avoidance::{NewReno, Westwood};
use crate::event::Ack;
use crate::mechanism::Mechanism;
use crate::pair::{Pair, Policies};
use crate::policy::{Avoidance, Both, Startup};
use crate::registry::{AnyAvoidance, AnyStartup};
use crate::startup::{Astart, SlowStart};
use crate::units::{Bytes, Instant, Span};

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

/// [`Both`] of what holds policies.
macro_rules! pass_on_both {
    ($to:ident!) => {
        crate::pass_on! { self, $to! {};
            fn startup(&self) -> &dyn Startup;
            fn avoidance(&self) -> &dyn Avoidance;
            fn both(&mut self) -> (&mut dyn Startup, &mut dyn Avoidance);
            fn keep(&mut self);
            fn restore(&mut self);
        }
    };
}

/// [`Policies`] of what holds policies.
macro_rules! pass_on_policies {
    ($to:ident!) => {
        crate::pass_on! { self, $to! {};
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

impl<P: Policies> Both for Chosen<P> {
    pass_on_both!(chosen!);
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
impl<P: Policies + ?Sized> Both for alloc::boxed::Box<P> {
    pass_on_both!(boxed!);
}

#[cfg(feature = "alloc")]
impl<P: Policies + ?Sized> Policies for alloc::boxed::Box<P> {
    pass_on_policies!(boxed!);
}
