//! Watches a congestion controller for the results and the qlog. It decides nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use firstflight_control::ControlProblem;
use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::policy::Exit;
use firstflight_core::sender::StartupExit;
use firstflight_core::units::Bytes;
use firstflight_qlog::{Probe, startup_probe};
use firstflight_quic::quinn::{Build, Built, Event, Watch, Watched};
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::send::Tuning;

/// What was seen of a connection's congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The largest window, bytes.
    pub peak_window: u64,
    /// The last window, bytes.
    pub window: u64,
    /// The size of a packet, bytes of UDP payload.
    pub mtu: u64,
    /// How start-up ended, if it did, since the connection's first packet; always `None` of quinn's
    /// BBR, which does not report it.
    pub exit: Option<StartupExit>,
    /// How often start-up began again because the avoidance asked for it.
    pub reprobes: u64,
    /// What the connection has learned of its path; `None` of quinn's own.
    pub learned: Option<Learned>,
    /// Whether what was known of the path proved wrong.
    pub refutes_hint: bool,
    /// The connection over time, as often as [`Tuning::samples`] says.
    ///
    /// [`Tuning::samples`]: crate::Tuning::samples
    pub samples: Vec<Sample>,
}

/// The congestion control at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// When, after the connection's first packet.
    pub after: Duration,
    /// The window, bytes.
    pub window: u64,
    /// The ssthresh, bytes; `None` without limit.
    pub ssthresh: Option<u64>,
    /// In flight, bytes.
    pub in_flight: u64,
    /// quinn's smoothed RTT.
    pub srtt: Duration,
    /// Acknowledged so far, bytes.
    pub delivered: u64,
}

/// Builds watched controllers that share one record.
pub(crate) struct WatchedFactory {
    build: Build,
    every: Option<Duration>,
    record: Arc<Mutex<Record>>,
}

/// Writes down what is seen of one controller.
#[derive(Clone)]
struct Writer {
    began: Instant,
    in_flight: u64,
    srtt: Duration,
    delivered: u64,
    /// The time between two samples.
    every: Option<Duration>,
    /// Where the samples go.
    record: Arc<Mutex<Record>>,
}

impl WatchedFactory {
    /// The control of that name, with what is known of the path as its hint; its record is shared.
    pub(crate) fn new(
        name: &str,
        tuning: &Tuning,
        hint: Option<PathHint>,
    ) -> Result<Self, ControlProblem> {
        let build = match Build::with_constants(name, &tuning.constants)? {
            Build::Ours(factory) => Build::Ours(Box::new(factory.hinted(hint))),
            other => other,
        };
        let record = Record {
            peak_window: 0,
            window: 0,
            mtu: 0,
            exit: None,
            reprobes: 0,
            learned: None,
            refutes_hint: false,
            samples: Vec::new(),
        };
        Ok(Self { build, every: tuning.samples, record: Arc::new(Mutex::new(record)) })
    }

    /// What was seen so far.
    pub(crate) fn record(&self) -> Record {
        lock(&self.record).clone()
    }

    /// Adds the begin and the end of start-up to a qlog, if the control reports the end.
    pub(crate) fn probe(&self, reports_exit: bool) -> Probe {
        let record = Arc::clone(&self.record);
        let exit = move || lock(&record).exit.map(|exit| exit.why.name());
        if reports_exit { startup_probe(exit) } else { Box::new(|| None) }
    }
}

impl ControllerFactory for WatchedFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let controller = self.build.controller(now, mtu);
        let writer = Writer {
            began: now,
            in_flight: 0,
            srtt: Duration::ZERO,
            delivered: 0,
            every: self.every,
            record: Arc::clone(&self.record),
        };
        lock(&self.record).mtu = mtu.into();
        writer.update(now, Exit::Threshold, &controller);
        Box::new(Watched::new(controller, writer))
    }
}

impl Watch for Writer {
    fn on_event(&mut self, event: &Event, controller: &Built) {
        match *event {
            Event::EndAcks { now, in_flight, .. } => {
                self.in_flight = in_flight;
                self.update(now, Exit::Threshold, controller);
                self.sample(now, controller);
            }
            Event::Ack { bytes, ref rtt, .. } => {
                self.srtt = rtt.get();
                self.delivered = self.delivered.saturating_add(bytes);
            }
            Event::Congestion { now, persistent, lost, .. } => {
                let why = match (persistent, lost) {
                    (true, _) => Exit::Timeout,
                    (false, 0) => Exit::Mark,
                    (false, _) => Exit::Loss,
                };
                self.update(now, why, controller);
            }
            Event::Mtu(mtu) => lock(&self.record).mtu = mtu.into(),
            Event::Sent { .. } | Event::Window => {}
        }
    }
}

impl Writer {
    /// Takes a sample, unless the last one is too recent.
    fn sample(&self, now: Instant, controller: &Built) {
        let Some(every) = self.every else { return };
        let after = now.saturating_duration_since(self.began);
        let mut record = lock(&self.record);
        if record.samples.last().is_some_and(|last| after < last.after + every) {
            return;
        }
        record.samples.push(Sample {
            after,
            window: controller.cwnd(),
            ssthresh: controller.ssthresh(),
            in_flight: self.in_flight,
            srtt: self.srtt,
            delivered: self.delivered,
        });
    }

    /// After an event that may have changed the window; `why` start-up ended if it did.
    fn update(&self, now: Instant, why: Exit, controller: &Built) {
        let window = controller.cwnd();
        let mut record = lock(&self.record);
        let before = record.window;
        record.window = window;
        record.peak_window = record.peak_window.max(window);
        if let Some(sender) = controller.sender() {
            record.reprobes = sender.reprobes();
            record.learned = sender.learned();
            record.refutes_hint = sender.refutes_hint();
            // A cut that is undone takes back the exit; quinn never undoes one.
            record.exit = sender.first_exit();
        } else if record.exit.is_none() && controller.ssthresh().is_some_and(|at| window >= at) {
            // Unlimited at first, and then what a loss set it to.
            let after = now.saturating_duration_since(self.began).as_nanos();
            record.exit = Some(StartupExit {
                at: firstflight_core::units::Instant(u64::try_from(after).unwrap_or(u64::MAX)),
                why,
                cwnd: Bytes(before.max(window)),
                in_flight: Bytes(self.in_flight),
            });
        }
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}
