//! A packet in four bytes, as flows that take fast paths have it: its sequence number, and a bit
//! that tells whether it belongs to the connection at hand.

use crate::flow::path::Arrived;
use crate::flow::route::Route;

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Small {
    /// Its sequence number as it travels.
    pub(crate) tagged: u32,
    /// It is as long as a SYN: one, or the third packet of a handshake.
    pub(crate) is_syn: bool,
    /// What rounding takes off its times may not add up.
    pub(crate) exact: bool,
}

/// What an event carries of a packet that reaches a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arriving {
    /// Its sequence number as it travels.
    pub(crate) tagged: u32,
    /// Place of the link on the way, or [`BACK`].
    pub(crate) hop: u16,
    /// The flow's number in the engine.
    pub(crate) flow: u16,
}

impl Small {
    /// The third packet of a handshake. Fractions of a nanosecond are kept for ns-2's agents only,
    /// which send no such packet.
    pub(super) const HANDSHAKE_ACK: Self =
        Self { tagged: HANDSHAKE_ACK, is_syn: true, exact: false };

    /// It is the third packet of a handshake.
    #[inline(always)]
    pub(super) fn is_handshake_ack(self) -> bool {
        self.tagged == HANDSHAKE_ACK
    }
}

impl Route {
    /// A sequence number as it travels.
    #[inline(always)]
    pub(super) fn tagged(&self, seq: u32) -> u32 {
        seq ^ self.tag
    }

    /// The sequence number of what arrives; `None` if it belongs to a connection that is over.
    #[inline]
    pub(super) fn untagged(&self, tagged: u32) -> Option<u32> {
        let seq = tagged ^ self.tag;
        (seq & LATER == 0).then_some(seq)
    }

    /// The packet of this number as it travels.
    #[inline]
    pub(super) fn small(&self, tagged: u32) -> Small {
        let is_syn = tagged & !LATER == 0 && self.syn_bytes.is_some();
        Small { tagged, is_syn, exact: self.access.is_exact() }
    }

    /// The packet as the receiver sees it.
    #[inline]
    pub(super) fn arrived(&self, packet: Small) -> Arrived {
        let seq = packet.tagged ^ self.tag;
        let connection = self.connection.wrapping_sub(seq >> 31);
        Arrived { seq: seq & !LATER, is_syn: packet.is_syn, connection }
    }
}

impl Arriving {
    /// It is the third packet of a handshake.
    pub(super) fn is_handshake_ack(self) -> bool {
        self.tagged == HANDSHAKE_ACK
    }

    pub(super) fn pack(self) -> u64 {
        pack(self.tagged, u32::from(self.hop) << 16 | u32::from(self.flow))
    }

    pub(crate) fn unpack(payload: u64) -> Self {
        let (tagged, place) = unpack(payload);
        Self { tagged, hop: (place >> 16) as u16, flow: place as u16 }
    }
}

/// Two halves of what an event carries.
pub(super) fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The two halves.
pub(super) fn unpack(payload: u64) -> (u32, u32) {
    ((payload >> 32) as u32, payload as u32)
}

/// The bit that tells two connections apart. Sequence numbers stay below it.
pub(crate) const LATER: u32 = 1 << 31;

/// The place of the link that ACKs share on the reverse path.
pub(super) const BACK: u16 = 0xfffe;

/// The sequence number of the third packet on the path, which no other packet has.
const HANDSHAKE_ACK: u32 = u32::MAX;
