//! What the page in a browser asks of firstflight: one question as JSON, with the bytes of a file
//! where it is about one, and one answer as JSON.
//!
//! Built for `wasm32-unknown-unknown` it is a module without an import: it has no clock, no file
//! and no network. The answers are those of `firstflight-answers`, which the command line gives,
//! too; what is added here is what a picture needs, curves and marks over time.

mod compared;
mod curves;
pub mod abi;
mod followed;
mod lists;
mod question;
mod shown;

pub use question::answer;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
