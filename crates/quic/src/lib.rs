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
//! # Pacing
//!
//! quinn's pacer takes 1.25 windows per smoothed RTT, and a controller has no call for a rate. But
//! quinn asks for the window twice per packet, for its limit and for its pacer, so that the adapter
//! answers the second question with the window that gives the control's rate ([`Controller`]).
//! `Connection::stats` asks for the window too: its `cwnd` can be that answer where nothing has
//! happened between two calls of it. `Connection::congestion_state` and its `metrics` have cwnd.
//!
//! # What quinn 0.11 does not let a controller do
//!
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
mod quinns;
mod watched;

pub use constants::Constants;
pub use controller::{Controller, PROVIDES};
pub use factory::{Factory, control};
pub use firstflight_control::{ControlProblem, Named};
pub use flow::Flow;
pub use memory::{PathMemory, Remembered, Visit};
pub use quinn_proto::congestion::ControllerFactory;
pub use quinns::{OWN, OfQuinn, any};
pub use watched::{Build, Built, Event, Seen, Watch, Watched};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
