//! Avoidance policies, one file each.

mod cubic;
mod new_reno;
mod vegas;
mod westwood;

pub use cubic::{Cubic, Curve};
pub use new_reno::NewReno;
pub use vegas::Vegas;
pub use westwood::Westwood;
