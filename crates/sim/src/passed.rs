//! What passes a sender, packet by packet: what a capture at its interface would show.

use firstflight_core::units::Instant;

use crate::packet::{AckOut, HELD, Kind, PART};

/// A packet that a TCP sender sent, or an ACK that reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// When.
    pub at: Instant,
    /// The connection that it belongs to, of a flow that opens several, from 0.
    pub connection: u32,
    /// What it is.
    pub what: Segment,
}

/// What passes a sender. Packets have numbers, from 0; where there is a SYN, that is number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// It opens the connection.
    Syn,
    /// The third packet of a handshake.
    HandshakeAck,
    /// Data of this number.
    Data(u32),
    /// An ACK reaches the sender.
    Ack {
        /// The next packet expected: all below it has arrived.
        next: u32,
        /// A packet that had arrived when it left: it reports that packet if it lies beyond `next`.
        cause: u32,
        /// It is no packet of its own, but the next ACK's report of one arrival more.
        is_part: bool,
        /// The window that the receiver offers, in packets.
        window: u32,
    },
}

/// The record of one flow.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) passed: Vec<Passed>,
}

impl Record {
    /// A packet leaves.
    pub(crate) fn sent(&mut self, at: Instant, connection: u32, kind: &Kind) {
        let what = match kind {
            Kind::Syn => Segment::Syn,
            Kind::HandshakeAck => Segment::HandshakeAck,
            Kind::Data(seq) => Segment::Data(*seq),
            Kind::Ack { .. } | Kind::Datagram(_) | Kind::CrossTraffic => return,
        };
        self.passed.push(Passed { at, connection, what });
    }

    /// An ACK arrives. Returns its place: the window that it advertises is known when the sender
    /// has taken it.
    pub(crate) fn acked(&mut self, at: Instant, connection: u32, ack: &AckOut) -> usize {
        let (cause, is_part) = (ack.cause & !(PART | HELD), ack.cause & PART != 0);
        let what = Segment::Ack { next: ack.next, cause, is_part, window: 0 };
        self.passed.push(Passed { at, connection, what });
        self.passed.len() - 1
    }

    /// The ACK at that place advertises a window of so many packets.
    pub(crate) fn advertised(&mut self, place: usize, packets: u32) {
        if let Some(Passed { what: Segment::Ack { window, .. }, .. }) = self.passed.get_mut(place) {
            *window = packets;
        }
    }
}
