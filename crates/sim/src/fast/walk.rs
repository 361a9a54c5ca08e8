//! How the packets and ACKs of a flow that takes fast paths come over its links: at once where
//! nothing else can change them before, and as four bytes in an event otherwise.

use firstflight_core::units::Instant;

use super::small::{Arriving, BACK, Small, pack, unpack};
use super::{Early, NOT_YET};
use crate::event::queue::Lane;
use crate::event::{Event, Kind};
use crate::flow::path::FlowPath;
use crate::flow::route::{Hop, Route};
use crate::net::Net;
use crate::packet::{AckOut, Label, PART};
use crate::receiver::Caused;

impl FlowPath {
    /// A packet of data, or the SYN, leaves the sender.
    #[inline(always)]
    pub(crate) fn send_small(&mut self, net: &mut Net, now: Instant, seq: u32) {
        let packet = self.route.small(self.route.tagged(seq));
        if packet.is_syn {
            self.count_syns(u32::wrapping_add);
        }
        self.set_out(net, now, packet);
    }

    /// The third packet of a handshake leaves the sender.
    #[cold]
    pub(crate) fn send_handshake_ack(&mut self, net: &mut Net, now: Instant) {
        let at = self.route.enter(now, true, false);
        if self.may_go_on(net, 0, Small::HANDSHAKE_ACK, at) {
            self.cross_any(net, 0, Small::HANDSHAKE_ACK, at);
        }
    }

    /// A packet of data, and not a SYN, leaves a sender whose ACKs are calm.
    #[inline(always)]
    pub(crate) fn send_data(&mut self, net: &mut Net, now: Instant, seq: u32) {
        let tagged = self.route.tagged(seq);
        self.set_out(net, now, Small { tagged, is_syn: false, exact: false });
    }

    #[inline(always)]
    fn set_out(&mut self, net: &mut Net, now: Instant, packet: Small) {
        let at = self.route.enter(now, packet.is_syn, packet.exact);
        if self.may_go_on(net, 0, packet, at) {
            self.cross(net, 0, packet, at);
        }
    }

    /// A packet reaches the shared link of `hop` at `at`: now, or later where no other event can
    /// change the link before.
    #[inline(always)]
    fn cross(&mut self, net: &mut Net, hop: usize, packet: Small, at: Instant) {
        if !self.route.is_plain {
            return self.cross_any(net, hop, packet, at);
        }
        let Hop { link, tie, .. } = *self.route.hop(0);
        match net.links[link].arrive(at, self.route.bytes(packet.is_syn), tie) {
            Some(far_end) => self.deliver(net, packet, far_end),
            None => self.lost(packet, at),
        }
    }

    /// Slow path of [`FlowPath::cross`]: the flow may cross more shared links, and the packet be
    /// the third of a handshake.
    #[inline(never)]
    fn cross_any(&mut self, net: &mut Net, hop: usize, packet: Small, at: Instant) {
        let Hop { link, tie, .. } = *self.route.hop(hop);
        let bytes = self.route.bytes(packet.is_syn);
        let far_end = match packet.is_handshake_ack() {
            true => net.links[link].arrive_handshake_ack(at, bytes, tie),
            false => net.links[link].arrive(at, bytes, tie),
        };
        let Some(far_end) = far_end else { return self.lost(packet, at) };
        if !self.route.is_last(hop) {
            if self.may_go_on(net, hop + 1, packet, far_end) {
                self.cross_any(net, hop + 1, packet, far_end);
            }
        } else if !packet.is_handshake_ack() {
            self.deliver(net, packet, far_end);
        }
    }

    #[inline]
    fn lost(&mut self, packet: Small, at: Instant) {
        self.watch.on_drop(at);
        if packet.is_syn && !packet.is_handshake_ack() {
            self.count_syns(u32::wrapping_sub);
        }
    }

    /// An event: a packet reaches a shared link, or an ACK the one on the reverse path.
    #[inline(never)]
    pub(crate) fn arrive_small(&mut self, net: &mut Net, arriving: Arriving, now: Instant) {
        match arriving.hop {
            BACK => self.cross_back(net, now),
            hop if arriving.is_handshake_ack() => {
                self.cross_any(net, hop.into(), Small::HANDSHAKE_ACK, now)
            }
            hop => self.cross(net, hop.into(), self.route.small(arriving.tagged), now),
        }
    }

    /// Whether the arrival at a link can be handled at once; otherwise it becomes an event, or is
    /// forgotten because the run ends before it.
    #[inline(always)]
    fn may_go_on(&self, net: &mut Net, hop: usize, packet: Small, at: Instant) -> bool {
        if at > net.end {
            return false;
        }
        let target = self.route.hop(hop);
        match target.early {
            Early::Always => return true,
            Early::IfNext if at < net.queue.first_before() => return true,
            Early::IfNext | Early::Never => {}
        }
        let payload = Arriving { tagged: packet.tagged, hop: hop as u16, flow: self.id }.pack();
        let event = Event::new(at, Kind::Arrive, target.order, payload);
        net.queue.push(Lane::Arrive(target.lane), event);
        false
    }

    /// A packet reaches the far end of the last shared link at `at`. The ACK of a calm one need not
    /// say what it is for: the receiver has answered every packet before it, ACKs do not overtake
    /// each other, and so the sender knows of all of them and of nothing else when it comes.
    #[inline(always)]
    fn deliver(&mut self, net: &mut Net, packet: Small, at: Instant) {
        match self.route.deliver_calm(at, packet) {
            Some((seq, back)) => {
                let ack = self.ack(self.route.tagged(seq + 1), seq, back);
                net.queue.push_next_ack(self.route.ack_lane, ack);
            }
            None if self.route.reverse.is_some() => self.deliver_queued(net, packet, at),
            None if self.route.receiver.delays() => self.deliver_delayed(net, packet, at),
            None => self.deliver_around_gap(net, packet, at),
        }
    }

    /// Slow path of [`FlowPath::deliver`]: the packet may not be the next in order.
    #[inline(never)]
    fn deliver_around_gap(&mut self, net: &mut Net, packet: Small, at: Instant) {
        match self.route.deliver_at_once(at, packet) {
            None => self.deliver_whole(net, packet, at),
            Some(ack) => {
                let back = self.route.back(&ack);
                if back <= net.end {
                    self.push_ack(net, self.route.tagged(ack.next), ack.cause, back);
                }
            }
        }
    }

    /// [`FlowPath::deliver`] at a receiver that delays ACKs.
    #[inline(never)]
    fn deliver_delayed(&mut self, net: &mut Net, packet: Small, at: Instant) {
        match self.route.deliver_delayed(at, packet) {
            None => self.deliver_whole(net, packet, at),
            Some((_, Caused::Held(due), _)) => self.wake_receiver(net, due),
            Some((seq, Caused::Ack, back)) => {
                self.push_ack(net, self.route.tagged(seq + 1), seq, back);
            }
        }
    }

    /// [`FlowPath::deliver`] where ACKs queue on the reverse path.
    #[inline(never)]
    fn deliver_queued(&mut self, net: &mut Net, packet: Small, at: Instant) {
        if let Some(reverse) = &self.route.reverse {
            net.foresight[reverse.0.link].causes(at);
        }
        let at = self.route.leave(at, packet.is_syn, packet.exact);
        let cause = packet.tagged ^ self.route.tag;
        if at <= self.route.counts_until && self.route.receiver.take_calm(cause) {
            let next = self.route.tagged(cause + 1);
            self.send_back(net, AckOut { at, next, cause, blocks: 0, parts: 1, more: 0 });
        } else {
            self.take_whole(net, packet, at);
        }
    }

    /// No fast path serves the packet at the receiver: the general one does.
    #[inline(never)]
    fn deliver_whole(&mut self, net: &mut Net, packet: Small, at: Instant) {
        let at = self.route.leave(at, packet.is_syn, packet.exact);
        self.take_whole(net, packet, at);
    }

    fn take_whole(&mut self, net: &mut Net, packet: Small, at: Instant) {
        if packet.is_syn {
            self.count_syns(u32::wrapping_sub);
        }
        self.take(net, self.route.arrived(packet), &NO_LABEL, at);
    }

    /// An ACK leaves the receiver of the connection with that tag.
    pub(crate) fn send_small_ack(&mut self, net: &mut Net, ack: AckOut, tag: u32) {
        let tagged = AckOut { next: ack.next ^ tag, ..ack };
        if self.route.reverse.is_some() {
            return self.send_back(net, tagged);
        }
        let at = self.route.back(&ack);
        self.bring_small(net, tagged, at);
    }

    /// An ACK sets out for the shared link on the reverse path, and crosses it at once if it is
    /// known to be the next one there.
    #[inline]
    fn send_back(&mut self, net: &mut Net, ack: AckOut) {
        let Some((reverse, crossing)) = self.route.reverse.as_deref_mut() else { return };
        let at = reverse.leave(&ack);
        if at > net.end {
            return;
        }
        let link = &mut net.foresight[reverse.link];
        if link.is_next(at) {
            return self.carry_back(net, ack, at);
        }
        crossing.wait(link, ack);
        let payload = Arriving { tagged: 0, hop: BACK, flow: self.id }.pack();
        let event = Event::new(at, Kind::Arrive, reverse.order, payload);
        net.queue.push(Lane::Arrive(reverse.lane), event);
    }

    /// The oldest ACK that waits for it has reached the shared link on the reverse path.
    fn cross_back(&mut self, net: &mut Net, now: Instant) {
        let Some((reverse, crossing)) = self.route.reverse.as_deref_mut() else { return };
        if let Some(ack) = crossing.arrive(&mut net.foresight[reverse.link]) {
            self.carry_back(net, ack, now);
        }
    }

    /// An ACK crosses the shared link on the reverse path, which it reaches at `at`.
    #[inline(always)]
    fn carry_back(&mut self, net: &mut Net, ack: AckOut, at: Instant) {
        let Some((reverse, _)) = self.route.reverse.as_deref_mut() else { return };
        let far_end = net.links[reverse.link].carry(at, reverse.bytes(&ack));
        let at = reverse.reach_sender(&ack, far_end);
        self.bring_small(net, ack, at);
    }

    /// An ACK, its sequence number as it travels, will reach the sender at `at`, unless the run
    /// ends before.
    fn bring_small(&mut self, net: &mut Net, ack: AckOut, at: Instant) {
        for _ in 0..ack.more {
            let earlier = u32::from(self.route.untagged(ack.next).is_none());
            let receiver = self.route.receiver_of(self.route.connection.wrapping_sub(earlier));
            let sacked = receiver.and_then(|receiver| receiver.next_compressed());
            let sacked = sacked.filter(|_| at <= net.end);
            sacked.iter().for_each(|seq| self.push_ack(net, ack.next, seq | PART, at));
        }
        if at > net.end {
            return;
        }
        for _ in 1..ack.parts {
            self.push_ack(net, ack.next, ack.cause | PART, at);
        }
        self.push_ack(net, ack.next, ack.cause, at);
    }

    #[inline]
    fn push_ack(&self, net: &mut Net, next: u32, cause: u32, at: Instant) {
        net.queue.push(Lane::Ack(self.route.ack_lane), self.ack(next, cause, at));
    }

    fn ack(&self, next: u32, cause: u32, at: Instant) -> Event {
        Event::new(at, Kind::Ack, self.id, pack_ack(next, cause))
    }

    /// A SYN sets out, or is lost or received.
    fn count_syns(&mut self, count: fn(u32, u32) -> u32) {
        if let Some((_, crossing)) = self.route.reverse.as_deref_mut() {
            crossing.syns = count(crossing.syns, 1);
        }
    }

    /// The flow starts. Where ACKs queue on the reverse path, what is foreseen there learns of a
    /// SYN; returns whether they do.
    pub(crate) fn opens(&mut self, net: &mut Net) -> bool {
        let link = self.route.reverse.as_ref().map(|reverse| reverse.0.link);
        link.inspect(|link| net.foresight[*link].opens()).is_some()
    }

    /// The sender has an ACK of its SYN, and so sends no other.
    #[cold]
    pub(crate) fn opened(&mut self, net: &mut Net) {
        if let Some((reverse, crossing)) = self.route.reverse.as_deref()
            && crossing.syns == 0
        {
            net.foresight[reverse.link].opened();
        }
    }

    /// What the event of an ACK carries: the next packet expected, and the ACK's cause; `None` if
    /// its connection is over.
    #[inline]
    pub(crate) fn ack_in(&self, payload: u64) -> Option<(u32, u32)> {
        let (next, cause) = unpack(payload);
        Some((self.route.untagged(next)?, cause ^ PART))
    }
}

/// An ACK and its cause. Where the parts of one wait in no lane their payload decides which comes
/// first, so that the last part's is the greatest.
fn pack_ack(next: u32, cause: u32) -> u64 {
    pack(next, cause ^ PART)
}

/// The label of every packet of a flow that takes fast paths.
static NO_LABEL: Label = Label::NONE;

impl Route {
    /// A shared link of the route by its place on it.
    #[inline(always)]
    fn hop(&self, place: usize) -> &Hop {
        if place == 0 { &self.first } else { &self.others[place - 1] }
    }

    /// Whether no shared link follows the one at this place.
    #[inline(always)]
    fn is_last(&self, place: usize) -> bool {
        place == self.others.len()
    }

    /// A packet leaves the last shared link at `at`. Returns its sequence number and the time at
    /// which the sender has its ACK, if the packet is calm at the receiver, neither it nor its ACK
    /// waits in a queue, and the ACK arrives before the flow stops counting. Otherwise returns
    /// `None` and changes nothing.
    #[inline(always)]
    fn deliver_calm(&mut self, at: Instant, packet: Small) -> Option<(u32, Instant)> {
        let back = Instant(at.0 + self.home.0);
        if back > self.counts_until || back < self.last_ack {
            return None;
        }
        // Of a connection that is over, this is a number that no receiver waits for.
        let seq = packet.tagged ^ self.tag;
        self.receiver.take_calm(seq).then_some((seq, back))
    }

    /// A packet leaves the last shared link at `at`. If it waits nowhere on its way to the
    /// receiver, every packet causes an ACK at once, and this one's could be back while what comes
    /// counts: the ACK. Otherwise nothing has changed.
    #[inline]
    fn deliver_at_once(&mut self, at: Instant, packet: Small) -> Option<AckOut> {
        let back = Instant(at.0 + self.home.0);
        if back > self.counts_until || packet.is_syn {
            return None;
        }
        let seq = self.untagged(packet.tagged)?;
        self.receiver.take_at_once(seq, Instant(back.0 - self.return_delay.0))
    }

    /// [`Route::deliver_calm`] at a receiver that delays ACKs. Returns also what the packet causes.
    #[inline]
    fn deliver_delayed(&mut self, at: Instant, packet: Small) -> Option<(u32, Caused, Instant)> {
        let back = Instant(at.0 + self.home.0);
        if back > self.counts_until || back < self.last_ack {
            return None;
        }
        let seq = packet.tagged ^ self.tag;
        let caused = self.receiver.take_delayed(seq, Instant(back.0 - self.return_delay.0))?;
        Some((seq, caused, back))
    }

    /// The delayed-ACK timer is to fire at `due`: whether that takes an event. An event that comes
    /// before looks again.
    #[inline]
    pub(crate) fn needs_waking(&mut self, due: Instant) -> bool {
        let needs = due < self.wakes_at;
        self.wakes_at = self.wakes_at.min(due);
        needs
    }

    /// An event of the delayed-ACK timer at `now`: whether it is the one that comes next.
    pub(crate) fn is_woken(&mut self, now: Instant) -> bool {
        let is_woken = now == self.wakes_at;
        if is_woken {
            self.wakes_at = NOT_YET;
        }
        is_woken
    }
}
