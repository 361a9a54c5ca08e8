//! The controls in quinn 0.11: one dependency and one line.
//!
//! ```
//! use std::sync::Arc;
//!
//! let mut transport = quinn::TransportConfig::default();
//! let control = firstflight_quic::quinn::control("astart+westwood")?;
//! transport.congestion_controller_factory(Arc::new(control));
//! # Ok::<(), firstflight_quic::ControlProblem>(())
//! ```
//!
//! Or built from their types:
//!
//! ```
//! use std::sync::Arc;
//! use firstflight_core::{avoidance::Westwood, startup::Astart};
//! use firstflight_quic::quinn::Factory;
//!
//! let factory = Factory::new(Astart::default(), Westwood::default())?.initial_window(20 * 1200);
//! quinn::TransportConfig::default().congestion_controller_factory(Arc::new(factory));
//! # Ok::<(), firstflight_quic::ControlProblem>(())
//! ```
//!
//! # Pacing
//!
//! quinn's pacer takes 1.25 windows per smoothed RTT, and a controller has no call for a rate. But
//! quinn asks for the window twice per packet, for its limit and for its pacer, so that the adapter
//! answers the second question with the window that gives the control's rate (module `pace`).
//! `Connection::stats` asks for the window too: its `cwnd` can be that answer where nothing has
//! happened between two calls of it. `Connection::congestion_state` and its `metrics` have cwnd.
//! The bursts are quinn's.
//!
//! # What quinn 0.11 does not let a controller do
//!
//! - **Wake a controller up**, report how many packets were marked, or how many gaps a loss made
//!   ([`PROVIDES`]).
//! - **Learn of a spurious loss.** quinn forgets a packet when it declares it lost.
//! - **Distinguish a retransmission from new data**, or a full handshake from its packets: both
//!   count as data, as they do for quinn's own controllers.
//!
//! quinn does not say when an MTU probe leaves: one that is acknowledged counts as sent then, and
//! its ACK does not carry the state in which it left.

mod congestion;
#[path = "per_stack/own.rs"]
mod own;
mod pace;
#[path = "per_stack/watched.rs"]
mod watched;

use firstflight_control::stack::{OF_QUINN as OF_STACK, StackControl};
use firstflight_core::needs::Facilities;
use quinn_proto as proto;
use quinn_proto::congestion::BbrConfig;

pub use crate::{Constants, ControlProblem, FlowControl, Named, PathMemory, Remembered, Visit};
pub use congestion::Event;
pub use own::{OfStack, any};
pub use pace::Quinn;
pub use quinn_proto::congestion::ControllerFactory;
pub use watched::{Build, Built, Watch, Watched, WatchedController};

/// A congestion controller of firstflight for quinn.
pub type Controller<P = Named> = crate::Controller<P, Quinn>;

/// What quinn asks for a controller of each new path.
pub type Factory<P = Named> = crate::Factory<P, Quinn>;

/// What quinn 0.11 lets the adapter provide to every control. What earlier connections learned
/// ([`Facilities::MEMORY`]) it provides where it was given a hint
/// ([`Factory::hint`](crate::Factory::hint)).
///
/// quinn does not carry these:
/// - [`Facilities::WAKE_UPS`] and [`Facilities::PACED_WAKE_UPS`]: it gives a controller no timer;
/// - [`Facilities::GAPS`]: it reports how many bytes were lost, not which packets;
/// - [`Facilities::MARKS`]: it reports that packets were marked
///   ([`LossKind::Mark`](firstflight_core::event::LossKind::Mark)), not how many.
pub const PROVIDES: Facilities = Facilities::SENT
    .and(Facilities::PACING)
    .and(Facilities::TIMES)
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::RECOVERY_WINDOW);

/// The control of that name: a start-up or an alias, its knobs, and perhaps an avoidance, as in
/// `astart`, `hoe+newreno` or `slow-start(iw=32pkt)+cubic`. `firstflight list` has all names.
///
/// # Errors
/// A name or a knob that does not exist, with the nearest one, a value out of range, or a control
/// that needs what quinn does not provide: routers, counts of marks, a timer, or repeats.
///
/// ```
/// use firstflight_quic::quinn::control;
///
/// assert!(control("astart")?.missing().is_empty());
/// let missing = control("bbr")?.missing();
/// assert_eq!(missing.to_string(), "the number of gaps of a loss");
/// let wrong = control("astrat").unwrap_err();
/// assert!(wrong.to_string().contains("did you mean `astart`"));
/// # Ok::<(), firstflight_quic::ControlProblem>(())
/// ```
pub fn control(name: &str) -> Result<Factory, ControlProblem> {
    Factory::named(name)
}

/// quinn's own controllers.
pub const OWN: &[StackControl] = &[
    StackControl {
        name: "quinn-newreno",
        summary: "quinn's own NewReno",
        source: "quinn-proto 0.11, RFC 9002 section 7",
    },
    StackControl {
        name: "quinn-cubic",
        summary: "quinn's own CUBIC, its default",
        source: "quinn-proto 0.11, RFC 8312",
    },
    StackControl {
        name: "quinn-bbr",
        summary: "quinn's own BBR; its gain cycle is the system's to draw: no replay",
        source: "quinn-proto 0.11, experimental",
    },
];

/// What they are, in an error.
const ITS_OWN: &str = "controller of quinn's own";
