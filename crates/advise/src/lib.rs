//! Which control to take on a path, by simulating that path.
//!
//! [`Request`] is what a person knows, [`Stack`] who sends and what controls it can have.
//! [`advise`] runs all of them at the first points of what is [`unknown`](Point), the best of them
//! at the others, and makes an [`Answer`] of it. Nothing is looked up: there is no table of paths.
//! [`mix`] does it for the transfers that a host has recorded.

mod answer;
mod request;
mod choose;
mod measure;
pub mod mix;
mod stack;
mod words;

pub use answer::{Answer, Change, Choice, KnownPath, SCHEMA, Unknown, Verified};
pub use firstflight_runner::{Options, RunError};
pub use measure::{Cost, advise, at};
pub use request::{Point, Request};
pub use stack::{Candidate, Stack};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
