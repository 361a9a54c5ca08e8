//! ACKs that reach the sender in several parts: those that a receiver splits (Savage and others,
//! 1999), and those that report several packets out of order ([`crate::LinuxAcks`]).

use firstflight_core::units::Instant;

use super::repair::Repair as _;
use super::{Tcp, Wire};

impl Tcp {
    /// One of the parts of an ACK for all below `next`, but not the last part: of an ACK that is
    /// split, or a packet that an ACK reports besides its cause.
    #[cold]
    pub(super) fn on_part(&mut self, now: Instant, next: u32, of: u32, wire: &mut impl Wire) {
        let tcb = &mut self.tcb;
        if tcb.endpoint.split_acks > 1 {
            return self.on_split(now, next, wire);
        }
        let early = tcb.note_early(next, of);
        if tcb.limit < tcb.end {
            // The ACK that follows acknowledges what is below `next`, once.
            tcb.extend(tcb.una, early);
        }
        tcb.blocks.push(of);
    }

    /// One of the parts of an ACK for all below `next`, but not the last part, which acknowledges
    /// the rest. A sender in recovery ignores all parts but the last.
    fn on_split(&mut self, now: Instant, next: u32, wire: &mut impl Wire) {
        let Self { tcb, repair } = self;
        if next <= tcb.una || tcb.dupacks > 0 || tcb.core.view().recovering {
            return;
        }
        let part = tcb.bytes(next - tcb.una) / u64::from(tcb.endpoint.split_acks.max(1));
        tcb.acked_in_parts += part;
        tcb.tell(repair, now, part, part, None);
        repair.send(tcb, now, wire);
    }
}
