//! How packets leave: as the window allows, when their time has come ([`Tcb::may_depart`]).

use firstflight_core::event::Sent;
use firstflight_core::units::{Bytes, Instant};

use super::Wire;
use super::repair::Repair;
use super::tcb::Tcb;

impl Tcb {
    #[inline]
    pub(super) fn has_room_in(&self, window: u64) -> bool {
        let outstanding = u64::from(self.nxt - self.una);
        let fits = self.nxt < self.limit
            && (outstanding + 1) * self.mss <= window
            && outstanding < u64::from(self.receiver_window);
        fits || self.is_final()
    }

    /// Whether the next packet is the connection's last, which carries the FIN and has not left
    /// yet, and the receiver takes it. Linux sends that one even if the congestion window is full
    /// (`tcp_cwnd_test`), but not beyond the receiver's (`tcp_snd_wnd_test`).
    pub(super) fn is_final(&self) -> bool {
        self.closes && self.is_last()
    }

    #[inline(never)]
    fn is_last(&self) -> bool {
        let last = self.nxt + 1 == self.end && self.nxt < self.limit && self.nxt == self.max;
        last && self.max - self.una < self.receiver_window
    }

    /// Sends what the window allows, at most `burst` packets unless that is 0. Sending does not
    /// change the window.
    #[inline(always)]
    pub(super) fn send_window(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        burst: u32,
        wire: &mut impl Wire,
    ) {
        let mut sent = 0;
        let window = repair.window(self);
        while self.has_room_in(window) && self.may_depart(now) {
            self.transmit_next(repair, now, wire);
            sent += 1;
            if sent == burst {
                return;
            }
        }
    }

    pub(super) fn transmit_next(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        wire: &mut impl Wire,
    ) {
        let seq = self.nxt;
        self.nxt += 1;
        self.transmit(repair, seq, now, wire);
    }

    #[inline(never)]
    pub(super) fn transmit(
        &mut self,
        repair: &impl Repair,
        seq: u32,
        now: Instant,
        wire: &mut impl Wire,
    ) {
        let idle = self.una == self.max;
        let data = seq >= self.first_data;
        let again = seq < self.max;
        if again {
            self.counts.sent_packets += u64::from(data);
            self.counts.retransmitted_packets += u64::from(data);
            self.log.resent(seq, now);
        } else {
            self.max = seq + 1;
            self.log.sent(seq, self.una, now);
            self.rto.on_sent(seq, now);
        }
        if idle || !self.rto.is_on() {
            self.rto.restart(now);
        }
        if data {
            let in_flight = self.bytes(repair.in_flight(self));
            if self.samples.is_some() {
                self.note_sent(seq, now, in_flight, idle);
            }
            self.core.on_sent(&Sent { now, bytes: Bytes(self.mss), in_flight, again });
        }
        match self.listens {
            true => wire.transmit_labelled(seq, self.label(now, data && !again)),
            false => wire.transmit(seq),
        }
    }

    /// Notes the state in which a packet of data left.
    #[inline(never)]
    fn note_sent(&mut self, seq: u32, now: Instant, in_flight: Bytes, idle: bool) {
        let Some(samples) = &mut self.samples else { return };
        samples.on_sent(seq, now, in_flight, idle);
        if self.nxt >= self.end {
            samples.on_app_limited(in_flight);
        }
    }
}
