//! The start-ups of firstflight in QUIC stacks: one dependency and one line. [`quinn`] has them for
//! quinn 0.11 (feature `quinn`, default), [`noq`] for noq 1.4 (feature `noq`).
//!
//! Controls are named as everywhere in firstflight, `<start-up>[(key=value,...)][+<avoidance>]`, or
//! built from their types ([`quinn::Factory`]). [`quinn::any`] and [`noq::any`] know the stacks'
//! own controllers as well, so that a service can switch by name.
//!
//! # What the adapter does
//!
//! It translates events and decides nothing: see [`Controller`] for how a QUIC event becomes one of
//! the core's, and [`Factory`] for the constants of an endpoint (RFC 9002). Both are common to all
//! stacks; [`Stack`] is what differs. What needs a stack's own types is in `per_stack/`, compiled
//! once for each.
//!
//! Flow control limits long fat paths before any controller does: the stacks' default stream window
//! is 1.25 MB and their send window 10 MB. [`FlowControl`] sets both for a path.

mod constants;
mod controller;
mod departures;
mod factory;
mod flow_control;
mod memory;
#[cfg(feature = "noq")]
#[expect(clippy::duplicate_mod, reason = "what is per stack is compiled once for each")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
mod stack;

pub use constants::{Constants, TransportSettings};
pub use controller::Controller;
pub use factory::Factory;
pub use firstflight_control::{ControlProblem, Named};
pub use flow_control::FlowControl;
pub use memory::{PathMemory, Remembered, Visit};
pub use stack::Stack;

/// The README's example compiles and runs.
#[cfg(all(doctest, feature = "quinn"))]
#[doc = include_str!("../README.md")]
struct Readme;
