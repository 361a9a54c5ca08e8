//! The control of a flow: any start-up with any avoidance.

use std::fmt;
use std::sync::Arc;

use firstflight_core::chosen::Chosen;
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::pair::{Pair, Policies};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::Sender;

use crate::endpoint::Recovery;

/// What the simulator's TCP provides with this recovery, with routers on every link and a memory
/// for every path.
pub const fn provides(recovery: Recovery) -> Facilities {
    match recovery {
        Recovery::Rack => PROVIDES,
        // Its SYN is data to it, so that no router answers it.
        Recovery::Ns2Linux => PROVIDES
            .without(Facilities::REPEATS)
            .without(Facilities::GRANTS)
            .without(Facilities::ROUTER_CHANGES)
            .without(Facilities::ROUTER_SHARES),
        _ => PROVIDES.without(Facilities::REPEATS),
    }
}

/// What an endpoint provides with [`Recovery::Rack`], which provides most.
pub const PROVIDES: Facilities = Facilities::SENT
    .and(Facilities::TIMES)
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::PACING)
    .and(Facilities::WAKE_UPS)
    .and(Facilities::PACED_WAKE_UPS)
    .and(Facilities::RECOVERY_WINDOW)
    .and(Facilities::GAPS)
    .and(Facilities::MEMORY)
    .and(Facilities::MARKS)
    .and(Facilities::L4S)
    .and(Facilities::GRANTS)
    .and(Facilities::ROUTER_CHANGES)
    .and(Facilities::ROUTER_SHARES)
    .and(Facilities::REPEATS);

/// Start-up and avoidance of a flow, with their knobs; every connection of it begins with a copy.
#[derive(Clone)]
pub struct Control(Chosen<Arc<dyn Make>>);

/// Makes policies of types that only it knows.
trait Make: Send + Sync {
    fn policies(&self) -> Box<dyn Policies>;
}

impl<S, A> Make for Pair<S, A>
where
    S: Startup + Clone + Send + Sync + 'static,
    A: Avoidance + Clone + Send + Sync + 'static,
{
    fn policies(&self) -> Box<dyn Policies> {
        Box::new(self.clone())
    }
}

/// The congestion controller of a simulated connection.
pub(crate) type Core = Sender<Chosen<Box<dyn Policies>>>;

impl Control {
    /// Policies for a new connection.
    pub(crate) fn policies(&self) -> Chosen<Box<dyn Policies>> {
        self.0.copied(|make| make.policies())
    }
}

/// Without what its policies hold, which is as much code as they are.
impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Control")
    }
}

/// The control made of these two policies, in the state they are in.
pub fn control<S, A>(startup: S, avoidance: A) -> Control
where
    S: Startup + Clone + Send + Sync + 'static,
    A: Avoidance + Clone + Send + Sync + 'static,
{
    Control(Chosen::Any(Arc::new(Pair::new(startup, avoidance))))
}

/// A control of two policies of the core.
pub fn core_control(startup: AnyStartup, avoidance: AnyAvoidance) -> Control {
    let any = |startup, avoidance| -> Arc<dyn Make> { Arc::new(Pair::new(startup, avoidance)) };
    Control(Chosen::of(startup, avoidance, any))
}

/// The control made of the core's policies of these names, with their default knobs, if there are
/// such policies.
pub fn named(startup: &str, avoidance: &str) -> Option<Control> {
    Some(core_control(AnyStartup::by_name(startup)?, AnyAvoidance::by_name(avoidance)?))
}

/// What a flow needs of the network and of its ends, besides transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    needs: Needs,
    /// It asks the routers of its path for a rate.
    pub(crate) asks: bool,
}

impl Wants {
    pub(crate) fn of(control: &Control) -> Self {
        let policies = control.policies();
        Self { needs: policies.needs(), asks: policies.startup().asks().is_some() }
    }

    /// The needs of a flow that asks for nothing but needs this.
    #[cfg(test)]
    pub(crate) const fn listening_to(facilities: Facilities) -> Self {
        Self { needs: Needs::required(facilities), asks: false }
    }

    /// The routers' feedback that it needs.
    pub(crate) fn listens(self) -> Facilities {
        let routers = Facilities::ROUTER_CHANGES | Facilities::ROUTER_SHARES;
        self.needs.all().common(routers)
    }

    /// It needs the state in which acknowledged packets had left, or samples made of it.
    pub(crate) fn samples(self) -> bool {
        let sampled = Facilities::RATES | Facilities::PACKETS;
        !self.needs.all().common(sampled).is_empty()
    }

    /// It has packets sent again that are not known to be lost.
    pub(crate) fn repeats(self) -> bool {
        self.needs.all().has(Facilities::REPEATS)
    }

    /// Its packets leave as ECT(1), where they are ECN-capable.
    pub(crate) fn is_l4s(self) -> bool {
        self.needs.all().has(Facilities::L4S)
    }

    /// It talks to the routers of its path.
    pub(crate) fn talks(self) -> bool {
        self.asks || !self.listens().is_empty()
    }
}
