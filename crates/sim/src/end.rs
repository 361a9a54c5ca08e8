//! What stands at the ends of a path.

use firstflight_core::units::Instant;

use crate::net::Net;
use crate::packet::Packet;

/// The two ends of a flow, or a source without congestion control, as the network sees them. Such a
/// source does not learn what becomes of its packets.
pub(crate) trait End {
    /// A packet has come to the far end of its path's last link; the access link comes next.
    fn arrive(&mut self, _net: &mut Net, _packet: Packet, _at: Instant) {}

    /// A packet was lost on its path.
    fn lose(&mut self, _net: &mut Net, _packet: Packet, _at: Instant) {}

    /// A packet has come to the end that it goes to.
    fn receive(&mut self, _net: &mut Net, _packet: Packet, _now: Instant) {}

    /// A time has come for which there is an event, which carries `what`.
    fn wake(&mut self, net: &mut Net, what: u64, now: Instant);
}
