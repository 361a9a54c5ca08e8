//! SACK recovery as ns-2.35's Sack1 agent does it, for comparison with the papers' own simulator.
//!
//! The pipe is a plain counter: set to what is outstanding less three when recovery begins, less
//! one for every ACK, less another for a partial one, plus one for every packet sent. A hole may be
//! repaired as soon as anything above it has been selectively acknowledged. A timeout forgets all
//! that was selectively acknowledged.

use firstflight_core::units::Instant;

use crate::tcp::log::{Mark, SendLog};
use crate::tcp::repair::{DataAck, Repair};
use crate::tcp::tcb::Tcb;
use crate::tcp::{DUP_THRESHOLD, Gaps, Wire};

#[derive(Debug, Default)]
pub(in crate::tcp) struct Ns2Sack {
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
    fn forget(&mut self, una: u32, max: u32, log: &mut SendLog) {
        for seq in una..self.highest.min(max) {
            log.clear(seq, Mark::SACKED);
        }
        (self.repaired, self.highest) = (0, 0);
    }

    /// The receiver has `seq` out of order: from now on its ACKs report the run of arrived packets
    /// that holds it, besides the two reported last (RFC 2018 section 4: three blocks).
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
        let mut is_new = false;
        for reported in self.reported {
            if reported > una && reported < max {
                is_new |= self.note_run(reported, una, max, log);
            }
        }
        is_new
    }

    fn note_run(&mut self, seq: u32, una: u32, max: u32, log: &mut SendLog) -> bool {
        let mut is_new = !log.has(seq, Mark::SACKED);
        let fresh =
            |seq: &u32, log: &SendLog| log.has(*seq, Mark::ARRIVED) && !log.has(*seq, Mark::SACKED);
        let mut low = seq;
        while low > una + 1 && fresh(&(low - 1), log) {
            low -= 1;
        }
        let mut past = low;
        while past < max && (past <= seq || fresh(&past, log)) {
            is_new |= past != seq;
            log.set(past, Mark::SACKED);
            past += 1;
        }
        self.highest = self.highest.max(past);
        is_new
    }

    fn next_hole(&self, una: u32, log: &SendLog) -> Option<u32> {
        (self.repaired.max(una)..self.highest).find(|seq| !log.has(*seq, Mark::SACKED))
    }

    fn enter(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        let outstanding = i64::from(tcb.max - tcb.una);
        self.active = true;
        // `Sack1TcpAgent::dupack_action` (`tcp-sack1.cc`): what is out, less the three duplicates.
        self.pipe = outstanding - i64::from(DUP_THRESHOLD);
        self.repaired = tcb.una + 1;
        tcb.begin_recovery(now, Gaps::ONE);
        tcb.transmit(self, tcb.una, now, wire);
    }

    fn on_recovery_ack(&mut self, tcb: &mut Tcb, ack: DataAck, arrived: bool) {
        let DataAck { now, next, early, .. } = ack;
        // `Sack1TcpAgent::recv`: every ACK says that a packet has left the network.
        self.pipe -= 1;
        if next >= tcb.recover {
            self.active = false;
            self.timed_out = false;
            self.forget(tcb.una, tcb.max, &mut tcb.log);
            tcb.recover = 0;
            tcb.new_ack(self, now, next, early);
            tcb.core.on_recovered(None);
            return;
        }
        self.note(tcb.una, tcb.max, &mut tcb.log);
        if next > tcb.una {
            // A partial ACK: the lost packet has left it too.
            self.pipe -= 1;
            let newly = next - tcb.una;
            tcb.una = next;
            tcb.nxt = tcb.nxt.max(next);
            tcb.rto.reset_backoff();
            tcb.rto.restart(now);
            let credited = tcb.credit(newly, early);
            tcb.tell_core(self, now, newly, credited, None);
        } else if arrived {
            tcb.dupacks += 1;
            tcb.duplicate_ack(self, now, early);
        }
    }
}

impl Repair for Ns2Sack {
    #[inline(never)]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, cause, early } = ack;
        for seq in std::mem::take(&mut tcb.blocks) {
            if seq > next && seq < tcb.max && !tcb.log.has(seq, Mark::SACKED) {
                self.remember(seq, &mut tcb.log);
            }
        }
        let arrived = cause > next && cause < tcb.max && !tcb.log.has(cause, Mark::SACKED);
        if arrived {
            self.remember(cause, &mut tcb.log);
        }
        if self.active {
            self.on_recovery_ack(tcb, ack, arrived);
            self.send(tcb, now, wire);
            return;
        }
        if next > tcb.una {
            self.timed_out = false;
            if self.highest > 0 {
                self.forget(tcb.una, tcb.max, &mut tcb.log);
            }
            // An ACK of new data leaves the scoreboard empty, whatever its blocks say.
            tcb.new_ack(self, now, next, early);
        } else if next == tcb.una && !self.timed_out && self.note(tcb.una, tcb.max, &mut tcb.log) {
            tcb.dupacks += 1;
            tcb.duplicate_ack(self, now, early);
            if tcb.dupacks == DUP_THRESHOLD {
                if tcb.recover == 0 || tcb.una > tcb.recover {
                    self.enter(tcb, now, wire);
                }
            } else if tcb.dupacks < DUP_THRESHOLD && tcb.endpoint.rules.limited_transmit {
                tcb.limited_transmit(self, now, wire);
            }
        } else if early > 0 {
            tcb.duplicate_ack(self, now, early);
        }
        if tcb.dupacks == 0 {
            tcb.send_window(self, now, 0, wire);
        }
    }

    fn on_timeout(&mut self, tcb: &mut Tcb, _now: Instant, _handshake: bool) -> Gaps {
        if std::mem::take(&mut self.active) {
            tcb.core.on_recovered(None);
        }
        self.timed_out = true;
        self.forget(tcb.una, tcb.max, &mut tcb.log);
        Gaps::ONE
    }

    /// What a recovery sends, its own pipe allows, at once.
    fn has_room(&self, tcb: &Tcb) -> bool {
        !self.active && tcb.has_room_in(self.window(tcb))
    }

    fn send(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        loop {
            if !self.active {
                return tcb.send_window(self, now, 0, wire);
            }
            if (self.pipe + 1) * tcb.mss as i64 > tcb.core.cwnd().0 as i64 {
                return;
            }
            let outstanding = tcb.nxt - tcb.una;
            if let Some(hole) = self.next_hole(tcb.una, &tcb.log) {
                self.repaired = hole + 1;
                self.pipe += 1;
                tcb.declare_further_loss(now, Gaps::ONE, false);
                tcb.transmit(self, hole, now, wire);
            } else if tcb.nxt < tcb.limit && outstanding < tcb.receiver_window {
                self.pipe += 1;
                tcb.transmit_next(self, now, wire);
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
