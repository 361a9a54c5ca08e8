//! Makes the enum that holds any policy of one side, and its table, from the list of policies in
//! `startup/mod.rs` and `avoidance/mod.rs`.

/// Passes a call on to the policy that `$self` holds.
macro_rules! delegate {
    ($any:ident: $($policy:ident)*; $self:ident, $it:ident => $call:expr) => {
        match $self { $($any::$policy($it) => $call,)* }
    };
}

/// What both sides share: the modules, the enum, its names, its knobs, and what every policy
/// observes.
macro_rules! policies {
    ($any:ident, $side:literal, $table:ident: $($module:ident::$policy:ident,)*) => {
        $(
            pub(crate) mod $module;
            pub use $module::$policy;
        )*

        #[doc = concat!("Any ", $side, " policy, chosen by name.")]
        #[derive(Clone, Debug)]
        // A tag of its own: every event asks several times which policy it is.
        #[repr(u8)]
        #[expect(missing_docs, reason = "the variants are the policies of the same name")]
        #[allow(clippy::large_enum_variant, reason = "nothing is allocated, so nothing is boxed")]
        pub enum $any {
            $($policy($policy),)*
        }

        #[doc = concat!("The card of every ", $side, " policy.")]
        pub const $table: &[Card] = &[$($policy::CARD,)*];

        const _: () = check_names($table);

        impl $any {
            /// The policy of that name with its default knobs.
            pub fn by_name(name: &str) -> Option<Self> {
                $(if name == $policy::CARD.name {
                    return Some(Self::$policy($policy::default()));
                })*
                None
            }

            /// The policy's card.
            pub fn card(&self) -> &'static Card {
                match self { $(Self::$policy(_) => const { &$policy::CARD },)* }
            }

            /// Sets one of the policy's knobs; false if it has none of that name and kind.
            pub fn set(&mut self, name: &str, value: KnobValue) -> bool {
                delegate!($any: $($policy)*; self, it => it.set(name, value))
            }

            /// What one of the policy's knobs amounts to
            /// ([`Knobs::value`](crate::knob::Knobs::value)).
            pub fn value(&self, name: &str) -> Option<KnobValue> {
                delegate!($any: $($policy)*; self, it => it.value(name))
            }
        }

        impl Observer for $any {
            fn needs(&self) -> Needs {
                delegate!($any: $($policy)*; self, it => it.needs())
            }

            fn on_handshake(&mut self, view: &View) {
                delegate!($any: $($policy)*; self, it => it.on_handshake(view))
            }

            fn on_begin(&mut self, view: &View) {
                delegate!($any: $($policy)*; self, it => it.on_begin(view))
            }

            fn on_sent(&mut self, sent: &Sent, view: &View) {
                delegate!($any: $($policy)*; self, it => it.on_sent(sent, view))
            }

            #[inline(always)]
            fn on_ack(&mut self, ack: &Ack, view: &View) {
                delegate!($any: $($policy)*; self, it => Observer::on_ack(it, ack, view))
            }

            fn on_loss(&mut self, loss: &Loss, view: &View) {
                delegate!($any: $($policy)*; self, it => it.on_loss(loss, view))
            }

            fn on_further_loss(&mut self, loss: &Loss, view: &View) {
                delegate!($any: $($policy)*; self, it => it.on_further_loss(loss, view))
            }

            fn on_feedback(&mut self, feedback: &Feedback, view: &View) {
                delegate!($any: $($policy)*; self, it => it.on_feedback(feedback, view))
            }

            #[inline]
            fn eligible(&self) -> Option<Rate> {
                delegate!($any: $($policy)*; self, it => it.eligible())
            }

            fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
                delegate!($any: $($policy)*; self, it => it.gauges(report))
            }
        }
    };
}

/// The start-ups: a line `module::Policy` each.
macro_rules! startups {
    ($($module:ident::$policy:ident,)*) => {
        policies! { AnyStartup, "start-up", STARTUPS: $($module::$policy,)* }

        impl Startup for AnyStartup {
            fn open(&self, default: Window, mss: Bytes) -> Window {
                delegate!(Self: $($policy)*; self, it => it.open(default, mss))
            }

            fn restart_window(&self, mss: Bytes) -> Bytes {
                delegate!(Self: $($policy)*; self, it => it.restart_window(mss))
            }

            fn asks(&self) -> Option<Rate> {
                delegate!(Self: $($policy)*; self, it => it.asks())
            }

            fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
                delegate!(Self: $($policy)*; self, it => it.inform(hint, view))
            }

            fn begin(&mut self, view: &View) -> Step {
                delegate!(Self: $($policy)*; self, it => it.begin(view))
            }

            fn enter(&mut self, why: Entry, view: &View) {
                delegate!(Self: $($policy)*; self, it => it.enter(why, view))
            }

            #[inline(always)]
            fn step(&mut self, ack: &Ack, view: &View) -> Step {
                delegate!(Self: $($policy)*; self, it => it.step(ack, view))
            }

            fn answer(&mut self, loss: &Loss, view: &View) -> Answer {
                delegate!(Self: $($policy)*; self, it => it.answer(loss, view))
            }

            fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
                delegate!(Self: $($policy)*; self, it => it.recovering(ack, view))
            }

            fn on_wake(&mut self, view: &View) -> Step {
                delegate!(Self: $($policy)*; self, it => it.on_wake(view))
            }

            fn growth(&self) -> u64 {
                delegate!(Self: $($policy)*; self, it => it.growth())
            }

            fn found(&self, view: &View) -> Found {
                delegate!(Self: $($policy)*; self, it => it.found(view))
            }

            fn refutes_hint(&self) -> bool {
                delegate!(Self: $($policy)*; self, it => it.refutes_hint())
            }
        }
    };
}

/// The avoidances: a line `module::Policy` each.
macro_rules! avoidances {
    ($($module:ident::$policy:ident,)*) => {
        policies! { AnyAvoidance, "avoidance", AVOIDANCES: $($module::$policy,)* }

        impl Avoidance for AnyAvoidance {
            fn enter(&mut self, found: &Found, view: &View) {
                delegate!(Self: $($policy)*; self, it => it.enter(found, view))
            }

            #[inline(always)]
            fn step(&mut self, ack: &Ack, view: &View) -> Step {
                delegate!(Self: $($policy)*; self, it => it.step(ack, view))
            }

            fn cut(&mut self, loss: &Loss, view: &View) -> Window {
                delegate!(Self: $($policy)*; self, it => it.cut(loss, view))
            }

            fn beta(&self) -> u64 {
                delegate!(Self: $($policy)*; self, it => it.beta())
            }

            #[inline(always)]
            fn wants_reprobe(&self) -> bool {
                delegate!(Self: $($policy)*; self, it => it.wants_reprobe())
            }
        }
    };
}
