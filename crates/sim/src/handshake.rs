//! A handshake on a flow's path. Its third packet (RFC 9293 section 3.5), an ACK without data,
//! takes a place in the buffers like any other.

use firstflight_core::units::Instant;

use crate::path::{Fabric, FlowPath};
use crate::route::{Hop, Packet};

impl FlowPath {
    /// The flow starts. Where ACKs queue on the reverse path, the shared link there learns of a
    /// SYN; returns whether they do.
    pub(crate) fn opens(&mut self, fabric: &mut Fabric) -> bool {
        let link = self.route.way_back.as_ref().map(|way| way.link);
        link.inspect(|link| fabric.returns[*link].opens()).is_some()
    }

    /// The sender has an ACK of its SYN, and so sends no other.
    #[cold]
    pub(crate) fn opened(&mut self, fabric: &mut Fabric) {
        if let Some(way) = self.route.way_back.as_ref().filter(|way| way.syns == 0) {
            fabric.returns[way.link].opened();
        }
    }

    /// The sender acknowledges the other end's SYN at `now`.
    #[cold]
    pub(crate) fn acknowledge_syn(&mut self, fabric: &mut Fabric, now: Instant) {
        let at = self.route.enter(now, PACKET);
        self.bring_bare(fabric, 0, at);
    }

    /// The third packet will reach the shared link of `hop` at `at`.
    fn bring_bare(&mut self, fabric: &mut Fabric, hop: usize, at: Instant) {
        if self.may_go_on(fabric, hop, PACKET, at) {
            self.pass_bare(fabric, hop, at);
        }
    }

    /// The third packet reaches the shared link of `hop`. At the receiver it changes nothing,
    /// because the first data acknowledges the SYN too.
    #[cold]
    pub(crate) fn pass_bare(&mut self, fabric: &mut Fabric, hop: usize, at: Instant) {
        let Hop { link, tie, .. } = *self.route.hop(hop);
        if fabric.links[link].has_elements() {
            return self.cross_bare(fabric, hop, at);
        }
        match fabric.links[link].arrive_bare(at, self.route.bytes(PACKET), tie) {
            None => self.watch.on_drop(at),
            Some(_) if self.route.is_last(hop) => {}
            Some(far_end) => self.bring_bare(fabric, hop + 1, far_end),
        }
    }
}

/// The third packet of a handshake. It is as long as a SYN. Fractions of a nanosecond are kept for
/// ns-2's agents only, which send no such packet.
pub(crate) const PACKET: Packet = Packet { tagged: BARE, is_syn: true, exact: false };

/// The sequence number of the third packet on the path, which no other packet has.
pub(crate) const BARE: u32 = u32::MAX;
