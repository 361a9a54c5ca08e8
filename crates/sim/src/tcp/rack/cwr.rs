//! The window comes down for a mark as it does for a loss, by proportional rate reduction, and
//! does not grow meanwhile (`tcp_enter_cwr`). Nothing is repaired, so that the core knows of no
//! recovery.

use firstflight_core::units::{Bytes, Instant};

use super::super::tcb::Tcb;
use super::{Rack, State};

impl Rack {
    /// Whether [`super::Prr`] sets the window.
    pub(super) fn reduces(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// An ACK has been reported to the core, which may have cut its window, of `before`, for a
    /// mark. While the window comes down the core, which knows of no recovery, keeps its own where
    /// that ends.
    pub(super) fn answer_mark(&mut self, tcb: &mut Tcb, before: Bytes) {
        if self.state == State::Cwr {
            return tcb.core.set_window(tcb.bytes(self.target));
        }
        let reduced = tcb.ecn.is_some_and(|ecn| ecn.reduced);
        if !reduced || self.state != State::Open || tcb.core.policy_sets_recovery_window() {
            return;
        }
        let packets = |bytes: Bytes| u32::try_from(bytes.0 / tcb.mss).unwrap_or(u32::MAX);
        self.prr.begin(packets(before));
        self.target = packets(tcb.core.cwnd());
        self.cwnd = self.pipe(tcb);
        (self.state, self.probe) = (State::Cwr, None);
        tcb.recover = tcb.max;
        tcb.ecn.iter_mut().for_each(|ecn| ecn.reducing = true);
    }

    /// Something sent after the reduction began has been acknowledged (`tcp_fastretrans_alert`).
    pub(super) fn leave_cwr(&mut self, tcb: &mut Tcb) {
        self.state = State::Open;
        tcb.ecn.iter_mut().for_each(|ecn| ecn.reducing = false);
        tcb.core.set_window(tcb.bytes(self.target));
    }

    /// A loss is found while the window is being reduced: it is repaired, and the reduction goes on
    /// to where it was going (`tcp_enter_recovery`).
    pub(super) fn enter_from_cwr(&mut self, tcb: &mut Tcb, now: Instant) {
        tcb.ecn.iter_mut().for_each(|ecn| ecn.reducing = false);
        tcb.core.set_window(tcb.bytes(self.target));
        tcb.counts.fast_retransmits += 1;
        let found = self.unreported.take();
        tcb.declare_further_loss(now, found, false);
    }
}

/// The window is what the cut left of it, in whole packets (`tcp_end_cwnd_reduction`).
pub(super) fn end_reduction(tcb: &mut Tcb) {
    let cwnd = tcb.core.cwnd();
    tcb.core.on_recovered(Some(cwnd - Bytes(cwnd.0 % tcb.mss)));
}
