//! What s2n-quic asks for a controller of each new path.

use std::fmt;
use std::net::SocketAddr;
use std::time::Instant;

use firstflight_core::needs::Facilities;
use firstflight_core::pair::Policies;
use firstflight_quic::{ControlProblem, Named, PathMemory};
use s2n_quic_core::recovery::congestion_controller::{Endpoint as S2ns, PathInfo};

use crate::{Controller, Factory};

/// A control for an endpoint of s2n-quic, which takes it as `with_congestion_controller(...)`.
#[derive(Clone)]
pub struct Endpoint<P = Named> {
    factory: Factory<P>,
    memory: Option<PathMemory>,
}

/// Makes the control with this name: a start-up or an alias, its knobs, and an avoidance if one is
/// named, as in `astart`, `hoe+newreno` or `slow-start(iw=32pkt)+cubic`.
///
/// # Errors
/// A name or a knob that does not exist, with the nearest one, a value out of range, or a control
/// that needs what s2n-quic does not provide: routers, a timer, or repeats.
///
/// ```
/// use firstflight_s2n_quic::control;
///
/// assert!(control("bbr")?.missing().is_empty());
/// let wrong = control("astrat").unwrap_err();
/// assert!(wrong.to_string().contains("did you mean `astart`"));
/// # Ok::<(), firstflight_s2n_quic::ControlProblem>(())
/// ```
pub fn control(name: &str) -> Result<Endpoint, ControlProblem> {
    Factory::named(name).map(Endpoint::from)
}

impl<P> From<Factory<P>> for Endpoint<P> {
    fn from(factory: Factory<P>) -> Self {
        Self { factory, memory: None }
    }
}

impl<P: Policies + Clone> Endpoint<P> {
    /// Each connection gets what the last one to its remote address learned, and leaves what it
    /// learned itself when it is over. A copy of the memory is the same memory: a service can read
    /// it, or write it down.
    #[must_use]
    pub fn remembering(self, memory: PathMemory) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// What the control would use and does not get: it runs, but not as its source describes.
    pub fn missing(&self) -> Facilities {
        let memory = self.memory.as_ref().map_or(Facilities::NONE, |_| Facilities::MEMORY);
        self.factory.missing().without(memory)
    }

    /// A controller for a path to `remote` with packets of `mtu` bytes.
    pub fn controller(&self, remote: SocketAddr, mtu: u16) -> Controller<P> {
        let epoch = Instant::now();
        let visit = self.memory.as_ref().map(|memory| memory.visit(remote.ip()));
        let hint = visit.as_ref().and_then(|visit| visit.hint());
        let factory = match hint {
            Some(hint) => self.factory.clone().hint(hint),
            None => self.factory.clone(),
        };
        Controller::new(factory.controller(epoch, mtu), epoch, visit)
    }
}

impl<P: Policies + Clone + Send + 'static> S2ns for Endpoint<P> {
    type CongestionController = Controller<P>;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Controller<P> {
        self.controller(path.remote_address.into(), path.max_datagram_size)
    }
}

impl<P> fmt::Debug for Endpoint<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}
