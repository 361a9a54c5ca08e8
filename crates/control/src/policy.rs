//! The policies of a control: the core's, or somebody else's that were added by name.

use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};

use dyn_clone::DynClone;
use firstflight_core::card::{Card, Listed, is_writable};
use firstflight_core::delivery_exit::DeliveryExit;
use firstflight_core::knob::{AnyKnobs, KnobValue};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS, alias};

use crate::spec::LANDED;

/// What a control needs of a policy from outside this repository besides its knobs. Every policy
/// with a card has it.
pub trait Own: AnyKnobs + DynClone + Debug + Send + Sync {
    /// Its card.
    fn card(&self) -> &'static Card;
}

/// A start-up from outside this repository. Every [`Startup`] with a card is one.
pub trait OwnStartup: Startup + Own {}

/// An avoidance from outside this repository. Every [`Avoidance`] with a card is one.
pub trait OwnAvoidance: Avoidance + Own {}

dyn_clone::clone_trait_object!(OwnStartup);
dyn_clone::clone_trait_object!(OwnAvoidance);

/// Why a policy could not be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The name cannot be written in a control.
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
    is_free(S::CARD.name)?;
    ALL_STARTUPS.add(const { &S::CARD }, Arc::new(|| Box::new(S::default())))
}

/// Adds a start-up whose card is known only when the program runs, as one that is written in
/// another language. One that was put under the same name before is replaced.
///
/// # Errors
/// The name of its card cannot be written in a control, or is taken by a start-up that was not put.
pub fn put_startup(
    card: &'static Card,
    make: impl Fn() -> Box<dyn OwnStartup> + Send + Sync + 'static,
) -> Result<(), AddError> {
    is_free(card.name)?;
    ALL_STARTUPS.put(card, Arc::new(make))
}

/// Checks that a start-up's name is neither an alias nor [`LANDED`].
fn is_free(name: &'static str) -> Result<(), AddError> {
    if alias(name).is_some() || name == LANDED { Err(AddError::Taken(name)) } else { Ok(()) }
}

/// Adds an avoidance, as [`add_startup`] adds a start-up.
///
/// # Errors
/// The name of its card cannot be written in a control, or is taken.
pub fn add_avoidance<A>() -> Result<(), AddError>
where
    A: Avoidance + Listed + Clone + Debug + Send + Sync + 'static,
{
    ALL_AVOIDANCES.add(const { &A::CARD }, Arc::new(|| Box::new(A::default())))
}

/// The cards of all start-ups: the core's, then those that were added.
pub fn startups() -> Vec<&'static Card> {
    ALL_STARTUPS.cards()
}

/// The cards of all avoidances: the core's, then those that were added.
pub fn avoidances() -> Vec<&'static Card> {
    ALL_AVOIDANCES.cards()
}

/// The usual avoidances of all start-ups, each once. Slow start with each of them shows what of a
/// start-up's result is its avoidance's.
pub fn partners() -> Vec<&'static str> {
    let mut partners = Vec::new();
    for partner in startups().iter().filter_map(|card| card.partner) {
        if !partners.contains(&partner) {
            partners.push(partner);
        }
    }
    partners
}

/// The policies of one side: the cards of the core's, and those that were added, each with what
/// makes one with its default knobs.
struct Side<P: ?Sized> {
    core: &'static [Card],
    added: RwLock<Vec<Added<P>>>,
}

struct Added<P: ?Sized> {
    card: &'static Card,
    make: Make<P>,
    /// A later one of its name replaces it.
    replaceable: bool,
}

type Make<P> = Arc<dyn Fn() -> Box<P> + Send + Sync>;

static ALL_STARTUPS: Side<dyn OwnStartup> = Side { core: STARTUPS, added: RwLock::new(Vec::new()) };
static ALL_AVOIDANCES: Side<dyn OwnAvoidance> =
    Side { core: AVOIDANCES, added: RwLock::new(Vec::new()) };

impl<P: ?Sized> Side<P> {
    fn add(&self, card: &'static Card, make: Make<P>) -> Result<(), AddError> {
        self.take(Added { card, make, replaceable: false })
    }

    fn put(&self, card: &'static Card, make: Make<P>) -> Result<(), AddError> {
        self.take(Added { card, make, replaceable: true })
    }

    fn take(&self, new: Added<P>) -> Result<(), AddError> {
        let name = new.card.name;
        if !is_writable(name) {
            return Err(AddError::Unwritable(name));
        }
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let known = added.iter_mut().find(|known| known.card.name == name);
        match known {
            Some(known) if known.replaceable && new.replaceable => *known = new,
            None if self.core.iter().all(|card| card.name != name) => added.push(new),
            _ => return Err(AddError::Taken(name)),
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<Box<P>> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        let make = added.iter().find(|known| known.card.name == name)?.make.clone();
        // The lock is not held while it is made, which may take long.
        drop(added);
        Some(make())
    }

    fn cards(&self) -> Vec<&'static Card> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        self.core.iter().chain(added.iter().map(|known| known.card)).collect()
    }
}

impl<P: Listed + Debug + Send + Sync> Own for P {
    fn card(&self) -> &'static Card {
        const { &P::CARD }
    }
}

impl<S: Startup + Own> OwnStartup for S {}

impl<A: Avoidance + Own> OwnAvoidance for A {}

/// The start-up of a control.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly always the large one")]
pub enum ChosenStartup {
    /// One of the core's.
    Core(AnyStartup),
    /// One that was added ([`add_startup`]).
    Own(Box<dyn OwnStartup>),
    /// One with another landing, `landed(...)`.
    DeliveryExit(Box<DeliveryExit<ChosenStartup>>),
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
    ({} $self:ident.$call:ident $arguments:tt) => {
        match $self {
            Self::Core(it) => it.$call $arguments,
            Self::Own(it) => it.$call $arguments,
        }
    };
}

macro_rules! any_startup {
    ({} $self:ident.$call:ident $arguments:tt) => {
        match $self {
            Self::Core(it) => it.$call $arguments,
            Self::Own(it) => it.$call $arguments,
            Self::DeliveryExit(it) => it.$call $arguments,
        }
    };
}

macro_rules! chosen {
    ($chosen:ident, $core:ident, $own:ident, $($landed:ident)?) => {
        impl $chosen {
            /// The policy of that name with its default knobs.
            pub fn by_name(name: &str) -> Option<Self> {
                match $core::by_name(name) {
                    Some(policy) => Some(Self::Core(policy)),
                    None => $own.find(name).map(Self::Own),
                }
            }

            /// Its card.
            pub fn card(&self) -> &'static Card {
                match self {
                    Self::Core(policy) => policy.card(),
                    Self::Own(policy) => policy.card(),
                    $(Self::$landed(landed) => landed.startup().card(),)?
                }
            }

            /// Sets one of its knobs; false if it has none of that name and kind.
            pub fn set(&mut self, name: &str, value: KnobValue) -> bool {
                match self {
                    Self::Core(policy) => policy.set(name, value),
                    Self::Own(policy) => policy.set_knob(name, value),
                    $(Self::$landed(landed) => landed.startup_mut().set(name, value),)?
                }
            }

            /// The value of one of its knobs
            /// ([`Knobs::value`](firstflight_core::knob::Knobs::value)).
            pub fn value(&self, name: &str) -> Option<KnobValue> {
                match self {
                    Self::Core(policy) => policy.value(name),
                    Self::Own(policy) => policy.knob(name),
                    $(Self::$landed(landed) => landed.startup().value(name),)?
                }
            }
        }
    };
}

chosen!(ChosenStartup, AnyStartup, ALL_STARTUPS, DeliveryExit);
firstflight_core::pass_on_observer! { ChosenStartup, any_startup! {} }
firstflight_core::pass_on_startup! { ChosenStartup, any_startup! {} }

impl ChosenStartup {
    /// This start-up with another landing ([`firstflight_core::delivery_exit`]).
    pub fn landed(self) -> Self {
        Self::DeliveryExit(Box::new(DeliveryExit::new(self)))
    }

    /// Whether it has another landing.
    pub const fn is_landed(&self) -> bool {
        matches!(self, Self::DeliveryExit(_))
    }
}

chosen!(ChosenAvoidance, AnyAvoidance, ALL_AVOIDANCES,);
firstflight_core::pass_on_observer! { ChosenAvoidance, either! {} }
firstflight_core::pass_on_avoidance! { ChosenAvoidance, either! {} }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use firstflight_core::startup::SlowStart;

    #[test]
    fn what_is_put_again_replaces_the_first_and_its_partner_is_its_own() {
        static FIRST: Card = Card::new("put-again", "", "").with("cubic");
        static SECOND: Card = Card::new("put-again", "", "").with("vegas");
        static TAKEN: Card = Card::new("astart", "", "");
        static AROUND: Card = Card::new("landed", "", "");
        let make = || Box::new(SlowStart::default()) as Box<dyn OwnStartup>;
        for card in [&FIRST, &SECOND] {
            put_startup(card, make).unwrap();
            let full = format!("put-again+{}", card.partner.unwrap());
            assert_eq!(Control::named("put-again").unwrap().full, full);
        }
        assert_eq!(put_startup(&TAKEN, make), Err(AddError::Taken("astart")));
        assert_eq!(put_startup(&AROUND, make), Err(AddError::Taken("landed")));
    }
}
