//! Who decides while lost data is repaired, and how a recovery ends.

use super::{MIN_SSTHRESH_SEGMENTS, Mechanism};
use crate::event::Ack;
use crate::policy::{Avoidance, Entry, Exit, Startup};
use crate::units::Bytes;
use crate::view::Phase;

/// Who decides while lost data is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InCharge {
    /// The transport; the window has been cut.
    Transport,
    /// Start-up, until the recovery ends or everything below this is acknowledged
    /// ([`crate::policy::Answer::Land`]).
    Landing(Bytes),
    /// The policy of the phase, which goes on afterwards ([`crate::policy::Answer::Ignore`],
    /// [`Avoidance::goes_on`]).
    GoingOn,
}

impl Mechanism {
    /// A policy sets the window during this recovery.
    pub(crate) fn policy_is_in_charge(&self) -> bool {
        self.in_charge != InCharge::Transport
    }

    /// During a recovery only a policy that stayed in charge decides. The flight does not limit a
    /// landing: it answers a loss.
    #[inline(never)]
    pub(super) fn decide_in_recovery(
        &mut self,
        ack: Ack,
        startup: &mut (impl Startup + ?Sized),
        avoidance: &mut (impl Avoidance + ?Sized),
    ) {
        if self.view.phase == Phase::Avoidance {
            let step = avoidance.recovering(&ack, &self.view);
            return self.apply(step, &ack, self.justified_after_startup(avoidance));
        }
        let before = self.view.window.cwnd;
        let step = startup.recovering(&ack, &self.view);
        let justified = match self.in_charge {
            InCharge::GoingOn => self.justified_in_startup(startup),
            _ => None,
        };
        self.apply(step, &ack, justified);
        if let Some(why) = step.exit {
            self.leave_startup(why, before.max(self.view.window.cwnd), startup, avoidance);
        } else if matches!(self.in_charge, InCharge::Landing(end) if self.view.acked >= end) {
            self.end_recovery(startup, avoidance);
        }
    }

    /// The repair is over: a start-up that was landing ends, with ssthresh where it landed.
    pub(crate) fn end_recovery(
        &mut self,
        startup: &mut (impl Startup + ?Sized),
        avoidance: &mut (impl Avoidance + ?Sized),
    ) {
        self.view.recovering = false;
        if matches!(self.in_charge, InCharge::Landing(_)) {
            let landed = startup.landed_at(&self.view);
            self.set_cwnd(landed);
            let cwnd = self.view.window.cwnd;
            // RFC 5681 section 3.1, equation 4: at least two segments.
            self.view.window.ssthresh = cwnd.max(self.view.mss * MIN_SSTHRESH_SEGMENTS);
            self.leave_startup(Exit::Loss, cwnd, startup, avoidance);
        }
        self.in_charge = InCharge::Transport;
    }

    /// Start-up ends during a recovery, before an avoidance that goes on through losses or one that
    /// does not. What start-up ignored the former ignores too. Where start-up was landing for a
    /// mark, nothing is repaired, so that nothing but its end ends the recovery.
    pub(super) fn hand_recovery_on(&mut self, goes_on: bool) {
        match self.in_charge {
            InCharge::GoingOn if goes_on => return,
            InCharge::Landing(end) if end != Bytes::MAX => self.view.recovering = false,
            _ => {}
        }
        self.in_charge = InCharge::Transport;
    }

    /// No recovery follows: everything unacknowledged is sent again in slow start, as Tahoe does
    /// after any loss and RFC 5681 section 3.1 after a timeout.
    pub(crate) fn restart(&mut self, startup: &mut dyn Startup) {
        self.set_cwnd(startup.restart_window(self.view.mss));
        self.view.recovering = false;
        self.in_charge = InCharge::Transport;
        self.round_end = self.view.acked;
        self.enter_startup(Entry::Timeout, startup);
    }
}
