//! Policies chosen while the program runs, some pairs of them known to the compiler.

use crate::event::Ack;
use crate::mechanism::Mechanism;
use crate::pair::Policies;
use crate::policy::{Avoidance, Startup};
use crate::registry::{AnyAvoidance, AnyStartup};
use crate::units::{Bytes, Instant, Span};

/// Declares [`Chosen`] with the pairs that are known to the compiler, `Name: start-up, avoidance`.
macro_rules! known {
    ($($name:ident: $startup:ident, $avoidance:ident;)*) => {
        /// The policies of a connection. The compiler knows the pairs of the benchmark and inlines
        /// their calls into the sender. Each such pair adds a copy of the sender's code, so the
        /// WebAssembly build has none. Every other pair is a `P`.
        #[allow(clippy::large_enum_variant, reason = "what every ACK touches stays in one place")]
        #[derive(Clone, Debug)]
        pub enum Chosen<P> {
            $(
                #[doc = concat!(stringify!($startup), " with ", stringify!($avoidance), ".")]
                $name(crate::pair::Pair<crate::startup::$startup, crate::avoidance::$avoidance>),
            )*
            /// Any other.
            Any(P),
        }

        /// How many pairs are known to the compiler.
        pub const KNOWN: usize = <[&str]>::len(&[$(stringify!($name)),*]);

        impl<P> Chosen<P> {
            /// A start-up and an avoidance of the core; `any` makes the `P` of a pair that has no
            /// variant.
            #[allow(clippy::match_single_binding, reason = "where no pair is known")]
            pub fn of(
                startup: AnyStartup,
                avoidance: AnyAvoidance,
                any: impl FnOnce(AnyStartup, AnyAvoidance) -> P,
            ) -> Self {
                match (startup, avoidance) {
                    $(
                        (AnyStartup::$startup(startup), AnyAvoidance::$avoidance(avoidance)) => {
                            Self::$name(crate::pair::Pair::new(startup, avoidance))
                        }
                    )*
                    (startup, avoidance) => Self::Any(any(startup, avoidance)),
                }
            }

            /// A copy; `any` copies a `P`.
            pub fn copied<Q>(&self, any: impl FnOnce(&P) -> Q) -> Chosen<Q> {
                match self {
                    $(Self::$name(pair) => Chosen::$name(pair.clone()),)*
                    Self::Any(it) => Chosen::Any(any(it)),
                }
            }
        }

        impl<P: Policies> Policies for Chosen<P> {
            pass_on_policies!(chosen! { $($name)* });
        }
    };
}

/// [`Policies`] of what holds policies.
macro_rules! pass_on_policies {
    ($to:ident! { $($known:ident)* }) => {
        crate::pass_on! { self, $to! { $($known)* };
            fn startup(&self) -> &dyn Startup;
            fn avoidance(&self) -> &dyn Avoidance;
            fn both(&mut self) -> (&mut dyn Startup, &mut dyn Avoidance);
            fn keep(&mut self);
            fn restore(&mut self);
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
    ({ $($name:ident)* } $self:ident.$call:ident $arguments:tt) => {
        match $self {
            $(Self::$name(it) => it.$call $arguments,)*
            Self::Any(it) => it.$call $arguments,
        }
    };
}

#[cfg(not(target_family = "wasm"))]
known! {
    NewReno: SlowStart, NewReno;
    Astart: Astart, Westwood;
}
#[cfg(target_family = "wasm")]
known! {}

#[cfg(feature = "alloc")]
macro_rules! boxed {
    ({} $self:ident.$call:ident $arguments:tt) => {
        (**$self).$call $arguments
    };
}

/// A boxed pair of policies is a pair of policies.
#[cfg(feature = "alloc")]
impl<P: Policies + ?Sized> Policies for alloc::boxed::Box<P> {
    pass_on_policies!(boxed! {});
}
