//! Start-up policies, one file each. A new one is declared below and added to the list;
//! everything else about it stands on its card ([`crate::card`]).

use crate::card::{Card, Listed, check_names};
use crate::knob::{KnobValue, Knobs as _};

pub(crate) mod afstart;
pub(crate) mod astart;
pub(crate) mod bbr;
pub(crate) mod byte_counting;
pub(crate) mod c4;
pub(crate) mod careful_resume;
pub(crate) mod chirps;
pub(crate) mod conservative;
pub(crate) mod copa;
pub(crate) mod decreasing_byte_counting;
pub(crate) mod e_speed;
pub(crate) mod fast_start;
pub(crate) mod gallop_vegas;
pub(crate) mod halfback;
pub(crate) mod hoe;
pub(crate) mod hybla;
pub(crate) mod hystart;
pub(crate) mod hystart_pp;
pub(crate) mod initial_spreading;
pub(crate) mod jump_start;
pub(crate) mod large_initial_window;
pub(crate) mod ledbat_pp;
pub(crate) mod limited;
pub(crate) mod m_start;
pub(crate) mod paced;
pub(crate) mod packet_pair;
pub(crate) mod picoquic;
pub(crate) mod prague;
pub(crate) mod quick_start;
pub(crate) mod rapid_start;
pub(crate) mod scout;
pub(crate) mod search;
pub(crate) mod slow_start;
pub(crate) mod smooth_start;
pub(crate) mod spand;
pub(crate) mod stateful_tcp;
pub(crate) mod suss;
pub(crate) mod tcp_ebn;
pub(crate) mod two_phase;
pub(crate) mod vegas;
pub(crate) mod xcp;

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
    ledbat_pp::LedbatPp,
    prague::Prague,
    scout::Scout,
    stateful_tcp::StatefulTcp,
    initial_spreading::InitialSpreading,
}
