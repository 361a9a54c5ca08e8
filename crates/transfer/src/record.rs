//! Watches a congestion controller for the results and the qlog. It decides nothing.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use firstflight_control::ControlProblem;
use firstflight_control::own::OF_QUINN;
use firstflight_qlog::{Probe, startup_probe};
use firstflight_quic::Factory;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// What was seen of a connection's congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The largest window, bytes.
    pub peak_window: u64,
    /// The last window, bytes.
    pub window: u64,
    /// The size of a packet, bytes of UDP payload.
    pub mtu: u64,
    /// How start-up ended, if it did; always `None` of quinn's BBR, which does not tell.
    pub exit: Option<RecordedExit>,
    /// How often start-up began again because the avoidance asked for it.
    pub reprobes: u64,
}

/// How start-up ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedExit {
    /// When, after the connection's first packet.
    pub after: Duration,
    /// Why, in the word of the results: `loss`, `timeout`, `ssthresh`, `heuristic`, `ecn`.
    pub reason: &'static str,
    /// The window before any cut, bytes.
    pub window: u64,
    /// In flight then, bytes.
    pub in_flight: u64,
}

/// Builds watched controllers that share one record.
pub(crate) struct Watching {
    build: Build,
    record: Arc<Mutex<Record>>,
}

enum Build {
    Ours(Arc<Factory>),
    Quinns(Arc<dyn ControllerFactory + Send + Sync>),
}

/// A controller and what is written down of it.
struct Watched {
    control: Control,
    began: Instant,
    in_flight: u64,
    record: Arc<Mutex<Record>>,
}

enum Control {
    Ours(Box<firstflight_quic::Controller>),
    Quinns(Box<dyn Controller>),
}

impl Watching {
    /// The control of that name; its record is shared.
    pub(crate) fn new(name: &str) -> Result<Self, ControlProblem> {
        let build = if name.starts_with(OF_QUINN) {
            Build::Quinns(firstflight_quic::any(name)?)
        } else {
            Build::Ours(Arc::new(firstflight_quic::control(name)?))
        };
        let record = Record { peak_window: 0, window: 0, mtu: 0, exit: None, reprobes: 0 };
        Ok(Self { build, record: Arc::new(Mutex::new(record)) })
    }

    /// What was seen so far.
    pub(crate) fn record(&self) -> Record {
        open(&self.record).clone()
    }

    /// Tells a qlog of the begin and the end of start-up. Nothing of a control that does not tell.
    pub(crate) fn probe(&self, tells: bool) -> Probe {
        let record = Arc::clone(&self.record);
        let exit = move || open(&record).exit.as_ref().map(|exit| exit.reason);
        if tells { startup_probe(exit) } else { Box::new(|| None) }
    }
}

impl ControllerFactory for Watching {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let control = match &self.build {
            Build::Ours(factory) => Control::Ours(Box::new(factory.controller(now, mtu))),
            Build::Quinns(factory) => Control::Quinns(Arc::clone(factory).build(now, mtu)),
        };
        let record = Arc::clone(&self.record);
        let watched = Watched { control, began: now, in_flight: 0, record };
        open(&watched.record).mtu = mtu.into();
        watched.look(now, "ssthresh");
        Box::new(watched)
    }
}

impl Watched {
    fn inner(&self) -> &dyn Controller {
        match &self.control {
            Control::Ours(controller) => &**controller,
            Control::Quinns(controller) => &**controller,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Controller {
        match &mut self.control {
            Control::Ours(controller) => &mut **controller,
            Control::Quinns(controller) => &mut **controller,
        }
    }

    /// After an event that may have changed the window; `reason` is why start-up ended if it did.
    fn look(&self, now: Instant, reason: &'static str) {
        let window = self.inner().window();
        let mut record = open(&self.record);
        let before = record.window;
        record.window = window;
        record.peak_window = record.peak_window.max(window);
        match &self.control {
            Control::Ours(controller) => {
                let sender = controller.sender();
                record.reprobes = sender.reprobes();
                // A cut that is undone takes back the exit; quinn never undoes one.
                record.exit = sender.first_exit().map(|exit| RecordedExit {
                    after: Duration::from_nanos(exit.at.0),
                    reason: exit.why.name(),
                    window: exit.cwnd.0,
                    in_flight: exit.in_flight.0,
                });
            }
            Control::Quinns(controller) => {
                // Unlimited at first, and then what a loss set it to.
                let threshold = controller.metrics().ssthresh.filter(|bytes| *bytes < u64::MAX);
                if record.exit.is_none() && threshold.is_some_and(|bytes| window >= bytes) {
                    record.exit = Some(RecordedExit {
                        after: now.saturating_duration_since(self.began),
                        reason,
                        window: before.max(window),
                        in_flight: self.in_flight,
                    });
                }
            }
        }
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner_mut().on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner_mut().on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.inner_mut().on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        self.in_flight = in_flight;
        self.look(now, "ssthresh");
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner_mut().on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        let reason = match (is_persistent_congestion, lost_bytes) {
            (true, _) => "timeout",
            (false, 0) => "ecn",
            (false, _) => "loss",
        };
        self.look(now, reason);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner_mut().on_mtu_update(new_mtu);
        open(&self.record).mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        self.inner().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner().metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let control = match &self.control {
            Control::Ours(controller) => Control::Ours(controller.clone()),
            Control::Quinns(controller) => Control::Quinns(controller.clone_box()),
        };
        let record = Arc::clone(&self.record);
        Box::new(Self { control, began: self.began, in_flight: self.in_flight, record })
    }

    fn initial_window(&self) -> u64 {
        self.inner().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn open(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}
