//! Avoidance policies, one file each.

mod cubic;
mod fast;
mod high_speed;
mod hybla;
mod new_reno;
mod scalable;
mod stabilized_vegas;
mod tcp_ebn;
mod vegas;
mod westwood;
mod westwood_plus;
mod xcp;

pub use cubic::Cubic;
pub use fast::Fast;
pub use high_speed::HighSpeed;
pub use hybla::Hybla;
pub use new_reno::NewReno;
pub use scalable::Scalable;
pub use stabilized_vegas::StabilizedVegas;
pub use tcp_ebn::TcpEbn;
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use westwood_plus::WestwoodPlus;
pub use xcp::Xcp;
