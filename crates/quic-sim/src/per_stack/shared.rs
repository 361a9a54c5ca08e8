//! The sender's controller, where both the stack and the simulation can see it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant as Clock;

use super::adapter::{Build, Built, Event, Watch, Watched};
use super::proto::congestion::{Controller, ControllerFactory};
use firstflight_core::policy::Exit;
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant};
use firstflight_qlog::{Completing, Header, Probe, Tap, startup_probe};
use firstflight_runner::LogFile;

/// Builds controllers that can be watched, and keeps a handle to the last one.
pub(crate) struct WatchedFactory {
    build: Build,
    base: Clock,
    built: Mutex<Option<Shared>>,
}

/// A controller that both the stack and the simulation hold.
pub(crate) type Shared = Watched<Counts>;

/// What is counted about it.
#[derive(Clone)]
pub(crate) struct Counts {
    base: Clock,
    /// The last window.
    window: u64,
    /// Bytes in flight.
    pub(crate) in_flight: u64,
    /// Bytes acknowledged.
    pub(crate) acked: u64,
    /// Recovery periods that made the window smaller.
    pub(crate) cuts: u64,
    /// Times of persistent congestion.
    pub(crate) persistent: u64,
    /// How the first start-up ended. A stack's own controllers have it end with the first cut.
    pub(crate) exit: Option<StartupExit>,
}

impl WatchedFactory {
    pub(crate) fn new(build: Build, base: Clock) -> Self {
        Self { build, base, built: Mutex::new(None) }
    }

    /// The stack's log, with the begin and the end of start-up added if the controller reports
    /// them.
    pub(crate) fn log(
        self: &Arc<Self>,
        header: Header,
        to: LogFile,
        reports_exit: bool,
    ) -> Tap<LogFile> {
        let factory = Arc::clone(self);
        // quinn writes its log between its calls to the controller, so that nobody holds the lock.
        let exit = move || Some(factory.built()?.lock().watch.exit?.why.name());
        let probe: Probe = if reports_exit { startup_probe(exit) } else { Box::new(|| None) };
        Tap::new(Completing::new(to, header, probe))
    }

    /// The controller built last.
    pub(crate) fn built(&self) -> Option<Shared> {
        self.last().as_ref().map(Watched::handle)
    }

    /// Nobody can have poisoned it: one thread runs a network.
    fn last(&self) -> MutexGuard<'_, Option<Shared>> {
        self.built.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControllerFactory for WatchedFactory {
    fn build(self: Arc<Self>, now: Clock, current_mtu: u16) -> Box<dyn Controller> {
        let controller = self.build.controller(now, current_mtu);
        let counts = Counts {
            base: self.base,
            window: controller.cwnd(),
            in_flight: 0,
            acked: 0,
            cuts: 0,
            persistent: 0,
            exit: None,
        };
        let shared = Shared::new(controller, counts);
        *self.last() = Some(shared.handle());
        Box::new(shared)
    }
}

impl Watch for Counts {
    fn on_event(&mut self, event: &Event, controller: &Built) {
        match *event {
            Event::Sent { bytes, .. } => self.in_flight += bytes,
            Event::Ack { bytes, .. } => self.acked += bytes,
            Event::EndAcks { now, in_flight, .. } => {
                self.in_flight = in_flight;
                self.note_exit(now, None, controller);
                self.window = controller.cwnd();
            }
            Event::Congestion { now, persistent, lost, .. } => {
                let before = std::mem::replace(&mut self.window, controller.cwnd());
                let cut = (self.window < before).then_some(match (persistent, lost) {
                    (true, _) => (Exit::Timeout, before),
                    (false, 0) => (Exit::Mark, before),
                    (false, _) => (Exit::Loss, before),
                });
                self.cuts += u64::from(cut.is_some());
                self.persistent += u64::from(persistent);
                self.note_exit(now, cut, controller);
                self.in_flight = self.in_flight.saturating_sub(lost);
            }
            Event::Mtu(_) => self.window = controller.cwnd(),
            _ => {}
        }
    }
}

impl Counts {
    /// Start-up may have ended by now.
    fn note_exit(&mut self, now: Clock, cut: Option<(Exit, u64)>, controller: &Built) {
        if self.exit.is_some() {
            return;
        }
        let since_base = now.saturating_duration_since(self.base).as_nanos();
        let at = Instant(u64::try_from(since_base).unwrap_or(0));
        let in_flight = Bytes(self.in_flight);
        self.exit = match controller.sender() {
            Some(sender) => sender.first_exit().map(|exit| StartupExit { at, ..exit }),
            None => cut.map(|(why, cwnd)| StartupExit { at, why, cwnd: Bytes(cwnd), in_flight }),
        };
    }
}
