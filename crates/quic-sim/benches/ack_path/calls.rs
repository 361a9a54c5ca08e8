//! The calls that quinn makes to a controller, written down once and made again to any.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant as Clock;

use firstflight_quic::quinn::{Build, Built, Event, Watch, Watched};
use quinn_proto::congestion::{Controller, ControllerFactory};

/// The calls of one connection, from the first.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    calls: Arc<Mutex<Vec<Event>>>,
    path: Arc<Mutex<Option<(Clock, u16)>>>,
}

/// A factory whose controllers have their calls written down.
pub(crate) struct Recording {
    pub(crate) inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) calls: Calls,
}

/// What making the calls costs alone: it does nothing, and its window is any.
pub(crate) struct Nothing;

impl Calls {
    /// Makes them to a new controller of the factory.
    pub(crate) fn make(&self, factory: Arc<dyn ControllerFactory + Send + Sync>) {
        let path = *self.path.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, mtu) = path.expect("a controller was built");
        let mut controller = std::hint::black_box(factory.build(began, mtu));
        for call in self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            call.apply(&mut *controller);
        }
    }
}

impl Watch for Calls {
    fn on_event(&mut self, event: &Event, _controller: &Built) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(*event);
    }
}

impl ControllerFactory for Recording {
    fn build(self: Arc<Self>, now: Clock, mtu: u16) -> Box<dyn Controller> {
        *self.calls.path.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, mtu));
        let controller = Build::Other(Arc::clone(&self.inner)).controller(now, mtu);
        Box::new(Watched::new(controller, self.calls.clone()))
    }
}

impl ControllerFactory for Nothing {
    fn build(self: Arc<Self>, _now: Clock, _mtu: u16) -> Box<dyn Controller> {
        Box::new(Self)
    }
}

impl Controller for Nothing {
    fn on_congestion_event(&mut self, _: Clock, _: Clock, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        u64::MAX
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self)
    }

    fn initial_window(&self) -> u64 {
        u64::MAX
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
