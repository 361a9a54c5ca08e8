//! A packet under way: what it is, whose path it takes, and what is written into it.

use firstflight_core::units::{Instant, Span};
use firstflight_link::Ecn;

/// A packet between two ends.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// Its path's place in the network while that runs.
    pub(crate) path: u32,
    /// Its direction.
    pub(crate) way: Way,
    /// How many of the path's links in that direction it has left behind.
    pub(crate) hop: u16,
    /// The connection it belongs to, of a source that opens several.
    pub(crate) connection: u32,
    /// Its size on a link.
    pub(crate) bytes: u64,
    /// Data, an ACK, a part of a handshake, or another source's.
    pub(crate) kind: Kind,
    /// What its sender and the links wrote into it.
    pub(crate) label: Label,
}

impl Packet {
    /// Whether it has crossed its links and the access link behind them.
    pub(crate) fn is_at_end(&self) -> bool {
        self.hop == AT_END
    }

    /// Whether it is the third packet of a handshake, which random losses and losses by number
    /// spare.
    pub(crate) fn is_handshake_ack(&self) -> bool {
        matches!(self.kind, Kind::HandshakeAck)
    }

    /// Whether it is dropped behind its last link, because no end receives it.
    pub(crate) fn ends_at_last_link(&self) -> bool {
        matches!(self.kind, Kind::HandshakeAck | Kind::CrossTraffic)
    }
}

/// [`Packet::hop`] behind the access link at the end of its path.
pub(crate) const AT_END: u16 = u16::MAX;

/// What a packet is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// It opens a connection.
    Syn,
    /// The third packet of a handshake (RFC 9293 section 3.5), an ACK without data. At the receiver
    /// it changes nothing, because the first data acknowledges the SYN too.
    HandshakeAck,
    /// Data of this sequence number.
    Data(u32),
    /// An acknowledgement.
    Ack {
        ack: AckOut,
        /// Packets besides its cause that it is the first to acknowledge selectively.
        sacked: Vec<u32>,
        /// Boxed because few flows have ECN or talk to routers.
        report: Option<Box<Report>>,
    },
    /// What another protocol sends.
    Datagram(Vec<u8>),
    /// It comes from a source without congestion control.
    CrossTraffic,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With the data: over the flow's path.
    Forward,
    /// With the ACKs: the reverse path.
    Back,
}

/// What a packet of data carries for links, routers and its receiver.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// What IP says of congestion (RFC 3168).
    pub(crate) ecn: Ecn,
    /// Its sender has reduced the window: CWR.
    pub(crate) reduced: bool,
    /// What it says to routers. Boxed because few flows talk to them.
    pub(crate) header: Option<Box<Header>>,
}

/// What a packet says to the routers, and what they write into it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// The sender's smoothed RTT; zero before it has one.
    pub(crate) rtt: Span,
    /// That RTT over its window in packets: the time between two of its packets.
    pub(crate) spacing: Span,
    /// XCP: by how much its rate may change, in bits per second on a link.
    pub(crate) change_bps: i64,
    /// EBN: the rate that is the connection's, in bits per second on a link.
    pub(crate) share_bps: u64,
    /// Quick-Start: what is left of the rate that it asks for; 0 if it does not ask.
    pub(crate) asked_bps: u64,
}

/// An ACK as it leaves the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckOut {
    /// When it leaves.
    pub(crate) at: Instant,
    /// The next packet expected: all below it has arrived.
    pub(crate) next: u32,
    /// The packet that caused it.
    pub(crate) cause: u32,
    /// SACK blocks it carries.
    pub(crate) blocks: u32,
    /// It is sent as this many ACKs, each for a part of what is new.
    pub(crate) parts: u32,
    /// How many packets besides its cause it is the first to acknowledge selectively.
    pub(crate) more: u32,
}

/// What an ACK reports of marks and of the routers' feedback, as it stands on a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) change_bps: i64,
    pub(crate) share_bps: Option<u64>,
    /// What the routers granted the SYN.
    pub(crate) granted_bps: u64,
    /// ECN-Echo.
    pub(crate) echo: bool,
    /// Packets marked since the ACK before: by how much AccECN's or QUIC's counters have grown.
    pub(crate) marked: u32,
}

impl Label {
    /// The label of a packet whose flow neither has ECN nor talks to routers.
    pub(crate) const NONE: Self = Self { ecn: Ecn::NotCapable, reduced: false, header: None };
}

impl Header {
    /// As it leaves its sender, who takes whatever the routers have.
    pub(crate) fn new(rtt: Span, spacing: Span) -> Self {
        let (change_bps, share_bps) = (i64::MAX, u64::MAX);
        Self { rtt, spacing, change_bps, share_bps, asked_bps: 0 }
    }
}

/// On the cause of an ACK: it is one of several parts, and not the last.
pub(crate) const PART: u32 = 1 << 31;

/// On the cause of an ACK: the receiver has held it back until its timer let it go. So many packets
/// no run sends.
pub(crate) const HELD: u32 = 1 << 30;
