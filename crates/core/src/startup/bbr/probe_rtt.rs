//! ProbeRTT in Startup and Drain: half the pipe in flight for 200 ms and a round, after five
//! seconds without as small an RTT.

use super::full_pipe::is_limited;
use super::{Bbr, LEAST_SEGMENTS};
use crate::estimate::bbr_rtt::ProbeStep;
use crate::event::Ack;
use crate::units::Bytes;
use crate::view::View;

impl Bbr {
    /// `CheckProbeRTT` (section 5.3.4.3), with half the pipe in flight while it lasts.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack, ends_round: bool, view: &View) {
        self.rtt.note_restart(ack, is_limited(ack) || ack.app_limited);
        self.rtt.on_ack(ack.rtt, view.now);
        if !self.rtt.probes() {
            if !self.rtt.is_due() || self.model.pipe(view).is_none() {
                return;
            }
            self.rtt.begin();
            self.prior_cwnd = view.window.cwnd;
        }
        let most = self.probe_window(view);
        if self.rtt.probe(ack.in_flight, most, ends_round, view.now) == ProbeStep::Low {
            self.model.start_round(view);
        }
    }

    /// `ProbeRTTCwnd` (section 5.6.4.5).
    pub(super) fn probe_window(&self, view: &View) -> Bytes {
        (self.model.pipe(view).unwrap_or_default() / 2).max(view.mss * LEAST_SEGMENTS)
    }
}
