//! Loss repair as Linux does it: RACK-TLP (RFC 8985), SACK, proportional rate reduction (RFC 9937)
//! and F-RTO (RFC 5682 with SACK). The functions named are those of Linux 6.1's `net/ipv4`; where
//! they do otherwise than the RFC, `docs/deviations.md` says it.
//!
//! A packet is lost when one that left after it has been delivered and the reordering window has
//! passed, whether it left for the first time or again. So a retransmission that is lost is found
//! within a round trip, without the timer. Originals leave in order of their numbers and
//! retransmissions in order of a queue, so that each packet is looked at once per transmission, and
//! not at all while nothing is missing.

mod ack;
mod bursts;
mod cwr;
mod detect;
mod repeat;
mod timeout;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use firstflight_core::event::LossKind;
use firstflight_core::units::{Bytes, Instant, Span};

use super::log::Mark;
use super::prr::Prr;
use super::repair::{DataAck, Repair};
use super::tcb::Tcb;
use super::{Gaps, Wire};
use ack::AckInfo;
use cwr::end_reduction;

/// What a sender is busy with (`icsk_ca_state`). Open is Disorder too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// A mark was answered, and the window follows [`Prr`] down.
    Cwr,
    /// Losses are repaired, the window has been cut and follows [`Prr`].
    Recovery,
    /// After a timeout.
    Loss,
}

#[derive(Debug, Default)]
pub(super) struct Rack {
    state: State,
    /// Packets above the cumulative ACK that have been selectively acknowledged.
    sacked: u32,
    /// Packets found lost and not yet sent again.
    lost: u32,
    /// Packets found lost and sent again that no ACK has reported.
    resent: u32,
    /// How often a packet was found lost, a retransmission too (`tp->lost`).
    losses: u32,
    /// Packets sent again that are not known to be lost: a probe, what an undone timeout sent, and
    /// what start-up repeats, with the time at which it had left first.
    unneeded: Vec<(u32, Option<Instant>)>,
    /// Start-up has repeated all from here on, as far as it has to be.
    repeats_below: Option<u32>,
    /// When the delivered packet that left last had left, and its number (`rack.mstamp`).
    newest: (Instant, u32),
    /// The RTT of the packet delivered last (`rack.rtt_us`).
    rtt: Span,
    /// Something has been delivered since losses were looked for.
    advanced: bool,
    /// Originals below have been judged.
    judged: u32,
    /// One past the highest original found lost.
    lost_below: u32,
    /// Originals found lost below have been sent again.
    repaired: u32,
    /// Retransmissions under way as they left.
    under_way: VecDeque<(Instant, u32)>,
    /// Packets whose retransmission was lost.
    lost_again: BinaryHeap<Reverse<u32>>,
    /// What may leave in a recovery (RFC 9937).
    prr: Prr,
    /// The window in packets while [`Prr`] sets it.
    cwnd: u32,
    /// Where it ends in [`State::Cwr`].
    target: u32,
    /// When the reordering window of what is in doubt has passed.
    reordered_until: Option<Instant>,
    /// The tail loss probe that has not been answered (RFC 8985 section 7).
    probe: Option<Probe>,
    /// F-RTO watches whether the timeout was spurious.
    watches_timeout: bool,
    /// F-RTO answers the ACK at hand by new data.
    only_new: bool,
    /// When the first retransmission of this recovery left (`retrans_stamp`).
    first_resent_at: Option<Instant>,
    /// Nothing has been acknowledged since the last timeout.
    stuck: bool,
    /// It waits for an ACK to send a larger burst.
    waits: bool,
    /// Found lost, and still to be reported to the core.
    unreported: Unreported,
}

/// What was found lost and is still to be reported to the core: packets that had left once, and
/// retransmissions.
#[derive(Debug)]
struct Unreported {
    once: Gaps,
    again: Gaps,
    newest: u32,
}

impl Unreported {
    fn add(&mut self, seq: u32, again: bool) {
        let joins = self.newest.wrapping_add(1) == seq;
        self.newest = seq;
        if again { &mut self.again } else { &mut self.once }.add(joins);
    }

    /// What left once if there is any, then retransmissions; nothing if there is nothing.
    fn take(&mut self) -> Gaps {
        match self.once.packets {
            0 => std::mem::replace(&mut self.again, Gaps::NONE_AGAIN),
            _ => std::mem::take(&mut self.once),
        }
    }

    fn take_all(&mut self) -> Gaps {
        let again = std::mem::replace(&mut self.again, Gaps::NONE_AGAIN);
        let once = std::mem::take(&mut self.once);
        Gaps {
            packets: once.packets + again.packets,
            gaps: once.gaps + again.gaps,
            again: once.packets == 0 && again.packets > 0,
        }
    }
}

impl Default for Unreported {
    fn default() -> Self {
        Self { once: Gaps::NONE, again: Gaps::NONE_AGAIN, newest: 0 }
    }
}

/// A tail loss probe under way (RFC 8985 section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    /// SND.NXT when it had left.
    end: u32,
    /// The packet that was sent again, if it was no new one.
    again: Option<u32>,
}

impl Rack {
    /// Packets in the network (`tcp_packets_in_flight`).
    fn pipe(&self, tcb: &Tcb) -> u32 {
        (tcb.max - tcb.una) - self.sacked - self.lost
    }

    /// The window holds one packet more.
    #[inline]
    fn window_has_room(&self, tcb: &Tcb) -> bool {
        let pipe = self.pipe(tcb);
        match self.state {
            State::Recovery | State::Cwr if !tcb.core.policy_sets_recovery_window() => {
                pipe < self.cwnd
            }
            _ => (u64::from(pipe) + 1) * tcb.mss <= tcb.core.cwnd().0,
        }
    }

    /// Packet `seq` has arrived: it counts neither as lost nor as sent again any more.
    fn uncount(&mut self, tcb: &Tcb, seq: u32) {
        if tcb.log.has(seq, Mark::LOST) {
            self.lost -= 1;
        } else if tcb.log.has(seq, Mark::RESENT) {
            self.uncount_resent(seq);
        }
    }

    /// A retransmission has been acknowledged or lost, so it is no longer in the network.
    fn uncount_resent(&mut self, seq: u32) {
        match self.unneeded.iter().position(|(unneeded, _)| *unneeded == seq) {
            Some(place) => _ = self.unneeded.swap_remove(place),
            None => self.resent -= 1,
        }
    }

    /// Nothing is missing or in doubt.
    fn is_quiet(&self) -> bool {
        self.sacked + self.lost + self.resent == 0
            && self.unneeded.is_empty()
            && self.probe.is_none()
    }

    fn note_sacked(&mut self, tcb: &mut Tcb, now: Instant, seq: u32) {
        self.note_delivered(tcb, now, seq);
        self.uncount(tcb, seq);
        tcb.log.clear(seq, Mark::LOST);
        tcb.log.set(seq, Mark::SACKED);
        self.sacked += 1;
    }

    /// Everything below `next` has arrived. Returns how much of it was not known, and whether a
    /// packet was among that which had left only once.
    fn advance(&mut self, tcb: &Tcb, now: Instant, next: u32) -> (u32, bool) {
        let (mut fresh, mut original) = (0, false);
        for seq in tcb.una..next {
            if tcb.log.has(seq, Mark::SACKED) {
                self.sacked -= 1;
                continue;
            }
            self.note_delivered(tcb, now, seq);
            self.uncount(tcb, seq);
            original |= !tcb.log.has(seq, Mark::RESENT);
            fresh += 1;
        }
        (fresh, original)
    }

    /// Recovery begins (`tcp_enter_recovery`): once everything that is outstanding now has been
    /// acknowledged it is over.
    fn enter(&mut self, tcb: &mut Tcb, now: Instant) {
        let before = u32::try_from(tcb.core.cwnd().0 / tcb.mss).unwrap_or(u32::MAX);
        let reduces = self.state == State::Cwr;
        self.state = State::Recovery;
        self.probe = None;
        self.first_resent_at = None;
        if reduces {
            return self.enter_from_cwr(tcb, now);
        }
        tcb.recover = tcb.max;
        tcb.counts.fast_retransmits += 1;
        tcb.declare_loss(now, LossKind::Recovery, false, self.unreported.take());
        // Linux takes the window, where RFC 9937 takes what is in flight.
        self.prr.begin(before);
        self.cwnd = self.pipe(tcb);
    }

    /// The window while it is reduced (`tcp_cwnd_reduction`). An ACK that tells of nothing new
    /// leaves it.
    fn reduce(&mut self, tcb: &Tcb, delivered: u32, safe: bool) {
        if self.reduces() && delivered > 0 {
            let target = match self.state {
                State::Cwr => self.target,
                _ => u32::try_from(tcb.core.cwnd().0 / tcb.mss).unwrap_or(u32::MAX),
            };
            let pipe = self.pipe(tcb);
            self.prr.on_ack(delivered, pipe, target, safe);
            self.cwnd = pipe + self.prr.allowance;
        }
    }

    /// What an advancing ACK ends: recovery, the time after a timeout, a probe.
    fn conclude(&mut self, tcb: &mut Tcb, now: Instant, ack: &AckInfo) {
        let over = tcb.una >= tcb.recover;
        match self.state {
            State::Recovery if over => {
                self.state = State::Open;
                end_reduction(tcb);
            }
            State::Loss => self.judge_timeout(tcb, now, ack, over),
            State::Cwr if tcb.una > tcb.recover => self.leave_cwr(tcb),
            _ => {}
        }
        let Some(probe) = self.probe.filter(|probe| tcb.una >= probe.end) else { return };
        self.probe = None;
        // Had both copies arrived, a duplicate would have come too (`tcp_process_tlp_ack`).
        if probe.again.is_some() && tcb.una > probe.end && self.state == State::Open {
            tcb.declare_loss(now, LossKind::Recovery, false, Gaps::ONE);
            end_reduction(tcb);
        }
    }

    /// The lost packet to send next: the first (`tcp_xmit_retransmit_queue`).
    fn next_lost(&mut self, tcb: &Tcb) -> Option<u32> {
        while let Some(Reverse(seq)) = self.lost_again.peek().copied() {
            if seq >= tcb.una && tcb.log.has(seq, Mark::LOST) {
                return Some(seq);
            }
            self.lost_again.pop();
        }
        self.repaired = self.repaired.max(tcb.una);
        while self.repaired < self.lost_below {
            if tcb.log.has(self.repaired, Mark::LOST) {
                return Some(self.repaired);
            }
            self.repaired += 1;
        }
        debug_assert_eq!(self.lost, 0, "what is lost can be sent again");
        None
    }

    fn resend(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) -> bool {
        let Some(seq) = self.next_lost(tcb) else { return false };
        if self.lost_again.peek() == Some(&Reverse(seq)) {
            self.lost_again.pop();
        }
        self.lost -= 1;
        self.resent += 1;
        self.send_again(tcb, seq, now, wire);
        self.note_sent();
        true
    }

    fn send_again(&mut self, tcb: &mut Tcb, seq: u32, now: Instant, wire: &mut impl Wire) {
        self.under_way.push_back((now, seq));
        self.first_resent_at.get_or_insert(now);
        tcb.transmit(self, seq, now, wire);
        if seq == tcb.una {
            tcb.rto.restart(now);
        }
    }

    fn note_sent(&mut self) {
        if self.reduces() {
            self.prr.on_sent();
        }
    }

    /// Looks for losses, and answers what is found.
    fn look(&mut self, tcb: &mut Tcb, now: Instant) {
        if std::mem::take(&mut self.advanced) {
            let before = self.resent;
            self.detect(tcb, now);
            if self.state == State::Loss && self.resent < before {
                // A retransmission after a timeout was lost: that is congestion again.
                self.state = State::Open;
            }
        }
        if self.is_quiet() {
            self.reordered_until = None;
        }
        if matches!(self.state, State::Open | State::Cwr) && self.lost + self.resent > 0 {
            self.enter(tcb, now);
        }
        for found in [self.unreported.take(), self.unreported.take()] {
            if found.packets > 0 {
                tcb.declare_further_loss(now, found, self.state == State::Loss);
            }
        }
    }
}

impl Repair for Rack {
    fn begin(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        self.send(tcb, now, wire);
    }

    #[inline(never)]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        let DataAck { now, next, .. } = ack;
        self.only_new = false;
        let (info, sample) = self.take_in(tcb, ack);
        let newly = next.saturating_sub(tcb.una);
        tcb.rto.note_deviation(sample, next, tcb.max);
        if info.advances {
            self.stuck = false;
            tcb.una = next;
            tcb.nxt = tcb.nxt.max(next);
            tcb.rto.on_acked(next, now, sample);
            tcb.rearm(now);
        }
        // The ACK that ends a recovery grows the window by what it is the first to tell of at most
        // (`tcp_cong_control`): nothing, or one packet.
        let recovers = self.state == State::Recovery;
        if !recovers && (info.advances || self.state == State::Loss) {
            self.conclude(tcb, now, &info);
        }
        if info.delivered > 0 || info.advances {
            let before = tcb.core.cwnd();
            tcb.tell_core(self, now, newly, info.delivered, sample);
            if tcb.ecn.is_some() {
                self.answer_mark(tcb, before);
            }
        }
        if recovers && info.advances {
            self.conclude(tcb, now, &info);
        }
        let losses = self.losses;
        self.look(tcb, now);
        let safe = info.advances && self.losses == losses;
        self.reduce(tcb, info.delivered, safe);
        let sent = tcb.repeats.then(|| tcb.counts().sent_packets);
        self.send(tcb, now, wire);
        if info.delivered > 0 && sent == Some(tcb.counts().sent_packets) {
            self.repeat(tcb, now, wire);
        }
    }

    /// `tcp_enter_loss`: lost is the first packet, and whatever was sent longer than an RTT ago
    /// (`tcp_timeout_mark_lost`), where RFC 6675 section 5.1 takes everything.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Instant, handshake: bool) -> Gaps {
        if handshake {
            return Gaps::ONE;
        }
        if self.state == State::Recovery {
            tcb.core.on_recovered(None);
        }
        tcb.ecn.iter_mut().for_each(|ecn| ecn.reducing = false);
        self.watches_timeout = matches!(self.state, State::Open | State::Cwr) || self.stuck;
        for seq in tcb.una..tcb.max {
            let lost = tcb.log.has(seq, Mark::LOST);
            let recent = seq > tcb.una && tcb.log.sent_at(seq) + self.rtt > now;
            if tcb.log.has(seq, Mark::SACKED) || !lost && recent {
                continue;
            }
            if !lost {
                if tcb.log.has(seq, Mark::RESENT) {
                    self.uncount_resent(seq);
                }
                self.lose(tcb, seq);
            }
            // A copy that was lost too, which waited in `lost_again`, may be the highest.
            self.lost_below = self.lost_below.max(seq + 1);
        }
        self.under_way.retain(|(_, seq)| *seq >= tcb.una && !tcb.log.has(*seq, Mark::LOST));
        self.lost_again.clear();
        self.only_new = false;
        (self.repaired, self.state, self.stuck) = (tcb.una, State::Loss, true);
        self.probe = None;
        (self.first_resent_at, self.reordered_until) = (None, None);
        self.unreported.take_all()
    }

    fn is_idle(&self) -> bool {
        self.state == State::Open && self.is_quiet()
    }

    fn in_flight(&self, tcb: &Tcb) -> u32 {
        self.pipe(tcb)
    }

    /// The window holds one packet more, and there is something to send; or the FIN is next.
    #[inline]
    fn has_room(&self, tcb: &Tcb) -> bool {
        let some = self.lost > 0 && !self.only_new || tcb.has_fresh();
        (self.window_has_room(tcb) && some || tcb.is_final()) && !self.waits
    }

    /// Lost packets first, then new ones.
    fn send(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        if tcb.endpoint.tso {
            return self.send_bursts(tcb, now, wire);
        }
        while self.has_room(tcb) && tcb.may_depart(now) {
            let repairs = self.lost > 0 && !self.only_new && self.window_has_room(tcb);
            if repairs && self.resend(tcb, now, wire) {
                continue;
            }
            if !tcb.has_fresh() {
                return;
            }
            tcb.transmit_next(self, now, wire);
            self.note_sent();
        }
    }

    fn goes_back(&self) -> bool {
        false
    }

    /// A timeout while an earlier loss of the same window is repaired, or after another that
    /// nothing came of, cuts no more.
    fn repeats(&self, _tcb: &Tcb) -> bool {
        self.reduces() || self.state == State::Loss && self.stuck
    }

    fn window_after_timeout(&self, tcb: &Tcb) -> Option<Bytes> {
        Some(tcb.bytes(self.pipe(tcb) + 1))
    }

    fn wake_at(&self, tcb: &Tcb) -> Option<Instant> {
        self.reordered_until.or_else(|| self.probe_at(tcb))
    }

    /// `tcp_rack_reo_timeout`, or the probe.
    fn on_wake(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        if self.reordered_until.take().is_none() {
            return self.send_probe(tcb, now, wire);
        }
        self.advanced = true;
        let entered = self.state != State::Recovery;
        self.look(tcb, now);
        if entered && self.state == State::Recovery {
            self.reduce(tcb, 1, false);
        }
        self.send(tcb, now, wire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Recovery;
    use crate::tcp::Tcp;
    use crate::tcp::testing::{Air, MSS, endpoint, flow};

    /// Twenty packets leave at once, and the first ten are lost. Of what leaves again, 0 and 7 are
    /// lost: the ACK of the third 0, which left right after 7, advances and tells that 7 is
    /// missing.
    #[test]
    fn an_ack_that_tells_of_a_lost_retransmission_lets_no_packet_more_leave() {
        let mut endpoint = endpoint();
        endpoint.recovery = Recovery::Rack;
        endpoint.initial_window = Bytes(MSS * 20);
        let mut tcp = Tcp::new(&flow("slow-start", "newreno", endpoint), true);
        let mut sent = Vec::new();
        tcp.start(Instant(0), &mut Air(&mut sent));
        let mut leaves = |at_ms: u64, next, cause| {
            sent.clear();
            tcp.on_ack(Instant(at_ms * 1_000_000), next, cause, &mut Air(&mut sent));
            sent.clone()
        };
        let again: Vec<u32> =
            (10..20).flat_map(|seq| leaves(90 + u64::from(seq), 0, seq)).collect();
        assert_eq!(again, [20, 21, 0, 1, 2, 3, 4, 5, 6, 7], "limited transmit, then one per ACK");
        for seq in 1..7 {
            leaves(202 + u64::from(seq), 0, seq);
        }
        assert_eq!(leaves(303, 7, 0), [7], "what was delivered, and not a packet more");
    }
}
