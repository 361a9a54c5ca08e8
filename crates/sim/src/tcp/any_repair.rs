//! A repair of any kind: which there are, and how each is asked.

use firstflight_core::units::{Bytes, Instant, Span};

use super::fast_recovery::FastRecovery;
use super::ns2::{Ns2Linux, Ns2Sack, Ns2Vegas};
use super::quic::Quic;
use super::rack::Rack;
use super::repair::{DataAck, Repair};
use super::sack::Sack;
use super::tcb::Tcb;
use super::{Gaps, Wire};
use crate::endpoint::{Endpoint, Recovery};

/// A repair of any kind. `repr(u8)` gives it a tag of its own, which every event reads.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum AnyRepair {
    FastRecovery(FastRecovery),
    Sack(Sack),
    Rack(Rack),
    /// Boxed because it is the largest.
    Quic(Box<Quic>),
    Ns2Sack(Ns2Sack),
    Ns2Vegas(Ns2Vegas),
    Ns2Linux(Ns2Linux),
}

impl AnyRepair {
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        match endpoint.recovery {
            Recovery::Tahoe => Self::FastRecovery(FastRecovery::TAHOE),
            Recovery::Reno => Self::FastRecovery(FastRecovery::RENO),
            Recovery::NewReno => Self::FastRecovery(FastRecovery::NEW_RENO),
            Recovery::Sack => Self::Sack(Sack::new(endpoint.rules.prr)),
            Recovery::Rack => Self::Rack(Rack::default()),
            Recovery::Quic => Self::Quic(Box::new(Quic::new(endpoint))),
            Recovery::Ns2Sack => Self::Ns2Sack(Ns2Sack::default()),
            Recovery::Ns2Vegas => Self::Ns2Vegas(Ns2Vegas::default()),
            Recovery::Ns2Linux => Self::Ns2Linux(Ns2Linux::default()),
        }
    }
}

/// Evaluates an expression on the repair, whichever kind it is.
macro_rules! each {
    ($any:expr, $repair:ident => $does:expr) => {
        match $any {
            AnyRepair::FastRecovery($repair) => $does,
            AnyRepair::Sack($repair) => $does,
            AnyRepair::Rack($repair) => $does,
            AnyRepair::Quic($repair) => $does,
            AnyRepair::Ns2Sack($repair) => $does,
            AnyRepair::Ns2Vegas($repair) => $does,
            AnyRepair::Ns2Linux($repair) => $does,
        }
    };
}

impl Repair for AnyRepair {
    fn begin(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        each!(self, repair => repair.begin(tcb, now, wire));
    }

    #[inline]
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire) {
        each!(self, repair => repair.on_ack(tcb, ack, wire));
    }

    fn on_timeout(&mut self, tcb: &mut Tcb, now: Instant, handshake: bool) -> Gaps {
        each!(self, repair => repair.on_timeout(tcb, now, handshake))
    }

    #[inline]
    fn is_idle(&self) -> bool {
        each!(self, repair => repair.is_idle())
    }

    #[inline]
    fn in_flight(&self, tcb: &Tcb) -> u32 {
        each!(self, repair => repair.in_flight(tcb))
    }

    #[inline]
    fn window(&self, tcb: &Tcb) -> u64 {
        each!(self, repair => repair.window(tcb))
    }

    fn has_room(&self, tcb: &Tcb) -> bool {
        each!(self, repair => repair.has_room(tcb))
    }

    fn send(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        each!(self, repair => repair.send(tcb, now, wire));
    }

    fn on_syn_answered(&mut self, at: Instant, rtt: Span) -> bool {
        each!(self, repair => repair.on_syn_answered(at, rtt))
    }

    fn packets_after_syn_timeout(&self) -> Option<u32> {
        each!(self, repair => repair.packets_after_syn_timeout())
    }

    fn goes_back(&self) -> bool {
        each!(self, repair => repair.goes_back())
    }

    fn repeats(&self, tcb: &Tcb) -> bool {
        each!(self, repair => repair.repeats(tcb))
    }

    fn window_after_timeout(&self, tcb: &Tcb) -> Option<Bytes> {
        each!(self, repair => repair.window_after_timeout(tcb))
    }

    #[inline]
    fn wake_at(&self, tcb: &Tcb) -> Option<Instant> {
        each!(self, repair => repair.wake_at(tcb))
    }

    fn on_wake(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        each!(self, repair => repair.on_wake(tcb, now, wire));
    }
}
