//! Start-up policies, one file each. A new one is a line below; everything else about it stands on
//! its card ([`crate::card`]).

use crate::card::{Card, Listed, check_names};
use crate::knob::{KnobValue, Knobs as _};

startups! {
    slow_start::SlowStart,
    large_initial_window::LargeInitialWindow,
    hoe::Hoe,
    vegas::Vegas,
    astart::Astart,
    byte_counting::ByteCounting,
    decreasing_byte_counting::DecreasingByteCounting,
    m_start::MStart,
    hystart::HyStart,
    hystart_pp::HyStartPp,
    search::Search,
    rapid_start::RapidStart,
    bbr::Bbr,
    suss::Suss,
    careful_resume::CarefulResume,
    jump_start::JumpStart,
    copa::Copa,
    c4::C4,
    picoquic::Picoquic,
    chirps::Chirps,
    halfback::Halfback,
    limited::Limited,
    hybla::Hybla,
    two_phase::TwoPhase,
    smooth_start::SmoothStart,
    paced::Paced,
    packet_pair::PacketPairStart,
    conservative::Conservative,
    afstart::AfStart,
    gallop_vegas::GallopVegas,
    fast_start::FastStart,
    spand::Spand,
    quick_start::QuickStart,
    e_speed::ESpeed,
    xcp::Xcp,
    tcp_ebn::TcpEbn,
}
