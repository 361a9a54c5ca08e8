//! What reaches the sender of a flow that takes fast paths, and what it sends without an event.

use firstflight_core::units::Instant;

use crate::flow::Flow;
use crate::flow::wire::FlowWire;
use crate::net::Net;

impl Flow<'_> {
    /// An ACK for the first packet that has not been acknowledged, and for no other, reaches the
    /// sender of a flow that takes fast paths; that packet has caused it.
    #[inline(always)]
    pub(crate) fn on_ack_in_order(&mut self, now: Instant, net: &mut Net) {
        let mut wire = FlowWire { now, path: &mut self.path, net };
        self.tcp.on_ack_in_order(now, &mut wire);
        self.after_event(now, net);
        if self.ends && self.tcp.is_done() {
            self.end(now, net);
        }
    }

    /// Any other ACK of a flow that takes fast paths.
    #[inline(always)]
    pub(crate) fn on_small_ack(&mut self, payload: u64, now: Instant, net: &mut Net) {
        let Some((next, cause)) = self.path.ack_in(payload) else { return };
        let mut wire = FlowWire { now, path: &mut self.path, net };
        self.tcp.on_ack(now, next, cause, &mut wire);
        self.after_event(now, net);
        if self.ends {
            self.after_ack(next, now, net);
        }
    }

    /// After an event of a paced sender: its next packets leave here, without an event for each, as
    /// long as no other event comes before them. Where an ACK of the flow itself is the next event,
    /// the sender comes back here after it and needs no timer until then. Without fast paths each
    /// packet has its event.
    #[inline(never)]
    pub(crate) fn go_on_at_pace(&mut self, mut now: Instant, net: &mut Net) {
        let mut owed = std::mem::replace(&mut self.owed_at, u64::MAX);
        let mut next = self.tcp.next_at_pace().filter(|_| self.path.route.fast_paths);
        while let Some(at) = next.filter(|at| *at > now) {
            let first = net.queue.would_be_next(at);
            if !first && (self.ends || !net.queue.ack_is_next(self.path.id, at)) {
                break;
            }
            if owed != at.0 && (owed != u64::MAX || !self.note_timer(at)) {
                break;
            }
            if !first {
                self.owed_at = at.0;
                return;
            }
            (self.timer_at, owed, now) = (u64::MAX, u64::MAX, at);
            let mut wire = FlowWire { now, path: &mut self.path, net };
            self.tcp.leave_at_pace(now, &mut wire);
            self.path.watch.look(now, &self.tcp);
            next = self.tcp.next_at_pace();
        }
        if owed != u64::MAX {
            self.push_timer(Instant(owed), net);
        }
        // If the window is full and nothing is due before the pending timer, that timer stays.
        // `Flow::set_timer` would leave it too, but would compute the deadline first.
        let pending = if self.timer_at == u64::MAX { self.later_timer_at } else { self.timer_at };
        match self.tcp.no_deadline_before_while_full(Instant(pending)) {
            true => self.timer_at = pending,
            false => self.set_timer(now, net),
        }
    }

    /// An ACK may have been the first one, or the last.
    #[inline(never)]
    fn after_ack(&mut self, next: u32, now: Instant, net: &mut Net) {
        if self.opening && next > 0 {
            self.opening = false;
            self.ends = self.files.is_some() || self.spec.packets.is_some();
            self.path.opened(net);
        }
        if self.ends && self.tcp.is_done() {
            self.end(now, net);
        }
    }
}
