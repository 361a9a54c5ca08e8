//! Fast retransmit, and what follows it: slow start (Tahoe: Jacobson, "Congestion avoidance and
//! control", SIGCOMM 1988), or fast recovery, Reno's (RFC 5681 section 3.2) or NewReno's (RFC
//! 6582).
//!
//! Tahoe has no recovery to be in: what it sends again, it sends in slow start.
//!
//! The window during recovery is the core's window after the cut, less what partial ACKs deflate it
//! by, plus one packet for every duplicate ACK.

use firstflight_core::event::LossKind;
use firstflight_core::units::{Bytes, Instant};

use super::{Gaps, Repair, Tcp, Wire};
use crate::control::Core;
use crate::endpoint::FullAck;

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
    /// The window, in bytes, before inflation.
    cwnd: u64,
    /// Packets by which duplicate ACKs inflate it.
    inflation: u32,
}

impl FastRecovery {
    pub(super) const TAHOE: Self = Self::new(Answer::SlowStart);
    pub(super) const RENO: Self = Self::new(Answer::FastRecovery);
    pub(super) const NEW_RENO: Self = Self::new(Answer::UntilRepaired);

    const fn new(answer: Answer) -> Self {
        Self { answer, active: false, first_partial_seen: false, cwnd: 0, inflation: 0 }
    }

    #[inline]
    pub(super) fn window(&self, cwnd: u64, mss: u64, is_startups: bool) -> u64 {
        if !self.active {
            return cwnd;
        }
        let base = if is_startups { cwnd } else { self.cwnd };
        base + u64::from(self.inflation) * mss
    }

    /// Nothing is being repaired.
    pub(super) fn is_idle(&self) -> bool {
        !self.active
    }

    /// A timeout ends recovery.
    pub(super) fn abort(&mut self, core: &mut Core) {
        if self.active {
            self.active = false;
            core.on_recovered(Some(Bytes(self.cwnd)));
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
}

impl Tcp {
    #[inline]
    pub(super) fn fast_recovery_ack(
        &mut self,
        now: Instant,
        next: u32,
        early: u32,
        wire: &mut impl Wire,
    ) {
        let Repair::FastRecovery(recovery) = &self.repair else { return };
        let (active, partial_acks) = (recovery.active, recovery.answer == Answer::UntilRepaired);
        if next > self.una {
            if active && partial_acks && next < self.recover {
                self.partial_ack(now, next, early, wire);
            } else {
                if active {
                    self.leave_recovery(next);
                }
                self.new_ack(now, next, early);
            }
        } else if next == self.una && self.una < self.max {
            self.duplicate_ack(now, early);
            self.fast_recovery_duplicate(now, active, wire);
        }
        let rules = &self.endpoint.rules;
        let repairs = self.dupacks >= rules.duplicate_acks && !rules.flywheel;
        if self.dupacks == 0 || repairs {
            let burst = if self.dupacks > 0 && partial_acks { rules.recovery_burst } else { 0 };
            self.send_window(now, burst, wire);
        }
    }

    #[inline]
    fn fast_recovery_duplicate(&mut self, now: Instant, active: bool, wire: &mut impl Wire) {
        self.dupacks += 1;
        let rules = self.endpoint.rules;
        if self.dupacks == rules.duplicate_acks {
            if !rules.one_per_window || self.recover == 0 || self.una > self.recover {
                self.enter_recovery(now, wire);
            }
        } else if self.dupacks > rules.duplicate_acks && active {
            self.inflate();
            if rules.flywheel && self.dupacks % 2 == 1 && self.nxt < self.limit {
                self.transmit_next(now, wire);
            }
        } else if self.dupacks < rules.duplicate_acks && rules.limited_transmit {
            self.limited_transmit(now, wire);
        }
    }

    #[cold]
    fn enter_recovery(&mut self, now: Instant, wire: &mut impl Wire) {
        self.recover = self.max;
        self.counts.fast_retransmits += 1;
        self.declare_loss(now, LossKind::Recovery, false, Gaps::ONE);
        self.rto.restart(now);
        self.rto.forget_timed();
        let cwnd = self.core.cwnd().0;
        let Repair::FastRecovery(recovery) = &mut self.repair else { return };
        if recovery.answer == Answer::SlowStart {
            self.core.on_restart();
            self.nxt = self.una;
            return self.send_window(now, 0, wire);
        }
        recovery.active = true;
        recovery.first_partial_seen = false;
        recovery.cwnd = cwnd;
        recovery.inflation = self.endpoint.rules.duplicate_acks;
        self.transmit(self.una, now, wire);
    }

    /// What a timeout leaves of the count of duplicate ACKs.
    pub(super) fn kept_duplicates(&self) -> u32 {
        if self.endpoint.rules.timeout_keeps_duplicates { self.dupacks } else { 0 }
    }

    fn inflate(&mut self) {
        if let Repair::FastRecovery(recovery) = &mut self.repair {
            recovery.inflation += 1;
        }
    }

    /// RFC 3042: the first two duplicate ACKs each let one new packet leave.
    #[cold]
    pub(super) fn limited_transmit(&mut self, now: Instant, wire: &mut impl Wire) {
        let after = u64::from(self.nxt - self.una) + 1;
        let window = self.core.cwnd().0 + u64::from(self.dupacks) * self.mss;
        if self.nxt < self.limit
            && after * self.mss <= window
            && after <= u64::from(self.receiver_window)
        {
            self.transmit_next(now, wire);
        }
    }

    #[cold]
    fn partial_ack(&mut self, now: Instant, next: u32, early: u32, wire: &mut impl Wire) {
        let newly = next - self.una;
        let Repair::FastRecovery(recovery) = &mut self.repair else { return };
        let restart = !self.endpoint.rules.impatient || !recovery.first_partial_seen;
        recovery.first_partial_seen = true;
        recovery.deflate(newly, self.mss);
        self.una = next;
        self.nxt = self.nxt.max(next);
        if restart {
            self.rto.restart(now);
        }
        self.rto.on_partially_acked(next);
        let credited = self.credit(newly, early);
        self.tell_core(now, newly, credited, None);
        self.declare_further_loss(now, Gaps::ONE, false);
        self.transmit(next, now, wire);
    }

    #[cold]
    fn leave_recovery(&mut self, next: u32) {
        let outstanding = self.bytes(self.max - next);
        let Repair::FastRecovery(recovery) = &mut self.repair else { return };
        recovery.active = false;
        let (mss, ssthresh) = (Bytes(self.mss), self.core.ssthresh());
        let cwnd = match self.endpoint.rules.full_ack {
            FullAck::Keep => Bytes(recovery.cwnd),
            FullAck::Flight => ssthresh.min(outstanding.max(mss) + mss),
        };
        self.core.on_recovered(Some(cwnd));
    }
}
