//! SACK recovery as ns-2.35's Sack1 agent does it, for comparison with the papers' own simulator.
//!
//! The pipe is a plain counter: set to what is outstanding less three when recovery begins, less
//! one for every ACK, less another for a partial one, plus one for every packet sent. A hole may be
//! repaired as soon as anything above it has been selectively acknowledged. A timeout forgets all
//! that was selectively acknowledged.

use firstflight_core::event::LossKind;
use firstflight_core::units::Instant;

use super::log::{Mark, SendLog};
use super::{DUP_THRESHOLD, Gaps, Repair, Tcp, Wire};
use crate::control::Core;

#[derive(Debug, Default)]
pub(super) struct Ns2Sack {
    active: bool,
    timed_out: bool,
    pipe: i64,
    /// Holes below have been repaired.
    repaired: u32,
    /// One past the highest packet selectively acknowledged.
    highest: u32,
    /// Packets of the runs that the last ACKs reported, newest first.
    reported: [u32; 3],
}

impl Ns2Sack {
    /// Something is being repaired.
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    pub(super) fn abort(&mut self, core: &mut Core, log: &mut SendLog, una: u32, max: u32) {
        if std::mem::take(&mut self.active) {
            core.on_recovered(None);
        }
        self.timed_out = true;
        self.forget(una, max, log);
    }

    fn forget(&mut self, una: u32, max: u32, log: &mut SendLog) {
        for seq in una..self.highest.min(max) {
            log.clear(seq, Mark::SACKED);
        }
        (self.repaired, self.highest) = (0, 0);
    }

    /// The receiver has `seq` out of order: from now on its ACKs report the run of arrived packets
    /// that holds it, beside the two reported last (RFC 2018 section 4: three blocks).
    fn remember(&mut self, seq: u32, log: &mut SendLog) {
        log.set(seq, Mark::ARRIVED);
        let [first, second, third] = self.reported;
        let apart = |reported: u32| !one_run(reported, seq, log);
        self.reported = match (apart(first), apart(second)) {
            (true, true) => [seq, first, second],
            (true, false) => [seq, first, third],
            (false, true) => [seq, second, third],
            (false, false) => [seq, third, 0],
        };
    }

    /// An ACK reports what it did before, whatever caused it. Takes that to the scoreboard and says
    /// whether any of it is new there.
    fn note(&mut self, una: u32, max: u32, log: &mut SendLog) -> bool {
        let mut news = false;
        for reported in self.reported {
            if reported > una && reported < max {
                news |= self.note_run(reported, una, max, log);
            }
        }
        news
    }

    fn note_run(&mut self, seq: u32, una: u32, max: u32, log: &mut SendLog) -> bool {
        let mut news = !log.has(seq, Mark::SACKED);
        let fresh =
            |seq: &u32, log: &SendLog| log.has(*seq, Mark::ARRIVED) && !log.has(*seq, Mark::SACKED);
        let mut low = seq;
        while low > una + 1 && fresh(&(low - 1), log) {
            low -= 1;
        }
        let mut past = low;
        while past < max && (past <= seq || fresh(&past, log)) {
            news |= past != seq;
            log.set(past, Mark::SACKED);
            past += 1;
        }
        self.highest = self.highest.max(past);
        news
    }

    fn next_hole(&self, una: u32, log: &SendLog) -> Option<u32> {
        (self.repaired.max(una)..self.highest).find(|seq| !log.has(*seq, Mark::SACKED))
    }
}

impl Tcp {
    #[inline(never)]
    pub(super) fn ns2_sack_ack(
        &mut self,
        now: Instant,
        next: u32,
        (cause, early): (u32, u32),
        wire: &mut impl Wire,
    ) {
        let arrived = cause > next && cause < self.max && !self.log.has(cause, Mark::SACKED);
        let Repair::Ns2Sack(sack) = &mut self.repair else { return };
        if arrived {
            sack.remember(cause, &mut self.log);
        }
        if sack.active {
            self.ns2_sack_recovery_ack(now, next, arrived, early);
            self.ns2_sack_send(now, wire);
            return;
        }
        if next > self.una {
            sack.timed_out = false;
            if sack.highest > 0 {
                sack.forget(self.una, self.max, &mut self.log);
            }
            // An ACK of new data leaves the scoreboard empty, whatever its blocks say.
            self.new_ack(now, next, early);
        } else if next == self.una
            && !sack.timed_out
            && sack.note(self.una, self.max, &mut self.log)
        {
            self.dupacks += 1;
            self.duplicate_ack(now, early);
            if self.dupacks == DUP_THRESHOLD {
                if self.recover == 0 || self.una > self.recover {
                    self.ns2_sack_enter(now, wire);
                }
            } else if self.dupacks < DUP_THRESHOLD && self.endpoint.rules.limited_transmit {
                self.limited_transmit(now, wire);
            }
        } else if early > 0 {
            self.duplicate_ack(now, early);
        }
        if self.dupacks == 0 {
            self.send_window(now, 0, wire);
        }
    }

    fn ns2_sack_recovery_ack(&mut self, now: Instant, next: u32, arrived: bool, early: u32) {
        let Repair::Ns2Sack(sack) = &mut self.repair else { return };
        sack.pipe -= 1;
        if next >= self.recover {
            sack.active = false;
            sack.timed_out = false;
            sack.forget(self.una, self.max, &mut self.log);
            self.recover = 0;
            self.new_ack(now, next, early);
            self.core.on_recovered(None);
            return;
        }
        sack.note(self.una, self.max, &mut self.log);
        if next > self.una {
            sack.pipe -= 1;
            let newly = next - self.una;
            self.una = next;
            self.nxt = self.nxt.max(next);
            self.rto.reset_backoff();
            self.rto.restart(now);
            let credited = self.credit(newly, early);
            self.tell_core(now, newly, credited, None);
        } else if arrived {
            self.dupacks += 1;
            self.duplicate_ack(now, early);
        }
    }

    fn ns2_sack_enter(&mut self, now: Instant, wire: &mut impl Wire) {
        let outstanding = i64::from(self.max - self.una);
        let Repair::Ns2Sack(sack) = &mut self.repair else { return };
        sack.active = true;
        sack.pipe = outstanding - i64::from(DUP_THRESHOLD);
        sack.repaired = self.una + 1;
        self.recover = self.max;
        self.counts.fast_retransmits += 1;
        self.declare_loss(now, LossKind::Recovery, false, Gaps::ONE);
        self.rto.restart(now);
        self.rto.forget_timed();
        self.transmit(self.una, now, wire);
    }

    pub(super) fn ns2_sack_send(&mut self, now: Instant, wire: &mut impl Wire) {
        loop {
            let Repair::Ns2Sack(sack) = &mut self.repair else { return };
            if !sack.active {
                return self.send_window(now, 0, wire);
            }
            if (sack.pipe + 1) * self.mss as i64 > self.core.cwnd().0 as i64 {
                return;
            }
            let outstanding = self.nxt - self.una;
            if let Some(hole) = sack.next_hole(self.una, &self.log) {
                sack.repaired = hole + 1;
                sack.pipe += 1;
                self.declare_further_loss(now, Gaps::ONE, false);
                self.transmit(hole, now, wire);
            } else if self.nxt < self.limit && outstanding < self.receiver_window {
                sack.pipe += 1;
                self.transmit_next(now, wire);
            } else {
                return;
            }
        }
    }
}

/// Whether everything from one of the two packets to the other has arrived.
fn one_run(a: u32, b: u32, log: &SendLog) -> bool {
    a > 0 && (a.min(b)..=a.max(b)).all(|seq| log.has(seq, Mark::ARRIVED))
}
