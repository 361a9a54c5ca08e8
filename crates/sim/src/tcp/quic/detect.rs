//! Which packets are lost, by number and by time (RFC 9002 section 6.1), and whether that is
//! persistent congestion (section 7.6).

use firstflight_core::event::{Loss, LossKind};
use firstflight_core::units::{Bytes, Instant};

use super::super::Gaps;
use super::super::log::Mark;
use super::super::repair::Repair as _;
use super::super::tcb::Tcb;
use super::Quic;

/// What is found lost at once.
#[derive(Debug, Default)]
struct Found {
    /// Runs of lost packets of data.
    gaps: Gaps,
    /// The newest of them.
    newest: u32,
    /// When the first of a row of lost packets left that no acknowledged one parts.
    row_began: Option<Instant>,
    /// A row lasts long enough for persistent congestion.
    persistent: bool,
}

impl Quic {
    /// Looks for losses below the largest packet number acknowledged and answers them. Only an ACK
    /// can tell of persistent congestion, as in quinn.
    pub(super) fn detect(&mut self, tcb: &mut Tcb, now: Instant, by_ack: bool) {
        let mut found = Found::default();
        let allowed = self.rtt.time_threshold();
        self.lost_at = None;
        for seq in tcb.una..self.acked_end.saturating_sub(1) {
            if tcb.log.has(seq, Mark::SACKED) || tcb.log.has(seq, Mark::LOST) {
                found.row_began = None;
                continue;
            }
            let due = tcb.log.sent_at(seq) + allowed;
            if due > now && self.acked_end - 1 - seq < self.packet_threshold {
                self.lost_at = Some(self.lost_at.map_or(due, |at| at.min(due)));
                found.row_began = None;
                continue;
            }
            tcb.log.set(seq, Mark::LOST);
            if by_ack {
                self.note_row(tcb, seq, &mut found);
            }
            if !self.forget_empty(seq) {
                found.gaps.add(found.gaps.packets > 0 && found.newest + 1 == seq);
                found.newest = seq;
            }
        }
        self.advance(tcb);
        if found.gaps.packets > 0 {
            self.answer(tcb, now, &found);
        }
    }

    /// Packet `seq` is lost, perhaps after others in a row.
    fn note_row(&self, tcb: &Tcb, seq: u32, found: &mut Found) {
        let sent = tcb.log.sent_at(seq);
        match found.row_began {
            Some(began) => {
                let long = self.rtt.persistent_congestion(self.max_ack_delay);
                found.persistent |= sent.since(began) > long;
            }
            None if self.measured_from.is_some_and(|from| seq >= from) => {
                found.row_began = Some(sent);
            }
            None => {}
        }
    }

    /// One reduction per recovery period, which begins now, unless the newest loss left before the
    /// last one began (RFC 9002 section 7.3.2); the core decides.
    fn answer(&mut self, tcb: &mut Tcb, now: Instant, found: &Found) {
        let packets = found.gaps.packets;
        self.in_flight -= packets;
        self.repeat(tcb, packets);
        tcb.counts.retransmitted_packets += u64::from(packets);
        let kind = if found.persistent { LossKind::Timeout } else { LossKind::Recovery };
        let sent = tcb.log.sent_at(found.newest);
        // The window is what a loss halves (RFC 9002 section 7.3.2).
        let loss = Loss::of(now, kind, tcb.bytes(packets), Bytes(self.window(tcb)));
        let loss = Loss { gaps: found.gaps.gaps, sent_at: Some(sent), ..loss };
        let cut = tcb.core.on_loss(&loss);
        tcb.counts.cuts += u64::from(cut);
        tcb.counts.timeouts += u64::from(found.persistent);
        tcb.counts.fast_retransmits += u64::from(cut && !found.persistent);
        self.note_recovery(tcb, cut);
    }

    /// What left before the last period began does not open the window, if that cut it and no
    /// policy sets the window of the period.
    pub(super) fn note_recovery(&mut self, tcb: &Tcb, cut: bool) {
        let cut = cut && !tcb.core.policy_sets_recovery_window();
        self.period.note(tcb.core.recovery_began(), cut);
    }
}
