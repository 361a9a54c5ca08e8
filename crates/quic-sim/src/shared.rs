//! The sender's controller, where both quinn and the simulation can see it.

use std::any::Any;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant as Clock;

use firstflight_core::policy::Exit;
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant};
use firstflight_qlog::{Completing, Header, Probe, Tap, startup_probe};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// Where a qlog goes.
pub type LogFile = Box<dyn Write + Send + Sync>;

/// Whose controller it is.
#[derive(Clone)]
pub(crate) enum Kind {
    Ours(Box<firstflight_quic::Factory>),
    Own(Arc<dyn ControllerFactory + Send + Sync>),
}

/// Builds controllers that can be watched, and has the last one built.
pub(crate) struct Watching {
    kind: Kind,
    base: Clock,
    built: Mutex<Option<Shared>>,
}

/// A controller that somebody else may look at.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<State>>);

/// A controller and what is counted about it.
pub(crate) struct State {
    driven: Driven,
    base: Clock,
    pub(crate) in_flight: u64,
    pub(crate) acked: u64,
    pub(crate) cuts: u64,
    pub(crate) persistent: u64,
    exit: Option<StartupExit>,
}

/// Boxed both: one is a kilobyte and more.
enum Driven {
    Ours(Box<firstflight_quic::Controller>),
    Own(Box<dyn Controller>),
}

impl Watching {
    pub(crate) fn new(kind: Kind, base: Clock) -> Self {
        Self { kind, base, built: Mutex::new(None) }
    }

    /// A log that tells the begin and the end of start-up besides what quinn writes into it, if
    /// the controller tells.
    pub(crate) fn log(self: &Arc<Self>, header: Header, to: LogFile, tells: bool) -> Tap<LogFile> {
        let watching = Arc::clone(self);
        // quinn writes its log between its calls to the controller, so that nobody holds the lock.
        let exit = move || Some(watching.built()?.state().exit()?.why.name());
        let probe: Probe = if tells { startup_probe(exit) } else { Box::new(|| None) };
        Tap::new(Completing::new(to, header, probe))
    }

    /// The controller built last.
    pub(crate) fn built(&self) -> Option<Shared> {
        lock(&self.built).clone()
    }
}

impl ControllerFactory for Watching {
    fn build(self: Arc<Self>, now: Clock, current_mtu: u16) -> Box<dyn Controller> {
        let driven = match &self.kind {
            Kind::Ours(factory) => Driven::Ours(Box::new(factory.controller(now, current_mtu))),
            Kind::Own(factory) => Driven::Own(Arc::clone(factory).build(now, current_mtu)),
        };
        let shared = Shared(Arc::new(Mutex::new(State {
            driven,
            base: self.base,
            in_flight: 0,
            acked: 0,
            cuts: 0,
            persistent: 0,
            exit: None,
        })));
        *lock(&self.built) = Some(shared.clone());
        Box::new(shared)
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    pub(crate) fn window(&self) -> u64 {
        self.controller().metrics().congestion_window
    }

    pub(crate) fn ssthresh(&self) -> Option<u64> {
        // quinn's own say "none" with the largest number.
        self.controller().metrics().ssthresh.filter(|ssthresh| *ssthresh != u64::MAX)
    }

    /// How the first start-up ended. quinn's own controllers have it end with the first cut.
    pub(crate) fn exit(&self) -> Option<StartupExit> {
        self.exit
    }

    pub(crate) fn reprobes(&self) -> u64 {
        match &self.driven {
            Driven::Ours(ours) => ours.sender().reprobes(),
            Driven::Own(_) => 0,
        }
    }

    pub(crate) fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        if let Driven::Ours(ours) = &self.driven {
            ours.sender().gauges(report);
        }
    }

    fn controller(&self) -> &dyn Controller {
        match &self.driven {
            Driven::Ours(ours) => ours.as_ref(),
            Driven::Own(own) => own.as_ref(),
        }
    }

    fn controller_mut(&mut self) -> &mut dyn Controller {
        match &mut self.driven {
            Driven::Ours(ours) => ours.as_mut(),
            Driven::Own(own) => own.as_mut(),
        }
    }

    fn since_base(&self, at: Clock) -> Instant {
        Instant(u64::try_from(at.saturating_duration_since(self.base).as_nanos()).unwrap_or(0))
    }

    /// Start-up may have ended by now.
    fn note_exit(&mut self, now: Clock, cut: Option<(Exit, u64)>) {
        if self.exit.is_some() {
            return;
        }
        let at = self.since_base(now);
        let in_flight = Bytes(self.in_flight);
        self.exit = match &self.driven {
            Driven::Ours(ours) => ours.sender().first_exit().map(|exit| StartupExit { at, ..exit }),
            Driven::Own(_) => {
                cut.map(|(why, cwnd)| StartupExit { at, why, cwnd: Bytes(cwnd), in_flight })
            }
        };
    }
}

impl Controller for Shared {
    fn on_sent(&mut self, now: Clock, bytes: u64, last_packet_number: u64) {
        let mut state = self.state();
        state.in_flight += bytes;
        state.controller_mut().on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Clock,
        sent: Clock,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let mut state = self.state();
        state.acked += bytes;
        state.controller_mut().on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Clock, in_flight: u64, app_limited: bool, newest: Option<u64>) {
        let mut state = self.state();
        state.in_flight = in_flight;
        state.controller_mut().on_end_acks(now, in_flight, app_limited, newest);
        state.note_exit(now, None);
    }

    fn on_congestion_event(&mut self, now: Clock, sent: Clock, persistent: bool, lost: u64) {
        let mut state = self.state();
        let before = state.window();
        state.controller_mut().on_congestion_event(now, sent, persistent, lost);
        let cut = (state.window() < before).then_some(match (persistent, lost) {
            (true, _) => (Exit::Timeout, before),
            (false, 0) => (Exit::Mark, before),
            (false, _) => (Exit::Loss, before),
        });
        state.cuts += u64::from(cut.is_some());
        state.persistent += u64::from(persistent);
        state.note_exit(now, cut);
        state.in_flight = state.in_flight.saturating_sub(lost);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.state().controller_mut().on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.state().controller().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.state().controller().metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.state().controller().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A lock nobody can have poisoned: one thread runs a network.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
