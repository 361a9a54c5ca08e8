//! What an experiment is: scenario files, quantities with units, controls by name, and what is
//! expected of the results.
//!
//! A [`Document`] is a file or flags as a tree, in which sweeps set single keys. A [`Scenario`] is
//! what was written, typed. [`Complete`] has every default filled in and its schedules,
//! disciplines and elements built. The reference of the file format is `KEYS.md` of this crate.
//!
//! Nothing here runs anything, and nothing here knows an algorithm: a control is a parsed
//! [`ControlSpec`] whose names the caller checks. Every message a user can provoke names the file
//! or flag, the key, what was found and what is accepted.

pub mod complete;
pub mod document;
mod endpoints;
pub mod error;
pub mod expect;
pub mod flags;
pub mod keys;
pub mod plan;
pub mod profile;
mod read;
pub mod scenario;
mod schema;
pub mod trace;

pub use complete::{Complete, Setting};
pub use document::{Document, Files};
pub use error::{Place, ScenarioError};
pub use expect::{Expect, Unmet};
pub use firstflight_control::quantity::{
    Buffer, Bursts, Fraction, Loss, MarkFrom, QuantityError, Rate, Size, Threshold, Time, Window,
};
pub use firstflight_control::{ControlError, ControlSpec, NamedPolicy, hint, quantity, spec};
pub use flags::{Flag, PathFlags};
pub use plan::Plan;
pub use profile::{
    Carrier, EcnFeedback, FastOpen, LinuxRelease, Ns2Release, Pacer, Profile, Receiver, Recovery,
    Timer,
};
pub use scenario::{Catalogue, FlowGroup, Matrix, Rule, SafeBy, Scenario};
pub use schema::schema;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
