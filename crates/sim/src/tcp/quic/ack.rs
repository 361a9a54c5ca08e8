//! ACK frames: which packets they tell of, and what the core hears of them.

use firstflight_core::event::{Ack, Sent};
use firstflight_core::frame::{Frame, Parts};
use firstflight_core::units::{Bytes, Instant, Span};

use super::super::log::Mark;
use super::super::tcb::Tcb;
use super::Quic;

impl Quic {
    /// An ACK frame: all numbers below `next` of which nothing was known, and number `cause`, have
    /// arrived, and the receiver waited for `delay` before it said so. Returns whether that is new.
    pub(super) fn take_frame(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        next: u32,
        cause: u32,
        delay: Span,
    ) -> bool {
        let (mut frame, before, empty) = (Frame::default(), self.heard, self.empty.len());
        for seq in self.heard..next.min(tcb.max) {
            self.take_packet(tcb, seq, &mut frame);
        }
        self.heard = self.heard.max(next.min(tcb.max));
        // The handshake's packet may be answered twice; what is below `una` is known.
        let fresh = cause >= next && cause < tcb.max || cause < before && !tcb.is_settled(cause);
        if cause >= tcb.una && fresh {
            self.take_packet(tcb, cause, &mut frame);
            self.heard = self.heard.max(cause + 1);
        }
        self.advance(tcb);
        let newest = self.heard > before;
        let rtt = newest.then(|| now.since(tcb.log.sent_at(self.heard - 1)));
        let tells = frame != Frame::default();
        if tells {
            self.tell(tcb, now, &frame, rtt);
        }
        if let Some(rtt) = rtt {
            self.rtt.observe(rtt, delay);
            self.measured_from.get_or_insert(tcb.nxt);
        }
        newest || tells || self.empty.len() < empty
    }

    /// The first packet of the handshake has left and has been acknowledged.
    pub(super) fn tell_handshake(tcb: &mut Tcb, now: Instant) {
        let (bytes, una) = (Bytes(tcb.mss), tcb.una);
        tcb.counts.sent += 1;
        tcb.core.on_sent(&Sent { now, bytes, in_flight: bytes, again: false });
        let mut ack = Ack { now, acked: bytes, credited: bytes, snd_nxt: bytes, ..Ack::default() };
        if let Some(samples) = &mut tcb.samples {
            samples.complete(&mut ack, una);
        }
        tcb.core.on_ack(&ack);
    }

    fn take_packet(&mut self, tcb: &mut Tcb, seq: u32, frame: &mut Frame) {
        tcb.log.set(seq, Mark::SACKED);
        if tcb.log.has(seq, Mark::LOST) || self.forget_empty(seq) {
            return;
        }
        self.in_flight -= 1;
        match self.period.is_after(tcb.log.sent_at(seq)) {
            false => frame.after.add(tcb.mss),
            true => frame.before.add(tcb.mss),
        }
    }

    /// Whether this packet was an empty probe, of which the core knows nothing.
    pub(super) fn forget_empty(&mut self, seq: u32) -> bool {
        let place = self.empty.iter().position(|empty| *empty == seq);
        place.map(|place| self.empty.swap_remove(place)).is_some()
    }

    /// Moves on to the first packet of which nothing is known.
    pub(super) fn advance(&self, tcb: &mut Tcb) {
        while tcb.una < self.heard && tcb.is_settled(tcb.una) {
            tcb.una += 1;
        }
    }

    /// What a frame tells beside the packets. Marks are told with the first packet, before any
    /// opens the window (RFC 9002 appendix A.7).
    fn tell(&mut self, tcb: &mut Tcb, now: Instant, frame: &Frame, rtt: Option<Span>) {
        let total = Bytes(frame.after.bytes + frame.before.bytes);
        let in_flight = tcb.bytes(self.in_flight);
        let mut ack = Ack {
            now,
            credited: total,
            rtt,
            in_flight,
            snd_nxt: tcb.core.view().delivered + total + in_flight,
            ..Ack::default()
        };
        let (newest, una) = (self.heard - 1, tcb.una);
        if let Some(samples) = &mut tcb.samples {
            samples.note_early(newest);
            samples.complete(&mut ack, una);
        }
        ack.app_limited |= self.app_limited;
        let mut parts = Parts::new(ack, frame, &self.period);
        while let Some(ack) = parts.next(&mut tcb.core, &mut self.period) {
            self.hand_on(tcb, ack);
        }
    }

    /// Tells the core.
    #[inline]
    fn hand_on(&mut self, tcb: &mut Tcb, ack: &Ack) {
        match tcb.ecn.is_some() {
            true => self.hand_on_marks(tcb, ack),
            false => tcb.core.on_ack(ack),
        }
    }

    /// Tells the core of an ACK that may tell of marks. If it reduces the window for them, a
    /// recovery period begins (RFC 9002 appendix B.7).
    #[cold]
    fn hand_on_marks(&mut self, tcb: &mut Tcb, ack: &Ack) {
        let before = tcb.core.recovery_began();
        tcb.tell_marked(*ack);
        if tcb.core.recovery_began() != before {
            let reduced = tcb.ecn.is_some_and(|ecn| ecn.reduced);
            self.note_recovery(tcb, reduced);
        }
    }
}

impl Tcb {
    /// What became of packet `seq` is known.
    fn is_settled(&self, seq: u32) -> bool {
        self.log.has(seq, Mark::SACKED) || self.log.has(seq, Mark::LOST)
    }
}
