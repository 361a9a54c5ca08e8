//! ACK frames: which packets they tell of, and what the core hears of them.

use firstflight_core::event::{Ack, Sent};
use firstflight_core::units::{Bytes, Instant, Span};

use super::super::log::Mark;
use super::super::tcb::Tcb;
use super::Quic;

/// The packets of data that a frame is the first to acknowledge.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    /// Packets sent after the last recovery period began.
    after: u32,
    /// Packets sent before.
    before: u32,
}

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
        if frame.after + frame.before > 0 {
            self.tell(tcb, now, frame, rtt);
        }
        if let Some(rtt) = rtt {
            self.rtt.observe(rtt, delay);
            self.measured_from.get_or_insert(tcb.nxt);
        }
        newest || frame.after + frame.before > 0 || self.empty.len() < empty
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
        match self.left_before_recovery(tcb.log.sent_at(seq)) {
            false => frame.after += 1,
            true => frame.before += 1,
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

    /// The window grows by what was acknowledged, however many packets a frame covers (RFC 9002
    /// section 7.3.1): the core hears of every packet. What left before the recovery period counts
    /// with the packet that ends it (section 7.3.2), unless start-up sets the window meanwhile.
    /// Marks are told with the first packet, before any opens the window (appendix A.7).
    fn tell(&mut self, tcb: &mut Tcb, now: Instant, frame: Frame, rtt: Option<Span>) {
        let total = tcb.bytes(frame.after + frame.before);
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
        let period = self.recovery;
        if self.withholds {
            self.withheld += tcb.bytes(frame.before);
        } else {
            self.tell_packets(tcb, &mut ack, frame.before, period);
        }
        if frame.after > 0 {
            if tcb.core.view().recovering {
                tcb.core.on_recovered(None);
            }
            self.tell_packets(tcb, &mut ack, frame.after, period);
        }
        if !ack.continues {
            self.hand_on(tcb, &ack);
        }
    }

    /// Tells the core. If it reduces the window because of marks, a recovery period begins (RFC
    /// 9002 appendix B.7).
    fn hand_on(&mut self, tcb: &mut Tcb, ack: &Ack) {
        if tcb.ecn.is_none() {
            return tcb.core.on_ack(ack);
        }
        let before = tcb.core.recovery_began();
        tcb.tell_marked(*ack);
        if tcb.core.recovery_began() != before {
            let reduced = tcb.ecn.is_some_and(|ecn| ecn.reduced);
            self.note_recovery(tcb, reduced && !tcb.core.window_is_startups());
        }
    }

    /// The frame counts as delivered, and is a sample, with the first packet. Where its marks begin
    /// another recovery period than the frame found, all that it tells of left before that.
    fn tell_packets(
        &mut self,
        tcb: &mut Tcb,
        ack: &mut Ack,
        packets: u32,
        period: Option<Instant>,
    ) {
        for told in 0..packets {
            if self.withholds && self.recovery != period {
                self.withheld += tcb.bytes(packets - told);
                return;
            }
            ack.acked = Bytes(tcb.mss) + std::mem::take(&mut self.withheld);
            self.hand_on(tcb, ack);
            (ack.credited, ack.rtt, ack.sample, ack.packet) = (Bytes(0), None, None, None);
            ack.continues = true;
        }
    }
}

impl Tcb {
    /// What became of packet `seq` is known.
    fn is_settled(&self, seq: u32) -> bool {
        self.log.has(seq, Mark::SACKED) || self.log.has(seq, Mark::LOST)
    }
}
