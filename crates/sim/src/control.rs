//! The control of a flow: anything that makes policies for its connections.

use std::fmt::Debug;
use std::sync::Arc;

use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::pair::{Pair, Policies};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::Sender;

/// What the simulator's TCP provides, with routers on every link and memory beside every path.
pub const PROVIDES: Facilities = Facilities::SENDS
    .and(Facilities::TIMES)
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::PACING)
    .and(Facilities::WAKE_UPS)
    .and(Facilities::RECOVERY_WINDOW)
    .and(Facilities::GAPS)
    .and(Facilities::MEMORY)
    .and(Facilities::GRANTS)
    .and(Facilities::ROUTER_CHANGES)
    .and(Facilities::ROUTER_SHARES);

/// Makes the policies of a flow's connections.
pub trait Control: Debug + Send + Sync {
    /// Policies for a new connection.
    fn policies(&self) -> Box<dyn Policies>;
}

/// The congestion controller of a simulated connection. Boxed, so that it can be any pair of
/// policies: every event of it costs one call through a table, and none of its parts any more.
pub(crate) type Core = Sender<Box<dyn Policies>>;

/// The control made of these two policies, in the state they are in.
pub fn control<S, A>(startup: S, avoidance: A) -> Arc<dyn Control>
where
    S: Startup + Clone + Debug + Send + Sync + 'static,
    A: Avoidance + Clone + Debug + Send + Sync + 'static,
{
    Arc::new(Prototype(Pair::new(startup, avoidance)))
}

/// The same for two of the core's. The pairs with which the simulator's speed is measured are
/// compiled as one, so that their policies need not be asked one by one; each pair costs its code
/// once more.
pub fn core_control(startup: AnyStartup, avoidance: AnyAvoidance) -> Arc<dyn Control> {
    match (startup, avoidance) {
        (AnyStartup::SlowStart(startup), AnyAvoidance::NewReno(avoidance)) => {
            control(startup, avoidance)
        }
        (AnyStartup::Astart(startup), AnyAvoidance::Westwood(avoidance)) => {
            control(startup, avoidance)
        }
        (startup, avoidance) => control(startup, avoidance),
    }
}

/// The control made of the core's policies of these names, with their default knobs, if there are
/// such policies.
pub fn named(startup: &str, avoidance: &str) -> Option<Arc<dyn Control>> {
    Some(core_control(AnyStartup::by_name(startup)?, AnyAvoidance::by_name(avoidance)?))
}

/// Every connection begins as a copy of it.
#[derive(Debug)]
struct Prototype<S, A>(Pair<S, A>);

impl<S, A> Control for Prototype<S, A>
where
    S: Startup + Clone + Debug + Send + Sync + 'static,
    A: Avoidance + Clone + Debug + Send + Sync + 'static,
{
    fn policies(&self) -> Box<dyn Policies> {
        Box::new(self.0.clone())
    }
}

/// What a flow wants of the network and of its ends, beside transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    needs: Needs,
    /// It asks the routers of its path for a rate.
    pub(crate) asks: bool,
}

impl Wants {
    pub(crate) fn of(control: &dyn Control) -> Self {
        let policies = control.policies();
        Self { needs: policies.needs(), asks: policies.asks().is_some() }
    }

    /// Of a flow that asks for nothing but needs this.
    #[cfg(test)]
    pub(crate) const fn listening_to(facilities: Facilities) -> Self {
        Self { needs: Needs::required(facilities), asks: false }
    }

    /// What it needs the routers to tell it.
    pub(crate) fn listens(self) -> Facilities {
        let routers = Facilities::ROUTER_CHANGES | Facilities::ROUTER_SHARES;
        self.needs.all().common(routers)
    }

    /// It needs the state in which acknowledged packets had left, or samples made of it.
    pub(crate) fn samples(self) -> bool {
        let sampled = Facilities::RATES | Facilities::PACKETS;
        !self.needs.all().common(sampled).is_empty()
    }

    /// It talks to the routers of its path.
    pub(crate) fn talks(self) -> bool {
        self.asks || !self.listens().is_empty()
    }
}
