//! Congestion-control start-up as parts: every algorithm once, for every transport.
//!
//! A [`sender::Sender`] is a start-up policy, an avoidance policy and the rules both obey. A
//! transport reports [`event`]s; estimators observe them, the policy in charge decides, and only
//! the sender writes the window. The crate has no clock, no randomness, no allocation and no
//! floating point: the same events give the same windows on every machine.
//!
//! ```
//! use firstflight_core::registry::{AnyAvoidance, AnyStartup};
//! use firstflight_core::event::Ack;
//! use firstflight_core::sender::{Config, Sender};
//! use firstflight_core::units::{Bytes, Instant, Span};
//!
//! let config = Config {
//!     mss: Bytes(1000),
//!     initial_window: Bytes(2000),
//!     initial_ssthresh: Bytes(32_000),
//!     max_cwnd: Bytes(1 << 30),
//!     limit_growth_to_flight: false,
//!     segment_per_ack: true,
//!     paces: false,
//! };
//! let startup = AnyStartup::by_name("slow-start").unwrap();
//! let avoidance = AnyAvoidance::by_name("newreno").unwrap();
//! let mut sender = Sender::new(startup, avoidance, config);
//! sender.on_ack(&Ack {
//!     now: Instant(100_000_000),
//!     acked: Bytes(1000),
//!     credited: Bytes(1000),
//!     rtt: Some(Span::from_millis(100)),
//!     in_flight: Bytes(1000),
//!     snd_nxt: Bytes(2000),
//!     ..Ack::default()
//! });
//! assert_eq!(sender.cwnd(), Bytes(3000));
//! ```
#![no_std]
#![deny(clippy::float_arithmetic, clippy::unwrap_used, clippy::panic, clippy::expect_used)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[macro_use]
mod any;
mod pass_on;

pub mod avoidance;
pub mod card;
pub mod chosen;
pub mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod curve;
pub mod delivery_exit;
pub mod estimate;
pub mod event;
pub mod feedback;
pub mod frame;
pub mod hint;
mod ieee_double;
pub mod knob;
mod landing;
pub mod linear;
pub mod mechanism;
pub mod needs;
mod opening;
pub mod pacing;
pub mod pair;
pub mod policy;
pub mod registry;
pub mod sender;
pub mod startup;
#[cfg(test)]
mod testing;
mod trial;
pub mod units;
pub mod view;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
