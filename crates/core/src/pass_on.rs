//! Implementations that pass every call on, for what holds one of several policies. Each contract's
//! list of calls stands here once.
//!
//! `$to! { .. }` says to whom: `$to!({ .. } self.call(arguments))` makes the call on what `self`
//! holds. What the braces hold is the macro's own.

/// Methods that pass their call on.
#[doc(hidden)]
#[macro_export]
macro_rules! pass_on {
    (
        $self:ident, $to:ident! $among:tt;
        $(
            $(#[$attribute:meta])*
            fn $name:ident(&$($by:ident)+ $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;
        )*
    ) => {
        $(
            $(#[$attribute])*
            fn $name(&$($by)+ $(, $argument: $type)*) $(-> $result)? {
                $to!($among $self.$name($($argument),*))
            }
        )*
    };
}

/// Implements [`Observer`](crate::policy::Observer) for a type that holds one of several policies,
/// or that wraps one (`DeliveryExit<S: Observer>`).
#[doc(hidden)]
#[macro_export]
macro_rules! pass_on_observer {
    ($holder:ident $(<$inside:ident: $bound:path>)?, $to:ident! $among:tt) => {
        const _: () = {
            use $crate::event::{Ack, Loss};
            use $crate::feedback::Feedback;
            use $crate::needs::Needs;
            use $crate::policy::Observer;
            use $crate::units::Span;
            use $crate::view::{Eligible, View};

            impl$(<$inside: $bound>)? Observer for $holder$(<$inside>)? {
                $crate::pass_on! { self, $to! $among;
                    fn needs(&self) -> Needs;
                    fn on_handshake(&mut self, view: &View);
                    fn on_begin(&mut self, view: &View);
                    #[inline(always)]
                    fn on_ack(&mut self, ack: &Ack, view: &View);
                    fn on_loss(&mut self, loss: &Loss, view: &View);
                    fn on_further_loss(&mut self, loss: &Loss, view: &View);
                    fn on_rest(&mut self, idle: Span, view: &View);
                    fn on_feedback(&mut self, feedback: &Feedback, view: &View);
                    #[inline]
                    fn follows_model(&self) -> bool;
                    #[inline]
                    fn eligible(&self) -> Option<Eligible>;
                    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64));
                }
            }
        };
    };
}

/// Implements [`Startup`](crate::policy::Startup) for a type that holds one of several start-ups,
/// or that wraps one.
#[doc(hidden)]
#[macro_export]
macro_rules! pass_on_startup {
    ($holder:ident $(<$inside:ident: $bound:path>)?, $to:ident! $among:tt) => {
        const _: () = {
            use $crate::event::{Ack, Loss};
            use $crate::hint::PathHint;
            use $crate::policy::{Answer, Entry, Found, Startup, Step};
            use $crate::units::{Bytes, Rate};
            use $crate::view::{View, Window};

            impl$(<$inside: $bound>)? Startup for $holder$(<$inside>)? {
                $crate::pass_on! { self, $to! $among;
                    fn once(&self) -> bool;
                    fn open(&self, default: Window, mss: Bytes) -> Window;
                    fn restart_window(&self, mss: Bytes) -> Bytes;
                    fn asks(&self) -> Option<Rate>;
                    fn inform(&mut self, hint: &PathHint, view: &View) -> Step;
                    fn begin(&mut self, view: &View) -> Step;
                    fn enter(&mut self, why: Entry, view: &View);
                    #[inline(always)]
                    fn step(&mut self, ack: &Ack, view: &View) -> Step;
                    fn answer(&mut self, loss: &Loss, view: &View) -> Answer;
                    fn recovering(&mut self, ack: &Ack, view: &View) -> Step;
                    fn land_further(&mut self, loss: &Loss, view: &View) -> Window;
                    fn landed_at(&mut self, view: &View) -> Bytes;
                    fn on_wake(&mut self, view: &View) -> Step;
                    #[inline]
                    fn growth(&self) -> u64;
                    fn repeats(&self, view: &View) -> bool;
                    fn found(&self, view: &View) -> Found;
                    fn refutes_hint(&self) -> bool;
                }
            }
        };
    };
}

/// Implements [`Avoidance`](crate::policy::Avoidance) for a type that holds one of several.
#[doc(hidden)]
#[macro_export]
macro_rules! pass_on_avoidance {
    ($holder:ident, $to:ident! $among:tt) => {
        const _: () = {
            use $crate::event::{Ack, Loss};
            use $crate::policy::{Avoidance, Found, Step};
            use $crate::view::{View, Window};

            impl Avoidance for $holder {
                $crate::pass_on! { self, $to! $among;
                    fn enter(&mut self, found: &Found, view: &View);
                    #[inline(always)]
                    fn step(&mut self, ack: &Ack, view: &View) -> Step;
                    fn rested(&mut self, view: &View) -> Step;
                    fn cut(&mut self, loss: &Loss, view: &View) -> Window;
                    fn beta(&self) -> u64;
                    fn goes_on(&self) -> bool;
                    fn recovering(&mut self, ack: &Ack, view: &View) -> Step;
                    fn growth(&self) -> u64;
                    #[inline(always)]
                    fn wants_reprobe(&self) -> bool;
                }
            }
        };
    };
}
