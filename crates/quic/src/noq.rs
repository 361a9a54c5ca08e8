//! The controls in noq 1.4, which is the QUIC below iroh: one dependency and one line.
//!
//! ```
//! use std::sync::Arc;
//!
//! let mut transport = noq_proto::TransportConfig::default();
//! let control = firstflight_quic::noq::control("scout")?;
//! transport.congestion_controller_factory(Arc::new(control));
//! # Ok::<(), firstflight_quic::ControlProblem>(())
//! ```
//!
//! # What noq reports and quinn does not
//!
//! - Each packet as it leaves, before the next is paced, MTU probes too; none that is nothing but
//!   acknowledgements.
//! - Each packet lost, so that a loss has its gaps. A packet number that noq skips on purpose makes
//!   one more, rarely.
//! - That a loss was none, if all that it named is acknowledged within two probe timeouts: the
//!   window is as before it.
//!
//! # Pacing
//!
//! noq's pacer takes the control's rate as it is. It lets at once what the rate carries in 2 ms, at
//! least 10 packets and at most what it carries in 10 ms. Without a rate noq's own pace
//! holds, 1.25 windows per RTT, from the first packet on.
//!
//! # What noq 1.4 does not let a controller do
//!
//! - **Wake a controller up**, or report how many packets were marked ([`PROVIDES`]).
//! - **Distinguish a retransmission from new data**, or a full handshake from its packets.

mod congestion;
#[path = "per_stack/own.rs"]
mod own;
#[path = "per_stack/watched.rs"]
mod watched;

use firstflight_control::stack::{OF_NOQ as OF_STACK, StackControl};
use firstflight_core::needs::Facilities;
use noq_proto as proto;
use noq_proto::congestion::Bbr3Config as BbrConfig;

pub use crate::{Constants, ControlProblem, FlowControl, Named, PathMemory, Remembered, Visit};
pub use congestion::{Event, Noq};
pub use noq_proto::congestion::ControllerFactory;
pub use own::{OfStack, any};
pub use watched::{Build, Built, Watch, Watched, WatchedController};

/// A congestion controller of firstflight for noq.
pub type Controller<P = Named> = crate::Controller<P, Noq>;

/// What noq asks for a controller of each new path.
pub type Factory<P = Named> = crate::Factory<P, Noq>;

/// What noq 1.4 lets the adapter provide to every control, [`Facilities::MEMORY`] as with quinn.
///
/// noq does not carry these:
/// - [`Facilities::WAKE_UPS`] and [`Facilities::PACED_WAKE_UPS`]: it gives a controller no timer;
/// - [`Facilities::MARKS`]: it reports that packets were marked
///   ([`LossKind::Mark`](firstflight_core::event::LossKind::Mark)), not how many.
pub const PROVIDES: Facilities = Facilities::SENT
    .and(Facilities::PACING)
    .and(Facilities::TIMES)
    .and(Facilities::RATES)
    .and(Facilities::PACKETS)
    .and(Facilities::GAPS)
    .and(Facilities::RECOVERY_WINDOW);

/// The control of that name: a start-up or an alias, its knobs, and perhaps an avoidance, as in
/// `astart`, `hoe+newreno` or `slow-start(iw=32pkt)+cubic`. `firstflight list` has all names.
///
/// # Errors
/// A name or a knob that does not exist, with the nearest one, a value out of range, or a control
/// that needs what noq does not provide: routers, counts of marks, a timer, or repeats.
///
/// ```
/// use firstflight_quic::noq::control;
///
/// assert!(control("bbr")?.missing().is_empty());
/// assert_eq!(control("suss").unwrap_err().to_string().matches("noq").count(), 1);
/// # Ok::<(), firstflight_quic::ControlProblem>(())
/// ```
pub fn control(name: &str) -> Result<Factory, ControlProblem> {
    Factory::named(name)
}

/// noq's own controllers.
pub const OWN: &[StackControl] = &[
    StackControl {
        name: "noq-newreno",
        summary: "noq's own NewReno",
        source: "noq-proto 1.4, RFC 9002 section 7",
    },
    StackControl {
        name: "noq-cubic",
        summary: "noq's own CUBIC, its default",
        source: "noq-proto 1.4, RFC 8312",
    },
    StackControl {
        name: "noq-bbr",
        summary: "noq's own BBRv3; it begins its gain cycle at random: no replay",
        source: "noq-proto 1.4, draft-ietf-ccwg-bbr-04",
    },
];

/// What they are, in an error.
const ITS_OWN: &str = "controller of noq's own";

#[cfg(test)]
mod tests;
