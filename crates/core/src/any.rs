//! Makes the enum that holds any policy of one side, and its table, from the list of policies that
//! the build script makes of the modules of `startup/mod.rs` and `avoidance/mod.rs`.

/// Passes a call on to the policy that `$self` holds.
macro_rules! delegate {
    ({ $($policy:ident)* } $self:ident.$call:ident $arguments:tt) => {
        match $self { $(Self::$policy(it) => it.$call $arguments,)* }
    };
}

/// What both sides share: the enum, its names, its knobs, and what every policy
/// observes.
macro_rules! policies {
    ($any:ident, $side:literal, $table:ident: $($module:ident::$policy:ident,)*) => {
        $(pub use $module::$policy;)*

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
        pub const $table: &[Card] = &CARDS;

        /// Once in a program: a constant would be there once more for each crate that reads it.
        static CARDS: [Card; [$($policy::CARD.name),*].len()] = [$($policy::CARD,)*];

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
                enum Place {
                    $($policy,)*
                }
                let place = match self { $(Self::$policy(_) => Place::$policy,)* };
                &CARDS[place as usize]
            }

            /// Sets one of the policy's knobs; false if it has none of that name and kind.
            pub fn set(&mut self, name: &str, value: KnobValue) -> bool {
                delegate!({ $($policy)* } self.set(name, value))
            }

            /// What one of the policy's knobs amounts to
            /// ([`Knobs::value`](crate::knob::Knobs::value)).
            pub fn value(&self, name: &str) -> Option<KnobValue> {
                delegate!({ $($policy)* } self.value(name))
            }
        }
    };
}

/// The start-ups: a line `module::Policy` each.
macro_rules! startups {
    ($($module:ident::$policy:ident,)*) => {
        policies! { AnyStartup, "start-up", STARTUPS: $($module::$policy,)* }
        crate::pass_on_observer! { AnyStartup, delegate! { $($policy)* } }
        crate::pass_on_startup! { AnyStartup, delegate! { $($policy)* } }
    };
}

/// The avoidances: a line `module::Policy` each.
macro_rules! avoidances {
    ($($module:ident::$policy:ident,)*) => {
        policies! { AnyAvoidance, "avoidance", AVOIDANCES: $($module::$policy,)* }
        crate::pass_on_observer! { AnyAvoidance, delegate! { $($policy)* } }
        crate::pass_on_avoidance! { AnyAvoidance, delegate! { $($policy)* } }
    };
}
