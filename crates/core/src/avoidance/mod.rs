//! Avoidance policies, one file each. A new one is a line below; everything else about it stands on
//! its card ([`crate::card`]).

use crate::card::{Card, Listed, check_names};
use crate::knob::{KnobValue, Knobs as _};

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
}
