//! A captured packet down to TCP or UDP, whatever its link.

use std::net::IpAddr;

use etherparse::{
    EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice,
};
use pcap_parser::Linktype;

/// The two ends of a packet: address and port of its source and of its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AddressPair {
    pub(crate) from: (IpAddr, u16),
    pub(crate) to: (IpAddr, u16),
}

impl AddressPair {
    /// One and the same value for both directions.
    pub(crate) fn either(self) -> Self {
        self.min(self.back())
    }

    /// The other direction.
    pub(crate) fn back(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

/// What matters of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Packet {
    pub(crate) ends: AddressPair,
    /// Bytes of payload, captured or not.
    pub(crate) payload: u64,
    /// What TCP says; `None` for UDP.
    pub(crate) tcp: Option<Tcp>,
}

/// A TCP header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tcp {
    pub(crate) sequence: u32,
    pub(crate) ack: Option<u32>,
    /// The window as it stands, without its scale.
    pub(crate) window: u16,
    pub(crate) syn: bool,
    /// The options of a SYN; `None` too where the capture has cut them off.
    pub(crate) options: Option<SynOptions>,
}

/// What a SYN says of the segments and windows to come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SynOptions {
    /// The largest segment that this end takes.
    pub(crate) mss: Option<u16>,
    /// By how many bits it will shift its windows (RFC 7323, section 2.2).
    pub(crate) scale: Option<u8>,
    /// It knows time stamps, which take twelve bytes of each segment (RFC 7323, appendix A).
    pub(crate) timestamps: bool,
}

/// The packet in a frame of so many bytes, of which these were captured, if it is TCP or UDP over
/// IP, whole and with the fixed part of its header.
pub(crate) fn packet(link: Linktype, frame: &[u8], original: u64) -> Option<Packet> {
    let sliced = match link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(frame).ok()?,
        Linktype::NULL | Linktype::LOOP => LaxSlicedPacket::from_ip(frame.get(4..)?).ok()?,
        Linktype::LINUX_SLL => cooked(frame, 14, 16)?,
        Linktype::LINUX_SLL2 => cooked(frame, 0, 20)?,
        _ => LaxSlicedPacket::from_ip(frame).ok()?,
    };
    let (source, destination, length): (IpAddr, IpAddr, u64) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let length = header.total_len().saturating_sub(u16::from(header.ihl()) * 4);
            (header.source_addr().into(), header.destination_addr().into(), length.into())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let length = header.payload_length();
            (header.source_addr().into(), header.destination_addr().into(), length.into())
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let ip = sliced.net.as_ref()?.ip_payload_ref()?;
    if ip.fragmented {
        return None;
    }
    let bytes = ip.payload;
    let ends = |ports: &[u8; 4]| {
        let port = |place: usize| u16::from_be_bytes([ports[place], ports[place + 1]]);
        AddressPair { from: (source, port(0)), to: (destination, port(2)) }
    };
    match ip.ip_number {
        IpNumber::UDP => {
            let ports = bytes.first_chunk()?;
            Some(Packet { ends: ends(ports), payload: length.saturating_sub(8), tcp: None })
        }
        IpNumber::TCP => {
            // The fixed part, RFC 9293 section 3.1: options may be cut off.
            let fixed: &[u8; 20] = bytes.first_chunk()?;
            let number = |place: usize| {
                u32::from_be_bytes([0, 1, 2, 3].map(|next: usize| fixed[place + next]))
            };
            let (header, flags) = (u64::from(fixed[12] >> 4) * 4, fixed[13]);
            // A sender may hand over more than the length field holds, and leave it at 0.
            let cut = original.saturating_sub(frame.len() as u64);
            let payload = if length == 0 { bytes.len() as u64 + cut } else { length };
            let (syn, ack) = (flags & 0x02 != 0, flags & 0x10 != 0);
            let tcp = Tcp {
                sequence: number(4),
                ack: ack.then(|| number(8)),
                window: u16::from_be_bytes([fixed[14], fixed[15]]),
                syn,
                options: sliced.transport.filter(|_| syn).and_then(|segment| options(&segment)),
            };
            let payload = payload.saturating_sub(header);
            Some(Packet { ends: ends(bytes.first_chunk()?), payload, tcp: Some(tcp) })
        }
        _ => None,
    }
}

fn options(segment: &TransportSlice<'_>) -> Option<SynOptions> {
    let TransportSlice::Tcp(tcp) = segment else { return None };
    let mut found = SynOptions::default();
    for option in tcp.options_iterator().flatten() {
        match option {
            TcpOptionElement::MaximumSegmentSize(bytes) => found.mss = Some(bytes),
            // More than 14 is to be taken for 14 (RFC 7323, section 2.3).
            TcpOptionElement::WindowScale(bits) => found.scale = Some(bits.min(14)),
            TcpOptionElement::Timestamp(..) => found.timestamps = true,
            _ => {}
        }
    }
    Some(found)
}

/// What Linux writes for the pseudo-interface `any`: the protocol is at one place, the packet
/// behind the header.
fn cooked(frame: &[u8], protocol: usize, header: usize) -> Option<LaxSlicedPacket<'_>> {
    let kind = frame.get(protocol..protocol + 2)?;
    let kind = EtherType(u16::from_be_bytes([kind[0], kind[1]]));
    Some(LaxSlicedPacket::from_ether_type(kind, frame.get(header..)?))
}

/// Whether packets of this link can be read.
pub(crate) fn is_known(link: Linktype) -> bool {
    // Two systems have other numbers for raw IP (tcpdump.org/linktypes.html, LINKTYPE_RAW).
    let raw = [Linktype::RAW, Linktype::IPV4, Linktype::IPV6, Linktype(12), Linktype(14)];
    let framed = [
        Linktype::ETHERNET,
        Linktype::NULL,
        Linktype::LOOP,
        Linktype::LINUX_SLL,
        Linktype::LINUX_SLL2,
    ];
    raw.contains(&link) || framed.contains(&link)
}

/// The links that can be read, in words.
pub(crate) const KNOWN: &str = "Ethernet (1), raw IP (12, 14, 101, 228, 229), Linux cooked (113, \
                                276), loopback (0, 108)";
