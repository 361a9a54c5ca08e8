//! Avoidance policies, one file each. A new one is declared below, at the end, because lists show
//! them in this order; everything else about it stands on its card ([`crate::card`]).

use crate::card::{Card, Listed, check_names};
use crate::knob::{KnobValue, Knobs as _};

pub(crate) mod new_reno;
pub(crate) mod vegas;
pub(crate) mod westwood;
pub(crate) mod cubic;
pub(crate) mod fast;
pub(crate) mod hybla;
pub(crate) mod westwood_plus;
pub(crate) mod scalable;
pub(crate) mod high_speed;
pub(crate) mod stabilized_vegas;
pub(crate) mod xcp;
pub(crate) mod tcp_ebn;
pub(crate) mod bbr;
pub(crate) mod abba;
pub(crate) mod cuback;
pub(crate) mod dctcp;
pub(crate) mod prague;

include!(concat!(env!("OUT_DIR"), "/avoidances.rs"));
