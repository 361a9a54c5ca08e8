//! SACK recovery with a pipe estimate (RFC 6675).
//!
//! A packet is lost once three packets above it have been selectively acknowledged. Every packet is
//! visited a bounded number of times: the edge of loss and the edge of repair only move up. A
//! retransmission that is lost again waits for the timer, as in the RFC.
//!
//! How much may leave while repairing is RFC 6675's (the pipe is below the window) or, by
//! [`crate::RecoveryRules::prr`], that of proportional rate reduction.

use firstflight_core::event::LossKind;
use firstflight_core::units::Instant;

use super::log::{Mark, SendLog};
use super::prr::Prr;
use super::{DUP_THRESHOLD, Gaps, Repair, Tcp, Wire};
use crate::control::Core;

#[derive(Debug, Default)]
pub(super) struct Sack {
    active: bool,
    /// Packets above the cumulative ACK that have been selectively acknowledged.
    sacked: u32,
    /// Packets found lost and not yet sent again.
    lost: u32,
    /// The three highest packets selectively acknowledged, plus one each, highest first.
    highest: [u32; 3],
    /// Packets below have been judged.
    judged: u32,
    /// Packets below have been sent again if they were lost.
    repaired: u32,
    /// `None` lets leave what the window allows.
    prr: Option<Prr>,
    /// Found lost by selective acknowledgements, and the core has not been told.
    untold: Gaps,
    /// The newest of them.
    newest_lost: u32,
}

impl Sack {
    /// With proportional rate reduction or without.
    pub(super) fn new(prr: bool) -> Self {
        Self { prr: prr.then(Prr::default), ..Self::default() }
    }

    /// Packets in the network (RFC 6675 section 4, SetPipe).
    #[inline]
    pub(super) fn pipe(&self, una: u32, max: u32) -> u32 {
        (max - una) - self.sacked - self.lost
    }

    /// Nothing is being repaired, and nothing above the cumulative ACK is known to have arrived.
    pub(super) fn is_idle(&self) -> bool {
        !self.active && self.sacked == 0 && self.lost == 0
    }

    /// After a timeout everything not selectively acknowledged is lost (RFC 6675 section 5.1).
    /// Returns what of it was not known to be.
    pub(super) fn abort(&mut self, core: &mut Core, log: &mut SendLog, una: u32, max: u32) -> Gaps {
        if std::mem::take(&mut self.active) {
            core.on_recovered(None);
        }
        self.lost = 0;
        let (mut found, mut joins) = (Gaps::default(), false);
        for seq in una..max {
            let fresh = !log.has(seq, Mark::SACKED) && !log.has(seq, Mark::LOST);
            if !log.has(seq, Mark::SACKED) {
                log.set(seq, Mark::LOST);
                self.lost += 1;
            }
            if fresh {
                found.add(joins);
            }
            joins = fresh;
        }
        (self.judged, self.repaired) = (max, una);
        found
    }

    fn note_sacked(&mut self, seq: u32, log: &mut SendLog) {
        log.set(seq, Mark::SACKED);
        self.sacked += 1;
        if log.has(seq, Mark::LOST) {
            log.clear(seq, Mark::LOST);
            self.lost -= 1;
        }
        let mut past = seq + 1;
        for place in &mut self.highest {
            if past > *place {
                std::mem::swap(place, &mut past);
            }
        }
    }

    /// Packets below the third highest selectively acknowledged one are lost. What was found so
    /// since the core was told last is kept until [`Tcp::sack_tell_lost`].
    fn judge(&mut self, una: u32, log: &mut SendLog) {
        let edge = self.highest[2].saturating_sub(1);
        for seq in self.judged.max(una)..edge {
            if !log.has(seq, Mark::SACKED) {
                log.set(seq, Mark::LOST);
                self.lost += 1;
                self.untold.add(self.newest_lost.wrapping_add(1) == seq);
                self.newest_lost = seq;
            }
        }
        self.judged = self.judged.max(edge);
    }

    fn advance(&mut self, una: u32, next: u32, log: &SendLog) -> u32 {
        let before = self.sacked;
        for seq in una..next {
            if log.has(seq, Mark::SACKED) {
                self.sacked -= 1;
            } else if log.has(seq, Mark::LOST) {
                self.lost -= 1;
            }
        }
        before - self.sacked
    }
}

impl Tcp {
    #[inline(never)]
    pub(super) fn sack_ack(&mut self, now: Instant, next: u32, cause: u32, wire: &mut impl Wire) {
        let Repair::Sack(sack) = &mut self.repair else { return };
        let advances = next > self.una;
        let mut delivered = next.saturating_sub(self.una);
        let newly_sacked = cause > next && cause < self.max && !self.log.has(cause, Mark::SACKED);
        if newly_sacked {
            sack.note_sacked(cause, &mut self.log);
            delivered += 1;
        }
        if advances {
            let quiet = sack.sacked == 0 && sack.lost == 0;
            let known = if quiet { 0 } else { sack.advance(self.una, next, &self.log) };
            delivered -= known;
            self.sack_advance(now, next, delivered);
        } else if newly_sacked {
            self.dupacks += 1;
            self.tell_core(now, 0, 1, None);
        }
        let Repair::Sack(sack) = &mut self.repair else { return };
        let lost = sack.lost;
        if sack.sacked > 0 {
            sack.judge(self.una, &mut self.log);
        }
        let safe = advances && sack.lost <= lost;
        let entered = self.sack_decide(now);
        self.sack_tell_lost(now);
        self.sack_reduce(delivered, safe, entered);
        if entered {
            // The fast retransmit leaves whatever the window says (RFC 6675 section 5 step 4.3).
            self.sack_resend(now, wire);
        }
        self.sack_send(now, wire);
    }

    /// Tells proportional rate reduction about an ACK.
    #[inline]
    fn sack_reduce(&mut self, delivered: u32, safe: bool, entered: bool) {
        let Repair::Sack(sack) = &mut self.repair else { return };
        if !sack.active {
            return;
        }
        let target = u32::try_from(self.core.cwnd().0 / self.mss).unwrap_or(u32::MAX);
        let (flight, pipe) = (self.max - self.una, sack.pipe(self.una, self.max));
        let Some(prr) = &mut sack.prr else { return };
        if entered {
            // What was delivered before will not be delivered in recovery (RFC 9937 section 6).
            prr.begin((flight + delivered).saturating_sub(sack.sacked));
        }
        prr.on_ack(delivered, pipe, target, safe);
    }

    /// The ACK is for all below `next`, and `delivered` is what it is the first to tell of.
    #[inline]
    fn sack_advance(&mut self, now: Instant, next: u32, delivered: u32) {
        let newly = next - self.una;
        let sample = self.rtt_sample(now, next);
        let Repair::Sack(sack) = &mut self.repair else { return };
        let done = sack.active && next >= self.recover;
        if done {
            sack.active = false;
        }
        self.dupacks = 0;
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.rto.on_acked(next, now, sample);
        self.rearm(now);
        if done {
            self.core.on_recovered(None);
        }
        self.tell_core(now, newly, delivered, sample);
    }

    /// Enters recovery, and says so, when the first packet outstanding is lost (RFC 6675 section
    /// 5), unless a timeout is already repairing the same window.
    #[inline]
    fn sack_decide(&mut self, now: Instant) -> bool {
        let Repair::Sack(sack) = &mut self.repair else { return false };
        if sack.active || sack.sacked == 0 || self.una < self.recover {
            return false;
        }
        let lost = self.log.has(self.una, Mark::LOST);
        if !lost && self.dupacks < DUP_THRESHOLD {
            return false;
        }
        if !lost {
            self.log.set(self.una, Mark::LOST);
            sack.lost += 1;
            sack.untold.add(false);
        }
        let found = std::mem::take(&mut sack.untold);
        sack.active = true;
        sack.repaired = self.una;
        self.recover = self.max;
        self.counts.fast_retransmits += 1;
        self.declare_loss(now, LossKind::Recovery, false, found);
        self.rto.restart(now);
        self.rto.forget_timed();
        true
    }

    /// Tells the core what was found lost while a recovery, or a timeout, is being repaired.
    #[inline]
    fn sack_tell_lost(&mut self, now: Instant) {
        let Repair::Sack(sack) = &mut self.repair else { return };
        if sack.untold.packets == 0 || !sack.active && self.una >= self.recover {
            return;
        }
        let (found, after_timeout) = (std::mem::take(&mut sack.untold), !sack.active);
        self.declare_further_loss(now, found, after_timeout);
    }

    /// Sends while the pipe is below the window: lost packets first, then new ones
    /// (RFC 6675 section 4, NextSeg rules 1 and 2).
    pub(super) fn sack_send(&mut self, now: Instant, wire: &mut impl Wire) {
        loop {
            let Repair::Sack(sack) = &self.repair else { return };
            let (repairing, room) = (sack.lost > 0, self.sack_has_room(sack));
            if !room || !self.may_depart(now) {
                return;
            }
            if !(repairing && self.sack_resend(now, wire)) {
                if !self.has_fresh() {
                    return;
                }
                self.transmit_next(now, wire);
                self.sack_note_sent();
            }
        }
    }

    #[inline]
    fn sack_note_sent(&mut self) {
        let Repair::Sack(sack) = &mut self.repair else { return };
        if sack.active
            && let Some(prr) = &mut sack.prr
        {
            prr.on_sent();
        }
    }

    /// The pipe is below the window, and there is something to send.
    #[inline]
    pub(super) fn sack_has_room(&self, sack: &Sack) -> bool {
        let window = match &sack.prr {
            Some(prr) if sack.active && !self.core.window_is_startups() => prr.allowance > 0,
            _ => {
                let pipe = u64::from(sack.pipe(self.una, self.max));
                (pipe + 1) * self.mss <= self.core.cwnd().0
            }
        };
        window && (sack.lost > 0 || self.has_fresh())
    }

    #[inline]
    fn has_fresh(&self) -> bool {
        self.nxt < self.limit && self.max - self.una < self.receiver_window
    }

    /// Sends the first lost packet again.
    fn sack_resend(&mut self, now: Instant, wire: &mut impl Wire) -> bool {
        let Repair::Sack(sack) = &mut self.repair else { return false };
        let mut seq = sack.repaired.max(self.una);
        while seq < self.max && !self.log.has(seq, Mark::LOST) {
            seq += 1;
        }
        sack.repaired = seq;
        if seq == self.max {
            return false;
        }
        sack.lost -= 1;
        sack.repaired = seq + 1;
        self.transmit(seq, now, wire);
        self.sack_note_sent();
        true
    }
}
