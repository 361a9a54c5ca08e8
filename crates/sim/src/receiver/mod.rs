//! The receiving endpoint: cumulative ACKs, reassembly, delayed ACKs.
//!
//! A receiver sees the packets of one flow only, in order of time, so the engine may hand it a
//! packet as soon as its arrival time is known, ahead of the simulation's clock. Times passed in
//! never go backwards.

mod calm;
pub(crate) mod linux_acks;
mod numbers;
mod out_of_order;
mod requests;
pub(crate) mod sack_blocks;
#[cfg(test)]
mod tests;

use firstflight_core::units::{Instant, Span};

use crate::endpoint::rules::LinuxAcks;
use crate::endpoint::{Endpoint, Recovery};
use crate::jiffies;
use crate::packet::{AckOut, HELD};
use linux_acks::AckState;
use numbers::Numbers;
use out_of_order::OutOfOrder;
use sack_blocks::SackHistory;

/// What a packet in order causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caused {
    /// An ACK at once, for it and all before it.
    Ack,
    /// An ACK at this time, unless later packets cause one before.
    Held(Instant),
}

/// One flow's receiver.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    next: u32,
    /// Packets in order before this one only move `next` on, and are answered at once. 0 if none.
    calm_until: u32,
    /// Packets in order before this one only move `next` on, and their ACKs may be held back
    /// ([`Receiver::take_delayed`]). 0 if none.
    delayed_until: u32,
    /// Packets beyond `next` that have arrived.
    out_of_order: OutOfOrder,
    /// QUIC's packet numbers, none of which comes twice.
    numbers: Option<Box<Numbers>>,
    /// With SACK: what was reported last.
    sack: Option<SackHistory>,
    /// Packets in order for an ACK.
    every: u32,
    /// ACKs for a packet of new data.
    split: u32,
    /// Whether there may be calm packets ([`Receiver::take_calm`]).
    fast_paths: bool,
    /// Every packet is answered at once by one ACK, and may be calm.
    answers_at_once: bool,
    /// What the last ACK acknowledged, where ACKs are split.
    acked: u32,
    /// Packets before this one are answered at once, and so are the next few behind them
    /// ([`crate::GrowingWindow`]).
    quick_until: u32,
    /// ACKs to come that wait for nothing.
    quick: u32,
    /// What arrives twice makes the next ACKs quick.
    quick_after_repeated: u32,
    /// How long an ACK may be held back now.
    hold: Span,
    /// What arrives at most this long before the timer arrives after it.
    hold_ties: Span,
    /// How long an ACK is held back; with Linux's rules, at least.
    least_hold: Span,
    /// Linux's rules, if it has them.
    linux: Option<Box<AckState>>,
    /// When the last packet came in order that could have waited.
    last_at: Instant,
    /// How much later than that another may come that changes nothing.
    usual_gap: Span,
    /// A second arrival of the newest packet in order may wait like the first.
    delay_repeated: bool,
    /// Packets in order that no ACK has acknowledged.
    unacked: u32,
    /// The packet that came last.
    last_cause: u32,
    /// When the ACK that is held back leaves.
    deadline: Option<Instant>,
    /// The first packet that carries no payload to count: the SYN, if there is one.
    first_data: u32,
    /// Nothing that comes after this is delivered: the flow has stopped, or the run is over.
    counts_until: Instant,
    /// Packets taken in after that, in order.
    late: u32,
    /// One past the last packet there is to come.
    end: u32,
    /// When the last packet came.
    finished_at: Option<Instant>,
    /// What comes later is not within the run.
    end_of_run: Instant,
}

impl Receiver {
    /// The receiver of a connection of `packets` data packets, greedy without. What comes after
    /// `counts_until` is not delivered. With `fast_paths` calm packets take their own way.
    pub(crate) fn new(
        endpoint: &Endpoint,
        syn: bool,
        packets: Option<u32>,
        (counts_until, end_of_run): (Instant, Instant),
        fast_paths: bool,
    ) -> Self {
        let first_data = u32::from(syn);
        let numbers = endpoint.recovery == Recovery::Quic;
        let growing = endpoint.growing_window.filter(|_| !numbers);
        let can_wait = endpoint.delayed_ack > 1 && endpoint.split_acks <= 1;
        let reads = matches!(endpoint.recovery, Recovery::Sack | Recovery::Rack);
        let linux = endpoint.linux_acks.filter(|_| can_wait && !numbers);
        let linux = linux.map(|rules| LinuxAcks { compress: rules.compress.filter(|_| reads) });
        let sack = matches!(endpoint.recovery, Recovery::Sack | Recovery::Rack | Recovery::Ns2Sack);
        Self {
            next: 0,
            out_of_order: OutOfOrder::default(),
            sack: sack.then(SackHistory::default),
            every: endpoint.delayed_ack.max(1),
            split: if numbers { 1 } else { endpoint.split_acks.max(1) },
            numbers: numbers.then(Box::default),
            fast_paths,
            answers_at_once: fast_paths
                && endpoint.delayed_ack <= 1
                && endpoint.split_acks <= 1
                && !numbers,
            quick_until: match growing {
                // What the first data begins with is still there when the window stops growing,
                // because each packet until then adds the ACK that it takes
                // (`tcp_event_data_recv`, `tcp_grow_window`).
                Some(window) if window.quick => first_data + window.packets() + QUICK_ACKS,
                // With the end of QUIC's handshake (RFC 9001 section 4.1.2) goes an ACK (RFC 9000
                // section 13.2.1).
                None if numbers && syn => first_data + 1,
                // ns-2's sink takes packet 0 for a SYN, which it answers at once, be it one or not.
                None if endpoint.delay_repeated => 1,
                _ => 0,
            },
            quick: 0,
            quick_after_repeated: if linux.is_some() || growing.is_some() { QUICK_ACKS } else { 0 },
            acked: first_data,
            hold: endpoint.delayed_ack_timeout,
            least_hold: endpoint.delayed_ack_timeout,
            linux: linux.map(|rules| Box::new(AckState::new(rules))),
            last_at: Instant(0),
            usual_gap: if linux.is_some() { USUAL_GAP } else { Span::MAX },
            hold_ties: endpoint.delayed_ack_ties,
            delay_repeated: endpoint.delay_repeated,
            unacked: 0,
            last_cause: 0,
            deadline: None,
            first_data,
            counts_until,
            end_of_run,
            late: 0,
            end: packets.map_or(u32::MAX, |packets| first_data + packets),
            finished_at: None,
            calm_until: 0,
            delayed_until: 0,
        }
    }

    /// Data packets delivered in order until the flow stops or the run ends.
    pub(crate) fn delivered(&self) -> u32 {
        let skipped = self.numbers.as_ref().map_or(0, |numbers| numbers.skipped);
        (self.next - self.late).saturating_sub(self.first_data + skipped)
    }

    /// When the last packet of a sized flow arrived in order, if within the run.
    pub(crate) fn finished_at(&self) -> Option<Instant> {
        self.finished_at.filter(|at| *at <= self.end_of_run)
    }

    /// When the ACK that is held back must go, if one is.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The delayed-ACK timer fires, if it is still due at `now`.
    pub(crate) fn on_timer(&mut self, now: Instant) -> Option<AckOut> {
        let due = self.deadline.filter(|due| *due <= now)?;
        Some(self.answer_late(due))
    }

    /// The next packet that an ACK reports besides its cause.
    pub(crate) fn next_compressed(&mut self) -> Option<u32> {
        self.linux.as_mut()?.next_compressed()
    }

    /// Packet `seq` arrives at `at`. Returns the ACK that the delayed-ACK timer had sent before it,
    /// and the ACK it causes.
    pub(crate) fn receive(&mut self, seq: u32, at: Instant) -> (Option<AckOut>, Option<AckOut>) {
        let acks = self.receive_any(seq, at);
        self.look_for_gaps();
        acks
    }

    fn receive_any(&mut self, seq: u32, at: Instant) -> (Option<AckOut>, Option<AckOut>) {
        let (overdue, at) = match self.deadline {
            Some(due) => self.before(due, at),
            None => (None, at),
        };
        if seq < self.next && self.quick_after_repeated > 0 {
            self.quick = self.quick_after_repeated;
        }
        let overdue = overdue.or_else(|| self.answer_before(seq, at));
        let in_order = seq == self.next;
        self.linux.iter_mut().for_each(|linux| linux.note_opening(seq < self.first_data, at));
        let expected = self.take_in(seq, at) || self.is_repeated(seq);
        let waits = !self.is_quick();
        if self.linux.is_some() && waits {
            if in_order && self.is_after_a_pause(at) {
                self.quick = self.quick_after_repeated;
            } else if self.is_held_back(seq, at) {
                return (overdue, None);
            }
        } else {
            self.last_at = Instant(0);
        }
        let quick = self.is_quick();
        if !expected || self.every == 1 || seq < self.first_data || quick {
            return (overdue, Some(self.answer(at)));
        }
        let own = match self.on_in_order(at) {
            Caused::Ack => Some(self.answer(at)),
            Caused::Held(_) => None,
        };
        (overdue, own)
    }

    /// The rule of delayed ACKs (RFC 5681 section 4.2): what a packet that arrived in order at `at`
    /// causes. The fast path and the general one both ask here and nowhere else.
    #[inline]
    fn on_in_order(&mut self, at: Instant) -> Caused {
        self.unacked += 1;
        if self.unacked >= self.every {
            (self.unacked, self.deadline) = (0, None);
            return Caused::Ack;
        }
        let due = match self.linux {
            None => at + self.hold,
            Some(_) => jiffies::fires_at(at, self.hold),
        };
        Caused::Held(*self.deadline.get_or_insert(due))
    }

    /// Notes when a packet in order arrived. Whether that is so long after the one before that the
    /// sender begins anew.
    fn is_after_a_pause(&mut self, at: Instant) -> bool {
        let before = std::mem::replace(&mut self.last_at, at);
        let is_usual = before == Instant(0) || at.since(before) <= self.usual_gap;
        let Some(linux) = self.linux.as_mut().filter(|_| !is_usual) else { return false };
        let paused = linux.note_gap(before, at);
        self.take_estimate();
        paused
    }

    fn take_estimate(&mut self) {
        let Some(linux) = &self.linux else { return };
        self.hold = linux.hold(self.least_hold);
        self.usual_gap = if linux.is_usual() { USUAL_GAP } else { Span(0) };
    }

    /// Packet `seq` is to arrive: the ACK held back for packets out of order that must leave before
    /// it, so that three SACK blocks report everything (`tcp_sack_new_ofo_skb`).
    fn answer_before(&mut self, seq: u32, at: Instant) -> Option<AckOut> {
        let holds = self.linux.as_ref().is_some_and(|linux| linux.holds_back());
        let known = self.sack.as_ref().is_some_and(|sack| sack.is_among_newest(seq));
        (holds && seq > self.next && !known).then(|| self.answer(at))
    }

    /// Whether the ACK of packet `seq`, which has arrived, is held back although something is
    /// missing.
    fn is_held_back(&mut self, seq: u32, at: Instant) -> bool {
        let Some(linux) = &mut self.linux else { return false };
        if self.out_of_order.is_empty() || seq <= self.next || self.sack.is_none() {
            return false;
        }
        let Some(due) = linux.hold_back(seq, self.next, at) else { return false };
        self.deadline.get_or_insert(due);
        self.sack_blocks();
        true
    }

    /// The ACK that the timer sends. QUIC's says how long it was held back (RFC 9000 section
    /// 13.2.5).
    fn answer_late(&mut self, due: Instant) -> AckOut {
        if let Some(linux) = &mut self.linux
            && !linux.holds_back()
        {
            linux.note_missed();
            self.take_estimate();
        }
        let ack = self.answer(due);
        let held = if self.numbers.is_some() { HELD } else { 0 };
        AckOut { cause: ack.cause | held, ..ack }
    }

    /// The held ACK, if its timer fires before what arrives at `at`, and when that arrives: what is
    /// a tie but for rounding becomes one, so that what rounding puts apart does not add up from
    /// one round trip to the next.
    fn before(&mut self, due: Instant, at: Instant) -> (Option<AckOut>, Instant) {
        if due > at + self.hold_ties {
            return (None, at);
        }
        let is_tie = at <= due + self.hold_ties;
        (Some(self.answer_late(due)), if is_tie { due } else { at })
    }

    /// Packet `seq` arrives. Returns false if it is to be answered at once (RFC 5681 section 4.2):
    /// it is out of order or fills a gap.
    fn take_in(&mut self, seq: u32, at: Instant) -> bool {
        match self.numbers.is_some() {
            true => self.take_number(seq, at),
            false => self.take_data(seq, at),
        }
    }

    /// [`Receiver::take_in`] where packets are not numbered.
    #[inline]
    fn take_data(&mut self, seq: u32, at: Instant) -> bool {
        self.last_cause = seq;
        let in_order = seq == self.next;
        let had_gap = !self.out_of_order.is_empty();
        if in_order {
            self.advance(at);
        } else if seq > self.next {
            self.out_of_order.keep(seq, self.next);
        }
        in_order && !had_gap
    }

    /// Whether packet `seq` is the newest in order, come again, and may wait like the first.
    fn is_repeated(&self, seq: u32) -> bool {
        self.delay_repeated && seq + 1 == self.next && self.out_of_order.is_empty()
    }

    /// Whether the packet that has just come is answered at once although it could wait.
    fn is_quick(&self) -> bool {
        self.quick > 0 || self.next + self.out_of_order.count <= self.quick_until
    }

    fn answer(&mut self, at: Instant) -> AckOut {
        self.unacked = 0;
        self.deadline = None;
        if self.quick == 1
            && let Some(linux) = &mut self.linux
        {
            linux.begin_anew();
            self.take_estimate();
        }
        self.quick = self.quick.saturating_sub(1);
        let parts = if self.split > 1 { self.parts() } else { 1 };
        let next = self.numbers.as_mut().and_then(|numbers| numbers.expected.take());
        let (cause, blocks) = (self.last_cause, self.sack_blocks());
        let more = self.linux.as_mut().map_or(0, |linux| linux.answer(cause));
        AckOut { at, next: next.unwrap_or(self.next), cause, blocks, parts, more }
    }

    /// A splitting receiver splits every ACK for new data, unless it misses some.
    fn parts(&mut self) -> u32 {
        let is_new = self.next > self.acked && self.out_of_order.is_empty();
        self.acked = self.acked.max(self.next);
        if is_new { self.split } else { 1 }
    }

    #[inline]
    fn sack_blocks(&mut self) -> u32 {
        let Self { sack, out_of_order, next, last_cause, .. } = self;
        match sack {
            None => 0,
            Some(history) if out_of_order.is_empty() => {
                history.clear();
                0
            }
            Some(history) => {
                history.report(*last_cause, *next, |cause, begin| out_of_order.run(cause, begin))
            }
        }
    }

    fn advance(&mut self, at: Instant) {
        let before = self.next;
        self.next += 1;
        while self.out_of_order.take(self.next) {
            self.next += 1;
        }
        if at > self.counts_until {
            self.late += self.next - before;
        }
        if before < self.end && self.next >= self.end {
            self.finished_at.get_or_insert(at);
        }
    }
}

/// Half of `TCP_ATO_MIN`.
const USUAL_GAP: Span = Span::from_millis(20);
/// `TCP_MAX_QUICKACKS`.
const QUICK_ACKS: u32 = 16;
