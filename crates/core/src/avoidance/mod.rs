//! Avoidance policies, one file each.

mod new_reno;

pub use new_reno::NewReno;
