//! The calm ACK: for new data, while nothing is lost, repaired or in doubt. Nearly every ACK is
//! one, and every recovery but ns-2's own handles it alike: take the RTT, tell the core, send what
//! the window allows. This is the general path without the steps that cannot apply.
//! `tests/ahead.rs` checks that both paths give equal outcomes.

use firstflight_core::event::Sent;
use firstflight_core::units::{Bytes, Instant, Span};

use super::repair::Repair as _;
use super::tcb::Tcb;
use super::{Tcp, Wire};

impl Tcp {
    /// How many packets a calm ACK may cover now; 0 if there is something to repair. A calm ACK
    /// changes nothing that this depends on.
    pub(super) fn calm_packets(&self) -> u32 {
        let tcb = &self.tcb;
        let calm = tcb.shortcuts
            && self.repair.is_idle()
            && tcb.una >= tcb.first_data
            && tcb.nxt == tcb.max
            && tcb.dupacks == 0
            && tcb.acked_in_parts == Bytes(0)
            && tcb.rto.is_calm()
            && tcb.is_known_to_core();
        // The core recovers only while a repair is under way, or after a mark, and not calm then.
        debug_assert!(!(calm && tcb.core.view().recovering));
        match calm {
            false => 0,
            // What duplicate ACKs told of beyond one packet is for `Tcp::credit` to take off.
            true if tcb.credited_ahead > 0 => 1,
            true => MANY,
        }
    }
}

impl Tcb {
    /// The core has been told of everything sent, so that it need not be told again.
    fn is_known_to_core(&self) -> bool {
        let view = self.core.view();
        view.snd_nxt == self.bytes(self.nxt - self.first_data)
            && view.in_flight == self.bytes(self.nxt - self.una)
    }

    /// Handles the ACK of so many packets, caused by the newest of them, if it is calm; otherwise
    /// returns false and has changed nothing. A calm one fills no gap and is no part.
    #[inline(always)]
    pub(super) fn on_calm_ack(&mut self, now: Instant, packets: u32, wire: &mut impl Wire) -> bool {
        if packets.wrapping_sub(1) >= self.calm_packets {
            return false;
        }
        let next = self.una + packets;
        let Some(sent_at) = self.log.sent_once_at(next - 1) else { return false };
        debug_assert!(self.is_known_to_core());
        let newly = self.bytes(packets);
        let view = self.core.view();
        let in_flight = Bytes(view.in_flight.0 - newly.0);
        if self.limit < self.end {
            self.extend(next, 0);
        }
        self.una = next;
        self.core.on_new_data(now, newly, Span(now.0 - sent_at.0), in_flight);
        self.send_calm(now, wire);
        if next < self.max {
            self.rto.restart_calm(now);
        } else {
            self.rto.cancel();
        }
        true
    }

    /// Sends what the window allows: packets that have never left before. The window is no larger
    /// than what the receiver takes.
    #[inline(always)]
    fn send_calm(&mut self, now: Instant, wire: &mut impl Wire) {
        debug_assert_eq!(self.nxt, self.max);
        loop {
            // In this order: it is the window that ends the loop.
            let view = self.core.view();
            let in_flight = Bytes(view.in_flight.0 + self.mss);
            let fits = in_flight <= view.window.cwnd && self.nxt < self.limit;
            if !fits && !self.is_final() || !self.may_depart(now) {
                return;
            }
            debug_assert!(self.nxt - self.una < self.receiver_window);
            let seq = self.nxt;
            (self.nxt, self.max) = (seq + 1, seq + 1);
            self.log.sent(seq, self.una, now);
            self.core.on_sent(&Sent { now, bytes: Bytes(self.mss), in_flight, again: false });
            wire.transmit_data(seq);
        }
    }
}

/// More packets than are ever in flight.
const MANY: u32 = 1 << 30;
