//! Short-header packets and ACK frames, written and read by hand (RFC 9000 sections 17.3 and 19.3).

use super::keys::Tapped;

/// What a packet of the other end says outside its encryption.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) number: u64,
    pub(crate) key_phase: usize,
}

/// Length of the connection ids that quinn makes.
pub(crate) const ID: usize = 8;

/// Takes off the header protection of a 1-RTT packet; `None` of any other.
pub(crate) fn read(keys: &Tapped, datagram: &[u8], largest: u64) -> Option<Seen> {
    let (_, other) = keys.header.as_ref()?;
    if datagram.first()? & LONG != 0 || datagram.len() < 1 + ID + 4 + other.sample_size() {
        return None;
    }
    let mut packet = datagram.to_vec();
    other.decrypt(1 + ID, &mut packet);
    let length = usize::from(packet[0] & 3) + 1;
    let bytes = packet[1 + ID..1 + ID + length].iter();
    let truncated = bytes.fold(0, |number, byte| number << 8 | u64::from(*byte));
    let number = expand(truncated, length, largest + 1);
    Some(Seen { number, key_phase: usize::from(packet[0] >> 2 & 1) })
}

/// A packet number from its last bytes (RFC 9000 appendix A.3).
fn expand(truncated: u64, length: usize, expected: u64) -> u64 {
    let window = 1 << (8 * length);
    let candidate = expected & !(window - 1) | truncated;
    if candidate + window / 2 <= expected {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

/// A 1-RTT packet of these frames, sealed.
pub(crate) fn seal(keys: &Tapped, phase: usize, id: &[u8], number: u64, frames: &[u8]) -> Vec<u8> {
    let (own, _) = keys.header.as_ref().expect("the handshake is over");
    let key = &keys.packet[phase.min(keys.packet.len() - 1)];
    let mut packet = vec![FIXED | (phase as u8) << 2 | 3];
    packet.extend_from_slice(id);
    packet.extend_from_slice(&u32::try_from(number).expect("few packets").to_be_bytes());
    let header = packet.len();
    packet.extend_from_slice(frames);
    packet.resize(packet.len() + key.tag_len(), 0);
    key.encrypt(number, &mut packet, header);
    own.encrypt(1 + ID, &mut packet);
    packet
}

/// An ACK frame of ranges with both ends, the highest first; `delay` as it stands in the frame,
/// `counts` those of packets without a mark of congestion and with one.
pub(crate) fn ack(ranges: &[(u64, u64)], delay: u64, counts: Option<(u64, u64)>) -> Vec<u8> {
    let [(low, high), rest @ ..] = ranges else { return Vec::new() };
    let mut frame = vec![if counts.is_some() { 3 } else { 2 }];
    for value in [*high, delay, rest.len() as u64, high.saturating_sub(*low)] {
        varint(&mut frame, value);
    }
    let mut above = *low;
    for (low, high) in rest {
        // Wrong of ranges that overlap, which is what a liar may say.
        varint(&mut frame, above.wrapping_sub(high + 2) & MOST);
        varint(&mut frame, high.saturating_sub(*low));
        above = *low;
    }
    for count in counts.map(|(plain, marked)| [plain, 0, marked]).into_iter().flatten() {
        varint(&mut frame, count);
    }
    frame
}

/// RFC 9000 section 16, always in eight bytes.
fn varint(to: &mut Vec<u8>, value: u64) {
    to.extend_from_slice(&(value & MOST | 3 << 62).to_be_bytes());
}

/// The largest number that a frame can hold.
pub(crate) const MOST: u64 = (1 << 62) - 1;
pub(crate) const PING: u8 = 1;
const LONG: u8 = 0x80;
const FIXED: u8 = 0x40;
