//! Explicit congestion notification at the sender (RFC 3168 section 6.1.2), as Linux has it: new
//! data is ECN-capable, a retransmission is not (section 6.1.5); an ACK that echoes a mark is
//! answered once per window, and the next new packet says that the window was reduced.
//!
//! With feedback that reports how much was marked, retransmissions are ECN-capable too
//! (`tcp_ecn_send`, for controls that need ECN; RFC 8311 section 4.3 lets them). So is every packet
//! of QUIC, which says nothing of a reduced window. QUIC's check that the path leaves the field
//! alone (RFC 9000 section 13.4.2) is not modelled: no link here clears it.

use firstflight_core::event::Ack;
use firstflight_core::units::{Bytes, Instant};
use firstflight_link::Ecn as IpEcn;

use super::tcb::Tcb;
use crate::endpoint::EcnFeedback;
use crate::signals::AckSignals;

/// A sender's part in ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    feedback: EcnFeedback,
    /// Packets leave as ECT(1).
    l4s: bool,
    /// The ACK at hand echoes a mark.
    echoed: bool,
    /// With feedback that counts: marked packets that are still to be reported to the core.
    unreported: u32,
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
    pub(super) fn new(feedback: EcnFeedback, l4s: bool) -> Self {
        Self { feedback, l4s, ..Self::default() }
    }

    /// What an ACK brings of marks.
    pub(super) fn note(&mut self, signals: &AckSignals) {
        self.unreported = self.unreported.saturating_add(signals.marked);
        self.echoed = if self.feedback.counts() { self.unreported > 0 } else { signals.echo };
    }

    /// The marked part of what an ACK newly acknowledges. A classic echo does not say how much,
    /// DCTCP's stands for all of it.
    fn take_marked(&mut self, credited: Bytes, mss: u64) -> Bytes {
        match self.feedback.counts() {
            true => Bytes(mss * u64::from(std::mem::take(&mut self.unreported))),
            false if self.echoed => credited.max(Bytes(1)),
            false => Bytes(0),
        }
    }

    /// What a packet that leaves says in its ECN field, and whether the window was reduced.
    pub(super) fn field(&mut self, fresh: bool) -> (IpEcn, bool) {
        let reduced = fresh && std::mem::take(&mut self.owes_cwr);
        let field = match (fresh || self.feedback != EcnFeedback::Classic, self.l4s) {
            (false, _) => IpEcn::NotCapable,
            (true, false) => IpEcn::Ect0,
            (true, true) => IpEcn::Ect1,
        };
        (field, reduced)
    }
}

impl Tcb {
    /// Tells the core of an ACK that may echo a mark, and notes what came of it.
    pub(super) fn tell_marked(&mut self, mut ack: Ack) {
        let Some(ecn) = &mut self.ecn else { return };
        ack.marked = ecn.take_marked(ack.credited, self.mss);
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

#[cfg(test)]
mod tests {
    use firstflight_core::avoidance::{Dctcp, Prague};
    use firstflight_core::startup::SlowStart;

    use super::*;
    use crate::control::{Wants, control};

    /// RFC 9331 section 4.1: what a sender of L4S sends is ECT(1), also again; DCTCP's is ECT(0).
    /// With RFC 3168's echo a retransmission is neither.
    #[test]
    fn prague_leaves_as_ect_1() {
        let prague = Wants::of(&control(SlowStart::default(), Prague::default()));
        let dctcp = Wants::of(&control(SlowStart::default(), Dctcp::default()));
        for (wants, l4s) in [(prague, true), (dctcp, false)] {
            assert_eq!(wants.is_l4s(), l4s);
            for (feedback, again) in [
                (EcnFeedback::Classic, false),
                (EcnFeedback::Dctcp, true),
                (EcnFeedback::Accurate, true),
            ] {
                let mut ecn = Ecn::new(feedback, wants.is_l4s());
                let sent = [true, false].map(|fresh| ecn.field(fresh).0);
                let capable = if l4s { IpEcn::Ect1 } else { IpEcn::Ect0 };
                let repeated = if again { capable } else { IpEcn::NotCapable };
                assert_eq!(sent, [capable, repeated], "{feedback:?}");
            }
        }
    }
}
