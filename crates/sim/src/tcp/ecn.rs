//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2), as Linux has it: new
//! data is ECN-capable, a retransmission is not (section 6.1.5); an ACK that echoes a mark is
//! answered once per window, and the next new packet says that the window was reduced.

use firstflight_core::event::Ack;
use firstflight_core::units::{Bytes, Instant};

use super::tcb::Tcb;
use crate::router::EcnBits;

/// A sender's part in ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// The ACK at hand echoes a mark.
    pub(super) echoed: bool,
    /// The next new packet says that the window was reduced (`TCP_ECN_QUEUE_CWR`).
    owes_cwr: bool,
    /// When a mark was answered last, by whatever the control does.
    answered_at: Option<Instant>,
    /// The ACK at hand made the control reduce its window.
    pub(super) reduced: bool,
    /// The transport reduces the window step by step ([`super::rack`]), so that it does not grow.
    pub(super) reducing: bool,
}

impl Ecn {
    /// What a packet that leaves says.
    pub(super) fn bits(&mut self, fresh: bool) -> EcnBits {
        let reduced = fresh && std::mem::take(&mut self.owes_cwr);
        EcnBits { capable: fresh, marked: false, reduced }
    }
}

impl Tcb {
    /// Tells the core of an ACK that may echo a mark, and notes what came of it.
    pub(super) fn tell_marked(&mut self, mut ack: Ack) {
        let Some(ecn) = &mut self.ecn else { return };
        if ecn.echoed {
            // How much was marked the echo does not say.
            ack.marked = ack.credited.max(Bytes(1));
        }
        ack.app_limited |= ecn.reducing;
        self.core.on_ack(&ack);
        ecn.reduced = false;
        let answered = self.core.recovery_began().filter(|at| ecn.echoed && *at == ack.now);
        if answered.is_some() && answered != ecn.answered_at {
            ecn.reduced = self.core.reduced_at() == answered;
            self.counts.cuts += u64::from(ecn.reduced);
            (ecn.answered_at, ecn.owes_cwr) = (answered, true);
        }
    }

    /// The window was reduced for a loss: the next packet's CWR tells the receiver of that too.
    pub(super) fn owe_cwr(&mut self) {
        self.ecn.iter_mut().for_each(|ecn| ecn.owes_cwr = true);
    }
}
