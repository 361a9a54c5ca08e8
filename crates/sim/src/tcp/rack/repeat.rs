//! What start-up has sent again although it is not known to be lost
//! ([`firstflight_core::policy::Startup::repeats`]): copies, as the tail loss probe is one.

use firstflight_core::units::Instant;

use super::super::Wire;
use super::super::log::Mark;
use super::super::repair::Repair as _;
use super::super::tcb::Tcb;
use super::Rack;

impl Rack {
    /// Repeats one packet, after an ACK with which nothing else left: the highest that is neither
    /// acknowledged nor repeated. Does nothing while a packet only waits for its time at the pacing
    /// rate.
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

    /// When the original of a packet left that was repeated without being known to be lost. Linux
    /// takes an ACK that comes more than the smallest RTT after a retransmission for the ACK of the
    /// retransmission (`tcp_rack_advance`), because a loss is found after an RTT. Here the original
    /// may still wait in a queue. So the ACK counts as the original's, which finds no false losses.
    pub(super) fn first_left(&self, seq: u32) -> Option<Instant> {
        self.unneeded.iter().find(|(again, _)| *again == seq)?.1
    }
}
