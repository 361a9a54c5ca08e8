//! How a flow's packets cross links with elements ([`crate::element`]): each packet has an event at
//! the next link, or at the receiver, so that they come there in order of time. Its ACKs cross the
//! reverse path's own link ([`LinkSpec::back`](crate::LinkSpec::back)) likewise.

use firstflight_core::units::Instant;
use firstflight_link::{Crossing, Tie};

use crate::event::{Event, Kind};
use crate::handshake::PACKET;
use crate::path::{AT_RECEIVER, Arriving, Fabric, FlowPath, WAY_BACK};
use crate::queue::Lane;
use crate::receiver::AckOut;
use crate::route::{Hop, Packet};
use crate::tcp::PART;

impl Fabric {
    /// A packet reaches a link: when it reaches the far end, unless it is lost, and whether an
    /// element marked it.
    pub(crate) fn cross(
        &mut self,
        link: usize,
        packet: Crossing,
        tie: Tie,
    ) -> Option<(Instant, bool)> {
        self.links[link].cross(packet, tie, false)
    }
}

impl FlowPath {
    /// A packet reaches the link of `hop`, which has elements, at `at`, and `marks` if the link
    /// itself has marked it.
    #[cold]
    pub(crate) fn cross(
        &mut self,
        fabric: &mut Fabric,
        (hop, packet): (usize, Packet),
        at: Instant,
        marks: bool,
    ) {
        let Hop { link, tie, .. } = *self.route.hop(hop);
        let plain = Crossing::of(at, self.route.bytes(packet), self.route.place);
        let ecn = self.dialogue.as_mut().and_then(|dialogue| dialogue.passed(hop));
        let crossing = match &ecn {
            Some(ecn) => Crossing { ecn_capable: ecn.capable, marked: ecn.marked, ..plain },
            None => plain,
        };
        if fabric.links[link].has_queue() {
            return self.queue_up(fabric, (hop, packet), crossing);
        }
        let Some((far_end, marked)) = fabric.cross(link, crossing, tie) else {
            self.lost(packet, at);
            self.dialogue.iter_mut().for_each(|dialogue| dialogue.lose(hop));
            return;
        };
        if let Some(ecn) = ecn {
            ecn.marked |= marked;
        }
        if marks || marked {
            fabric.links[link].count_mark();
        }
        self.come_later(fabric, (hop, packet), far_end);
    }

    /// [`FlowPath::cross`] for the third packet of a handshake.
    #[cold]
    pub(crate) fn cross_bare(&mut self, fabric: &mut Fabric, hop: usize, at: Instant) {
        let Hop { link, tie, .. } = *self.route.hop(hop);
        let crossing = Crossing::of(at, self.route.bytes(PACKET), self.route.place);
        if fabric.links[link].has_queue() {
            return self.queue_up(fabric, (hop, PACKET), crossing);
        }
        match fabric.links[link].cross(crossing, tie, true) {
            None => self.watch.on_drop(at),
            Some(_) if self.route.is_last(hop) => {}
            Some((far_end, _)) => self.come_later(fabric, (hop, PACKET), far_end),
        }
    }

    /// A packet will reach the far end of the link of `hop` at `at`: that is an event.
    pub(crate) fn come_later(
        &mut self,
        fabric: &mut Fabric,
        (hop, packet): (usize, Packet),
        at: Instant,
    ) {
        let at = self.route.keep_order(hop, at);
        if at > fabric.end {
            return;
        }
        let (hop, lane, order) = match self.route.is_last(hop) {
            true => (AT_RECEIVER, self.route.exit_lane, self.id),
            false => {
                let next = self.route.hop(hop + 1);
                (hop + 1, next.lane, next.order)
            }
        };
        let payload = Arriving { tagged: packet.tagged, hop, flow: self.id }.pack();
        fabric.queue.push(Lane::Arrive(lane), Event::new(at, Kind::Arrive, order, payload));
    }

    /// A packet reaches the receiver behind elements, or an ACK the link on the reverse path.
    #[inline(never)]
    pub(crate) fn arrive_off_path(&mut self, fabric: &mut Fabric, what: Arriving, now: Instant) {
        match what.hop {
            WAY_BACK => self.cross_back(fabric, now),
            _ => self.deliver_slowly(fabric, self.route.packet(what.tagged), now),
        }
    }

    /// An ACK has reached a link of its own kind on the reverse path.
    #[cold]
    pub(crate) fn cross_own(&mut self, fabric: &mut Fabric, ack: AckOut, now: Instant) {
        let Some(way) = &mut self.route.way_back else { return };
        match way.cross_own(&mut fabric.returns[way.link], &ack, now) {
            Some(at) => {
                for seq in way.take_lost_blocks() {
                    self.repeat(fabric, &ack, seq, at);
                }
                self.bring(fabric, ack, at);
            }
            None => self.lose_ack(ack),
        }
    }

    /// An ACK is lost on the reverse path. What it acknowledged the next one acknowledges too. What
    /// it told of packets out of order, and of marks, the next one tells.
    #[cold]
    fn lose_ack(&mut self, ack: AckOut) {
        let Some(way) = &mut self.route.way_back else { return };
        let waiting = way.waiting();
        if ack.blocks > 0 {
            way.lose_block(ack.cause);
        }
        for _ in 0..ack.more {
            self.route.receiver.next_compressed().into_iter().for_each(|seq| way.lose_block(seq));
        }
        if self.route.untagged(ack.next).is_some()
            && let Some(dialogue) = &mut self.dialogue
        {
            dialogue.lose_answer(waiting);
        }
    }

    /// An ACK repeats what an earlier one told that was lost.
    #[cold]
    fn repeat(&mut self, fabric: &mut Fabric, ack: &AckOut, seq: u32, at: Instant) {
        let is_news = self.route.untagged(ack.next).is_some_and(|next| seq >= next);
        if is_news && at <= fabric.end {
            self.push_ack(fabric, ack.next, seq | PART, at);
        }
    }
}
