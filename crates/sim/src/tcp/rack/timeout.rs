//! What comes of silence: the tail loss probe (RFC 8985 section 7), and whether a timeout was
//! spurious (RFC 5682, RFC 3522).

use firstflight_core::units::{Instant, Span};

use super::super::Wire;
use super::super::log::Mark;
use super::super::tcb::Tcb;
use super::ack::AckInfo;
use super::{Probe, Rack, State, Unreported};
use crate::jiffies::{self, TWO_TICKS};

impl Rack {
    /// Whether a timeout was spurious (`tcp_process_loss`): by timestamps, an ACK of what left
    /// before the retransmission (RFC 3522); by F-RTO, one of what has left only once.
    pub(super) fn judge_timeout(&mut self, tcb: &mut Tcb, now: Instant, ack: &AckInfo, over: bool) {
        let rtt = tcb.core.view().rtt.min;
        let early = self.first_resent_at.is_some_and(|at| now.since(at) < rtt);
        let forward = self.watches_timeout && ack.original;
        if ack.advances && early || forward {
            self.state = State::Open;
            self.forget_lost(tcb);
            tcb.core.on_spurious_loss();
            return;
        }
        if over {
            self.state = State::Open;
            return;
        }
        if self.watches_timeout {
            if tcb.max > tcb.recover {
                self.watches_timeout &= !ack.sacks;
            } else if ack.advances {
                // Step 2.b: new data shows what became of the old.
                tcb.recover = tcb.max;
                self.watches_timeout = tcb.has_fresh();
                self.only_new = self.watches_timeout;
            }
        }
    }

    /// Nothing of what was taken for lost is, as far as is known (`tcp_undo_cwnd_reduction`). It is
    /// judged anew, because some of it may be missing: what a timeout took for lost stays in
    /// `tsorted_sent_queue`.
    pub(super) fn forget_lost(&mut self, tcb: &mut Tcb) {
        self.judged = tcb.una;
        for seq in tcb.una..tcb.max {
            tcb.log.clear(seq, Mark::LOST);
            let again = tcb.log.has(seq, Mark::RESENT) && !tcb.log.has(seq, Mark::SACKED);
            if again && !self.unneeded.iter().any(|(known, _)| *known == seq) {
                self.unneeded.push((seq, None));
            }
        }
        (self.lost, self.resent, self.unreported) = (0, 0, Unreported::default());
        self.lost_again.clear();
    }

    /// When the tail loss probe is due: no later than the timeout, which it comes instead of (RFC
    /// 8985 section 7.2; `tcp_schedule_loss_probe`).
    pub(super) fn probe_at(&self, tcb: &Tcb) -> Option<Instant> {
        let smoothed = tcb.core.view().rtt.smoothed;
        let calm = matches!(self.state, State::Open | State::Cwr) && self.is_quiet();
        let waits = tcb.una >= tcb.first_data && tcb.una < tcb.max && smoothed > Span(0);
        if !calm || !waits {
            return None;
        }
        let started = tcb.rto.started()?;
        let more = if tcb.max - tcb.una == 1 { tcb.endpoint.rto.min } else { TWO_TICKS };
        let timeout = tcb.rto.deadline(&tcb.core.view().rtt)?;
        Some(jiffies::fires_at(started, smoothed * 2 + more).min(timeout))
    }

    /// Sends a probe: the next new packet, or the last one again (`tcp_send_loss_probe`).
    pub(super) fn send_probe(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        let again = (!tcb.has_fresh()).then(|| tcb.max - 1);
        self.probe = Some(Probe { end: tcb.max + u32::from(again.is_none()), again });
        match again {
            None => tcb.transmit_next(self, now, wire),
            Some(seq) => {
                self.unneeded.push((seq, None));
                self.send_again(tcb, seq, now, wire);
            }
        }
        tcb.rto.restart(now);
    }
}
