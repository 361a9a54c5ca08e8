//! A receiver that says about packets what it likes.

use std::sync::Arc;

use super::keys::Tap;
use super::packet::{self, ID, MOST, PING, ack, seal};

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    /// The truth, every second packet.
    Honest,
    /// The truth, each packet in an ACK of its own and each of these in three frames.
    Split,
    /// The truth, four times.
    Repeated,
    /// The truth, eight ACKs in the wrong order.
    Backwards,
    /// The truth, up to 0.4 s late, with the largest delay that a frame can hold.
    Late,
    /// Every packet came in with a mark of congestion (RFC 9000 section 13.4).
    Marked,
    /// Packets that the path has just taken in have arrived already.
    Early,
    /// Nothing was ever lost.
    Lossless,
    /// Fifty packets more have arrived than were seen.
    Ahead,
    /// Ranges that are none.
    Absurd,
    /// All of the possible, each packet something else; ACKs get lost besides.
    Mixed,
}

/// Its state.
pub(crate) struct Liar {
    attack: Attack,
    tap: Arc<Tap>,
    /// The connection id of the other end.
    id: Vec<u8>,
    /// What was seen, ranges with both ends, lowest first.
    ranges: Vec<(u64, u64)>,
    packets: u64,
    /// How many of them the server acknowledged before, without a mark.
    unmarked: u64,
    phase: usize,
    next: u64,
    held: Vec<Vec<u8>>,
    draw: u64,
}

/// A datagram and how long it waits before it leaves, ms.
pub(crate) type Answer = (u64, Vec<u8>);

impl Liar {
    pub(crate) fn new(attack: Attack, tap: Arc<Tap>, seed: u64) -> Self {
        let (held, draw) = (Vec::new(), seed | 1);
        let (id, ranges) = (Vec::new(), Vec::new());
        // Above every packet number of the server whose place it takes.
        Self { attack, tap, id, ranges, packets: 0, unmarked: 0, phase: 0, next: 1_000, held, draw }
    }

    /// A datagram of the server's, while there is one: whom to answer.
    pub(crate) fn learn_id(&mut self, datagram: &[u8]) {
        if datagram[0] & 0x80 == 0 {
            self.id = datagram[1..=ID].to_vec();
        }
    }

    /// A datagram arrives; what is answered.
    pub(crate) fn receive(&mut self, datagram: &[u8]) -> Vec<Answer> {
        if self.attack == Attack::Early || !self.note(datagram) {
            return Vec::new();
        }
        let attack = match self.attack {
            Attack::Mixed => MIXED[self.random(MIXED.len() as u64) as usize],
            attack => attack,
        };
        let answers = self.answer(attack);
        if self.attack == Attack::Mixed && self.random(10) == 0 { Vec::new() } else { answers }
    }

    /// A datagram sets out; whoever lies about arrivals knows of it.
    pub(crate) fn overhear(&mut self, datagram: &[u8]) -> Vec<Answer> {
        if self.attack != Attack::Early || !self.note(datagram) {
            return Vec::new();
        }
        self.answer(Attack::Honest)
    }

    /// A datagram that the server answers.
    pub(crate) fn look_on(&mut self, datagram: &[u8]) {
        self.unmarked += u64::from(self.note(datagram));
    }

    /// The packet's number is remembered; false of what is no 1-RTT packet.
    fn note(&mut self, datagram: &[u8]) -> bool {
        let keys = self.tap.keys();
        let largest = self.ranges.last().map_or(0, |range| range.1);
        let Some(seen) = packet::read(&keys, datagram, largest) else { return false };
        // There is one key update at most: the next is due after more packets than these runs have.
        self.phase = self.phase.max(seen.key_phase);
        self.packets += 1;
        let number = seen.number;
        match self.ranges.last_mut() {
            Some(last) if last.1 + 1 == number => last.1 = number,
            Some(last) if last.1 >= number => {}
            _ => self.ranges.push((number, number)),
        }
        true
    }

    fn answer(&mut self, attack: Attack) -> Vec<Answer> {
        let every_second = self.packets.is_multiple_of(2);
        let counts = Some((self.unmarked, self.packets - self.unmarked));
        let truth: Vec<(u64, u64)> = self.ranges.iter().rev().take(RANGES).copied().collect();
        let (_, largest) = truth[0];
        let plain = |frames: Vec<u8>| vec![(0, frames)];
        let frames = match attack {
            Attack::Split => {
                let one = ack(&[(largest, largest)], 0, None);
                plain([one.clone(), one.clone(), one].concat())
            }
            Attack::Late => vec![(self.random(400), ack(&truth, MOST, None))],
            Attack::Marked => plain(ack(&truth, 0, counts)),
            Attack::Lossless if every_second => plain(ack(&[(0, largest)], 0, None)),
            Attack::Ahead if every_second => plain(ack(&[(0, largest + 50)], 0, None)),
            Attack::Absurd if every_second => plain(self.absurd(largest)),
            Attack::Backwards => {
                self.held.push(ack(&truth, 0, None));
                let full = self.held.len() >= 8;
                let held = if full { std::mem::take(&mut self.held) } else { Vec::new() };
                held.into_iter().rev().map(|frames| (0, frames)).collect()
            }
            Attack::Repeated if every_second => vec![(0, ack(&truth, 0, None)); 4],
            Attack::Honest | Attack::Early if every_second => plain(ack(&truth, 0, None)),
            _ => Vec::new(),
        };
        frames.into_iter().map(|(wait, frames)| (wait, self.sealed(&frames))).collect()
    }

    /// A first range below zero, a gap below zero, ranges that overlap, too many ranges announced.
    fn absurd(&mut self, largest: u64) -> Vec<u8> {
        match self.random(4) {
            0 => {
                let mut frame = ack(&[(0, largest)], 0, None);
                frame.truncate(frame.len() - 8);
                frame.extend_from_slice(&(3_u64 << 62 | (largest + 9)).to_be_bytes());
                frame
            }
            1 => ack(&[(largest, largest), (largest, largest)], 0, None),
            2 => {
                let mut frame = ack(&[(largest, largest)], 0, None);
                frame[17..25].copy_from_slice(&(3_u64 << 62 | MOST).to_be_bytes());
                frame
            }
            _ => ack(&[(MOST, MOST)], MOST, Some((MOST, MOST))),
        }
    }

    fn sealed(&mut self, frames: &[u8]) -> Vec<u8> {
        let number = self.next;
        self.next += 1;
        // What asks for an ACK now and then: the other end's own ACKs stay part of the picture.
        let ping = if number.is_multiple_of(16) { vec![PING] } else { Vec::new() };
        seal(&self.tap.keys(), self.phase, &self.id, number, &[frames, &ping].concat())
    }

    fn random(&mut self, below: u64) -> u64 {
        // A linear congruential generator: any spread will do.
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.draw >> 33) % below
    }
}

const MIXED: [Attack; 6] = [
    Attack::Honest,
    Attack::Split,
    Attack::Repeated,
    Attack::Backwards,
    Attack::Late,
    Attack::Marked,
];
/// What fits a packet, in the long form that is written here.
const RANGES: usize = 32;
