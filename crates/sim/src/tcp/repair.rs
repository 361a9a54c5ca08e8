//! What a kind of loss repair has to say: how it answers ACKs and timeouts, and what may leave
//! while it repairs. One file per kind implements it.

use firstflight_core::units::{Bytes, Instant, Span};

use super::log::Mark;
use super::tcb::Tcb;
use super::{Gaps, Wire};

/// An ACK of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataAck {
    pub(super) now: Instant,
    /// All below has been received.
    pub(super) next: u32,
    /// The packet that caused it.
    pub(super) cause: u32,
    /// Packets beyond `next` that it is the first to report.
    pub(super) early: u32,
}

/// A kind of loss repair and its state.
pub(super) trait Repair: Sized {
    /// The first data may leave.
    fn begin(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        tcb.send_window(self, now, 0, wire);
    }

    /// An ACK of data arrives.
    fn on_ack(&mut self, tcb: &mut Tcb, ack: DataAck, wire: &mut impl Wire);

    /// The retransmission timer has fired for data, or for the SYN of a `handshake`, and ends what
    /// was under way. Returns what is found lost by it.
    fn on_timeout(&mut self, tcb: &mut Tcb, now: Instant, handshake: bool) -> Gaps;

    /// Nothing is being repaired, and an ACK of the next packets needs no more than a calm one
    /// does.
    fn is_idle(&self) -> bool {
        false
    }

    /// Packets in flight.
    fn in_flight(&self, tcb: &Tcb) -> u32 {
        tcb.nxt - tcb.una
    }

    /// The window to send in, in bytes, with what the repair adds to it.
    fn window(&self, tcb: &Tcb) -> u64 {
        tcb.core.cwnd().0
    }

    /// Something could leave now if it were not for the pacing rate.
    fn has_room(&self, tcb: &Tcb) -> bool {
        tcb.has_room_in(self.window(tcb))
    }

    /// Sends what may leave.
    fn send(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        tcb.send_window(self, now, 0, wire);
    }

    /// The SYN, sent at `at`, was answered after `rtt`. Whether that is a sample of the RTT.
    fn on_syn_answered(&mut self, _at: Instant, _rtt: Span) -> bool {
        true
    }

    /// A timeout of the SYN sets the window to so many packets, and all of them leave. With `None`
    /// the window stays as it is, and the SYN alone leaves again.
    fn packets_after_syn_timeout(&self) -> Option<u32> {
        Some(1)
    }

    /// A timeout makes the sender go back to the first packet that is not acknowledged.
    fn goes_back(&self) -> bool {
        true
    }

    /// The timeout now due is no further sign of congestion (RFC 5681 section 3.1: the packet had
    /// been sent again already).
    fn repeats(&self, tcb: &Tcb) -> bool {
        tcb.log.has(tcb.una, Mark::RESENT) && !tcb.endpoint.rto.timer.ticks()
    }

    /// The window that a timeout leaves, where that is not the core's.
    fn window_after_timeout(&self, _tcb: &Tcb) -> Option<Bytes> {
        None
    }

    /// When [`Repair::on_wake`] must be called. While [`Repair::is_idle`] the earliest time is that
    /// of the retransmission timer's start, plus an RTT, plus the smaller of an RTT and the
    /// shortest timeout.
    fn wake_at(&self, _tcb: &Tcb) -> Option<Instant> {
        None
    }

    /// That time has come.
    fn on_wake(&mut self, _tcb: &mut Tcb, _now: Instant, _wire: &mut impl Wire) {}
}
