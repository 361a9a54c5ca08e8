//! The calm ACK: for new data, while nothing is lost, repaired or in doubt. Nearly every ACK is
//! one, and every recovery but ns-2's own handles it alike: take the RTT, tell the core, send what
//! the window allows. This is the general path without the steps that cannot apply. Between such
//! ACKs a paced packet leaves likewise, without asking timers and repair.
//! `tests/ahead.rs` checks that both paths give equal outcomes.

use firstflight_core::event::{Ack, Sent};
use firstflight_core::units::{Bytes, Instant, Span};

use super::repair::Repair as _;
use super::tcb::Tcb;
use super::{Tcp, Wire};

impl Tcp {
    /// Notes how many packets a calm ACK may cover now: none if there is something to repair. A
    /// calm ACK changes nothing that this depends on.
    #[inline(never)]
    pub(super) fn note_calm(&mut self) {
        let Self { tcb, repair } = self;
        (tcb.calm_packets, tcb.calm_plain) = (0, 0);
        let calm = tcb.fast_paths
            && repair.is_idle()
            && tcb.una >= tcb.first_data
            && tcb.nxt == tcb.max
            && tcb.dupacks == 0
            && tcb.acked_in_parts == Bytes(0)
            && tcb.rto.is_calm()
            && tcb.is_known_to_core();
        // The core recovers only while a repair is under way, or after a mark, and not calm then.
        debug_assert!(!(calm && tcb.core.view().recovering));
        if calm {
            // What duplicate ACKs credited beyond one packet is for `Tcp::credit` to take off.
            let packets = if tcb.credited_ahead > 0 { 1 } else { MANY };
            tcb.calm_packets = packets;
            tcb.note_plain();
        }
    }
}

impl Tcb {
    /// The core knows of everything sent, so that it need not be reported again.
    fn is_known_to_core(&self) -> bool {
        let view = self.core.view();
        view.snd_nxt == self.bytes(self.nxt - self.first_data)
            && view.in_flight == self.bytes(self.nxt - self.una)
    }

    /// Notes whether calm ACKs may take the fastest path.
    fn note_plain(&mut self) {
        let sends_data = self.samples.is_none() && !self.closes && self.limit == self.end;
        let is_plain = sends_data && !self.rto.ticks();
        self.calm_plain = if is_plain { self.calm_packets } else { 0 };
    }

    /// Whether the next ACK may be calm: no packet is lost or being sent again, no duplicate ACK
    /// has come, and the timeout is not backed off.
    pub(super) fn is_calm(&self) -> bool {
        self.calm_packets > 0
    }

    /// Handles the ACK of so many packets, caused by the newest of them, if it is calm; otherwise
    /// returns false and has changed nothing. A calm one fills no gap and is no part. With
    /// `EXTRAS` it also serves controls that need rate samples, connections that end with a FIN,
    /// receivers whose window still grows, and ns-2's timer, which times a segment.
    #[inline(always)]
    pub(super) fn on_calm_ack<const EXTRAS: bool>(
        &mut self,
        now: Instant,
        packets: u32,
        wire: &mut impl Wire,
    ) -> bool {
        if packets.wrapping_sub(1) >= if EXTRAS { self.calm_packets } else { self.calm_plain } {
            return false;
        }
        let next = self.una + packets;
        let Some(sent_at) = self.log.sent_once_at(next - 1) else { return false };
        debug_assert!(self.is_known_to_core());
        let newly = self.bytes(packets);
        let view = self.core.view();
        let in_flight = Bytes(view.in_flight.0 - newly.0);
        debug_assert!(EXTRAS || self.limit == self.end);
        if EXTRAS && self.limit < self.end {
            self.extend(next, 0);
            self.note_plain();
        }
        self.una = next;
        let rtt = Span(now.0 - sent_at.0);
        if EXTRAS && self.rto.ticks() {
            self.rto.on_acked(next, now, Some(rtt));
        }
        match EXTRAS {
            false => self.core.on_new_data(now, newly, rtt, in_flight),
            true => self.tell_sampled(now, newly, rtt, in_flight),
        }
        self.send_calm::<EXTRAS>(now, wire);
        if next < self.max {
            match EXTRAS {
                false => self.rto.restart_calm(now),
                true => self.rto.restart(now),
            }
        } else {
            self.rto.cancel();
        }
        true
    }

    /// Tells the core of a calm ACK, with a rate sample if the control needs one.
    #[inline(always)]
    fn tell_sampled(&mut self, now: Instant, acked: Bytes, rtt: Span, in_flight: Bytes) {
        let snd_nxt = self.core.view().snd_nxt;
        let (credited, rtt) = (acked, Some(rtt));
        let mut ack = Ack { now, acked, credited, rtt, in_flight, snd_nxt, ..Ack::default() };
        if let Some(samples) = &mut self.samples {
            samples.complete(&mut ack, self.una);
        }
        self.core.on_ack(&ack);
    }

    /// [`Repair::has_room`](super::repair::Repair::has_room) where [`Tcb::is_calm`]: there is a new
    /// packet, and the window has room for it or asks for none.
    #[inline]
    pub(super) fn has_calm_room(&self) -> bool {
        let view = self.core.view();
        let fits = view.in_flight.0 + self.mss <= view.window.cwnd.0 && self.nxt < self.limit;
        fits || self.is_final()
    }

    /// A paced sender that [`Tcb::is_calm`] may send its next packet now. Packets are outstanding,
    /// so that the retransmission timer runs already, and it is not restarted.
    #[inline]
    pub(super) fn send_calm_at_pace(&mut self, now: Instant, wire: &mut impl Wire) {
        debug_assert!(self.rto.is_on() && self.una < self.max);
        match self.calm_plain == 0 {
            false => self.send_calm::<false>(now, wire),
            true => self.send_calm::<true>(now, wire),
        }
    }

    /// Sends what the window allows: packets that have never left before. The window is no larger
    /// than what the receiver takes.
    #[inline(always)]
    fn send_calm<const EXTRAS: bool>(&mut self, now: Instant, wire: &mut impl Wire) {
        debug_assert_eq!(self.nxt, self.max);
        loop {
            // In this order: it is the window that ends the loop.
            let view = self.core.view();
            let in_flight = Bytes(view.in_flight.0 + self.mss);
            let fits = in_flight <= view.window.cwnd && self.nxt < self.limit;
            if !(fits || EXTRAS && self.is_final()) || !self.may_depart(now) {
                return;
            }
            debug_assert!(self.nxt - self.una < self.receiver_window);
            let seq = self.nxt;
            let idle = EXTRAS && seq == self.una;
            (self.nxt, self.max) = (seq + 1, seq + 1);
            self.log.sent(seq, self.una, now);
            self.core.on_sent(&Sent { now, bytes: Bytes(self.mss), in_flight, again: false });
            if let Some(samples) = self.samples.as_mut().filter(|_| EXTRAS) {
                samples.on_sent_first(seq, now, in_flight, idle);
                if self.nxt >= self.end {
                    samples.on_app_limited(in_flight);
                }
            }
            if EXTRAS && self.rto.ticks() {
                self.rto.on_sent(seq, now);
                wire.transmit(seq);
            } else {
                wire.transmit_data(seq);
            }
        }
    }
}

/// More packets than are ever in flight.
const MANY: u32 = 1 << 30;
