//! Controllers with a callback: after every event of quinn's, the callback sees the event and the
//! controller.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use firstflight_control::{ControlProblem, Named, stack::OF_QUINN};
use firstflight_core::sender::Sender;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller as Quinns, ControllerFactory, ControllerMetrics};

use crate::constants::Constants;
use crate::controller::Controller;
use crate::factory::{Factory, control};
use crate::quinns::{OfQuinn, any};

/// What builds a controller: firstflight's factory, whose controllers show their sender, or any
/// other.
#[derive(Clone)]
pub enum Build {
    /// One of firstflight's.
    Ours(Box<Factory>),
    /// Any other.
    Other(Arc<dyn ControllerFactory + Send + Sync>),
}

/// A controller that [`Build`] has built.
pub enum Built {
    /// One of firstflight's.
    Ours(Box<Controller>),
    /// Any other.
    Other(Box<dyn Quinns>),
}

/// A call of quinn's to a controller, with the arguments of its trait.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "quinn's trait has the words")]
pub enum Event {
    /// Packets left.
    Sent { now: Instant, bytes: u64, last_packet_number: u64 },
    /// A packet was acknowledged.
    Ack { now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: RttEstimator },
    /// The ACK frame is through.
    EndAcks { now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64> },
    /// Packets were lost or marked.
    Congestion { now: Instant, sent: Instant, persistent: bool, lost: u64 },
    /// The size of a packet changed.
    Mtu(u16),
    /// quinn asked for the window.
    Window,
}

/// A callback after each event of a controller.
pub trait Watch: Clone + Send + 'static {
    /// The controller has handled the event.
    fn saw(&mut self, event: &Event, controller: &Built);
}

/// A controller with its callback, behind a handle that can be copied: quinn holds one copy, and
/// the program that wants to read the controller another.
pub struct Watched<W>(Arc<Mutex<Seen<W>>>);

/// What a handle of [`Watched`] leads to.
pub struct Seen<W> {
    /// The controller.
    pub controller: Built,
    /// The callback.
    pub watch: W,
}

impl Build {
    /// The control of that name, as [`any`] knows it.
    ///
    /// # Errors
    /// As of [`any`].
    pub fn named(name: &str) -> Result<Self, ControlProblem> {
        Self::opening(name, &Constants::default())
    }

    /// The control of that name that opens as these constants say.
    ///
    /// # Errors
    /// As of [`any`].
    pub fn opening(name: &str, constants: &Constants) -> Result<Self, ControlProblem> {
        if let Some(own) = OfQuinn::named(name.trim()) {
            return Ok(Self::Other(own.factory(constants.initial_window)));
        }
        if name.trim().starts_with(OF_QUINN) {
            return any(name).map(Self::Other);
        }
        control(name).map(|factory| Self::Ours(Box::new(factory.opening(constants))))
    }

    /// A controller for a path that begins at `now` with packets of `mtu` bytes.
    pub fn controller(&self, now: Instant, mtu: u16) -> Built {
        match self {
            Self::Ours(factory) => Built::Ours(Box::new(factory.controller(now, mtu))),
            Self::Other(factory) => Built::Other(Arc::clone(factory).build(now, mtu)),
        }
    }
}

impl Built {
    /// The controller by quinn's trait.
    pub fn as_quinns(&self) -> &dyn Quinns {
        match self {
            Self::Ours(controller) => &**controller,
            Self::Other(controller) => &**controller,
        }
    }

    /// The window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.as_quinns().metrics().congestion_window
    }

    /// The ssthresh, bytes, if there is one: quinn's own say "none" with the largest number.
    pub fn ssthresh(&self) -> Option<u64> {
        self.as_quinns().metrics().ssthresh.filter(|ssthresh| *ssthresh != u64::MAX)
    }

    /// The core's sender of one of firstflight's.
    pub fn sender(&self) -> Option<&Sender<Named>> {
        match self {
            Self::Ours(controller) => Some(controller.sender()),
            Self::Other(_) => None,
        }
    }

    fn as_quinns_mut(&mut self) -> &mut dyn Quinns {
        match self {
            Self::Ours(controller) => &mut **controller,
            Self::Other(controller) => &mut **controller,
        }
    }
}

impl Clone for Built {
    fn clone(&self) -> Self {
        match self {
            Self::Ours(controller) => Self::Ours(controller.clone()),
            Self::Other(controller) => Self::Other(controller.clone_box()),
        }
    }
}

impl Event {
    /// Tells a controller.
    #[inline]
    pub fn tell(&self, to: &mut dyn Quinns) {
        match *self {
            Self::Sent { now, bytes, last_packet_number } => {
                to.on_sent(now, bytes, last_packet_number);
            }
            Self::Ack { now, sent, bytes, app_limited, ref rtt } => {
                to.on_ack(now, sent, bytes, app_limited, rtt);
            }
            Self::EndAcks { now, in_flight, app_limited, largest } => {
                to.on_end_acks(now, in_flight, app_limited, largest);
            }
            Self::Congestion { now, sent, persistent, lost } => {
                to.on_congestion_event(now, sent, persistent, lost);
            }
            Self::Mtu(mtu) => to.on_mtu_update(mtu),
            Self::Window => {
                to.window();
            }
        }
    }
}

impl<W: Watch> Watched<W> {
    /// A controller whose events `watch` sees from now on.
    pub fn new(controller: Built, watch: W) -> Self {
        Self(Arc::new(Mutex::new(Seen { controller, watch })))
    }

    /// Another handle to the same controller.
    pub fn handle(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Locks the controller and its callback; quinn waits until the guard is dropped.
    pub fn look(&self) -> MutexGuard<'_, Seen<W>> {
        // A panic while it was locked leaves the counts valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: Event) {
        let seen = &mut *self.look();
        event.tell(seen.controller.as_quinns_mut());
        seen.watch.saw(&event, &seen.controller);
    }
}

impl<W: Watch> Quinns for Watched<W> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.tell(Event::Sent { now, bytes, last_packet_number });
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.tell(Event::Ack { now, sent, bytes, app_limited, rtt: *rtt });
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.tell(Event::EndAcks { now, in_flight, app_limited, largest });
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.tell(Event::Congestion { now, sent, persistent, lost });
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.tell(Event::Mtu(mtu));
    }

    fn window(&self) -> u64 {
        let seen = &mut *self.look();
        seen.watch.saw(&Event::Window, &seen.controller);
        seen.controller.as_quinns().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.look().controller.as_quinns().metrics()
    }

    /// A controller of its own for another path, and a copy of the callback.
    fn clone_box(&self) -> Box<dyn Quinns> {
        let seen = self.look();
        Box::new(Self::new(seen.controller.clone(), seen.watch.clone()))
    }

    fn initial_window(&self) -> u64 {
        self.look().controller.as_quinns().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
