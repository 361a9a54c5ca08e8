//! Start-up policies, one file each.

mod afstart;
mod astart;
mod byte_counting;
mod conservative;
mod decreasing_byte_counting;
mod gallop_vegas;
mod hoe;
mod hybla;
mod hystart;
mod large_initial_window;
mod limited;
mod m_start;
mod paced;
mod packet_pair;
pub(crate) mod slow_start;
mod smooth_start;
mod two_phase;
pub(crate) mod vegas;

pub use afstart::AfStart;
pub use astart::Astart;
pub use byte_counting::ByteCounting;
pub use conservative::Conservative;
pub use decreasing_byte_counting::DecreasingByteCounting;
pub use gallop_vegas::GallopVegas;
pub use hoe::Hoe;
pub use hybla::Hybla;
pub use hystart::HyStart;
pub use large_initial_window::LargeInitialWindow;
pub use limited::Limited;
pub use m_start::MStart;
pub use paced::Paced;
pub use packet_pair::PacketPairStart;
pub use slow_start::SlowStart;
pub use smooth_start::SmoothStart;
pub use two_phase::TwoPhase;
pub use vegas::Vegas;
