//! Start-up policies, one file each.

mod astart;
mod byte_counting;
mod decreasing_byte_counting;
mod hoe;
mod hybla;
mod hystart;
mod large_initial_window;
mod limited;
mod m_start;
mod paced;
pub(crate) mod slow_start;
pub(crate) mod vegas;

pub use astart::Astart;
pub use byte_counting::ByteCounting;
pub use decreasing_byte_counting::DecreasingByteCounting;
pub use hoe::Hoe;
pub use hybla::Hybla;
pub use hystart::HyStart;
pub use large_initial_window::LargeInitialWindow;
pub use limited::Limited;
pub use m_start::MStart;
pub use paced::Paced;
pub use slow_start::SlowStart;
pub use vegas::Vegas;
