//! A trial: some new connections of a host get one control, the others another, and what becomes of
//! both says whether the first helps or harms.

#[cfg(feature = "bpf")]
pub mod dealing;
pub mod judge;
pub mod sequence;
#[cfg(feature = "bpf")]
mod told;

#[cfg(feature = "bpf")]
pub use dealing::{Counts, Dealing, Plan};
#[cfg(feature = "bpf")]
pub use told::Told;
