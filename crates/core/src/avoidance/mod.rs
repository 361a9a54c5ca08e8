//! Avoidance policies, one file each.

mod cubic;
mod fast;
mod hybla;
mod new_reno;
mod vegas;
mod westwood;
mod westwood_plus;

pub use cubic::Cubic;
pub use fast::Fast;
pub use hybla::Hybla;
pub use new_reno::NewReno;
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use westwood_plus::WestwoodPlus;
