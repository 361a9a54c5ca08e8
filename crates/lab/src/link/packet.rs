//! The fields that the link reads of an IPv4 packet, and the memory for packets.

use std::net::Ipv4Addr;

use etherparse::{Ipv4HeaderSlice, TcpOptionElement, TcpSlice, ip_number};
use firstflight_link::Ecn;

/// Slots of one size for packets in the link, taken and given back by number.
#[derive(Debug)]
pub(crate) struct Pool {
    size: usize,
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    free: Vec<u32>,
}

impl Pool {
    /// Slots of `size` bytes; more are made when none is free.
    pub(crate) fn new(size: usize) -> Self {
        Self { size, bytes: Vec::new(), lengths: Vec::new(), free: Vec::new() }
    }

    /// A free slot.
    pub(crate) fn take(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        let first = self.lengths.len();
        self.lengths.resize(first + GROWTH, 0);
        self.bytes.resize(self.lengths.len() * self.size, 0);
        self.free.extend((first as u32 + 1..(first + GROWTH) as u32).rev());
        first as u32
    }

    /// Gives a slot back.
    pub(crate) fn give(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// All room of a slot, for reading into it.
    pub(crate) fn room(&mut self, slot: u32) -> &mut [u8] {
        let start = slot as usize * self.size;
        &mut self.bytes[start..start + self.size]
    }

    /// Sets how many bytes of a slot hold a packet.
    pub(crate) fn set_length(&mut self, slot: u32, length: usize) {
        self.lengths[slot as usize] = length.min(self.size);
    }

    /// The packet in a slot.
    pub(crate) fn packet(&self, slot: u32) -> &[u8] {
        let start = slot as usize * self.size;
        &self.bytes[start..start + self.lengths[slot as usize]]
    }
}

/// The length of an IPv4 packet's TCP or UDP payload: 0 of a pure ACK or a SYN; of all else what
/// follows the IP header; `None` of what is no IPv4.
pub(crate) fn payload(packet: &[u8]) -> Option<usize> {
    match ipv4(packet)? {
        (ip, _) if ip.protocol() == ip_number::TCP => Some(tcp(packet)?.payload().len()),
        (ip, body) if ip.protocol() == ip_number::UDP => Some(body.len().saturating_sub(UDP)),
        (_, body) => Some(body.len()),
    }
}

/// The ECN field of an IPv4 packet.
pub(crate) fn ecn(packet: &[u8]) -> Ecn {
    match ipv4(packet).map_or(0, |(ip, _)| ip.ecn().value()) {
        0 => Ecn::NotCapable,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// How many blocks of SACK a TCP packet has.
pub(crate) fn sack_blocks(packet: &[u8]) -> u64 {
    let Some(tcp) = tcp(packet) else { return 0 };
    let blocks = |option| match option {
        TcpOptionElement::SelectiveAcknowledgement(_, more) => {
            Some(1 + more.iter().flatten().count() as u64)
        }
        _ => None,
    };
    tcp.options_iterator().flatten().find_map(blocks).unwrap_or(0)
}

/// Whether an IPv4 packet may be marked: ECT(0), ECT(1), or marked already (RFC 3168 section 5).
pub(crate) fn is_ecn_capable(packet: &[u8]) -> bool {
    ipv4(packet).is_some_and(|(ip, _)| ip.ecn().value() > 0)
}

/// Marks an IPv4 packet that may be marked. Its checksum changes with the word that has the two
/// bits (RFC 1624, equation 3).
pub(crate) fn mark(packet: &mut [u8]) {
    let Some(header) = packet.first_chunk_mut::<20>() else { return };
    let word = |header: &[u8; 20], at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (before, checksum) = (word(header, 0), word(header, 10));
    header[1] |= CE;
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(word(header, 0));
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// Whether it is TCP.
pub(crate) fn is_tcp(packet: &[u8]) -> bool {
    tcp(packet).is_some()
}

/// Whether it opens a connection.
pub(crate) fn is_syn(packet: &[u8]) -> bool {
    tcp(packet).is_some_and(|tcp| tcp.syn())
}

/// The port that a TCP packet goes to.
pub(crate) fn port(packet: &[u8]) -> Option<u16> {
    Some(tcp(packet)?.destination_port())
}

/// The protocol of a TCP or UDP packet, and its ports.
pub(crate) fn flow(packet: &[u8]) -> Option<(u8, u16, u16)> {
    let (ip, body) = ipv4(packet)?;
    let ports = matches!(ip.protocol(), ip_number::TCP | ip_number::UDP);
    let &[a, b, c, d] = body.first_chunk().filter(|_| ports)?;
    Some((ip.protocol().0, u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

/// Source and destination of an IPv4 packet.
pub(crate) fn addresses(packet: &[u8]) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let (ip, _) = ipv4(packet)?;
    Some((ip.source_addr(), ip.destination_addr()))
}

fn tcp(packet: &[u8]) -> Option<TcpSlice<'_>> {
    let (ip, body) = ipv4(packet)?;
    TcpSlice::from_slice(body).ok().filter(|_| ip.protocol() == ip_number::TCP)
}

fn ipv4(packet: &[u8]) -> Option<(Ipv4HeaderSlice<'_>, &[u8])> {
    let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
    Some((ip, &packet[ip.slice().len()..]))
}

/// Both bits of the ECN field, in the second byte of the header.
const CE: u8 = 3;
/// The header of UDP, bytes.
const UDP: usize = 8;
/// Slots made at a time.
const GROWTH: usize = 256;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An IPv4 packet from 10.0.0.1 to 10.0.0.2 with 20 bytes of TCP header and a payload.
    pub(crate) fn tcp(payload: usize) -> Vec<u8> {
        let mut packet = vec![0; 40 + payload];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[12..16].copy_from_slice(&[10, 0, 0, 1]);
        packet[16..20].copy_from_slice(&[10, 0, 0, 2]);
        packet[22..24].copy_from_slice(&PORT.to_be_bytes());
        packet[32] = 5 << 4;
        packet
    }

    /// One without payload that opens a connection.
    pub(crate) fn syn() -> Vec<u8> {
        let mut packet = tcp(0);
        packet[33] = 2;
        packet
    }

    /// A packet as [`tcp`] makes it, with UDP's header of 8 bytes.
    pub(crate) fn udp(payload: usize) -> Vec<u8> {
        let mut packet = tcp(payload);
        packet[9] = 17;
        packet.truncate(28 + payload);
        packet
    }

    /// Where the packets of tests go.
    pub(crate) const PORT: u16 = 10_001;

    #[test]
    fn slots_come_back_and_keep_their_packets_apart() {
        let mut pool = Pool::new(8);
        let slots: Vec<u32> = (0..300).map(|_| pool.take()).collect();
        for slot in &slots {
            pool.room(*slot).fill(*slot as u8);
            pool.set_length(*slot, 3);
        }
        assert!(slots.iter().all(|slot| pool.packet(*slot) == [*slot as u8; 3]));
        pool.give(slots[7]);
        assert_eq!(pool.take(), slots[7]);
    }

    /// The sum over a header is zero where its checksum is right (RFC 1071).
    #[test]
    fn a_marked_header_has_its_checksum() {
        let sum = |packet: &[u8]| {
            let words =
                packet[..20].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
            let sum: u32 = words.sum();
            !((sum & 0xffff) + (sum >> 16)) as u16
        };
        for (ecn, rest) in [(0_u8, 0_u8), (1, 0), (2, 7), (3, 0), (2, 255)] {
            let mut packet = tcp(10);
            (packet[1], packet[7]) = (0x40 | ecn, rest);
            let right = sum(&packet).to_be_bytes();
            packet[10..12].copy_from_slice(&right);
            assert_eq!(is_ecn_capable(&packet), ecn > 0);
            mark(&mut packet);
            assert_eq!((packet[1], sum(&packet)), (0x43, 0));
        }
    }

    #[test]
    fn payload_is_separated_from_headers_and_garbage_is_none() {
        assert_eq!(payload(&tcp(0)), Some(0));
        assert_eq!(payload(&tcp(100)), Some(100));
        assert_eq!(payload(&udp(100)), Some(100));
        assert_eq!(payload(&[]), None);
        assert_eq!(payload(&[0x60; 60]), None);
        assert_eq!(payload(&tcp(0)[..25]), None);
        let addresses = addresses(&tcp(0)).unwrap();
        assert_eq!(addresses.1, Ipv4Addr::new(10, 0, 0, 2));
    }
}
