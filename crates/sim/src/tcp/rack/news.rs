//! What an ACK tells, taken to the scoreboard.

use firstflight_core::units::{Instant, Span};

use super::super::log::Mark;
use super::super::repair::DataAck;
use super::super::tcb::Tcb;
use super::Rack;

/// What an ACK tells.
pub(super) struct News {
    pub(super) advances: bool,
    /// Something was acknowledged selectively.
    pub(super) sacks: bool,
    /// Something was acknowledged that had left once and before the timeout.
    pub(super) original: bool,
    /// Packets of which it is the first to tell.
    pub(super) delivered: u32,
}

impl Rack {
    /// An ACK for all below `next` tells that packet `seq` has arrived.
    fn take_sacked(
        &mut self,
        tcb: &mut Tcb,
        now: Instant,
        (next, seq): (u32, u32),
        news: &mut News,
        sample: &mut Option<Span>,
    ) {
        if !tcb.is_first_sacked(next, seq) {
            return;
        }
        news.sacks = true;
        news.delivered += 1;
        if !tcb.log.has(seq, Mark::RESENT) {
            let (sent, head) = (tcb.log.sent_at(seq), tcb.log.sent_at(tcb.una));
            news.original |= seq < tcb.recover;
            *sample = Some(now.since(sent));
            // The timer waits for the head while what left before it still arrives
            // (`tcp_clean_rtx_queue`).
            if !news.advances && sent < head {
                tcb.rto.restart(now);
            }
        }
        self.note_sacked(tcb, now, seq);
    }

    /// Takes an ACK to the scoreboard. Returns what it tells, and an RTT sample: of the newest
    /// packet, also one acknowledged selectively, and of one sent again, whose time the timestamp
    /// tells (RFC 7323 section 4; `tcp_ack_update_rtt`, which takes the oldest of several).
    pub(super) fn take_in(&mut self, tcb: &mut Tcb, ack: DataAck) -> (News, Option<Span>) {
        let DataAck { now, next, cause, .. } = ack;
        let advances = next > tcb.una;
        let mut news = News { advances, sacks: false, original: false, delivered: 0 };
        let mut sample = None;
        if !tcb.blocks.is_empty() {
            let mut blocks = std::mem::take(&mut tcb.blocks);
            for seq in blocks.drain(..) {
                self.take_sacked(tcb, now, (next, seq), &mut news, &mut sample);
            }
            tcb.blocks = blocks;
        }
        if cause > next {
            self.take_sacked(tcb, now, (next, cause), &mut news, &mut sample);
        }
        let sacks = news.sacks;
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
            news.original |= original && tcb.una < tcb.recover;
            news.delivered += fresh;
        }
        (news, sample)
    }
}
