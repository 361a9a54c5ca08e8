//! ACK frames: which packets they acknowledge, and what is reported to the core.

use firstflight_core::chosen::Chosen;
use firstflight_core::event::{Ack, Sent};
use firstflight_core::frame::{Frame, Period, Reports};
use firstflight_core::pair::Policies;
use firstflight_core::units::{Bytes, Instant, Span};

use super::super::log::Mark;
use super::super::tcb::Tcb;
use super::Quic;
use crate::control::Core;

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
        let (mut frame, before, empty) = (Frame::default(), self.acked_end, self.empty.len());
        for seq in self.acked_end..next.min(tcb.max) {
            self.take_packet(tcb, seq, &mut frame);
        }
        self.acked_end = self.acked_end.max(next.min(tcb.max));
        // The handshake's packet may be answered twice; what is below `una` is known.
        let fresh = cause >= next && cause < tcb.max || cause < before && !tcb.is_settled(cause);
        if cause >= tcb.una && fresh {
            self.take_packet(tcb, cause, &mut frame);
            self.acked_end = self.acked_end.max(cause + 1);
        }
        self.advance(tcb);
        let newest = self.acked_end > before;
        let rtt = newest.then(|| now.since(tcb.log.sent_at(self.acked_end - 1)));
        let has_packets = frame.after.packets + frame.before.packets > 0;
        if has_packets {
            self.tell(tcb, now, frame, rtt);
        }
        if let Some(rtt) = rtt {
            self.rtt.observe(rtt, delay);
            self.measured_from.get_or_insert(tcb.nxt);
        }
        newest || has_packets || self.empty.len() < empty
    }

    /// The first packet of the handshake has left and has been acknowledged.
    pub(super) fn tell_handshake(tcb: &mut Tcb, now: Instant) {
        let (bytes, una) = (Bytes(tcb.mss), tcb.una);
        tcb.counts.sent_packets += 1;
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
        // Their payload follows from how many they are ([`Self::tell`]).
        match self.period.is_after(tcb.log.sent_at(seq)) {
            false => frame.after.packets += 1,
            true => frame.before.packets += 1,
        }
    }

    /// Whether this packet was an empty probe, of which the core knows nothing.
    pub(super) fn forget_empty(&mut self, seq: u32) -> bool {
        let place = self.empty.iter().position(|empty| *empty == seq);
        place.map(|place| self.empty.swap_remove(place)).is_some()
    }

    /// Moves on to the first packet of which nothing is known.
    pub(super) fn advance(&self, tcb: &mut Tcb) {
        while tcb.una < self.acked_end && tcb.is_settled(tcb.una) {
            tcb.una += 1;
        }
    }

    /// Reports a frame to the core. Marks are reported with the first packet, before any opens the
    /// window (RFC 9002 appendix A.7).
    fn tell(&mut self, tcb: &mut Tcb, now: Instant, mut frame: Frame, rtt: Option<Span>) {
        for count in [&mut frame.after, &mut frame.before] {
            count.bytes = count.packets * tcb.mss;
        }
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
        let (newest, una) = (self.acked_end - 1, tcb.una);
        if let Some(samples) = &mut tcb.samples {
            samples.note_early(newest);
            samples.complete(&mut ack, una);
        }
        ack.app_limited |= self.app_limited;
        Reporter { quic: self, tcb }.report_frame(&mut ack, &frame);
    }
}

/// A connection that reports to its core.
struct Reporter<'a> {
    quic: &'a mut Quic,
    tcb: &'a mut Tcb,
}

impl Reports<Instant> for Reporter<'_> {
    type Policies = Chosen<Box<dyn Policies>>;

    fn sender(&mut self) -> &mut Core {
        &mut self.tcb.core
    }

    fn period(&mut self) -> &mut Period<Instant> {
        &mut self.quic.period
    }

    #[inline(always)]
    fn report(&mut self, ack: &Ack) {
        match self.tcb.ecn.is_some() {
            true => self.report_marked(ack),
            false => self.tcb.core.on_ack(ack),
        }
    }
}

impl Reporter<'_> {
    /// An ACK that may report marks. If it reduces the window for them, a recovery period begins
    /// (RFC 9002 appendix B.7).
    #[cold]
    fn report_marked(&mut self, ack: &Ack) {
        let before = self.tcb.core.recovery_began();
        self.tcb.tell_marked(*ack);
        if self.tcb.core.recovery_began() != before {
            let reduced = self.tcb.ecn.is_some_and(|ecn| ecn.reduced);
            self.quic.note_recovery(self.tcb, reduced);
        }
    }
}

impl Tcb {
    /// What became of packet `seq` is known.
    fn is_settled(&self, seq: u32) -> bool {
        self.log.has(seq, Mark::SACKED) || self.log.has(seq, Mark::LOST)
    }
}
