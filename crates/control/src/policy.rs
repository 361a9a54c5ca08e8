//! The policies of a control: the core's, or somebody else's that were added by name.

use std::fmt::Debug;
use std::sync::RwLock;

use firstflight_core::card::{Card, Listed, is_writable};
use firstflight_core::event::{Ack, Loss, Sent};
use firstflight_core::feedback::Feedback;
use firstflight_core::hint::PathHint;
use firstflight_core::knob::{KnobValue, Knobs};
use firstflight_core::needs::Needs;
use firstflight_core::policy::{Answer, Avoidance, Entry, Found, Observer, Startup, Step};
use firstflight_core::registry::{AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS, alias};
use firstflight_core::units::{Bytes, Rate};
use firstflight_core::view::{View, Window};

/// A start-up from outside this repository. Every [`Startup`] with a card is one.
pub trait OwnStartup: Startup + Debug + Send + Sync {
    /// Its card.
    fn card(&self) -> &'static Card;

    /// Sets one of its knobs; false if it has none of that name and kind.
    fn set_knob(&mut self, name: &str, value: KnobValue) -> bool;

    /// A copy in the state it is in.
    fn boxed_clone(&self) -> Box<dyn OwnStartup>;
}

/// An avoidance from outside this repository. Every [`Avoidance`] with a card is one.
pub trait OwnAvoidance: Avoidance + Debug + Send + Sync {
    /// Its card.
    fn card(&self) -> &'static Card;

    /// Sets one of its knobs; false if it has none of that name and kind.
    fn set_knob(&mut self, name: &str, value: KnobValue) -> bool;

    /// A copy in the state it is in.
    fn boxed_clone(&self) -> Box<dyn OwnAvoidance>;
}

/// Why a policy could not be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// A control could not name it.
    #[error(
        "policy `{0}`: a control cannot write this name; accepted: lower-case letters, digits and \
         single hyphens, as in `my-start`"
    )]
    Unwritable(&'static str),
    /// The name means something already.
    #[error("policy `{0}`: the name is taken; accepted: one that `firstflight list` does not have")]
    Taken(&'static str),
}

/// Adds a start-up to those that a control can name, for the rest of the program: in scenario
/// files, on the command line, in the simulator and over QUIC. To be called once, before anything
/// is read.
///
/// # Errors
/// The name of its card cannot be written in a control, or is taken.
pub fn add_startup<S>() -> Result<(), AddError>
where
    S: Startup + Listed + Clone + Debug + Send + Sync + 'static,
{
    let taken = STARTUPS.iter().any(|card| card.name == S::CARD.name)
        || alias(S::CARD.name).is_some()
        || own_startup(S::CARD.name).is_some();
    check(S::CARD.name, taken)?;
    let mut added = OWN_STARTUPS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    added.push(Box::leak(Box::new(AddedStartup {
        card: const { &S::CARD },
        make: || Box::new(S::default()),
    })));
    Ok(())
}

/// The same for an avoidance.
///
/// # Errors
/// As of [`add_startup`].
pub fn add_avoidance<A>() -> Result<(), AddError>
where
    A: Avoidance + Listed + Clone + Debug + Send + Sync + 'static,
{
    let taken = AVOIDANCES.iter().any(|card| card.name == A::CARD.name)
        || own_avoidance(A::CARD.name).is_some();
    check(A::CARD.name, taken)?;
    let mut added = OWN_AVOIDANCES.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    added.push(Box::leak(Box::new(AddedAvoidance {
        card: const { &A::CARD },
        make: || Box::new(A::default()),
    })));
    Ok(())
}

fn check(name: &'static str, taken: bool) -> Result<(), AddError> {
    match (is_writable(name), taken) {
        (false, _) => Err(AddError::Unwritable(name)),
        (true, true) => Err(AddError::Taken(name)),
        (true, false) => Ok(()),
    }
}

struct AddedStartup {
    card: &'static Card,
    make: fn() -> Box<dyn OwnStartup>,
}

struct AddedAvoidance {
    card: &'static Card,
    make: fn() -> Box<dyn OwnAvoidance>,
}

static OWN_STARTUPS: RwLock<Vec<&'static AddedStartup>> = RwLock::new(Vec::new());
static OWN_AVOIDANCES: RwLock<Vec<&'static AddedAvoidance>> = RwLock::new(Vec::new());

fn own_startup(name: &str) -> Option<&'static AddedStartup> {
    let added = OWN_STARTUPS.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    added.iter().copied().find(|added| added.card.name == name)
}

fn own_avoidance(name: &str) -> Option<&'static AddedAvoidance> {
    let added = OWN_AVOIDANCES.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    added.iter().copied().find(|added| added.card.name == name)
}

/// The cards of all start-ups: the core's, then those that were added.
pub fn startups() -> Vec<&'static Card> {
    let added = OWN_STARTUPS.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    STARTUPS.iter().chain(added.iter().map(|added| added.card)).collect()
}

/// The cards of all avoidances: the core's, then those that were added.
pub fn avoidances() -> Vec<&'static Card> {
    let added = OWN_AVOIDANCES.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    AVOIDANCES.iter().chain(added.iter().map(|added| added.card)).collect()
}

impl<S> OwnStartup for S
where
    S: Startup + Listed + Clone + Debug + Send + Sync + 'static,
{
    fn card(&self) -> &'static Card {
        const { &S::CARD }
    }

    fn set_knob(&mut self, name: &str, value: KnobValue) -> bool {
        Knobs::set(self, name, value)
    }

    fn boxed_clone(&self) -> Box<dyn OwnStartup> {
        Box::new(self.clone())
    }
}

impl<A> OwnAvoidance for A
where
    A: Avoidance + Listed + Clone + Debug + Send + Sync + 'static,
{
    fn card(&self) -> &'static Card {
        const { &A::CARD }
    }

    fn set_knob(&mut self, name: &str, value: KnobValue) -> bool {
        Knobs::set(self, name, value)
    }

    fn boxed_clone(&self) -> Box<dyn OwnAvoidance> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn OwnStartup> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

impl Clone for Box<dyn OwnAvoidance> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// The start-up of a control.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly always the large one")]
pub enum ChosenStartup {
    /// One of the core's.
    Core(AnyStartup),
    /// One that was added ([`add_startup`]).
    Own(Box<dyn OwnStartup>),
}

/// The avoidance of a control.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly always the large one")]
pub enum ChosenAvoidance {
    /// One of the core's.
    Core(AnyAvoidance),
    /// One that was added ([`add_avoidance`]).
    Own(Box<dyn OwnAvoidance>),
}

macro_rules! either {
    ($self:ident, $it:ident => $call:expr) => {
        match $self {
            Self::Core($it) => $call,
            Self::Own($it) => $call,
        }
    };
}

macro_rules! chosen {
    ($chosen:ident, $core:ident, $own:ident) => {
        impl $chosen {
            /// The policy of that name with its default knobs.
            pub fn by_name(name: &str) -> Option<Self> {
                match $core::by_name(name) {
                    Some(policy) => Some(Self::Core(policy)),
                    None => $own(name).map(|added| Self::Own((added.make)())),
                }
            }

            /// Its card.
            pub fn card(&self) -> &'static Card {
                either!(self, it => it.card())
            }

            /// Sets one of its knobs; false if it has none of that name and kind.
            pub fn set(&mut self, name: &str, value: KnobValue) -> bool {
                match self {
                    Self::Core(policy) => policy.set(name, value),
                    Self::Own(policy) => policy.set_knob(name, value),
                }
            }
        }

        impl Observer for $chosen {
            fn needs(&self) -> Needs {
                either!(self, it => it.needs())
            }

            fn on_handshake(&mut self, view: &View) {
                either!(self, it => it.on_handshake(view))
            }

            fn on_begin(&mut self, view: &View) {
                either!(self, it => it.on_begin(view))
            }

            fn on_sent(&mut self, sent: &Sent, view: &View) {
                either!(self, it => it.on_sent(sent, view))
            }

            #[inline]
            fn on_ack(&mut self, ack: &Ack, view: &View) {
                either!(self, it => it.on_ack(ack, view))
            }

            fn on_loss(&mut self, loss: &Loss, view: &View) {
                either!(self, it => it.on_loss(loss, view))
            }

            fn on_further_loss(&mut self, loss: &Loss, view: &View) {
                either!(self, it => it.on_further_loss(loss, view))
            }

            fn on_feedback(&mut self, feedback: &Feedback, view: &View) {
                either!(self, it => it.on_feedback(feedback, view))
            }

            fn eligible(&self) -> Option<Rate> {
                either!(self, it => it.eligible())
            }

            fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
                either!(self, it => it.gauges(report))
            }
        }
    };
}

chosen!(ChosenStartup, AnyStartup, own_startup);
chosen!(ChosenAvoidance, AnyAvoidance, own_avoidance);

impl Startup for ChosenStartup {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        either!(self, it => it.open(default, mss))
    }

    fn restart_window(&self, mss: Bytes) -> Bytes {
        either!(self, it => it.restart_window(mss))
    }

    fn asks(&self) -> Option<Rate> {
        either!(self, it => it.asks())
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        either!(self, it => it.inform(hint, view))
    }

    fn begin(&mut self, view: &View) -> Step {
        either!(self, it => it.begin(view))
    }

    fn enter(&mut self, why: Entry, view: &View) {
        either!(self, it => it.enter(why, view))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        either!(self, it => it.step(ack, view))
    }

    fn answer(&mut self, loss: &Loss, view: &View) -> Answer {
        either!(self, it => it.answer(loss, view))
    }

    fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
        either!(self, it => it.recovering(ack, view))
    }

    fn on_wake(&mut self, view: &View) -> Step {
        either!(self, it => it.on_wake(view))
    }

    #[inline]
    fn growth(&self) -> u64 {
        either!(self, it => it.growth())
    }

    fn found(&self, view: &View) -> Found {
        either!(self, it => it.found(view))
    }

    fn refutes_hint(&self) -> bool {
        either!(self, it => it.refutes_hint())
    }
}

impl Avoidance for ChosenAvoidance {
    fn enter(&mut self, found: &Found, view: &View) {
        either!(self, it => it.enter(found, view))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        either!(self, it => it.step(ack, view))
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        either!(self, it => it.cut(loss, view))
    }

    fn beta(&self) -> u64 {
        either!(self, it => it.beta())
    }

    #[inline]
    fn wants_reprobe(&self) -> bool {
        either!(self, it => it.wants_reprobe())
    }
}
