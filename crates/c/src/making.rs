//! From the written form of a control to its policies, in one size for all and without a heap.

#[cfg(not(feature = "conformance"))]
use firstflight_core::chosen::Chosen;
use firstflight_core::delivery_exit::DeliveryExit;
use firstflight_core::pair::Pair;
use firstflight_core::registry::{AnyAvoidance, AnyStartup};

use crate::abi::Config;

/// A start-up of the core's, perhaps with `landed(...)` around it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nothing is allocated, so nothing is boxed")]
pub enum Start {
    /// As it is.
    Core(AnyStartup),
    /// `landed(...)`.
    Landed(DeliveryExit<AnyStartup>),
}

macro_rules! start {
    ({} $self:ident.$call:ident $arguments:tt) => {
        match $self {
            Self::Core(it) => it.$call $arguments,
            Self::Landed(it) => it.$call $arguments,
        }
    };
}

firstflight_core::pass_on_observer! { Start, start! {} }
firstflight_core::pass_on_startup! { Start, start! {} }

/// The policies of every sender.
#[cfg(not(feature = "conformance"))]
pub type Policies = Chosen<Pair<Start, AnyAvoidance>>;

/// The policies of every sender; start-up checks what is reported.
#[cfg(feature = "conformance")]
pub type Policies = Pair<firstflight_core::conformance::Recorder<Start>, AnyAvoidance>;

/// The two as policies.
#[cfg(not(feature = "conformance"))]
fn joined(startup: Start, avoidance: AnyAvoidance, _config: &Config) -> Policies {
    match startup {
        Start::Core(startup) => Chosen::of(startup, avoidance, |startup, avoidance| {
            Pair::new(Start::Core(startup), avoidance)
        }),
        landed @ Start::Landed(_) => Chosen::Any(Pair::new(landed, avoidance)),
    }
}

#[cfg(feature = "conformance")]
fn joined(startup: Start, avoidance: AnyAvoidance, config: &Config) -> Policies {
    let provides = crate::adapter::provides(config).unwrap_or_default();
    Pair::new(firstflight_core::conformance::Recorder::around(startup, provides), avoidance)
}

#[cfg(feature = "std")]
pub(crate) use whole::policies;

#[cfg(feature = "std")]
mod whole {
    use firstflight_control::policy::{ChosenAvoidance, ChosenStartup};
    use firstflight_control::{Control, ControlProblem};
    use firstflight_core::delivery_exit::DeliveryExit;

    use super::{Policies, Start, joined};
    use crate::abi::{Config, Error, FIRSTFLIGHT_PER_PACKET};
    use crate::error::say;

    /// The policies that `text` names, on a stack of this configuration. A message says what is
    /// wrong.
    pub(crate) fn policies(
        text: &str,
        config: &Config,
        message: &mut [u8],
    ) -> Result<Policies, Error> {
        control(text, config).map_err(|problem| {
            say(&problem.to_string(), message);
            match problem {
                ControlProblem::Lacks { .. } => Error::Lacks,
                _ => Error::Control,
            }
        })
    }

    fn control(text: &str, config: &Config) -> Result<Policies, ControlProblem> {
        let mut control = Control::named(text)?;
        if config.rules & FIRSTFLIGHT_PER_PACKET != 0 {
            control.suggest_weights_per_packet();
        }
        let provides = crate::adapter::provides(config).unwrap_or_default();
        let (control, _) = control.on("the stack", provides)?;
        let startup = match &control.startup {
            ChosenStartup::DeliveryExit(landed) => {
                core(landed.startup()).map(|inner| Start::Landed(DeliveryExit::new(inner)))
            }
            other => core(other).map(Start::Core),
        };
        match (startup, control.avoidance) {
            (Some(startup), ChosenAvoidance::Core(avoidance)) => {
                Ok(joined(startup, avoidance, config))
            }
            // A policy that another part of the program has added by name is not the core's.
            _ => Err(Control::named("").map(|_| ()).expect_err("no control has no name")),
        }
    }

    fn core(startup: &ChosenStartup) -> Option<firstflight_core::registry::AnyStartup> {
        match startup {
            ChosenStartup::Core(startup) => Some(startup.clone()),
            _ => None,
        }
    }
}

#[cfg(not(feature = "std"))]
pub(crate) use names::policies;

#[cfg(not(feature = "std"))]
mod names {
    use firstflight_core::estimate::ere::PER_PACKET;
    use firstflight_core::knob::KnobValue;
    use firstflight_core::needs::Fit;
    use firstflight_core::policy::Observer as _;
    use firstflight_core::registry::{AnyAvoidance, AnyStartup, alias, partner};

    use super::{Policies, Start, joined};
    use crate::abi::{Config, Error, FIRSTFLIGHT_PER_PACKET};
    use crate::error::say;

    /// The policies that `text` names: a start-up, perhaps `+` and an avoidance, or an alias, all
    /// without knobs, because no written quantity can be read without a heap.
    pub(crate) fn policies(
        text: &str,
        config: &Config,
        message: &mut [u8],
    ) -> Result<Policies, Error> {
        let meant = alias(text).map_or(text, |alias| alias.control);
        if meant.contains('(') {
            say("this build reads no knobs; accepted: <start-up>[+<avoidance>]", message);
            return Err(Error::Build);
        }
        let (first, second) = match meant.split_once('+') {
            Some((first, second)) => (first, second),
            None => (meant, partner(meant).unwrap_or("newreno")),
        };
        let known = AnyStartup::by_name(first).zip(AnyAvoidance::by_name(second));
        let Some((mut startup, mut avoidance)) = known else {
            say("no such control; accepted: <start-up>[+<avoidance>]", message);
            return Err(Error::Control);
        };
        if config.rules & FIRSTFLIGHT_PER_PACKET != 0 {
            let word = KnobValue::Word(PER_PACKET);
            let _ = startup.set("preset", word) || avoidance.set("preset", word);
        }
        let needs = startup.needs() | avoidance.needs();
        let provides = crate::adapter::provides(config).unwrap_or_default();
        if let Fit::Lacks(_) = needs.on(provides) {
            say("the control needs what the stack does not declare to provide", message);
            return Err(Error::Lacks);
        }
        Ok(joined(Start::Core(startup), avoidance, config))
    }
}
