//! Avoidance policies, one file each. A new one is declared below and added to the list;
//! everything else about it stands on its card ([`crate::card`]).

use crate::card::{Card, Listed, check_names};
use crate::knob::{KnobValue, Knobs as _};

pub(crate) mod abba;
pub(crate) mod bbr;
pub(crate) mod cuback;
pub(crate) mod cubic;
pub(crate) mod dctcp;
pub(crate) mod fast;
pub(crate) mod high_speed;
pub(crate) mod hybla;
pub(crate) mod new_reno;
pub(crate) mod prague;
pub(crate) mod scalable;
pub(crate) mod stabilized_vegas;
pub(crate) mod tcp_ebn;
pub(crate) mod vegas;
pub(crate) mod westwood;
pub(crate) mod westwood_plus;
pub(crate) mod xcp;

avoidances! {
    new_reno::NewReno,
    vegas::Vegas,
    westwood::Westwood,
    cubic::Cubic,
    fast::Fast,
    hybla::Hybla,
    westwood_plus::WestwoodPlus,
    scalable::Scalable,
    high_speed::HighSpeed,
    stabilized_vegas::StabilizedVegas,
    xcp::Xcp,
    tcp_ebn::TcpEbn,
    bbr::Bbr,
    abba::Abba,
    cuback::Cuback,
    dctcp::Dctcp,
    prague::Prague,
}
