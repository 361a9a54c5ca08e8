//! Drop-tail: a FIFO that drops what finds no room (Linux's `pfifo` and `bfifo`).

use std::collections::VecDeque;

use crate::{Moment, Next, Packet, Queue};

/// Packets in the order of their arrival, and how much of them there may be.
#[derive(Clone, Debug, Default)]
pub struct DropTail {
    waiting: VecDeque<Packet>,
    bytes: u64,
    most_packets: Option<u64>,
    most_bytes: Option<u64>,
}

impl DropTail {
    /// One with room for so many packets.
    pub fn of_packets(most: u64) -> Self {
        Self { most_packets: Some(most), ..Self::default() }
    }

    /// One with room for so many bytes.
    pub fn of_bytes(most: u64) -> Self {
        Self { most_bytes: Some(most), ..Self::default() }
    }

    /// Whether it has room for a packet of `bytes`, while the link sends one of `in_service` bytes
    /// that counts.
    pub(crate) fn has_room(&self, bytes: u64, in_service: u64) -> bool {
        let packets = self.packets() + u64::from(in_service > 0);
        self.most_packets.is_none_or(|most| packets < most)
            && self.most_bytes.is_none_or(|most| self.bytes + in_service + bytes <= most)
    }

    /// Appends a packet.
    pub(crate) fn push(&mut self, packet: Packet) {
        self.bytes += packet.bytes;
        self.waiting.push_back(packet);
    }

    /// Takes the oldest packet.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= packet.bytes;
        Some(packet)
    }

    /// The oldest packet.
    pub(crate) fn first(&self) -> Option<&Packet> {
        self.waiting.front()
    }
}

impl Queue for DropTail {
    fn enqueue(&mut self, packet: Packet, moment: &mut Moment<'_>) {
        match self.has_room(packet.bytes, moment.in_service) {
            true => self.push(packet),
            false => moment.dropped.push(packet),
        }
    }

    fn dequeue(&mut self, _moment: &mut Moment<'_>) -> Next {
        self.pop().map_or(Next::Empty, Next::Send)
    }

    fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
