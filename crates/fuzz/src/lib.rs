//! What anybody may feed to firstflight, as functions of bytes that never panic: the events of a
//! QUIC peer or of a stack in C, a scenario file, a qlog or a record of another program.
//!
//! `cargo xtask fuzz` has a coverage-guided engine look for bytes that make one of them panic.
//! Each begins with the files in `seeds/`, which the tests of this crate run too: what was found is
//! kept there as a file of its own and stays found.

mod adapter;
mod c;
mod control;
mod qlog;
mod record;
mod scenario;

pub use adapter::adapter;
pub use c::c;
pub use qlog::qlog;
pub use record::record;
pub use scenario::scenario;

/// A function to fuzz, and the name of its seeds.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] =
    &[("adapter", adapter), ("c", c), ("scenario", scenario), ("qlog", qlog), ("record", record)];
