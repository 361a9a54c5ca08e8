//! The start-ups of firstflight in quinn 0.11: one dependency and one line.
//!
//! ```
//! use std::sync::Arc;
//!
//! let mut transport = quinn::TransportConfig::default();
//! let control = firstflight_quic::control("astart+westwood")?;
//! transport.congestion_controller_factory(Arc::new(control));
//! # Ok::<(), firstflight_quic::ControlProblem>(())
//! ```
//!
//! Controls are named as everywhere in firstflight, `<start-up>[(key=value,...)][+<avoidance>]`, or
//! built from their types:
//!
//! ```
//! use std::sync::Arc;
//! use firstflight_core::{avoidance::Westwood, startup::Astart};
//! use firstflight_quic::Factory;
//!
//! let factory = Factory::new(Astart::default(), Westwood::default())?.initial_window(20 * 1200);
//! quinn::TransportConfig::default().congestion_controller_factory(Arc::new(factory));
//! # Ok::<(), firstflight_quic::ControlProblem>(())
//! ```
//!
//! [`any`] knows quinn's own three controllers as well, so that a service can switch by name.
//!
//! # What the adapter does
//!
//! It translates events and decides nothing: see [`Controller`] for how a QUIC event becomes one of
//! the core's, and [`Factory`] for the constants of an endpoint (RFC 9002).
//!
//! # What quinn 0.11 does not let a controller do
//!
//! - **Set a pacing rate.** quinn's pacer takes the window and the smoothed RTT and nothing else:
//!   1.25 windows per RTT in bursts of about two milliseconds. A control that sets a rate sends at
//!   quinn's instead ([`Factory::missing`] names pacing); its own is in qlog only.
//! - **Wake a controller up**, tell it how many packets were marked, or how many gaps a loss made
//!   ([`PROVIDES`]).
//! - **Learn of a spurious loss.** quinn forgets a packet when it declares it lost. The call is
//!   there ([`Controller::on_spurious_loss`]) for a stack that tells.
//! - **Tell a retransmission from new data**, or a full handshake from its packets: both count as
//!   data, as they do for quinn's own controllers.
//!
//! Flow control limits long fat paths before any controller does: quinn's default stream window is
//! 1.25 MB and its send window 10 MB. [`Flow`] sets both for a path.

mod constants;
mod controller;
mod departures;
mod factory;
mod flow;
mod memory;
mod own;
mod watched;

pub use constants::Constants;
pub use controller::{Controller, PROVIDES};
pub use factory::{Factory, control};
pub use firstflight_control::{ControlProblem, Named};
pub use flow::Flow;
pub use memory::{PathMemory, Remembered, Visit};
pub use own::{OWN, any, own};
pub use quinn_proto::congestion::ControllerFactory;
pub use watched::{Build, Built, Event, Seen, Watch, Watched};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
