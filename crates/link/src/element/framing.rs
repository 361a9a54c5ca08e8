//! Framing: the bytes that the link layer adds to a packet. First a frame's header is added, then
//! the frame is padded to a least size, then on ATM it is cut into cells of 48 bytes with 5 of
//! header each, the last of them padded. Linux's size tables and CAKE have the same order
//! (tc-stab(8), `__qdisc_calculate_pkt_len`; ITU-T I.361 and I.363.5, RFC 2684).
//!
//! The link's rate, a buffer in bytes and a policer all count these bytes too.

use super::Element;
use super::card::{Card, Value, ValueKind};

/// What a link layer adds to each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes of headers and trailers.
    pub overhead: u64,
    /// The least that a frame takes with them, in bytes.
    pub least: u64,
    /// It goes in cells.
    pub atm: bool,
}

impl Framing {
    /// What a packet of so many bytes takes.
    pub fn bytes(self, packet: u64) -> u64 {
        let frame = packet.saturating_add(self.overhead).max(self.least);
        if self.atm { frame.div_ceil(CELL_PAYLOAD).saturating_mul(CELL) } else { frame }
    }
}

impl Element for Framing {
    fn frames(&self, bytes: u64) -> u64 {
        self.bytes(bytes)
    }
}

/// `framing = { overhead = "38B", mpu = "84B", atm = false }`.
pub(super) const CARD: Card = Card {
    key: "framing",
    values: &[
        Value::perhaps("overhead", ValueKind::Size),
        Value::perhaps("mpu", ValueKind::Size),
        Value::perhaps("atm", ValueKind::Switch),
    ],
    place: 0,
    not_back: None,
    words: |values, shown| {
        let mut text = format!("{} of framing", shown[0]);
        if values[1] > 0 {
            text += &format!(" and at least {}", shown[1]);
        }
        text + if values[2] > 0 { " and ATM cells" } else { "" }
    },
    build: |values, _| {
        for (name, size) in [("overhead", values[0]), ("mpu", values[1])] {
            if size > MOST_PACKET {
                let problem = format!("out of range; accepted: 0B to {MOST_PACKET}B");
                return Err((Some(name), problem));
            }
        }
        let framing = Framing { overhead: values[0], least: values[1], atm: values[2] > 0 };
        match framing == Framing::default() {
            true => Err((None, "it adds nothing; accepted: overhead, mpu or atm".to_owned())),
            false => Ok(Box::new(framing)),
        }
    },
};

/// The largest IP packet, in bytes.
const MOST_PACKET: u64 = 65_535;
/// ITU-T I.361.
const CELL_PAYLOAD: u64 = 48;
const CELL: u64 = 53;

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of tc-stab(8), and an ACK over PPPoE on ATM: 40 bytes and 32 of headers.
    #[test]
    fn frames_are_as_long_as_tc_says() {
        let atm = Framing { atm: true, ..Framing::default() };
        assert_eq!([1, 48, 49, 100].map(|bytes| atm.bytes(bytes)), [53, 53, 106, 159]);
        let pppoe = Framing { overhead: 32, ..atm };
        assert_eq!([40, 1_492].map(|bytes| pppoe.bytes(bytes)), [106, 1_696]);
        // Ethernet with preamble and gap: no frame is below 84 bytes.
        let ethernet = Framing { overhead: 38, least: 84, atm: false };
        assert_eq!([1, 46, 47, 1_500].map(|bytes| ethernet.bytes(bytes)), [84, 84, 85, 1_538]);
    }
}
