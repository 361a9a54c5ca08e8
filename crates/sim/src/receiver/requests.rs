//! What a flow tells its receiver besides handing it packets: that more data will come on the same
//! connection, that the delayed ACK is to be sent now, or that no ACK is to be delayed for a while.

use firstflight_core::units::Instant;

use super::Receiver;
use crate::packet::AckOut;

impl Receiver {
    /// Expects `packets` more on this connection; all others have come.
    pub(crate) fn expect_more(&mut self, packets: u32) {
        self.end = self.end.saturating_add(packets);
        self.finished_at = None;
        self.look_for_gaps();
    }

    /// The ACK that waits, if one does, is sent before what arrives next is taken in: if its time
    /// has come, or `early`.
    pub(crate) fn send_held(&mut self, at: Instant, early: bool) -> Option<AckOut> {
        let waits = early && self.deadline.is_some_and(|deadline| deadline > at);
        if waits { Some(self.answer(at)) } else { self.on_timer(at) }
    }

    /// The next so many ACKs are not to be delayed.
    pub(crate) fn ack_at_once(&mut self, acks: u32) {
        self.quick = self.quick.max(acks);
    }
}
