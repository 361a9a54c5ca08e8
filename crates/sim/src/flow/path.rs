//! What a flow has besides its sender: its route with the receiver, what is kept of marks and
//! routers, and what is watched. Packets leave into it and arrive from it.

use firstflight_core::units::Instant;

use crate::event::timer::{Timer, timer};
use crate::fast::LATER;
use crate::flow::route::Route;
use crate::net::{Net, Wait};
use crate::packet::{AT_END, AckOut, Kind, Label, PART, Packet, Report, Way};
use crate::passed::Record;
use crate::signals::Signals;
use crate::watch::Watch;

#[repr(C)]
pub(crate) struct FlowPath {
    pub(crate) watch: Watch,
    /// Boxed because few flows have ECN or talk to routers.
    pub(crate) signals: Option<Box<Signals>>,
    /// The flow's number in the engine.
    pub(crate) id: u16,
    /// Its links, access links and receiver.
    pub(crate) route: Route,
    /// What passes the sender, where that is kept.
    pub(crate) record: Option<Box<Record>>,
}

/// A packet that reaches the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) seq: u32,
    /// It opens the connection.
    pub(crate) is_syn: bool,
    pub(crate) connection: u32,
}

impl FlowPath {
    /// A packet leaves the sender.
    pub(crate) fn send(&mut self, net: &mut Net, now: Instant, kind: Kind, label: Label) {
        if let Some(record) = &mut self.record {
            record.sent(now, self.route.connection, &kind);
        }
        let is_syn = matches!(kind, Kind::Syn | Kind::HandshakeAck);
        let bytes = self.route.bytes(is_syn);
        if let Some(journal) = net.journal() {
            journal.leave(self.id, &kind, now);
        }
        let at = self.route.enter(now, is_syn, self.route.access.is_exact());
        net.send(self.packet(Way::Forward, self.route.connection, bytes, kind, label), at);
    }

    fn packet(&self, way: Way, connection: u32, bytes: u64, kind: Kind, label: Label) -> Packet {
        Packet { path: self.id.into(), way, hop: 0, connection, bytes, kind, label }
    }

    /// A packet has come to the far end of the path's last link.
    pub(crate) fn arrive(&mut self, net: &mut Net, packet: Packet, at: Instant) {
        match packet.kind {
            Kind::Ack { ack, sacked, report } => {
                self.ack_crossed(net, (ack, sacked, report), packet.connection, at);
            }
            _ => {
                let (seq, is_syn) = match packet.kind {
                    Kind::Data(seq) => (seq, false),
                    _ => (0, true),
                };
                let arrived = Arrived { seq, is_syn, connection: packet.connection };
                let at = self.route.leave(at, is_syn, self.route.egress.is_exact());
                self.take(net, arrived, &packet.label, at);
            }
        }
    }

    /// A packet reaches the receiver at `at`.
    #[inline(never)]
    pub(crate) fn take(&mut self, net: &mut Net, packet: Arrived, label: &Label, at: Instant) {
        let Arrived { seq, is_syn, connection } = packet;
        if let Some(journal) = net.journal() {
            journal.receive(self.id, seq, at);
        }
        if connection != self.route.connection {
            return self.take_late(net, seq, connection, at);
        }
        if self.signals.as_ref().is_some_and(|signals| signals.has_ecn()) {
            self.read_marks(net, label, at);
        }
        let (overdue, own) = self.route.receiver.receive(seq, at);
        if let Some(ack) = overdue {
            self.answer(net, ack);
        }
        if let Some(signals) = &mut self.signals {
            signals.receive(label);
        }
        if let Some(ack) = own {
            let ack = if is_syn { self.route.answer_late(ack) } else { ack };
            self.answer(net, ack);
        }
        if let Some(due) = self.route.receiver.deadline() {
            self.wake_receiver(net, due);
        }
    }

    /// A packet reaches the receiver of a connection that is over.
    #[cold]
    #[inline(never)]
    fn take_late(&mut self, net: &mut Net, seq: u32, connection: u32, at: Instant) {
        let Some(receiver) = self.route.receiver_of(connection) else { return };
        let (overdue, own) = receiver.receive(seq, at);
        for ack in [overdue, own].into_iter().flatten() {
            match self.route.fast_paths {
                true => self.send_small_ack(net, ack, self.route.tag ^ LATER),
                false => self.send_ack(net, ack, connection),
            }
        }
    }

    /// A packet of a flow with ECN is about to be taken by the receiver, at `at`. An ACK that the
    /// timer has sent before knows nothing of it.
    fn read_marks(&mut self, net: &mut Net, label: &Label, at: Instant) {
        let ends_run = self.signals.as_ref().is_some_and(|signals| signals.ends_run(label));
        if let Some(ack) = self.route.receiver.send_held(at, ends_run) {
            self.answer(net, ack);
        }
        let immediate_acks =
            self.signals.as_mut().map_or(0, |signals| signals.immediate_acks(label));
        self.route.receiver.ack_at_once(immediate_acks);
    }

    /// An ACK is held back until `due`.
    #[inline]
    pub(crate) fn wake_receiver(&mut self, net: &mut Net, due: Instant) {
        if !self.route.fast_paths || self.route.needs_waking(due) {
            net.queue.push_out_of_order(timer(due, self.id as usize, Timer::DelayedAck));
        }
    }

    /// An event of the delayed-ACK timer. On fast paths one serves many held ACKs.
    pub(crate) fn on_wake(&mut self, net: &mut Net, now: Instant) {
        let fast = self.route.fast_paths;
        if fast && !self.route.is_woken(now) {
            return;
        }
        if let Some(ack) = self.route.receiver.on_timer(now) {
            self.answer(net, ack);
        }
        if let Some(due) = self.route.receiver.deadline().filter(|_| fast) {
            self.wake_receiver(net, due);
        }
    }

    /// Sends an ACK of the current connection from the receiver.
    #[inline]
    fn answer(&mut self, net: &mut Net, ack: AckOut) {
        match self.route.fast_paths {
            true => self.send_small_ack(net, ack, self.route.tag),
            false => self.send_ack(net, ack, self.route.connection),
        }
    }

    /// Sends an ACK of `connection` from the receiver.
    #[inline(never)]
    fn send_ack(&mut self, net: &mut Net, ack: AckOut, connection: u32) {
        let signals = self.signals.as_mut().filter(|_| connection == self.route.connection);
        let report = signals.map(|signals| signals.answer());
        let receiver = self.route.receiver_of(connection);
        let sacked = receiver.map_or(Vec::new(), |receiver| {
            (0..ack.more).filter_map(|_| receiver.next_compressed()).collect()
        });
        let Some((reverse, _)) = self.route.reverse.as_deref_mut() else {
            let at = self.route.back(&ack);
            return self.bring(net, (ack, sacked, report), connection, at);
        };
        let at = reverse.leave(&ack);
        let bytes = reverse.bytes(&ack);
        let kind = Kind::Ack { ack, sacked, report };
        net.send(self.packet(Way::Back, connection, bytes, kind, Label::NONE), at);
    }

    /// An ACK has come to the far end of the reverse path's last link. It repeats what lost ACKs
    /// reported and none has reported since.
    fn ack_crossed(&mut self, net: &mut Net, whole: WholeAck, connection: u32, far_end: Instant) {
        let (ack, mut sacked, mut report) = whole;
        let Some((reverse, _)) = self.route.reverse.as_deref_mut() else { return };
        let at = reverse.reach_sender(&ack, far_end);
        let lost = std::mem::take(&mut reverse.lost_blocks);
        if connection == self.route.connection {
            sacked.splice(0..0, lost.into_iter().filter(|seq| *seq >= ack.next));
            if let (Some(signals), Some(report)) = (&mut self.signals, &mut report) {
                signals.repeat(report);
            }
        }
        self.bring(net, (ack, sacked, report), connection, at);
    }

    /// An ACK will reach the sender at `at`, part by part; the last one reports for all.
    fn bring(&mut self, net: &mut Net, whole: WholeAck, connection: u32, at: Instant) {
        let (ack, sacked, report) = whole;
        if let Some(journal) = net.journal() {
            journal.acknowledge(self.id, &ack, at);
        }
        let parts = (1..ack.parts).map(|_| ack.cause);
        for cause in sacked.into_iter().chain(parts) {
            self.bring_part(net, AckOut { cause: cause | PART, ..ack }, None, connection, at);
        }
        self.bring_part(net, ack, report, connection, at);
    }

    fn bring_part(
        &self,
        net: &mut Net,
        ack: AckOut,
        report: Option<Box<Report>>,
        connection: u32,
        at: Instant,
    ) {
        let kind = Kind::Ack { ack, sacked: Vec::new(), report };
        let packet = self.packet(Way::Back, connection, 0, kind, Label::NONE);
        let packet = Packet { hop: AT_END, ..packet };
        net.send_by(Wait::Ack(self.route.ack_lane, self.id), packet, at);
    }

    /// A packet was lost. If it was an ACK, the next one acknowledges the same, and repeats its
    /// report of packets out of order and of marks.
    #[cold]
    pub(crate) fn lose(&mut self, packet: Packet, at: Instant) {
        let Kind::Ack { ack, sacked, report } = packet.kind else { return self.watch.on_drop(at) };
        if packet.connection != self.route.connection {
            return;
        }
        if let Some((reverse, _)) = self.route.reverse.as_deref_mut() {
            reverse.lost_blocks.extend((ack.blocks > 0).then_some(ack.cause));
            reverse.lost_blocks.extend(sacked);
        }
        if let (Some(signals), Some(report)) = (&mut self.signals, report) {
            signals.lose(&report);
        }
    }
}

/// An ACK, the other packets that it acknowledges selectively, and its report.
type WholeAck = (AckOut, Vec<u32>, Option<Box<Report>>);
