//! A controller that is watched while quinn uses it.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Instant as Clock;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// What was seen of a controller, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) first_window: u64,
    pub(crate) window: u64,
    pub(crate) peak_window: u64,
    pub(crate) least_window: u64,
    pub(crate) in_flight: u64,
    pub(crate) peak_in_flight: u64,
    pub(crate) sent: u64,
    pub(crate) acked: u64,
    pub(crate) mtu: u64,
    /// Packets that left though the window was full: probes.
    pub(crate) above: u64,
}

/// Builds the controller of that name, watched.
pub(crate) struct Watching {
    pub(crate) factory: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

struct Watched {
    inner: Box<dyn Controller>,
    seen: Arc<Mutex<Seen>>,
}

impl ControllerFactory for Watching {
    fn build(self: Arc<Self>, now: Clock, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.factory).build(now, mtu);
        let watched = Watched { inner, seen: Arc::clone(&self.seen) };
        watched.update(|seen, window| {
            *seen = Seen { first_window: window, least_window: window, ..Seen::default() };
            seen.mtu = mtu.into();
        });
        Box::new(watched)
    }
}

impl Watched {
    fn update(&self, change: impl FnOnce(&mut Seen, u64)) {
        let window = self.inner.metrics().congestion_window;
        let mut seen = self.seen.lock().unwrap();
        change(&mut seen, window);
        seen.window = window;
        seen.peak_window = seen.peak_window.max(window);
        seen.least_window = seen.least_window.min(window);
        seen.peak_in_flight = seen.peak_in_flight.max(seen.in_flight);
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Clock, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
        self.update(|seen, window| {
            seen.above += u64::from(seen.in_flight > window);
            seen.in_flight += bytes;
            seen.sent += bytes;
        });
    }

    fn on_ack(&mut self, now: Clock, sent: Clock, bytes: u64, limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, limited, rtt);
        self.update(|seen, _| seen.acked += bytes);
    }

    fn on_end_acks(&mut self, now: Clock, in_flight: u64, limited: bool, newest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, limited, newest);
        self.update(|seen, _| seen.in_flight = in_flight);
    }

    fn on_congestion_event(&mut self, now: Clock, sent: Clock, persistent: bool, lost: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost);
        self.update(|seen, _| seen.in_flight = seen.in_flight.saturating_sub(lost));
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
        self.update(|seen, _| seen.mtu = new_mtu.into());
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), seen: Arc::clone(&self.seen) })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
