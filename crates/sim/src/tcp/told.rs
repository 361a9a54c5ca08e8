//! What a sender is told of its path: by connections before it, and by the path's routers in answer
//! to its SYN or with every ACK.

use firstflight_core::hint::PathHint;
use firstflight_core::units::Instant;

use super::tcb::Tcb;
use super::{PART, Tcp, Wire};

impl Tcp {
    /// Something is known of the path.
    pub(crate) fn on_hint(&mut self, now: Instant, hint: &PathHint) {
        self.tcb.core.on_hint(now, hint);
    }

    /// The rate to ask the routers for with the SYN, in bits per second on a link; 0 for none.
    pub(crate) fn asks_bps(&self) -> u64 {
        let asks = self.core().asks().filter(|_| self.tcb.first_data > 0);
        asks.map_or(0, |rate| rate.0.saturating_mul(8))
    }
}

impl Tcb {
    /// A packet is about to leave.
    #[cold]
    pub(super) fn write_header(&mut self, now: Instant, wire: &mut impl Wire) {
        if let Some(usage) = &mut self.usage {
            usage.on_sent(now);
        }
        if !self.hears_routers {
            return;
        }
        let view = self.core.view();
        let rtt = view.rtt.smoothed;
        wire.write_header(rtt, rtt.scaled(self.mss, view.window.cwnd.0));
    }

    /// An ACK arrives. Of an ACK in parts the last brings it all.
    #[cold]
    pub(super) fn read_feedback(&mut self, now: Instant, cause: u32, wire: &mut impl Wire) {
        if cause & PART == 0 {
            let told = wire.read_feedback();
            told.iter().flatten().for_each(|feedback| self.core.on_feedback(now, feedback));
        }
    }
}
