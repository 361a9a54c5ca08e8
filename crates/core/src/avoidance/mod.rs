//! Avoidance policies, one file each.

mod new_reno;
mod vegas;
mod westwood;

pub use new_reno::NewReno;
pub use vegas::Vegas;
pub use westwood::Westwood;
