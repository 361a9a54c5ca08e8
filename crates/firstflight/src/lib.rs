//! Congestion-control start-ups, as a library: for a service on quinn one dependency and one line.
//!
#![cfg_attr(feature = "quinn", doc = "```")]
#![cfg_attr(not(feature = "quinn"), doc = "```ignore")]
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(firstflight::quinn("astart+westwood")?);
//! # Ok::<(), firstflight::ControlProblem>(())
//! ```
//!
//! A control can also be made from its types. No name is read then, and the compiler sees it all:
//!
#![cfg_attr(feature = "quinn", doc = "```")]
#![cfg_attr(not(feature = "quinn"), doc = "```ignore")]
//! use std::sync::Arc;
//! use firstflight::{avoidance::Westwood, quinn::Factory, startup::Astart};
//!
//! let control = Factory::new(Astart::default(), Westwood::default())?.initial_window(20 * 1200);
//! quinn::TransportConfig::default().congestion_controller_factory(Arc::new(control));
//! # Ok::<(), firstflight::ControlProblem>(())
//! ```
//!
//! A control is a start-up and an avoidance, `<start-up>[(key=value,...)][+<avoidance>[(...)]]`, as
//! `firstflight list` prints them. [`mod@quinn`] says what quinn lets them do and what it does
//! not.
//!
//! A program with a transport of its own drives a [`sender::Sender`], which knows no transport:
//!
//! ```
//! use firstflight::sender::{Config, Sender};
//! use firstflight::{Control, units::Bytes};
//!
//! let control = Control::named("hoe")?;
//! let config = Config {
//!     mss: Bytes(1_460),
//!     initial_window: Bytes(14_600),
//!     initial_ssthresh: Bytes::MAX,
//!     max_cwnd: Bytes::MAX,
//!     limit_growth_to_flight: true,
//!     segment_per_ack: true,
//!     paces: true,
//! };
//! let sender = Sender::new(control.startup, control.avoidance, config);
//! assert_eq!(sender.cwnd(), Bytes(14_600));
//! # Ok::<(), firstflight::ControlProblem>(())
//! ```
//!
//! The simulator, the kernel's controls and the commands are crates of their own, beside this one.
//!
//! # Features
//!
//! - `quinn` (default): [`mod@quinn`]. Without it nothing of quinn is built.
//! - `noq`: `noq`, the controls for noq 1.4, which is the QUIC below iroh.

pub use firstflight_control::{Control, ControlProblem};
pub use firstflight_core::{
    avoidance, card, estimate, event, feedback, hint, knob, needs, pacing, pair, policy, registry,
    sender, startup, units, view,
};

/// The controls for quinn 0.11: factories by name or by type, and windows for flow control.
#[cfg(feature = "quinn")]
pub mod quinn {
    pub use firstflight_quic::quinn::*;
}

/// The control of that name, for quinn's `TransportConfig`: one of firstflight's, or quinn's own as
/// `quinn-newreno`, `quinn-cubic` and `quinn-bbr`, so that a configuration file can switch between
/// them.
///
/// # Errors
/// A name or a knob that does not exist, with the nearest one, or a value out of range.
///
/// ```
/// let mut transport = quinn::TransportConfig::default();
/// transport.congestion_controller_factory(firstflight::quinn("slow-start(iw=32pkt)+cubic")?);
///
/// let wrong = firstflight::quinn("astrat").err().unwrap();
/// assert!(wrong.to_string().contains("did you mean `astart`"));
/// # Ok::<(), firstflight::ControlProblem>(())
/// ```
#[cfg(feature = "quinn")]
pub fn quinn(
    name: &str,
) -> Result<std::sync::Arc<dyn quinn::ControllerFactory + Send + Sync>, ControlProblem> {
    firstflight_quic::quinn::any(name)
}

/// The controls for noq 1.4: factories by name or by type, and windows for flow control.
#[cfg(feature = "noq")]
pub mod noq {
    pub use firstflight_quic::noq::*;
}

/// The control of that name, for noq's `TransportConfig` and iroh's `QuicTransportConfigBuilder`:
/// one of firstflight's, or noq's own as `noq-newreno`, `noq-cubic` and `noq-bbr`.
///
/// # Errors
/// A name or a knob that does not exist, with the nearest one, or a value out of range.
///
/// ```
/// let mut transport = noq_proto::TransportConfig::default();
/// transport.congestion_controller_factory(firstflight::noq("scout")?);
/// # Ok::<(), firstflight::ControlProblem>(())
/// ```
#[cfg(feature = "noq")]
pub fn noq(
    name: &str,
) -> Result<std::sync::Arc<dyn noq::ControllerFactory + Send + Sync>, ControlProblem> {
    firstflight_quic::noq::any(name)
}

/// The pages' examples compile and run.
#[cfg(all(doctest, feature = "quinn", feature = "noq"))]
#[doc = include_str!("../../../docs/quic.md")]
#[doc = include_str!("../README.md")]
struct Pages;
