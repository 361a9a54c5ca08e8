//! Segments of TCP as a pcap, headers alone: what `tcpdump -s 88` would have taken.

use std::io::{self, Write};

use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};

/// A file that is being written.
#[derive(Debug)]
pub struct Pcap<W> {
    to: W,
    /// The zeros that every payload is made of.
    payload: Vec<u8>,
}

/// A segment; its numbers count bytes from the SYN of its end.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// When, nanoseconds since the file's begin.
    pub at_ns: u64,
    /// Which connection it belongs to: each has ports, or an address, of its own.
    pub connection: u32,
    /// It comes from the receiver of the data.
    pub is_back: bool,
    /// The number of its first byte.
    pub sequence: u32,
    /// What it acknowledges; every segment but the first does.
    pub ack: Option<u32>,
    /// The window that it offers, bytes.
    pub window: u64,
    /// It is a SYN, which says of the segments to come how large they are and whether ACKs have
    /// what arrived out of order.
    pub syn: Option<(u16, bool)>,
    /// Bytes of payload.
    pub payload: u16,
    /// What has arrived out of order, as first number and one past the last (RFC 2018).
    pub blocks: Vec<(u32, u32)>,
}

impl<W: Write> Pcap<W> {
    /// Begins a file of raw IP with times in nanoseconds.
    ///
    /// # Errors
    /// As the writer's.
    pub fn new(mut to: W) -> io::Result<Self> {
        // The magic number, version 2.4, no offset of times, the longest packet, LINKTYPE_RAW
        // (draft-ietf-opsawg-pcap, section 4).
        for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 101] {
            to.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { to, payload: Vec::new() })
    }

    /// Appends a segment.
    ///
    /// # Errors
    /// A segment that is no packet of IPv4, and the writer's.
    pub fn segment(&mut self, segment: &Segment) -> io::Result<()> {
        let near = SENDERS + segment.connection / PORTS;
        let port = FIRST_PORT + (segment.connection % PORTS) as u16;
        let ends = [(near, port), (RECEIVER, RECEIVER_PORT)];
        let [from, to] = if segment.is_back { [ends[1], ends[0]] } else { ends };
        let mut tcp = TcpHeader::new(from.1, to.1, segment.sequence, field(segment));
        (tcp.syn, tcp.ack) = (segment.syn.is_some(), segment.ack.is_some());
        tcp.acknowledgment_number = segment.ack.unwrap_or_default();
        tcp.set_options(&options(segment)).map_err(invalid)?;
        let length = u16::try_from(tcp.header_len()).map_err(invalid)?;
        let length = length.checked_add(segment.payload).ok_or_else(|| invalid("too long"))?;
        let addresses = [from.0, to.0].map(u32::to_be_bytes);
        let ip = Ipv4Header::new(length, TTL, IpNumber::TCP, addresses[0], addresses[1]);
        let ip = ip.map_err(invalid)?;
        self.payload.resize(segment.payload.into(), 0);
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &self.payload).map_err(invalid)?;
        let mut headers = Vec::with_capacity(MOST_HEADERS);
        ip.write(&mut headers)?;
        tcp.write(&mut headers)?;
        let at_ns = EPOCH_S * 1_000_000_000 + segment.at_ns;
        let seconds = u32::try_from(at_ns / 1_000_000_000).map_err(invalid)?;
        let (kept, whole) = (headers.len() as u32, headers.len() as u32 + segment.payload as u32);
        for word in [seconds, (at_ns % 1_000_000_000) as u32, kept, whole] {
            self.to.write_all(&word.to_le_bytes())?;
        }
        self.to.write_all(&headers)
    }

    /// Hands the writer back.
    pub fn finish(self) -> W {
        self.to
    }
}

/// The window as it stands in a header: that of a SYN is not scaled (RFC 7323, section 2.2).
fn field(segment: &Segment) -> u16 {
    let shift = if segment.syn.is_some() { 0 } else { SCALE };
    u16::try_from(segment.window >> shift).unwrap_or(u16::MAX)
}

fn options(segment: &Segment) -> Vec<TcpOptionElement> {
    let mut options = Vec::new();
    if let Some((mss, sack)) = segment.syn {
        options.push(TcpOptionElement::MaximumSegmentSize(mss));
        options.extend(sack.then_some(TcpOptionElement::SelectiveAcknowledgementPermitted));
        options.push(TcpOptionElement::WindowScale(SCALE));
    } else if let [first, others @ ..] = &segment.blocks[..] {
        let other = |place: usize| others.get(place).copied();
        let others = [other(0), other(1), other(2)];
        options.push(TcpOptionElement::SelectiveAcknowledgement(*first, others));
    }
    options
}

fn invalid(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

/// The largest scale that there is (RFC 7323, section 2.3): a window is known to 16 KiB.
const SCALE: u8 = 14;
const TTL: u8 = 64;
/// Addresses for measurements (RFC 2544, appendix C.2.2): 198.18.0.1 and on, and 198.19.0.1.
const SENDERS: u32 = 0xc612_0001;
const RECEIVER: u32 = 0xc613_0001;
const RECEIVER_PORT: u16 = 5201;
/// The ephemeral ports (RFC 6335, section 6).
const FIRST_PORT: u16 = 49_152;
const PORTS: u32 = 16_384;
/// Both headers with all options.
const MOST_HEADERS: usize = 80;
/// 2026-01-01, so that a handshake may come before the run begins.
const EPOCH_S: u64 = 1_767_225_600;
