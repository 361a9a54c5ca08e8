//! When the sender must be woken, and what a retransmission timeout does.

use firstflight_core::event::LossKind;
use firstflight_core::units::Instant;

use super::log::Mark;
use super::{Repair, Tcp, Wire};

impl Tcp {
    /// The retransmission timer fires, if it is still due. Also resumes a paced sender.
    pub(crate) fn on_timer(&mut self, now: Instant, wire: &mut impl Wire) {
        if self.rto_deadline().is_some_and(|deadline| deadline <= now) {
            self.on_timeout(now, wire);
        } else if self.core.pace().is_some() && self.next_departure <= now {
            self.resume(now, wire);
        }
        self.calm_packets = self.calm_packets();
    }

    /// When [`Tcp::on_timer`] must be called next.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let rto = self.rto_deadline();
        if self.core.pace().is_none() || !self.waits_for_pace() {
            return rto;
        }
        Some(rto.map_or(self.next_departure, |rto| rto.min(self.next_departure)))
    }

    /// Whether nothing is due before `at`; may say no although it is so.
    #[inline]
    pub(crate) fn sleeps_until(&self, at: Instant) -> bool {
        self.core.pace().is_none() && self.rto.sleeps_until(at)
    }

    fn rto_deadline(&self) -> Option<Instant> {
        self.rto.deadline(&self.core.view().rtt)
    }

    #[cold]
    fn on_timeout(&mut self, now: Instant, wire: &mut impl Wire) {
        if self.una == self.max {
            self.rto.cancel();
            return;
        }
        let again = self.log.has(self.una, Mark::RESENT) && !self.endpoint.rto.ticks;
        let handshake = self.una < self.first_data;
        self.counts.timeouts += u64::from(!handshake);
        match &mut self.repair {
            Repair::FastRecovery(recovery) => recovery.abort(&mut self.core),
            // A SYN is on no scoreboard.
            Repair::Sack(_) if handshake => {}
            Repair::Sack(sack) => sack.abort(&mut self.core, &mut self.log, self.una, self.max),
            Repair::Ns2Sack(sack) => {
                sack.abort(&mut self.core, &mut self.log, self.una, self.max);
            }
            Repair::Ns2Vegas(vegas) => vegas.abort(now, &mut self.core),
        }
        (self.dupacks, self.recover) = (self.kept_duplicates(), self.max);
        if !handshake || self.endpoint.rules.syn_timeout_cuts {
            self.declare_loss(now, LossKind::Timeout, again);
        }
        self.rto.back_off(&self.core.view().rtt);
        self.rto.restart(now);
        self.rto.forget_timed();
        if handshake || !matches!(self.repair, Repair::Sack(_)) {
            self.nxt = self.una;
        }
        if handshake {
            // ns-2.35's Vegas begins every slow start with two packets, the SYN being one of them.
            let packets = if matches!(self.repair, Repair::Ns2Vegas(_)) { 2 } else { 1 };
            self.core.on_recovered(Some(self.bytes(packets)));
            for _ in 0..packets {
                self.transmit_next(now, wire);
            }
            return;
        }
        self.resume(now, wire);
    }
}
