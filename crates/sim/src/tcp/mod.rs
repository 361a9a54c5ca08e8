//! The sending endpoint: sequence numbers in packets, the window, the retransmission timer.
//!
//! Mechanism only: how large the window is, the core's sender decides. How lost packets are found
//! and repaired stands in one file per kind of repair ([`repair`]).

mod advertised_window;
mod any_repair;
mod calm;
mod credit;
mod ecn;
mod fast_recovery;
mod log;
mod ns2;
mod pacing;
mod parts;
mod path_signals;
mod prr;
mod quic;
mod rack;
mod repair;
pub(crate) mod rto;
mod sack;
mod samples;
mod send;
mod tcb;
#[cfg(test)]
mod testing;
mod timeout;
mod window_validation;
mod wire;

use firstflight_core::hint::PathHint;
use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant};
use firstflight_results::Counts;

use crate::control::Core;
use crate::network::FlowSpec;
use crate::packet::PART;
use crate::watch::{SenderState, Watched};
use any_repair::AnyRepair;
use log::Mark;
use repair::{DataAck, Repair};
use tcb::Tcb;
pub(crate) use wire::Wire;

/// One flow's sender.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tcp {
    tcb: Tcb,
    repair: AnyRepair,
}

impl Tcp {
    /// The first connection of a flow; `fast_paths` lets calm ACKs take their own way ([`calm`]).
    pub(crate) fn new(spec: &FlowSpec, fast_paths: bool) -> Self {
        Self::with(spec, spec.endpoint.syn, fast_paths)
    }

    fn with(spec: &FlowSpec, syn: bool, fast_paths: bool) -> Self {
        Self { repair: AnyRepair::of(&spec.endpoint), tcb: Tcb::new(spec, syn, fast_paths) }
    }

    /// The source's next connection, of so many packets. Its counters go on from this one's.
    pub(crate) fn successor(&self, spec: &FlowSpec, packets: u32, syn: bool) -> Self {
        let mut fresh = Self::with(spec, syn, self.tcb.fast_paths);
        fresh.tcb.end = packets.saturating_add(fresh.tcb.opening());
        fresh.tcb.counts = self.counts();
        fresh
    }

    /// Everything there was to send has been acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.tcb.una >= self.tcb.end
    }

    /// The window that the receiver offers, in packets.
    pub(crate) fn advertised_window(&self) -> u32 {
        self.tcb.advertised_window()
    }

    /// Opens the connection.
    pub(crate) fn start(&mut self, now: Instant, wire: &mut impl Wire) {
        let Self { tcb, repair } = self;
        tcb.extend(0, 0);
        if tcb.first_data > 0 {
            tcb.transmit_next(repair, now, wire);
        } else {
            tcb.core.begin(now);
            repair.begin(tcb, now, wire);
        }
    }

    /// The source falls silent: what has been sent is still repaired.
    pub(crate) fn stop(&mut self) {
        let tcb = &mut self.tcb;
        tcb.end = tcb.end.min(tcb.max.max(tcb.first_data));
        tcb.limit = tcb.limit.min(tcb.end);
    }

    /// An ACK arrives: all below `next` has been received, and `cause` is the packet that caused
    /// it.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Instant, next: u32, cause: u32, wire: &mut impl Wire) {
        let packets = next.wrapping_sub(self.tcb.una);
        let may_be_calm = cause.wrapping_add(1) == next && self.tcb.is_calm();
        if !may_be_calm || !self.try_fast(now, packets, &mut wire.reborrow()) {
            self.on_ack_slowly(now, next, cause, &mut wire.reborrow());
        }
    }

    /// Takes the fast path, if the ACK is calm.
    #[inline(never)]
    fn try_fast(&mut self, now: Instant, packets: u32, wire: &mut impl Wire) -> bool {
        match self.tcb.calm_plain == 0 {
            false => self.tcb.on_calm_ack::<false>(now, packets, wire),
            true => self.try_fast_with_extras(now, packets, wire),
        }
    }

    /// Takes the fast path with what few flows need ([`Tcb::on_calm_ack`]).
    #[inline(never)]
    fn try_fast_with_extras(&mut self, now: Instant, packets: u32, wire: &mut impl Wire) -> bool {
        self.tcb.on_calm_ack::<true>(now, packets, wire)
    }

    /// An ACK arrives for the first packet that has not been acknowledged, and for no other; that
    /// packet has caused it.
    #[inline]
    pub(crate) fn on_ack_in_order(&mut self, now: Instant, wire: &mut impl Wire) {
        if !self.tcb.on_calm_ack::<false>(now, 1, wire) {
            self.on_ack_in_order_slowly(now, &mut wire.reborrow());
        }
    }

    /// [`Tcp::on_ack_in_order`] where the fast path needs more, or there is none.
    #[inline(never)]
    fn on_ack_in_order_slowly(&mut self, now: Instant, wire: &mut impl Wire) {
        let una = self.tcb.una;
        self.on_ack(now, una + 1, una, wire);
    }

    /// The general path of an ACK.
    #[inline(never)]
    fn on_ack_slowly(&mut self, now: Instant, next: u32, cause: u32, wire: &mut impl Wire) {
        let Self { tcb, repair } = self;
        if tcb.listens {
            tcb.read_feedback(repair, now, cause, wire);
        }
        if tcb.una < tcb.first_data {
            self.on_handshake(now, next, wire);
        } else if cause & PART != 0 {
            self.on_part(now, next, cause & !PART, wire);
        } else {
            let early = tcb.note_early(next, cause);
            if tcb.limit < tcb.end {
                tcb.extend(next, early);
            }
            repair.on_ack(tcb, DataAck { now, next, cause, early }, wire);
            // A recovery without SACK has left them.
            tcb.blocks.clear();
        }
        self.note_calm();
        self.note_first_timer();
    }

    /// The congestion controller.
    pub(crate) fn core(&self) -> &Core {
        &self.tcb.core
    }

    pub(crate) fn counts(&self) -> Counts {
        self.tcb.counts()
    }

    #[cold]
    fn on_handshake(&mut self, now: Instant, next: u32, wire: &mut impl Wire) {
        let Self { tcb, repair } = self;
        if next <= tcb.una {
            return;
        }
        let sent_at = tcb.log.sent_at(0);
        let sample = now.since(sent_at);
        let unseen = !repair.on_syn_answered(sent_at, sample);
        let resent = tcb.log.has(0, Mark::RESENT);
        if !resent && !unseen {
            tcb.core.on_handshake(now, sample);
            if let Some(rate) = wire.granted() {
                tcb.core.on_hint(now, &PathHint::Granted(rate));
            }
        }
        (tcb.una, tcb.nxt) = (next, tcb.nxt.max(next));
        tcb.extend(next, 0);
        if tcb.endpoint.handshake_ack {
            // It leaves before the source has data to send with it
            // (`tcp_rcv_synsent_state_process`).
            wire.acknowledge_syn();
        }
        if resent {
            tcb.rto.fall_back();
        } else if unseen {
            tcb.rto.keep_own();
        } else {
            tcb.rto.begin_deviation(sample, tcb.nxt);
        }
        tcb.rto.on_acked(next, now, (!resent).then_some(sample));
        tcb.rto.cancel();
        tcb.core.begin(now);
        repair.begin(tcb, now, wire);
    }
}

impl Watched for Tcp {
    fn cwnd(&self) -> Bytes {
        self.core().view().window.cwnd
    }

    fn in_flight(&self) -> Bytes {
        self.core().view().in_flight
    }

    fn exit(&self) -> Option<StartupExit> {
        self.core().first_exit()
    }

    fn state(&self) -> SenderState {
        let view = self.core().view();
        SenderState {
            cwnd: view.window.cwnd,
            ssthresh: view.window.ssthresh,
            in_flight: view.in_flight,
            srtt: view.rtt.smoothed,
            acked_packets: view.acked.0 / view.mss.0,
            cuts: self.counts().cuts,
            timeouts: self.counts().timeouts,
        }
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.core().gauges(report);
    }
}

/// Packets found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gaps {
    packets: u32,
    /// The separate runs they make.
    gaps: u32,
    /// They had been sent again ([`firstflight_core::event::Loss::again`]).
    again: bool,
}

impl Gaps {
    const NONE: Self = Self { packets: 0, gaps: 0, again: false };
    const ONE: Self = Self { packets: 1, gaps: 1, ..Self::NONE };
    /// No retransmission that was lost yet.
    const NONE_AGAIN: Self = Self { again: true, ..Self::NONE };

    /// Packet `seq` is found lost too; `joins` if the one before it is.
    fn add(&mut self, joins: bool) {
        self.packets += 1;
        self.gaps += u32::from(!joins);
    }
}

impl Default for Gaps {
    fn default() -> Self {
        Self::NONE
    }
}

/// The duplicate ACKs that mean a loss (RFC 5681 section 3.2).
const DUP_THRESHOLD: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Recovery;
    use crate::tcp::testing::{Air, MSS, endpoint, flow};

    /// Packet 1 arrives before packet 0, and the cumulative ACK of both arrives before the
    /// selective ACK of packet 1.
    #[test]
    fn an_ack_that_comes_late_makes_no_room_in_the_window() {
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
            let mut endpoint = endpoint();
            endpoint.recovery = recovery;
            endpoint.initial_window = Bytes(MSS * 4);
            let mut tcp = Tcp::new(&flow("slow-start", "newreno", endpoint), true);
            let mut sent = Vec::new();
            tcp.start(Instant(0), &mut Air(&mut sent));
            sent.clear();
            tcp.on_ack(Instant(100_000_000), 2, 0, &mut Air(&mut sent));
            assert_eq!(sent, [4, 5, 6], "{recovery:?}");
            sent.clear();
            tcp.on_ack(Instant(101_000_000), 0, 1, &mut Air(&mut sent));
            assert!(sent.is_empty(), "{recovery:?}: {sent:?}");
        }
    }
}
