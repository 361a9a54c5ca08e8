//! The calls that quinn makes to a controller, written down once and made again to any.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant as Clock;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

/// What quinn says or asks.
#[derive(Clone)]
enum Call {
    Sent { now: Clock, bytes: u64, number: u64 },
    Ack { now: Clock, sent: Clock, bytes: u64, app_limited: bool, rtt: RttEstimator },
    EndAcks { now: Clock, in_flight: u64, app_limited: bool, largest: Option<u64> },
    Congestion { now: Clock, sent: Clock, persistent: bool, lost: u64 },
    Mtu(u16),
    Window,
}

/// The calls of one connection, from the first.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    calls: Arc<Mutex<Vec<Call>>>,
    path: Arc<Mutex<Option<(Clock, u16)>>>,
}

/// A factory whose controllers write down their calls.
pub(crate) struct Recording {
    pub(crate) inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) calls: Calls,
}

/// A controller that writes down its calls.
struct Recorded {
    inner: Box<dyn Controller>,
    calls: Calls,
}

/// What making the calls costs alone: it does nothing, and its window is any.
pub(crate) struct Nothing;

impl Calls {
    fn note(&self, call: Call) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    /// Makes them to a new controller of the factory.
    pub(crate) fn make(&self, factory: Arc<dyn ControllerFactory + Send + Sync>) {
        let path = *self.path.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, mtu) = path.expect("a controller was built");
        let mut controller = std::hint::black_box(factory.build(began, mtu));
        for call in self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            match *call {
                Call::Sent { now, bytes, number } => controller.on_sent(now, bytes, number),
                Call::Ack { now, sent, bytes, app_limited, ref rtt } => {
                    controller.on_ack(now, sent, bytes, app_limited, rtt);
                }
                Call::EndAcks { now, in_flight, app_limited, largest } => {
                    controller.on_end_acks(now, in_flight, app_limited, largest);
                }
                Call::Congestion { now, sent, persistent, lost } => {
                    controller.on_congestion_event(now, sent, persistent, lost);
                }
                Call::Mtu(mtu) => controller.on_mtu_update(mtu),
                Call::Window => {
                    std::hint::black_box(controller.window());
                }
            }
        }
    }
}

impl ControllerFactory for Recording {
    fn build(self: Arc<Self>, now: Clock, mtu: u16) -> Box<dyn Controller> {
        *self.calls.path.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, mtu));
        let inner = Arc::clone(&self.inner).build(now, mtu);
        Box::new(Recorded { inner, calls: self.calls.clone() })
    }
}

impl Controller for Recorded {
    fn on_sent(&mut self, now: Clock, bytes: u64, number: u64) {
        self.calls.note(Call::Sent { now, bytes, number });
        self.inner.on_sent(now, bytes, number);
    }

    fn on_ack(
        &mut self,
        now: Clock,
        sent: Clock,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.calls.note(Call::Ack { now, sent, bytes, app_limited, rtt: *rtt });
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Clock, in_flight: u64, app_limited: bool, newest: Option<u64>) {
        self.calls.note(Call::EndAcks { now, in_flight, app_limited, largest: newest });
        self.inner.on_end_acks(now, in_flight, app_limited, newest);
    }

    fn on_congestion_event(&mut self, now: Clock, sent: Clock, persistent: bool, lost: u64) {
        self.calls.note(Call::Congestion { now, sent, persistent, lost });
        self.inner.on_congestion_event(now, sent, persistent, lost);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.calls.note(Call::Mtu(mtu));
        self.inner.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.calls.note(Call::Window);
        self.inner.window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), calls: self.calls.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
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
