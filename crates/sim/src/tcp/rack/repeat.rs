//! What start-up has sent again although it is not known to be lost
//! ([`firstflight_core::policy::Startup::repeats`]): copies, as the tail loss probe is one.

use firstflight_core::units::Instant;

use super::super::Wire;
use super::super::log::Mark;
use super::super::repair::Repair as _;
use super::super::tcb::Tcb;
use super::Rack;

impl Rack {
    /// An ACK with which nothing else left: repeats the last packet, going backwards, unless
    /// something waits only for its time at the pacing rate.
    pub(super) fn repeat(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        if self.has_room(tcb) || !tcb.core.repeats() {
            return;
        }
        let first = tcb.una.max(tcb.first_data);
        for seq in (first..self.repeats_below.unwrap_or(tcb.max)).rev() {
            self.repeats_below = Some(seq);
            let known = [Mark::SACKED, Mark::RESENT, Mark::LOST];
            if !known.iter().any(|mark| tcb.log.has(seq, *mark)) {
                self.unneeded.push((seq, Some(tcb.log.sent_at(seq))));
                return self.send_again(tcb, seq, now, wire);
            }
        }
    }

    /// When the original of a repeated packet left of which nothing has been heard. Linux takes an
    /// ACK more than the smallest RTT after a retransmission for that one's, because a loss takes
    /// an RTT to be found (`tcp_rack_advance`). A packet repeated earlier may be the original in a
    /// queue. Taken for the original's, its ACK says of nothing that it is lost which is not.
    pub(super) fn first_left(&self, seq: u32) -> Option<Instant> {
        self.unneeded.iter().find(|(again, _)| *again == seq)?.1
    }
}
