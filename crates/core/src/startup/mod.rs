//! Start-up policies, one file each.

mod astart;
mod hoe;
mod large_initial_window;
pub(crate) mod slow_start;
pub(crate) mod vegas;

pub use astart::Astart;
pub use hoe::Hoe;
pub use large_initial_window::LargeInitialWindow;
pub use slow_start::SlowStart;
pub use vegas::Vegas;
