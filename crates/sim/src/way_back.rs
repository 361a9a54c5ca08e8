//! The way of ACKs back where they wait for each other: over the other direction of a shared link,
//! as on ns-2's duplex links.
//!
//! Most ACKs meet no other ACK on the way back, and [`Route::back`] knows at once when they arrive.
//! Where ACKs of several flows meet, or one that the delayed-ACK timer lets go is followed by the
//! next, each has to reach the shared link in its turn, which takes an event of its own.
//!
//! [`Route::back`]: crate::route::Route::back

use std::collections::VecDeque;

use firstflight_core::units::{Instant, Span};

use crate::network::FlowSpec;
use crate::receiver::AckOut;
use crate::serialisation::{Serialisation, serialisation};

/// One flow's ACKs on their way back.
#[derive(Debug)]
pub(crate) struct WayBack {
    /// The shared link.
    pub(crate) link: usize,
    /// Where arrivals there wait, and what decides among those of one instant.
    pub(crate) lane: u32,
    pub(crate) order: u16,
    /// ACKs between the receiver and the shared link, in order.
    under_way: VecDeque<AckOut>,
    ack_bytes: u64,
    access_rate_bps: u64,
    access_delay: Span,
    propagation: Span,
    /// When the receiver's and the sender's access link are free again.
    receivers_free_at: Instant,
    senders_free_at: Instant,
}

/// The other direction of a shared link: it carries ACKs and has room for all of them.
#[derive(Debug)]
pub(crate) struct ReturnLink {
    free_at: Instant,
    serial: Serialisation,
}

impl WayBack {
    pub(crate) fn new(spec: &FlowSpec, link: usize, lane: u32, order: u16) -> Self {
        Self {
            link,
            lane,
            order,
            under_way: VecDeque::new(),
            ack_bytes: spec.endpoint.ack_bytes,
            access_rate_bps: spec.access_rate_bps,
            access_delay: spec.access_delay,
            propagation: spec.return_delay,
            receivers_free_at: Instant(0),
            senders_free_at: Instant(0),
        }
    }

    /// An ACK leaves the receiver: when it reaches the shared link.
    pub(crate) fn leave(&mut self, ack: AckOut) -> Instant {
        let start = self.receivers_free_at.max(ack.at);
        self.receivers_free_at = start + self.access_time(&ack);
        self.under_way.push_back(ack);
        self.receivers_free_at + self.access_delay
    }

    /// The oldest ACK under way has reached the shared link: it, and when it reaches the sender.
    pub(crate) fn cross(
        &mut self,
        link: &mut ReturnLink,
        at: Instant,
    ) -> Option<(AckOut, Instant)> {
        let ack = self.under_way.pop_front()?;
        let far_end = link.carry(at, self.bytes(&ack)) + self.propagation;
        let start = self.senders_free_at.max(far_end);
        self.senders_free_at = start + self.access_time(&ack);
        Some((ack, self.senders_free_at + self.access_delay))
    }

    fn access_time(&self, ack: &AckOut) -> Span {
        serialisation(self.bytes(ack), self.access_rate_bps)
    }

    fn bytes(&self, ack: &AckOut) -> u64 {
        self.ack_bytes + SACK_BLOCK_BYTES * u64::from(ack.blocks)
    }
}

impl ReturnLink {
    pub(crate) fn new(rate_bps: u64) -> Self {
        Self { free_at: Instant(0), serial: Serialisation::new(rate_bps) }
    }

    /// A packet of `bytes` arrives at `at`: when it has been sent.
    fn carry(&mut self, at: Instant, bytes: u64) -> Instant {
        self.free_at = self.free_at.max(at) + Span(self.serial.time(bytes));
        self.free_at
    }
}

/// A SACK block: two sequence numbers of four bytes (RFC 2018 section 3).
pub(crate) const SACK_BLOCK_BYTES: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK of 40 bytes takes 40 us on the access links and 320 us on the shared link, where the
    /// propagation is 10 ms; the access links add 1 ms each.
    fn way_back() -> (WayBack, ReturnLink) {
        let way = WayBack {
            link: 0,
            lane: 0,
            order: 0,
            under_way: VecDeque::new(),
            ack_bytes: 40,
            access_rate_bps: 8_000_000,
            access_delay: Span::from_millis(1),
            propagation: Span::from_millis(10),
            receivers_free_at: Instant(0),
            senders_free_at: Instant(0),
        };
        (way, ReturnLink::new(1_000_000))
    }

    fn ack(at: u64, next: u32, blocks: u32) -> AckOut {
        AckOut { at: Instant(at), next, cause: next - 1, blocks, parts: 1 }
    }

    #[test]
    fn an_ack_alone_takes_what_every_link_takes() {
        let (mut way, mut link) = way_back();
        let at = way.leave(ack(0, 1, 0));
        assert_eq!(at, Instant(1_040_000));
        let (ack, home) = way.cross(&mut link, at).unwrap();
        assert_eq!((ack.next, home), (1, Instant(1_040_000 + 10_320_000 + 1_040_000)));
        assert!(way.cross(&mut link, at).is_none());
    }

    #[test]
    fn acks_of_two_flows_wait_for_each_other_and_sack_blocks_take_their_time() {
        let ((mut one, mut link), (mut other, _)) = (way_back(), way_back());
        // With a block 48 bytes: 48 us and 384 us.
        let (first, second) = (one.leave(ack(0, 7, 1)), other.leave(ack(10_000, 9, 0)));
        assert_eq!((first, second), (Instant(1_048_000), Instant(1_050_000)));
        let (_, home) = one.cross(&mut link, first).unwrap();
        assert_eq!(home, Instant(1_048_000 + 10_384_000 + 1_048_000));
        let (_, home) = other.cross(&mut link, second).unwrap();
        assert_eq!(home, Instant(1_048_000 + 384_000 + 10_320_000 + 1_040_000));
    }

    #[test]
    fn acks_of_one_flow_wait_on_its_access_link_too() {
        let (mut way, _) = way_back();
        assert_eq!(way.leave(ack(0, 1, 0)), Instant(1_040_000));
        assert_eq!(way.leave(ack(0, 2, 0)), Instant(1_080_000));
    }
}
