//! A router's part in TCP-EBN (Dutta and Zhang, ICC 2002): the bandwidth it has for a flow.
//!
//! Published: routers measure bandwidth and feed a normalized form of it back (abstract); to be
//! accurate they need a state per flow, or must assume that flows share fairly (Agile Probing
//! paper, section VI). That paper was not available. Inferred: normalized is per flow; the
//! bandwidth is the link's rate less what everybody else sent in the last interval of 0.2 s, and it
//! is divided by the flows that got a share in this interval or the last one.

use std::collections::HashMap;

use super::Arrival;
use super::load::Load;

/// One router of a path.
#[derive(Debug)]
pub(super) struct Ebn {
    rate_bps: u64,
    /// All that found room.
    all: Load,
    /// The part of it that belonged to flows that get advice.
    advised: Load,
    /// The interval in which each flow sent last.
    flows: HashMap<u16, u64>,
}

impl Ebn {
    pub(super) fn new(rate_bps: u64) -> Self {
        let (all, advised) = (Load::default(), Load::default());
        Self { rate_bps, all, advised, flows: HashMap::new() }
    }

    /// A packet found room. Times never go backwards.
    pub(super) fn carry(&mut self, at: firstflight_core::units::Instant, bytes: u64) {
        self.all.advance(at);
        self.all.add(bytes);
    }

    /// The share of the flow of this packet, which is about to arrive, in bits per second.
    pub(super) fn share(&mut self, packet: Arrival, flow: u16) -> u64 {
        self.all.advance(packet.at);
        let passed = self.advised.advance(packet.at);
        self.advised.add(packet.bytes);
        let now = self.advised.interval();
        if passed > 0 {
            self.flows.retain(|_, last| *last + 1 >= now);
        }
        self.flows.insert(flow, now);
        let others = self.all.last_bps().saturating_sub(self.advised.last_bps());
        self.rate_bps.saturating_sub(others) / self.flows.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use firstflight_core::units::Instant;

    use super::*;

    fn packet(ms: u64, bytes: u64) -> Arrival {
        Arrival { at: Instant(ms * 1_000_000), idle_at: 0, bytes }
    }

    #[test]
    fn flows_get_equal_shares_and_those_that_fall_silent_none() {
        let mut router = Ebn::new(12_000_000);
        let mut share = |ms, flow| router.share(packet(ms, 1_000), flow);
        assert_eq!(share(0, 1), 12_000_000);
        assert_eq!([share(10, 2), share(20, 3), share(30, 1)], [6_000_000, 4_000_000, 4_000_000]);
        assert_eq!(share(390, 1), 4_000_000, "in the next interval all three count");
        assert_eq!(share(410, 1), 12_000_000);
    }

    #[test]
    fn what_others_sent_in_the_last_interval_is_not_given_away() {
        let mut router = Ebn::new(12_000_000);
        // 50 kB of others in 0.2 s are 2 Mbit/s; 25 kB are the flow's own.
        router.carry(Instant(0), 50_000);
        assert_eq!(router.share(packet(100, 25_000), 1), 12_000_000, "not over yet");
        router.carry(Instant(100_000_000), 25_000);
        assert_eq!(router.share(packet(200, 1_000), 1), 10_000_000);
        assert_eq!(router.share(packet(400, 1_000), 1), 12_000_000);
    }
}
