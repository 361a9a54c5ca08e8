//! Which packets are lost, by time (RFC 8985 section 6; Linux's `tcp_recovery.c`).

use std::cmp::Reverse;

use firstflight_core::units::{Instant, Span};

use super::super::DUP_THRESHOLD;
use super::super::log::Mark;
use super::super::tcb::Tcb;
use super::{Rack, State};
use crate::jiffies::{self, TWO_TICKS};

impl Rack {
    /// A packet has been delivered (RFC 8985 section 6.2 step 2; `tcp_rack_advance`, which takes
    /// the RTT of whatever came last). An answer within less than the smallest RTT is the
    /// original's.
    pub(super) fn note_delivered(&mut self, tcb: &Tcb, now: Instant, seq: u32) {
        let resent = tcb.log.has(seq, Mark::RESENT);
        let original = if resent { self.first_left(seq) } else { None };
        let sent = original.unwrap_or_else(|| tcb.log.sent_at(seq));
        let rtt = now.since(sent);
        if resent && original.is_none() && rtt < tcb.core.view().rtt.min {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.newest = self.newest.max((sent, seq));
    }

    /// How much later than another a packet may arrive that left before it (RFC 8985 section 6.2
    /// step 4; `tcp_rack_reo_wnd`). Reordering is not learned: where a link has `reorder`,
    /// Linux sets `reord_seen` and keeps the window open in a recovery (docs/deviations.md).
    pub(super) fn reordering_window(&self, tcb: &Tcb) -> Span {
        if !matches!(self.state, State::Open | State::Cwr) || self.sacked >= DUP_THRESHOLD {
            return Span(0);
        }
        let rtt = &tcb.core.view().rtt;
        (rtt.min / 4).min(rtt.smoothed)
    }

    /// Finds what is lost, and for how long the rest is in doubt (RFC 8985 section 6.2 step 5;
    /// `tcp_rack_detect_loss`).
    pub(super) fn detect(&mut self, tcb: &mut Tcb, now: Instant) {
        let settled = self.rtt + self.reordering_window(tcb);
        let mut doubt = None;
        self.judged = self.judged.max(tcb.una);
        for seq in self.judged..tcb.max {
            let known = [Mark::SACKED, Mark::RESENT, Mark::LOST];
            if !known.iter().any(|mark| tcb.log.has(seq, *mark)) {
                let sent = tcb.log.sent_at(seq);
                if (sent, seq) >= self.newest {
                    break;
                }
                if sent + settled > now {
                    doubt = Some(sent + settled);
                    continue;
                }
                self.lose(tcb, seq);
                self.lost_below = self.lost_below.max(seq + 1);
                self.repaired = self.repaired.min(seq);
            }
            if doubt.is_none() {
                self.judged = seq + 1;
            }
        }
        while let Some((sent, seq)) = self.under_way.front().copied() {
            let over = seq < tcb.una || tcb.log.has(seq, Mark::SACKED);
            if !over && (sent, seq) >= self.newest {
                break;
            }
            if !over && sent + settled > now {
                doubt = doubt.max(Some(sent + settled));
                break;
            }
            self.under_way.pop_front();
            if !over {
                self.lose_again(tcb, seq);
            }
        }
        // The timer of `tcp_rack_mark_lost` is two ticks later than the doubt ends.
        self.reordered_until =
            doubt.map(|until| jiffies::fires_at(now, until.since(now) + TWO_TICKS));
    }

    /// Packet `seq` is lost, perhaps not for the first time.
    pub(super) fn lose(&mut self, tcb: &mut Tcb, seq: u32) {
        self.unreported.add(seq, tcb.log.has(seq, Mark::RESENT));
        tcb.log.set(seq, Mark::LOST);
        self.lost += 1;
        self.losses = self.losses.wrapping_add(1);
    }

    pub(super) fn lose_again(&mut self, tcb: &mut Tcb, seq: u32) {
        self.uncount_resent(seq);
        self.lose(tcb, seq);
        self.lost_again.push(Reverse(seq));
    }
}
