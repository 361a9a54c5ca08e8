//! The control of a flow: any start-up with any avoidance.

use std::fmt::Debug;
use std::sync::Arc;

use firstflight_core::avoidance::{NewReno, Westwood};
use firstflight_core::event::{Ack, Loss, Sent};
use firstflight_core::feedback::Feedback;
use firstflight_core::hint::PathHint;
use firstflight_core::mechanism::Mechanism;
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::pair::{Pair, Policies};
use firstflight_core::policy::{Avoidance, Startup};
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::sender::Sender;
use firstflight_core::startup::{Astart, SlowStart};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::Window;

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

/// Start-up and avoidance of a flow, with their knobs; every connection of it begins with a copy.
#[derive(Clone, Debug)]
pub struct Control(Kind);

/// The pairs with which the simulator's speed is measured are known to the compiler, so that what a
/// sender does with an ACK is compiled as one; each costs its code once more. All others are asked
/// through a table.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each flow of a network")]
enum Kind {
    NewReno(Pair<SlowStart, NewReno>),
    Astart(Pair<Astart, Westwood>),
    Any(Arc<dyn Make>),
}

/// Makes policies of types that only it knows.
trait Make: Debug + Send + Sync {
    fn policies(&self) -> Box<dyn Policies>;
}

impl<S, A> Make for Pair<S, A>
where
    S: Startup + Clone + Debug + Send + Sync + 'static,
    A: Avoidance + Clone + Debug + Send + Sync + 'static,
{
    fn policies(&self) -> Box<dyn Policies> {
        Box::new(self.clone())
    }
}

/// The policies of a connection.
#[allow(clippy::large_enum_variant, reason = "what every ACK touches stays in one place")]
#[derive(Debug)]
pub(crate) enum Chosen {
    NewReno(Pair<SlowStart, NewReno>),
    Astart(Pair<Astart, Westwood>),
    Any(Box<dyn Policies>),
}

/// The congestion controller of a simulated connection.
pub(crate) type Core = Sender<Chosen>;

impl Control {
    /// Policies for a new connection.
    pub(crate) fn policies(&self) -> Chosen {
        match &self.0 {
            Kind::NewReno(pair) => Chosen::NewReno(pair.clone()),
            Kind::Astart(pair) => Chosen::Astart(pair.clone()),
            Kind::Any(make) => Chosen::Any(make.policies()),
        }
    }
}

/// The control made of these two policies, in the state they are in.
pub fn control<S, A>(startup: S, avoidance: A) -> Control
where
    S: Startup + Clone + Debug + Send + Sync + 'static,
    A: Avoidance + Clone + Debug + Send + Sync + 'static,
{
    Control(Kind::Any(Arc::new(Pair::new(startup, avoidance))))
}

/// The control made of two of the core's policies; a pair known to the compiler where there is one.
pub fn core_control(startup: AnyStartup, avoidance: AnyAvoidance) -> Control {
    match (startup, avoidance) {
        (AnyStartup::SlowStart(startup), AnyAvoidance::NewReno(avoidance)) => {
            Control(Kind::NewReno(Pair::new(startup, avoidance)))
        }
        (AnyStartup::Astart(startup), AnyAvoidance::Westwood(avoidance)) => {
            Control(Kind::Astart(Pair::new(startup, avoidance)))
        }
        (startup, avoidance) => control(startup, avoidance),
    }
}

/// The control made of the core's policies of these names, with their default knobs, if there are
/// such policies.
pub fn named(startup: &str, avoidance: &str) -> Option<Control> {
    Some(core_control(AnyStartup::by_name(startup)?, AnyAvoidance::by_name(avoidance)?))
}

/// Passes a call on to the policies.
macro_rules! chosen {
    ($self:ident, $it:ident => $call:expr) => {
        match $self {
            Self::NewReno($it) => $call,
            Self::Astart($it) => $call,
            Self::Any($it) => $call,
        }
    };
}

impl Policies for Chosen {
    fn needs(&self) -> Needs {
        chosen!(self, it => it.needs())
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        chosen!(self, it => it.open(default, mss))
    }

    fn connect(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.connect(mechanism));
    }

    fn asks(&self) -> Option<Rate> {
        chosen!(self, it => it.asks())
    }

    fn on_handshake(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_handshake(mechanism));
    }

    fn on_hint(&mut self, mechanism: &mut Mechanism, hint: &PathHint) {
        chosen!(self, it => it.on_hint(mechanism, hint));
    }

    fn begin(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.begin(mechanism));
    }

    fn on_sent(&mut self, mechanism: &Mechanism, sent: &Sent) {
        chosen!(self, it => it.on_sent(mechanism, sent));
    }

    #[inline]
    fn on_ack(&mut self, mechanism: &mut Mechanism, ack: &Ack) {
        chosen!(self, it => it.on_ack(mechanism, ack));
    }

    #[inline(always)]
    fn on_new_data(
        &mut self,
        mechanism: &mut Mechanism,
        now: Instant,
        acked: Bytes,
        rtt: Span,
        in_flight: Bytes,
    ) {
        chosen!(self, it => it.on_new_data(mechanism, now, acked, rtt, in_flight));
    }

    fn on_feedback(&mut self, mechanism: &mut Mechanism, feedback: &Feedback) {
        chosen!(self, it => it.on_feedback(mechanism, feedback));
    }

    fn on_loss(&mut self, mechanism: &mut Mechanism, loss: &Loss) -> bool {
        chosen!(self, it => it.on_loss(mechanism, loss))
    }

    fn cut_at(&self) -> Option<Instant> {
        chosen!(self, it => it.cut_at())
    }

    fn on_restart(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_restart(mechanism));
    }

    fn on_recovered(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_recovered(mechanism));
    }

    fn on_spurious_loss(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_spurious_loss(mechanism));
    }

    fn on_wake(&mut self, mechanism: &mut Mechanism) {
        chosen!(self, it => it.on_wake(mechanism));
    }

    fn refutes_hint(&self) -> bool {
        chosen!(self, it => it.refutes_hint())
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        chosen!(self, it => it.gauges(report));
    }
}

/// What a flow's control needs of routers and of the endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    needs: Needs,
    /// It asks the routers of its path for a rate.
    pub(crate) asks: bool,
}

impl Wants {
    pub(crate) fn of(control: &Control) -> Self {
        let policies = control.policies();
        Self { needs: policies.needs(), asks: policies.asks().is_some() }
    }

    /// The wants of a flow that needs `facilities` of routers and asks for no rate.
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
