//! What the tests of all queues use: a packet, and a queue with all that it has sent and dropped.

use std::convert::Infallible;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::TryRng;

use crate::{Ecn, Moment, Next, Packet, Queue};

pub(crate) const MS: u64 = 1_000_000;

/// A packet of 1500 bytes with ECT(0).
pub(crate) fn packet(id: u64) -> Packet {
    Packet { id, bytes: 1_500, flow: 0, ecn: Ecn::Ect0, marked: false, at: 0 }
}

/// A random number that a test chooses.
pub(crate) struct Always(pub(crate) u64);

impl TryRng for Always {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}

/// A queue, and all that it has dropped and sent.
pub(crate) struct Bench<Q> {
    pub(crate) queue: Q,
    pub(crate) random: Pcg64Mcg,
    pub(crate) dropped: Vec<Packet>,
    pub(crate) sent: Vec<Packet>,
}

impl<Q: Queue> Bench<Q> {
    pub(crate) fn new(queue: Q) -> Self {
        Self { queue, random: Pcg64Mcg::new(7), dropped: Vec::new(), sent: Vec::new() }
    }

    pub(crate) fn enqueue(&mut self, now: u64, packet: Packet) {
        self.enqueue_behind(0, now, packet);
    }

    /// Where the link sends a packet of that size, which counts as waiting.
    pub(crate) fn enqueue_behind(&mut self, in_service: u64, now: u64, packet: Packet) {
        let Self { queue, random, dropped, .. } = self;
        let moment = &mut Moment { now, in_service, random, dropped };
        queue.enqueue(Packet { at: now, ..packet }, moment);
    }

    pub(crate) fn dequeue(&mut self, now: u64) -> Next {
        let Self { queue, random, dropped, .. } = self;
        let next = queue.dequeue(&mut Moment { now, in_service: 0, random, dropped });
        if let Next::Send(packet) = next {
            self.sent.push(packet);
        }
        next
    }

    pub(crate) fn marked(&self) -> usize {
        self.sent.iter().filter(|packet| packet.marked).count()
    }
}
