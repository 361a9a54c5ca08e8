//! SACK recovery with a pipe estimate (RFC 6675).
//!
//! A packet is lost once three packets above it have been selectively acknowledged. Every packet is
//! visited a bounded number of times: the edge of loss and the edge of repair only move up. A
//! retransmission that is lost again waits for the timer, as in the RFC.
//!
//! How much may leave while repairing is RFC 6675's (the pipe is below the window) or, by
//! [`crate::RecoveryRules::prr`], that of proportional rate reduction.

use firstflight_core::units::Instant;

use super::log::{Mark, SendLog};
use super::prr::Prr;
use super::repair::{DataAck, Repair};
use super::tcb::Tcb;
use super::{DUP_THRESHOLD, Gaps, Wire};

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
    /// Found lost by selective acknowledgements, and still to be reported to the core.
    unreported: Gaps,
    /// The newest of them.
    newest_lost: u32,
}

impl Sack {
    /// With proportional rate reduction or without.
    pub(super) fn new(prr: bool) -> Self {
        Self { prr: prr.then(Prr::default), ..Self::default() }
    }

    /// Packets in the network (RFC 6675 section 4, SetPipe).
    fn pipe(&self, tcb: &Tcb) -> u32 {
        (tcb.max - tcb.una) - self.sacked - self.lost
    }

    /// An ACK for all below `next` reports packet `seq`: 1 if it is the first to do so, otherwise
    /// 0.
    #[inline]
    fn take_sacked(&mut self, tcb: &mut Tcb, next: u32, seq: u32) -> u32 {
        let is_new = tcb.is_first_sacked(next, seq);
        if is_new {
            self.note_sacked(seq, &mut tcb.log);
        }
        u32::from(is_new)
    }

    /// [`Sack::take_sacked`] for the packets that the ACK reports besides its cause.
    #[cold]
    fn take_blocks(&mut self, tcb: &mut Tcb, next: u32) -> u32 {
        let blocks = std::mem::take(&mut tcb.blocks);
        blocks.into_iter().map(|seq| self.take_sacked(tcb, next, seq)).sum()
    }

    /// The window holds one packet more.
    #[inline]
    fn window_has_room(&self, tcb: &Tcb) -> bool {
        match &self.prr {
            Some(prr) if self.active && !tcb.core.policy_sets_recovery_window() => {
                prr.allowance > 0
            }
            _ => (u64::from(self.pipe(tcb)) + 1) * tcb.mss <= tcb.core.cwnd().0,
        }
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

    /// Packets below the third highest selectively acknowledged one are lost (RFC 6675 section 4,
    /// IsLost). What was found so is kept until [`Sack::tell_lost`].
    fn judge(&mut self, una: u32, log: &mut SendLog) {
        let edge = self.highest[2].saturating_sub(1);
        for seq in self.judged.max(una)..edge {
            if !log.has(seq, Mark::SACKED) {
                log.set(seq, Mark::LOST);
                self.lost += 1;
                self.unreported.add(self.newest_lost.wrapping_add(1) == seq);
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

    /// Tells proportional rate reduction about an ACK.
    #[inline]
    fn reduce(&mut self, tcb: &Tcb, delivered: u32, safe: bool, entered: bool) {
        if !self.active {
            return;
        }
        let target = u32::try_from(tcb.core.cwnd().0 / tcb.mss).unwrap_or(u32::MAX);
        let (flight, pipe) = (tcb.max - tcb.una, self.pipe(tcb));
        let Some(prr) = &mut self.prr else { return };
        if entered {
            // What was delivered before will not be delivered in recovery (RFC 9937 section 6).
            prr.begin((flight + delivered).saturating_sub(self.sacked));
        }
        prr.on_ack(delivered, pipe, target, safe);
    }

    /// The ACK is for all below `next`, and `delivered` is what it is the first to report.
    #[inline]
    fn on_advance(&mut self, tcb: &mut Tcb, now: Instant, next: u32, delivered: u32) {
        let newly = next - tcb.una;
        // RFC 6675 section 5, A: everything up to RecoveryPoint is acknowledged.
        let done = self.active && next >= tcb.recover;
        if done {
            self.active = false;
        }
        let sample = tcb.advance(now, next);
        if done {
            tcb.core.on_recovered(None);
        }
        tcb.tell_core(self, now, newly, delivered, sample);
    }

    /// Enters recovery, and says so, when the first packet outstanding is lost (RFC 6675 section
    /// 5), unless a timeout is already repairing the same window.
    #[inline]
    fn decide(&mut self, tcb: &mut Tcb, now: Instant) -> bool {
        if self.active || self.sacked == 0 || tcb.una < tcb.recover {
            return false;
        }
        // RFC 6675 section 5 steps 2 and 3: three duplicates, or the scoreboard says so.
        let lost = tcb.log.has(tcb.una, Mark::LOST);
        if !lost && tcb.dupacks < DUP_THRESHOLD {
            return false;
        }
        if !lost {
            tcb.log.set(tcb.una, Mark::LOST);
            self.lost += 1;
            self.unreported.add(false);
        }
        let found = std::mem::take(&mut self.unreported);
        self.active = true;
        self.repaired = tcb.una;
        // Steps 4.1 and 4.2: RecoveryPoint, and the cut.
        tcb.begin_recovery(now, found);
        true
    }

    /// Tells the core what was found lost while a recovery, or a timeout, is being repaired.
    #[inline]
    fn tell_lost(&mut self, tcb: &mut Tcb, now: Instant) {
        if self.unreported.packets == 0 || !self.active && tcb.una >= tcb.recover {
            return;
        }
        let (found, after_timeout) = (std::mem::take(&mut self.unreported), !self.active);
        tcb.declare_further_loss(now, found, after_timeout);
    }

    #[inline]
    fn note_sent(&mut self) {
        if self.active
            && let Some(prr) = &mut self.prr
        {
            prr.on_sent();
        }
    }

    /// Sends the next packet that has never left.
    fn send_next(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        tcb.transmit_next(self, now, wire);
        self.note_sent();
    }

    /// Sends the first lost packet again.
    fn resend(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) -> bool {
        let mut seq = self.repaired.max(tcb.una);
        while seq < tcb.max && !tcb.log.has(seq, Mark::LOST) {
            seq += 1;
        }
        self.repaired = seq;
        debug_assert!(seq < tcb.max || self.lost == 0, "what counts as lost can be sent again");
        if seq == tcb.max {
            return false;
        }
        self.lost -= 1;
        self.repaired = seq + 1;
        tcb.transmit(self, seq, now, wire);
        self.note_sent();
        true
    }
}

impl Repair for Sack {
    #[inline(never)]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, cause, .. } = ack;
        let advances = next > tcb.una;
        let mut newly_sacked = self.take_sacked(tcb, next, cause);
        if !tcb.blocks.is_empty() {
            newly_sacked += self.take_blocks(tcb, next);
        }
        let mut delivered = next.saturating_sub(tcb.una) + newly_sacked;
        if advances {
            let quiet = self.sacked == 0 && self.lost == 0;
            let known = if quiet { 0 } else { self.advance(tcb.una, next, &tcb.log) };
            delivered -= known;
            self.on_advance(tcb, now, next, delivered);
        } else if newly_sacked > 0 {
            // One, however many packets the ACK reports (RFC 6675 section 5).
            tcb.dupacks += 1;
            tcb.tell_core(self, now, 0, newly_sacked, None);
        }
        let lost = self.lost;
        if self.sacked > 0 {
            self.judge(tcb.una, &mut tcb.log);
        }
        let safe = advances && self.lost <= lost;
        let entered = self.decide(tcb, now);
        self.tell_lost(tcb, now);
        self.reduce(tcb, delivered, safe, entered);
        if entered {
            // The fast retransmit leaves whatever the window says (RFC 6675 section 5 step 4.3).
            self.resend(tcb, now, wire);
        }
        self.send(tcb, now, wire);
    }

    /// After a timeout everything not selectively acknowledged is lost (RFC 6675 section 5.1); a
    /// SYN is on no scoreboard. Returns what was not known to be lost.
    fn on_timeout(&mut self, tcb: &mut Tcb, _now: Instant, handshake: bool) -> Gaps {
        if handshake {
            return Gaps::ONE;
        }
        if std::mem::take(&mut self.active) {
            tcb.core.on_recovered(None);
        }
        self.lost = 0;
        let (mut found, mut joins) = (Gaps::default(), false);
        for seq in tcb.una..tcb.max {
            let sacked = tcb.log.has(seq, Mark::SACKED);
            let fresh = !sacked && !tcb.log.has(seq, Mark::LOST);
            if !sacked {
                tcb.log.set(seq, Mark::LOST);
                self.lost += 1;
            }
            if fresh {
                found.add(joins);
            }
            joins = fresh;
        }
        (self.judged, self.repaired) = (tcb.max, tcb.una);
        found
    }

    /// Nothing above the cumulative ACK is known to have arrived either.
    fn is_idle(&self) -> bool {
        !self.active && self.sacked == 0 && self.lost == 0
    }

    fn in_flight(&self, tcb: &Tcb) -> u32 {
        self.pipe(tcb)
    }

    /// The pipe is below the window, and there is something to send; or the FIN is next.
    #[inline]
    fn has_room(&self, tcb: &Tcb) -> bool {
        let some = self.lost > 0 || tcb.has_fresh();
        self.window_has_room(tcb) && some || tcb.is_final()
    }

    /// Sends while the pipe is below the window: lost packets first, then new ones
    /// (RFC 6675 section 4, NextSeg rules 1 and 2). A FIN that is next leaves whatever the pipe.
    fn send(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        while self.window_has_room(tcb) && (self.lost > 0 || tcb.has_fresh()) {
            if !tcb.may_depart(now) {
                return;
            }
            if self.lost > 0 && self.resend(tcb, now, wire) {
                continue;
            }
            if !tcb.has_fresh() {
                return;
            }
            self.send_next(tcb, now, wire);
        }
        if tcb.is_final() && tcb.may_depart(now) {
            self.send_next(tcb, now, wire);
        }
    }

    fn goes_back(&self) -> bool {
        false
    }
}

impl Tcb {
    /// There is something to send that has never left, and the receiver takes it.
    #[inline]
    pub(super) fn has_fresh(&self) -> bool {
        self.nxt < self.limit && self.max - self.una < self.receiver_window
    }
}
