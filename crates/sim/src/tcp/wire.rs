//! The sender's side of its network: packets out, and what routers told back.

use firstflight_core::units::{Rate, Span};

use crate::dialogue::Heard;
use crate::router::EcnBits;

/// Takes packets away from a sender.
pub(crate) trait Wire {
    /// Packet `seq` leaves now.
    fn transmit(&mut self, seq: u32);

    /// Packet `seq`, which is data and not a SYN, leaves now.
    fn transmit_data(&mut self, seq: u32);

    /// Packet `seq` leaves now, and carries nothing that is counted.
    fn transmit_empty(&mut self, seq: u32) {
        self.transmit(seq);
    }

    /// An ACK of nothing but the other end's SYN leaves now.
    fn acknowledge_syn(&mut self);

    /// A reborrow, so that the caller's copy stays in registers.
    fn reborrow(&mut self) -> impl Wire;

    /// The rate of payload that the routers granted the connection's SYN, if it asked.
    fn granted(&mut self) -> Option<Rate>;

    /// Writes the header for routers and links into packet `seq`, which leaves next: the sender's
    /// smoothed RTT, the time between its packets, and what it says of congestion.
    fn write_header(&mut self, seq: u32, rtt: Span, spacing: Span, ecn: EcnBits);

    /// What was told by the ACK that has just come.
    fn read_feedback(&mut self) -> Heard;
}
