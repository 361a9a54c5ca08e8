//! The table of names: every start-up, every avoidance, every alias. Adding an algorithm is one
//! file and one line here; the command line, scenario files, `list` and the tests read this table.

use crate::avoidance::NewReno;
use crate::event::{Ack, Loss, Sent};
use crate::knob::{Knob, KnobValue, Knobs};
use crate::policy::{Avoidance, Entry, Observer, Startup, Step};
use crate::startup::SlowStart;
use crate::units::Bytes;
use crate::view::{View, Window};

/// What `list` says about a policy.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Name as users write it.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// It sets a pacing rate, which a transport without pacing control ignores.
    pub paced: bool,
    /// Its knobs.
    pub knobs: &'static [Knob],
}

/// A short name for a pair of policies, as the papers call it.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The short name.
    pub name: &'static str,
    /// What it stands for.
    pub control: &'static str,
    /// Who calls it so.
    pub source: &'static str,
}

macro_rules! policies {
    ($any:ident, $axis:literal, $table:ident,
     $($variant:ident = $name:literal, $paced:literal, $summary:literal, $source:literal;)*) => {
        #[doc = concat!("Any ", $axis, " policy, chosen by name.")]
        #[derive(Clone, Debug)]
        #[expect(missing_docs, reason = "the variants are the policies of the same name")]
        pub enum $any {
            $($variant($variant),)*
        }

        impl $any {
            /// The policy of that name with its default knobs.
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant($variant::default())),)*
                    _ => None,
                }
            }

            /// Sets one of the policy's knobs; false if it has none of that name and kind.
            pub fn set(&mut self, name: &str, value: KnobValue) -> bool {
                match self {
                    $(Self::$variant(policy) => policy.set(name, value),)*
                }
            }
        }

        impl Observer for $any {
            #[inline]
            fn on_sent(&mut self, sent: &Sent, view: &View) {
                match self {
                    $(Self::$variant(policy) => policy.on_sent(sent, view),)*
                }
            }

            #[inline]
            fn on_ack(&mut self, ack: &Ack, view: &View) {
                match self {
                    $(Self::$variant(policy) => Observer::on_ack(policy, ack, view),)*
                }
            }

            fn on_loss(&mut self, loss: &Loss, view: &View) {
                match self {
                    $(Self::$variant(policy) => policy.on_loss(loss, view),)*
                }
            }

            fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
                match self {
                    $(Self::$variant(policy) => policy.gauges(report),)*
                }
            }
        }

        #[doc = concat!("Every ", $axis, " policy.")]
        pub const $table: &[Listing] = &[
            $(Listing {
                name: $name,
                summary: $summary,
                source: $source,
                paced: $paced,
                knobs: $variant::KNOBS,
            },)*
        ];
    };
}

policies! { AnyStartup, "start-up", STARTUPS,
    SlowStart = "slow-start", false,
        "one segment more per ACK until ssthresh", "RFC 5681 section 3.1";
}

policies! { AnyAvoidance, "avoidance", AVOIDANCES,
    NewReno = "newreno", false,
        "one segment more per RTT, half the flight at a loss", "RFC 5681, RFC 6582";
}

/// Every alias.
pub const ALIASES: &[Alias] = &[
    Alias { name: "reno", control: "slow-start+newreno", source: "RFC 5681, Reno recovery" },
    Alias { name: "newreno", control: "slow-start+newreno", source: "RFC 6582" },
];

macro_rules! delegate {
    ($self:ident, $any:ident: $($variant:ident)*, $policy:ident => $call:expr) => {
        match $self { $($any::$variant($policy) => $call,)* }
    };
}

macro_rules! startup {
    ($self:ident, $policy:ident => $call:expr) => {
        delegate!($self, AnyStartup: SlowStart, $policy => $call)
    };
}

macro_rules! avoidance {
    ($self:ident, $policy:ident => $call:expr) => {
        delegate!($self, AnyAvoidance: NewReno, $policy => $call)
    };
}

impl Startup for AnyStartup {
    fn initial_window(&self, default: Bytes, mss: Bytes) -> Bytes {
        startup!(self, policy => policy.initial_window(default, mss))
    }

    fn initial_ssthresh(&self, default: Bytes, mss: Bytes) -> Bytes {
        startup!(self, policy => policy.initial_ssthresh(default, mss))
    }

    fn restart_window(&self, mss: Bytes) -> Bytes {
        startup!(self, policy => policy.restart_window(mss))
    }

    fn enter(&mut self, why: Entry, view: &View) {
        startup!(self, policy => policy.enter(why, view))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        startup!(self, policy => policy.step(ack, view))
    }
}

impl Avoidance for AnyAvoidance {
    fn enter(&mut self, view: &View) {
        avoidance!(self, policy => policy.enter(view))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        avoidance!(self, policy => policy.step(ack, view))
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        avoidance!(self, policy => policy.cut(loss, view))
    }

    fn wants_reprobe(&self) -> bool {
        avoidance!(self, policy => policy.wants_reprobe())
    }
}
