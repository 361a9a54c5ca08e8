//! Fast retransmit, and what follows it: slow start (Tahoe: Jacobson, "Congestion avoidance and
//! control", SIGCOMM 1988), or fast recovery, Reno's (RFC 5681 section 3.2) or NewReno's (RFC
//! 6582).
//!
//! Tahoe has no recovery to be in: what it sends again, it sends in slow start.
//!
//! The window during recovery is the core's window after the cut, less what partial ACKs deflate it
//! by, plus one packet for every duplicate ACK.

use firstflight_core::units::{Bytes, Instant};

use super::repair::{DataAck, Repair};
use super::tcb::Tcb;
use super::{Gaps, Wire};
use crate::endpoint::rules::{FullAck, PerWindow};

/// What follows a fast retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// One segment, and everything after it again (Tahoe).
    SlowStart,
    /// Half of the window, until the next ACK of new data (Reno).
    FastRecovery,
    /// Half of the window, until everything sent before the loss is acknowledged (NewReno).
    UntilRepaired,
}

#[derive(Debug)]
pub(super) struct FastRecovery {
    answer: Answer,
    active: bool,
    first_partial_seen: bool,
    last_cut_was_timeout: bool,
    /// The window of a recovery, in bytes, before inflation.
    cwnd: u64,
    /// Packets by which duplicate ACKs inflate it.
    inflation: u32,
}

impl FastRecovery {
    pub(super) const TAHOE: Self = Self::new(Answer::SlowStart);
    pub(super) const RENO: Self = Self::new(Answer::FastRecovery);
    pub(super) const NEW_RENO: Self = Self::new(Answer::UntilRepaired);

    const fn new(answer: Answer) -> Self {
        let (active, first_partial_seen, last_cut_was_timeout) = (false, false, false);
        Self { answer, active, first_partial_seen, last_cut_was_timeout, cwnd: 0, inflation: 0 }
    }

    /// RFC 6582 section 3.2 step 2: whether the loss is not one of a window already answered.
    fn may_begin(&self, tcb: &Tcb) -> bool {
        let is_new = tcb.recover == 0 || tcb.una > tcb.recover;
        match tcb.endpoint.rules.per_window {
            PerWindow::Once => is_new,
            PerWindow::Each => true,
            PerWindow::EachUntilTimeout => is_new || !self.last_cut_was_timeout,
        }
    }

    /// A partial ACK for `packets`: takes them out of the window and lets one more leave
    /// (RFC 6582 section 3.2 step 3).
    fn deflate(&mut self, packets: u32, mss: u64) {
        if self.inflation > packets {
            self.inflation -= packets - 1;
        } else {
            let excess = u64::from(packets - self.inflation) * mss;
            self.cwnd = self.cwnd.saturating_sub(excess).max(mss);
            self.inflation = 1;
        }
    }

    #[inline]
    fn on_duplicate(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        tcb.dupacks += 1;
        let rules = tcb.endpoint.rules;
        if tcb.dupacks == rules.duplicate_acks {
            if self.may_begin(tcb) {
                self.enter(tcb, now, wire);
            } else if rules.duplicates_inflate {
                self.inflation = rules.duplicate_acks;
            }
        } else if tcb.dupacks > rules.duplicate_acks && (self.active || rules.duplicates_inflate) {
            // RFC 5681 section 3.2 step 4: a packet has left the network.
            self.inflation += 1;
            if rules.flywheel && tcb.dupacks % 2 == 1 && tcb.nxt < tcb.limit {
                tcb.transmit_next(self, now, wire);
            }
        } else if tcb.dupacks < rules.duplicate_acks && rules.limited_transmit {
            // RFC 5681 section 3.2 step 1.
            tcb.limited_transmit(self, now, wire);
        }
    }

    #[cold]
    fn enter(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        // RFC 5681 section 3.2 step 2: ssthresh, once per recovery.
        tcb.begin_recovery(now, Gaps::ONE);
        if self.answer == Answer::SlowStart {
            // Jacobson 1988: the window is one packet, and everything is sent again.
            tcb.core.on_restart();
            tcb.nxt = tcb.una;
            return tcb.send_window(self, now, 0, wire);
        }
        self.active = true;
        (self.first_partial_seen, self.last_cut_was_timeout) = (false, false);
        // RFC 5681 section 3.2 step 3: ssthresh and three packets; the lost one leaves.
        self.cwnd = tcb.core.cwnd().0;
        self.inflation = tcb.endpoint.rules.duplicate_acks;
        tcb.transmit(self, tcb.una, now, wire);
    }

    #[cold]
    fn on_partial_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, early, .. } = ack;
        let newly = next - tcb.una;
        // RFC 6582 section 3.2 step 3: the timer starts again for the first partial ACK only (RFC
        // 3782 section 4: impatient), or for each (slow but steady).
        let restart = !tcb.endpoint.rules.impatient || !self.first_partial_seen;
        self.first_partial_seen = true;
        if tcb.endpoint.rules.partial_deflation {
            self.deflate(newly, tcb.mss);
        } else {
            self.inflation = 0;
        }
        tcb.una = next;
        tcb.nxt = tcb.nxt.max(next);
        if restart {
            tcb.rto.restart(now);
        }
        tcb.rto.on_partially_acked(next);
        let credited = tcb.credit(newly, early);
        tcb.tell_core(self, now, newly, credited, None);
        tcb.declare_further_loss(now, Gaps::ONE, false);
        tcb.transmit(self, next, now, wire);
    }

    #[cold]
    fn leave(&mut self, tcb: &mut Tcb, next: u32) {
        let outstanding = tcb.bytes(tcb.max - next);
        self.active = false;
        let (mss, ssthresh) = (Bytes(tcb.mss), tcb.core.ssthresh());
        // RFC 5681 section 3.2 step 6, or RFC 6582 section 3.2 step 3, option 1.
        let cwnd = match tcb.endpoint.rules.full_ack {
            FullAck::Keep => Bytes(self.cwnd),
            FullAck::Flight => ssthresh.min(outstanding.max(mss) + mss),
        };
        tcb.core.on_recovered(Some(cwnd));
    }
}

impl Repair for FastRecovery {
    #[inline]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, early, .. } = ack;
        let partial_acks = self.answer == Answer::UntilRepaired;
        if next > tcb.una {
            if self.active && partial_acks && next < tcb.recover {
                self.on_partial_ack(tcb, ack, wire);
            } else {
                // Reno: any ACK of new data; NewReno: a full one.
                if self.active {
                    self.leave(tcb, next);
                }
                self.inflation = 0;
                tcb.new_ack(self, now, next, early);
            }
        } else if next == tcb.una && tcb.una < tcb.max {
            tcb.duplicate_ack(self, now, early);
            self.on_duplicate(tcb, now, wire);
        }
        let rules = &tcb.endpoint.rules;
        let repairs = tcb.dupacks >= rules.duplicate_acks && !rules.flywheel;
        if tcb.dupacks == 0 || repairs {
            let burst = if tcb.dupacks > 0 && partial_acks { rules.recovery_burst } else { 0 };
            tcb.send_window(self, now, burst, wire);
        }
    }

    fn on_timeout(&mut self, tcb: &mut Tcb, _now: Instant, _handshake: bool) -> Gaps {
        // RFC 6582 section 3.2 step 4.
        if self.active {
            self.active = false;
            tcb.core.on_recovered(Some(Bytes(self.cwnd)));
        }
        (self.inflation, self.last_cut_was_timeout) = (0, true);
        Gaps::ONE
    }

    fn is_idle(&self) -> bool {
        !self.active && self.inflation == 0
    }

    #[inline]
    fn window(&self, tcb: &Tcb) -> u64 {
        let is_own = self.active && !tcb.core.policy_sets_recovery_window();
        let base = if is_own { self.cwnd } else { tcb.core.cwnd().0 };
        base + u64::from(self.inflation) * tcb.mss
    }
}

impl Tcb {
    /// RFC 3042: the first two duplicate ACKs each let one new packet leave.
    #[cold]
    pub(super) fn limited_transmit(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        wire: &mut impl Wire,
    ) {
        let after = u64::from(self.nxt - self.una) + 1;
        let window = self.core.cwnd().0 + u64::from(self.dupacks) * self.mss;
        if self.nxt < self.limit
            && after * self.mss <= window
            && after <= u64::from(self.receiver_window)
        {
            self.transmit_next(repair, now, wire);
        }
    }
}
