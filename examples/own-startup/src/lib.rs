//! A start-up of one's own, in a crate of one's own.

mod quarter;

pub use quarter::Quarter;
