//! The calm ACK: for new data, while nothing is lost, repaired or in doubt. Nearly every ACK is
//! one, and it means the same under every recovery but ns-2's own: take the RTT, tell the core,
//! send what the window allows. This is the way of any ACK with what cannot apply left out;
//! `tests/ahead.rs` holds both to the same outcome.

use firstflight_core::event::{Ack, Sent};
use firstflight_core::units::{Bytes, Instant};

use super::{Repair, Tcp, Wire};

impl Tcp {
    /// How many packets a calm ACK may cover now; 0 if there is something to repair. A calm ACK
    /// changes nothing that this depends on.
    pub(super) fn calm_packets(&self) -> u32 {
        let idle = match &self.repair {
            Repair::FastRecovery(recovery) => recovery.is_idle(),
            Repair::Sack(sack) => sack.is_idle(),
            Repair::Ns2Sack(_) | Repair::Ns2Vegas(_) => false,
        };
        let calm = idle
            && self.shortcuts
            && self.una >= self.first_data
            && self.nxt == self.max
            && self.dupacks == 0
            && self.told_ahead == Bytes(0)
            && self.rto.is_calm();
        // The core recovers only while a repair is under way.
        debug_assert!(!(idle && self.core.view().recovering));
        match calm {
            false => 0,
            // What duplicate ACKs told of beyond one packet is for `Tcp::credit` to take off.
            true if self.credited_ahead > 0 => 1,
            true => MANY,
        }
    }

    /// Handles the ACK if it is calm; otherwise returns false and has changed nothing. The packet
    /// that caused a calm one is the newest that it covers: it fills no gap and is no part.
    #[inline(always)]
    pub(super) fn on_calm_ack(
        &mut self,
        now: Instant,
        next: u32,
        cause: u32,
        wire: &mut impl Wire,
    ) -> bool {
        let packets = next.wrapping_sub(self.una);
        if packets.wrapping_sub(1) >= self.calm_packets || cause.wrapping_add(1) != next {
            return false;
        }
        let Some(sent_at) = self.log.sent_once_at(cause) else { return false };
        let newly = self.bytes(packets);
        let mut in_flight = self.bytes(self.nxt - next);
        self.una = next;
        self.core.on_ack(&Ack {
            now,
            acked: newly,
            credited: newly,
            rtt: Some(now.since(sent_at)),
            in_flight,
            sent: self.bytes(self.nxt - self.first_data),
            ..Ack::default()
        });
        let window = self.core.cwnd();
        let end = self.limit.min(next + self.receiver_window);
        while self.nxt < end && in_flight + Bytes(self.mss) <= window && self.may_depart(now) {
            in_flight += Bytes(self.mss);
            self.transmit_fresh(now, in_flight, wire);
        }
        if next < self.max {
            self.rto.restart_calm(now);
        } else {
            self.rto.cancel();
        }
        true
    }

    /// The next packet leaves, which has never left before, and `in_flight` are on their way then.
    #[inline(always)]
    fn transmit_fresh(&mut self, now: Instant, in_flight: Bytes, wire: &mut impl Wire) {
        debug_assert_eq!(self.nxt, self.max);
        let seq = self.nxt;
        (self.nxt, self.max) = (seq + 1, seq + 1);
        self.counts.sent += 1;
        self.log.sent(seq, self.una, now);
        self.core.on_sent(&Sent { now, bytes: Bytes(self.mss), in_flight });
        wire.transmit_data(seq);
    }
}

/// More packets than are ever in flight.
const MANY: u32 = 1 << 30;
