//! What a sender has of its network.

use firstflight_core::feedback::Feedback;
use firstflight_core::units::{Rate, Span};

/// Takes packets away from a sender.
pub(crate) trait Wire {
    /// Packet `seq` leaves now.
    fn transmit(&mut self, seq: u32);

    /// The same for a packet that is no SYN.
    fn transmit_data(&mut self, seq: u32);

    /// The same wire for a call: then the caller's need not lie in memory.
    fn again(&mut self) -> impl Wire;

    /// The rate of payload that the routers granted the connection's SYN, if it asked.
    fn granted(&mut self) -> Option<Rate>;

    /// The next packet to leave tells the routers of its sender's smoothed RTT and of the time
    /// between its packets.
    fn say(&mut self, rtt: Span, spacing: Span);

    /// What the routers told by the ACK that has just come.
    fn hear(&mut self) -> [Option<Feedback>; 2];
}
