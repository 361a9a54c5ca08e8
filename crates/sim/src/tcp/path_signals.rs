//! What a sender learns of its path: from connections before it, and from the path's routers in
//! answer to its SYN or with every ACK.

use firstflight_core::hint::PathHint;
use firstflight_core::units::Instant;
use firstflight_link::Ecn;

use super::repair::Repair;
use super::tcb::Tcb;
use super::{Tcp, Wire};
use crate::packet::{Header, Label, PART};
use crate::signals::AckSignals;

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
    /// A packet is about to leave, with data that has not left before if it is `fresh`: its label.
    #[cold]
    pub(super) fn label(&mut self, now: Instant, fresh: bool) -> Label {
        if let Some(validation) = &mut self.validation {
            validation.on_sent(now);
        }
        if !self.writes_headers {
            return Label::NONE;
        }
        let ecn = self.ecn.as_mut().map(|ecn| ecn.field(fresh));
        let (ecn, reduced) = ecn.unwrap_or((Ecn::NotCapable, false));
        let header = self.uses_routers.then(|| {
            let view = self.core.view();
            let rtt = view.rtt.smoothed;
            Box::new(Header::new(rtt, rtt.scaled(self.mss, view.window.cwnd.0)))
        });
        Label { ecn, reduced, header }
    }

    /// An ACK arrives: reads what it brings back of routers and marks. Of an ACK in parts the last
    /// brings it all.
    #[cold]
    pub(super) fn read_feedback(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        cause: u32,
        wire: &mut impl Wire,
    ) {
        self.validate_window(repair);
        self.validation.iter_mut().for_each(|validation| validation.seen_at = now);
        if cause & PART == 0 && self.writes_headers {
            let signals: AckSignals = wire.read_feedback();
            let feedback = signals.feedback.iter().flatten();
            feedback.for_each(|feedback| self.core.on_feedback(now, feedback));
            self.ecn.iter_mut().for_each(|ecn| ecn.note(&signals));
        }
    }
}
