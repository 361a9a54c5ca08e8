//! Avoidance policies, one file each. A new one is a line below; everything else about it stands on
//! its card ([`crate::card`]).

use crate::card::{Card, Listed, check_names};
use crate::event::{Ack, Loss, Sent};
use crate::feedback::Feedback;
use crate::knob::{KnobValue, Knobs as _};
use crate::needs::Needs;
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::Rate;
use crate::view::{View, Window};

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
}
