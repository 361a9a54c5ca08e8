//! The sender's side of its network: packets go out, and feedback of routers comes back.

use firstflight_core::units::Rate;

use crate::packet::Label;
use crate::signals::AckSignals;

/// Takes packets away from a sender.
pub(crate) trait Wire {
    /// Packet `seq` leaves now, and says nothing to links and routers.
    fn transmit(&mut self, seq: u32);

    /// Packet `seq` leaves now, and says this to links and routers.
    fn transmit_labelled(&mut self, seq: u32, label: Label);

    /// [`Wire::transmit`] for data, of a flow that takes fast paths.
    fn transmit_data(&mut self, seq: u32);

    /// Packet `seq`, which leaves next, carries nothing that is counted.
    fn leaves_empty(&mut self, seq: u32);

    /// An ACK of nothing but the other end's SYN leaves now.
    fn acknowledge_syn(&mut self);

    /// A reborrow, so that the caller's copy stays in registers.
    fn reborrow(&mut self) -> impl Wire;

    /// The rate of payload that the routers granted the connection's SYN, if it asked.
    fn granted(&mut self) -> Option<Rate>;

    /// The signals in the ACK that has just come.
    fn read_feedback(&mut self) -> AckSignals;
}
