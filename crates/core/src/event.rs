//! What a transport tells the sender: a segment left, an ACK came, data was lost.
//!
//! The transport owns sequence numbers, timers and retransmission. The core sees only these events,
//! so the same policies serve a simulated TCP, a QUIC stack and the kernel.

use crate::units::{Bytes, Instant, Span};

/// New data left the sender. Retransmissions are not reported.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left.
    pub now: Instant,
    /// Payload, in bytes.
    pub bytes: Bytes,
    /// Payload in flight, this segment included.
    pub in_flight: Bytes,
}

/// One acknowledgement arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Payload newly acknowledged cumulatively; zero for a duplicate ACK.
    pub acked: Bytes,
    /// Payload that this ACK is the first to tell of as taken by the receiver, by whatever means:
    /// cumulatively, selectively, or by the duplicate ACK of a segment out of order. The sum over
    /// a connection never exceeds what the receiver has taken, and equals it at the end. So a
    /// cumulative ACK is not credited again for what duplicate ACKs announced, after a timeout as
    /// before it, nor a duplicate ACK for a segment that came twice.
    pub credited: Bytes,
    /// RTT sample of the newest segment acknowledged, unless it had been retransmitted (Karn).
    pub rtt: Option<Span>,
    /// Payload still in flight after this ACK, before anything is sent in answer.
    pub in_flight: Bytes,
    /// Payload sent at least once since the connection began (SND.NXT as an offset). It falls back
    /// to what is acknowledged when a timeout makes the sender start again from there.
    pub sent: Bytes,
    /// Rate sample of the newest segment acknowledged, where the transport takes them.
    pub sample: Option<RateSample>,
    /// Payload newly reported as marked with congestion experienced (RFC 3168, RFC 9002 section
    /// 7.1).
    pub marked: Bytes,
    /// The source, not the window, limited sending when the acknowledged data left.
    pub app_limited: bool,
}

/// How fast data was delivered between the sending and the acknowledgement of one segment.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Payload delivered in between.
    pub delivered: Bytes,
    /// The longer of the sending and the acknowledging interval.
    pub interval: Span,
    /// The source limited sending at some time in between.
    pub app_limited: bool,
}

/// Data was found lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was found.
    pub now: Instant,
    /// How it was found.
    pub kind: LossKind,
    /// Payload newly found lost.
    pub lost: Bytes,
    /// The amount that a halving halves. RFC 5681 section 3.1 says FlightSize; ns-2 and Linux take
    /// the window. The transport's profile decides.
    pub flight: Bytes,
    /// The lost segment had already been retransmitted.
    pub again: bool,
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
