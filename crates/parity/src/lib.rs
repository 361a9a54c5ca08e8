//! The C that the kernel runs, compiled for this machine, as a second sender next to the core's.
//!
//! Tests feed both the same events and compare cwnd and ssthresh after every one of them.

mod native;

pub use native::{Native, high_half, mul_div};
