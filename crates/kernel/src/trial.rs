//! A trial: some new connections of a host get one control, the others another, and what becomes of
//! both says whether the first helps or harms.

#[cfg(feature = "bpf")]
mod connection;
#[cfg(feature = "bpf")]
pub mod dealing;
pub mod judge;
pub mod sequence;

#[cfg(feature = "bpf")]
pub use connection::Connection;
#[cfg(feature = "bpf")]
pub use dealing::{Dealing, Plan};

/// What was dealt since the trial began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// New connections that the trial's rule matches.
    pub matched: u64,
    /// Those whose application had chosen a control itself; they take no part.
    pub own_choice: u64,
    /// Those that take part and for which the kernel refused the arm's control.
    pub failed: u64,
    /// Why, the last time: an `errno`.
    pub last_error: u64,
    /// Connections that were not reported, because too many came at once.
    pub dropped: u64,
    /// Connections that take part: with the other control, and with the one that is tried.
    pub dealt: [u64; 2],
}
