//! What a transport reports to the sender: a segment left, an ACK came, data was lost.
//!
//! The transport owns sequence numbers, timers and retransmission. The core sees only these events,
//! so the same policies serve a simulated TCP, a QUIC stack and the kernel.

use crate::units::{Bytes, Instant, Span};

/// Data left the sender, for the first time or again.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left.
    pub now: Instant,
    /// Payload, in bytes.
    pub bytes: Bytes,
    /// Payload in flight, this segment included.
    pub in_flight: Bytes,
    /// Whether this is a retransmission. QUIC repairs by sending new packets, which count as new
    /// data.
    pub again: bool,
}

/// One acknowledgement arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Payload newly acknowledged cumulatively; zero for a duplicate ACK.
    pub acked: Bytes,
    /// Payload that this ACK is the first to report as taken by the receiver, by whatever means:
    /// cumulatively, selectively, or by the duplicate ACK of a segment out of order. The sum over a
    /// connection never exceeds what the receiver has taken, and equals it at the end. So a
    /// cumulative ACK is not credited again for what duplicate ACKs announced, after a timeout as
    /// before it, nor a duplicate ACK for a segment that came twice.
    ///
    /// A kernel without SACK takes every duplicate ACK for a segment and forgets them at a timeout,
    /// so there the same payload may be credited twice.
    pub credited: Bytes,
    /// RTT sample of the newest segment acknowledged, unless it had been retransmitted (Karn).
    pub rtt: Option<Span>,
    /// Payload still in flight after this ACK, before anything is sent in answer.
    pub in_flight: Bytes,
    /// SND.NXT as an offset: where the acknowledgement of all that is outstanding would put
    /// [`crate::view::View::acked`]. A position, not a counter: it falls back to what is
    /// acknowledged when a timeout makes TCP start again from there, and in QUIC by what is lost,
    /// because that is never acknowledged.
    pub snd_nxt: Bytes,
    /// Rate sample of the newest segment acknowledged, where the transport takes them.
    pub sample: Option<RateSample>,
    /// The state in which the newest segment acknowledged had left, where the transport keeps it.
    pub packet: Option<Departure>,
    /// Payload newly reported as marked with congestion experienced (RFC 3168, RFC 9002 section
    /// 7.1).
    pub marked: Bytes,
    /// Whether the source, not the window, limited sending when the acknowledged data left.
    pub app_limited: bool,
    /// Whether this is a further part of the acknowledgement reported just before. QUIC
    /// acknowledges many packets by one frame and lets the window grow by all of them (RFC 9002
    /// section 7.3.1), so that its transport reports a frame packet by packet: the first part
    /// carries what the frame credits, its RTT and its samples, the others only [`Ack::acked`] and
    /// [`Ack::to_come`]. A limit per acknowledgement, as RFC 9406's L, counts over all parts.
    pub continues: bool,
    /// How many bytes the further parts of this acknowledgement will acknowledge; 0 at the last
    /// part, and for TCP. At the first part, which carries the RTT of the frame's newest packet,
    /// [`crate::view::View::acked`] plus this is what the whole frame acknowledges.
    pub to_come: Bytes,
}

/// How fast data was delivered between the sending and the acknowledgement of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Payload delivered in between.
    pub delivered: Bytes,
    /// The longer of the sending and the acknowledging interval.
    pub interval: Span,
    /// Whether the source limited sending at some time in between.
    pub app_limited: bool,
}

/// The state of the connection when a packet left (draft-ietf-ccwg-bbr, the per-packet state of
/// delivery-rate samples).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// When it left, for the last time.
    pub sent_at: Instant,
    /// Payload delivered by then.
    pub delivered: Bytes,
    /// Payload in flight then, the packet included.
    pub in_flight: Bytes,
}

/// Data was found lost. A transport reports every loss, also during a recovery; the sender cuts
/// once per recovery.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was found.
    pub now: Instant,
    /// How it was found.
    pub kind: LossKind,
    /// Payload newly found lost.
    pub lost: Bytes,
    /// Into how many separate gaps that payload falls, as far as the transport knows: at least one
    /// if anything is lost.
    pub gaps: u32,
    /// The amount that a halving halves. RFC 5681 section 3.1 says FlightSize; ns-2 and Linux take
    /// the window. The transport's profile decides.
    pub flight: Bytes,
    /// Whether what is lost had been sent again before: a retransmission was lost. QUIC, whose
    /// packets leave once, loses nothing again.
    pub again: bool,
    /// Whether the loss is no new sign of congestion, because an earlier one has been answered that
    /// covers it. TCP's repair says so of a timeout during a recovery, or after a timeout of the
    /// same data (RFC 5681 section 3.1); of what left before the last recovery period began (RFC
    /// 9002 section 7.3.2) the sender finds it by [`Loss::sent_at`].
    pub answered: bool,
    /// When the newest lost packet had left, from a transport that distinguishes recoveries by time
    /// (RFC 9002 section 7.3.1). With `None` the order of events distinguishes them.
    pub sent_at: Option<Instant>,
    /// Whether a timeout is being repaired whose cut covers this loss too: no recovery begins
    /// before that window is acknowledged (RFC 6675 section 5.1, `RecoveryPoint`).
    pub after_timeout: bool,
}

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Duplicate ACKs or SACK (RFC 5681 section 3.2, RFC 6675), or a packet threshold (RFC 9002).
    Recovery,
    /// The retransmission timer (RFC 6298), or persistent congestion (RFC 9002 section 7.6).
    Timeout,
    /// Congestion experienced marks (RFC 3168).
    Mark,
}

impl Loss {
    /// The loss of one packet, or a mark, found for the first time, in one gap.
    pub const fn of(now: Instant, kind: LossKind, lost: Bytes, flight: Bytes) -> Self {
        let gaps = if lost.0 > 0 { 1 } else { 0 };
        Self {
            now,
            kind,
            lost,
            gaps,
            flight,
            again: false,
            answered: false,
            sent_at: None,
            after_timeout: false,
        }
    }
}
