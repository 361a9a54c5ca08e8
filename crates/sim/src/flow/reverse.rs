//! The reverse path where ACKs wait for each other, or behind data: over the receiver's access
//! link, shared links, such as the other direction of a duplex link of ns-2, and the sender's
//! access link.

use firstflight_core::units::{Instant, Span};
use firstflight_link::serialisation;

use crate::network::FlowSpec;
use crate::packet::AckOut;

/// One flow's ACKs on the reverse path.
#[derive(Debug)]
pub(crate) struct Reverse {
    /// The first shared link, by its number.
    pub(crate) link: usize,
    /// Where arrivals at the shared link wait.
    pub(crate) lane: u32,
    /// Decides among arrivals of one instant: the smallest comes first.
    pub(crate) order: u16,
    /// Size of an ACK without SACK blocks.
    ack_bytes: u64,
    /// Rate of the access links.
    access_rate_bps: u64,
    /// Propagation of an access link.
    access_delay: Span,
    /// Propagation from the last shared link's far end to the sender, besides the access link's.
    propagation: Span,
    /// When the receiver's access link is free again.
    receivers_free_at: Instant,
    /// When the sender's access link is free again.
    senders_free_at: Instant,
    /// The time of an ACK without SACK blocks on an access link.
    plain: Span,
    /// Packets out of order that lost ACKs acknowledged: the next ACK repeats them, as SACK blocks
    /// do (RFC 2018 section 4).
    pub(crate) lost_blocks: Vec<u32>,
}

impl Reverse {
    pub(crate) fn new(spec: &FlowSpec, link: usize, lane: u32, order: u16) -> Self {
        Self {
            link,
            lane,
            order,
            ack_bytes: spec.endpoint.ack_bytes,
            access_rate_bps: spec.access_rate_bps,
            access_delay: spec.access_delay,
            propagation: spec.return_delay,
            receivers_free_at: Instant(0),
            senders_free_at: Instant(0),
            plain: serialisation(spec.endpoint.ack_bytes, spec.access_rate_bps),
            lost_blocks: Vec::new(),
        }
    }

    /// An ACK leaves the receiver: when it reaches the shared link.
    #[inline]
    pub(crate) fn leave(&mut self, ack: &AckOut) -> Instant {
        let start = self.receivers_free_at.max(ack.at);
        self.receivers_free_at = start + self.access_time(ack);
        self.receivers_free_at + self.access_delay
    }

    /// An ACK reaches the last shared link's far end: when it reaches the sender.
    #[inline]
    pub(crate) fn reach_sender(&mut self, ack: &AckOut, far_end: Instant) -> Instant {
        let start = self.senders_free_at.max(far_end + self.propagation);
        self.senders_free_at = start + self.access_time(ack);
        self.senders_free_at + self.access_delay
    }

    #[inline]
    fn access_time(&self, ack: &AckOut) -> Span {
        if ack.blocks == 0 {
            return self.plain;
        }
        serialisation(self.bytes(ack), self.access_rate_bps)
    }

    /// Size of an ACK on a link.
    pub(crate) fn bytes(&self, ack: &AckOut) -> u64 {
        self.ack_bytes + SACK_BLOCK_BYTES * u64::from(ack.blocks)
    }
}

/// A SACK block: two sequence numbers of four bytes (RFC 2018 section 3).
pub(crate) const SACK_BLOCK_BYTES: u64 = 8;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::link::Link;

    /// An ACK of 40 bytes takes 40 us on the access links and 320 us on the shared link, where the
    /// propagation is 10 ms; the access links add 1 ms each.
    fn reverse() -> (Reverse, Link) {
        let reverse = Reverse {
            link: 0,
            lane: 0,
            order: 0,
            ack_bytes: 40,
            access_rate_bps: 8_000_000,
            access_delay: Span::from_millis(1),
            propagation: Span::from_millis(10),
            receivers_free_at: Instant(0),
            senders_free_at: Instant(0),
            plain: Span::from_micros(40),
            lost_blocks: Vec::new(),
        };
        (reverse, Link::open(1_000_000, Instant(1_000_000_000)))
    }

    pub(crate) fn ack(at: u64, next: u32, blocks: u32) -> AckOut {
        AckOut { at: Instant(at), next, cause: next - 1, blocks, parts: 1, more: 0 }
    }

    impl Reverse {
        fn cross(&mut self, link: &mut Link, ack: &AckOut, at: Instant) -> Instant {
            let far_end = link.carry(at, self.bytes(ack));
            self.reach_sender(ack, far_end)
        }
    }

    #[test]
    fn an_ack_alone_takes_what_every_link_takes() {
        let (mut reverse, mut link) = reverse();
        let alone = ack(0, 1, 0);
        let at = reverse.leave(&alone);
        assert_eq!(at, Instant(1_040_000));
        let at_sender = reverse.cross(&mut link, &alone, at);
        assert_eq!(at_sender, Instant(1_040_000 + 10_320_000 + 1_040_000));
    }

    #[test]
    fn acks_of_two_flows_wait_for_each_other_and_sack_blocks_take_their_time() {
        let ((mut one, mut link), (mut other, _)) = (reverse(), reverse());
        // With a block 48 bytes: 48 us and 384 us.
        let acks = [ack(0, 7, 1), ack(10_000, 9, 0)];
        let (first, second) = (one.leave(&acks[0]), other.leave(&acks[1]));
        assert_eq!((first, second), (Instant(1_048_000), Instant(1_050_000)));
        let at_sender = one.cross(&mut link, &acks[0], first);
        assert_eq!(at_sender, Instant(1_048_000 + 10_384_000 + 1_048_000));
        let at_sender = other.cross(&mut link, &acks[1], second);
        assert_eq!(at_sender, Instant(1_048_000 + 384_000 + 10_320_000 + 1_040_000));
    }

    #[test]
    fn acks_of_one_flow_wait_on_its_access_link_too() {
        let (mut reverse, _) = reverse();
        assert_eq!(reverse.leave(&ack(0, 1, 0)), Instant(1_040_000));
        assert_eq!(reverse.leave(&ack(0, 2, 0)), Instant(1_080_000));
    }
}
