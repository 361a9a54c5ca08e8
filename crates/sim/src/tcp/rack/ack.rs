//! What an ACK reports, taken to the scoreboard.

use firstflight_core::units::{Instant, Span};

use super::super::log::Mark;
use super::super::repair::DataAck;
use super::super::tcb::Tcb;
use super::Rack;

/// What an ACK reports.
pub(super) struct AckInfo {
    pub(super) advances: bool,
    /// Something was acknowledged selectively.
    pub(super) sacks: bool,
    /// Something was acknowledged that had left once and before the timeout.
    pub(super) original: bool,
    /// Packets that it is the first to report.
    pub(super) delivered: u32,
}

impl Rack {
    /// An ACK for all below `next` reports that packet `seq` has arrived.
    fn take_sacked(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        (next, seq): (u32, u32),
        info: &mut AckInfo,
        sample: &mut Option<Span>,
    ) {
        if !tcb.is_first_sacked(next, seq) {
            return;
        }
        info.sacks = true;
        info.delivered += 1;
        if !tcb.log.has(seq, Mark::RESENT) {
            let (sent, head) = (tcb.log.sent_at(seq), tcb.log.sent_at(tcb.una));
            info.original |= seq < tcb.recover;
            *sample = Some(now.since(sent));
            // The timer waits for the head while what left before it still arrives
            // (`tcp_clean_rtx_queue`).
            if !info.advances && sent < head {
                tcb.rto.restart(now);
            }
        }
        self.note_sacked(tcb, now, seq);
    }

    /// Takes an ACK to the scoreboard. Returns what it reports, and an RTT sample: of the newest
    /// packet, also one acknowledged selectively, and of one sent again, whose time the timestamp
    /// echoes (RFC 7323 section 4; `tcp_ack_update_rtt`, which takes the oldest of several).
    pub(super) fn take_in(&mut self, tcb: &mut Tcb, ack: DataAck) -> (AckInfo, Option<Span>) {
        let DataAck { now, next, cause, .. } = ack;
        let advances = next > tcb.una;
        let mut info = AckInfo { advances, sacks: false, original: false, delivered: 0 };
        let mut sample = None;
        if !tcb.blocks.is_empty() {
            let mut blocks = std::mem::take(&mut tcb.blocks);
            for seq in blocks.drain(..) {
                self.take_sacked(tcb, now, (next, seq), &mut info, &mut sample);
            }
            tcb.blocks = blocks;
        }
        if cause > next {
            self.take_sacked(tcb, now, (next, cause), &mut info, &mut sample);
        }
        let sacks = info.sacks;
        if advances {
            let rtt = now.since(tcb.log.sent_at(next - 1));
            let clear = match tcb.log.has(next - 1, Mark::RESENT) {
                true => rtt >= tcb.core.view().rtt.min && self.first_left(next - 1).is_none(),
                false => true,
            };
            if clear && !sacks && !tcb.log.has(next - 1, Mark::SACKED) {
                sample = Some(rtt);
            }
            let (fresh, original) =
                if self.is_quiet() { (next - tcb.una, true) } else { self.advance(tcb, now, next) };
            info.original |= original && tcb.una < tcb.recover;
            info.delivered += fresh;
        }
        (info, sample)
    }
}
