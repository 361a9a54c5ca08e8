//! Start-up policies, one file each.

mod slow_start;

pub use slow_start::SlowStart;
