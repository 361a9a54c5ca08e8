//! ACKs that a receiver sends in parts: ACK splitting (Savage and others, 1999).

use firstflight_core::units::Instant;

use super::repair::Repair as _;
use super::{Tcp, Wire};

impl Tcp {
    /// One of the parts of an ACK for all below `next`, but not the last part, which acknowledges
    /// the rest. A sender in recovery ignores all parts but the last.
    #[cold]
    pub(super) fn on_part(&mut self, now: Instant, next: u32, wire: &mut impl Wire) {
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

/// On the cause of an ACK: it is one of several parts, and not the last.
pub(crate) const PART: u32 = 1 << 31;
