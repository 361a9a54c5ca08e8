//! ACKs that a receiver sends in parts: ACK splitting (Savage and others, 1999).

use firstflight_core::units::Instant;

use super::{Tcp, Wire};

impl Tcp {
    /// One of the parts of an ACK for all below `next`, but not the last part, which acknowledges
    /// the rest. A sender in recovery ignores all parts but the last.
    #[cold]
    pub(super) fn on_part(&mut self, now: Instant, next: u32, wire: &mut impl Wire) {
        if next <= self.una || self.dupacks > 0 || self.core.view().recovering {
            return;
        }
        let part = self.bytes(next - self.una) / u64::from(self.endpoint.split_acks.max(1));
        self.acked_in_parts += part;
        self.tell(now, part, part, None);
        self.resume(now, wire);
    }
}

/// On the cause of an ACK: it is one of several parts, and not the last.
pub(crate) const PART: u32 = 1 << 31;
