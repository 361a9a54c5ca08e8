//! What the link reads of an IPv4 packet, and where it keeps packets.

use std::net::Ipv4Addr;

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

    /// Says how much of a slot holds a packet.
    pub(crate) fn set_length(&mut self, slot: u32, length: usize) {
        self.lengths[slot as usize] = length.min(self.size);
    }

    /// The packet in a slot.
    pub(crate) fn packet(&self, slot: u32) -> &[u8] {
        let start = slot as usize * self.size;
        &self.bytes[start..start + self.lengths[slot as usize]]
    }
}

/// The length of an IPv4 packet's TCP payload: 0 of a pure ACK or a SYN; of UDP and all else,
/// what follows the IP header; `None` of what is no IPv4.
pub(crate) fn payload(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let header = usize::from(first & 15) * 4;
    if first >> 4 != 4 || packet.len() < header.max(20) {
        return None;
    }
    let body = packet.len() - header;
    if packet[9] != TCP {
        return Some(body);
    }
    let offset = packet.get(header + 12).map(|byte| usize::from(byte >> 4) * 4)?;
    Some(body.saturating_sub(offset))
}

/// Whether it is TCP.
pub(crate) fn is_tcp(packet: &[u8]) -> bool {
    packet.get(9) == Some(&TCP)
}

/// The port that a TCP packet goes to.
pub(crate) fn port(packet: &[u8]) -> Option<u16> {
    let header = usize::from(*packet.first()? & 15) * 4;
    let bytes: [u8; 2] = packet.get(header + 2..header + 4)?.try_into().ok()?;
    is_tcp(packet).then(|| u16::from_be_bytes(bytes))
}

/// Source and destination of an IPv4 packet of 20 bytes or more.
pub(crate) fn addresses(packet: &[u8]) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let address = |at: usize| -> Option<Ipv4Addr> {
        let bytes: [u8; 4] = packet.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(bytes))
    };
    Some((address(12)?, address(16)?))
}

const TCP: u8 = 6;
/// Slots made at a time.
const GROWTH: usize = 256;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An IPv4 packet from 10.0.0.1 to 10.0.0.2 with 20 bytes of TCP header and a payload.
    pub(crate) fn tcp(payload: usize) -> Vec<u8> {
        let mut packet = vec![0; 40 + payload];
        packet[0] = 0x45;
        packet[9] = TCP;
        packet[12..16].copy_from_slice(&[10, 0, 0, 1]);
        packet[16..20].copy_from_slice(&[10, 0, 0, 2]);
        packet[22..24].copy_from_slice(&PORT.to_be_bytes());
        packet[32] = 5 << 4;
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

    #[test]
    fn payload_is_told_from_headers_and_garbage_is_none() {
        assert_eq!(payload(&tcp(0)), Some(0));
        assert_eq!(payload(&tcp(100)), Some(100));
        assert_eq!(payload(&[]), None);
        assert_eq!(payload(&[0x60; 60]), None);
        assert_eq!(payload(&tcp(0)[..25]), None);
        let addresses = addresses(&tcp(0)).unwrap();
        assert_eq!(addresses.1, Ipv4Addr::new(10, 0, 0, 2));
    }
}
