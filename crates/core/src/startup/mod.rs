//! Start-up policies, one file each. A new one is declared below, at the end, because lists show
//! them in this order; everything else about it stands on its card ([`crate::card`]).

use crate::card::{Card, Listed, check_names};
use crate::knob::{KnobValue, Knobs as _};

pub(crate) mod slow_start;
pub(crate) mod large_initial_window;
pub(crate) mod hoe;
pub(crate) mod vegas;
pub(crate) mod astart;
pub(crate) mod byte_counting;
pub(crate) mod decreasing_byte_counting;
pub(crate) mod m_start;
pub(crate) mod hystart;
pub(crate) mod hystart_pp;
pub(crate) mod search;
pub(crate) mod rapid_start;
pub(crate) mod bbr;
pub(crate) mod suss;
pub(crate) mod careful_resume;
pub(crate) mod jump_start;
pub(crate) mod copa;
pub(crate) mod c4;
pub(crate) mod picoquic;
pub(crate) mod chirps;
pub(crate) mod halfback;
pub(crate) mod limited;
pub(crate) mod hybla;
pub(crate) mod two_phase;
pub(crate) mod smooth_start;
pub(crate) mod paced;
pub(crate) mod packet_pair;
pub(crate) mod conservative;
pub(crate) mod afstart;
pub(crate) mod gallop_vegas;
pub(crate) mod fast_start;
pub(crate) mod spand;
pub(crate) mod quick_start;
pub(crate) mod e_speed;
pub(crate) mod xcp;
pub(crate) mod tcp_ebn;
pub(crate) mod ledbat_pp;
pub(crate) mod prague;
pub(crate) mod scout;
pub(crate) mod stateful_tcp;
pub(crate) mod initial_spreading;

include!(concat!(env!("OUT_DIR"), "/startups.rs"));
