//! A policer: what arrives faster than a rate, and more than a bucket holds, is dropped and never
//! queued, as at the edge of a network that sells a part of a faster line (RFC 2475 section
//! 2.3.3.4; Linux's `tc-police`). The bucket fills at the rate; a packet takes its size out of it.

use rand_pcg::Pcg64Mcg;

use super::card::{Card, Value, ValueKind};
use super::{Crossing, Element, Fate};
use crate::bucket::Bucket;

/// A token bucket that drops what finds too little in it.
#[derive(Clone, Debug)]
pub struct Policer(Bucket);

impl Policer {
    /// A bucket of `bucket_bytes`, full at first, that fills at `rate_bps` bits per second.
    pub fn new(rate_bps: u64, bucket_bytes: u64) -> Self {
        Self(Bucket::new(rate_bps, bucket_bytes))
    }
}

impl Element for Policer {
    fn arrive(&mut self, packet: &Crossing, _random: &mut Pcg64Mcg) -> Fate {
        match self.0.take(packet.bytes, packet.at.0) {
            Ok(()) => Fate::Pass,
            Err(_) => Fate::Drop,
        }
    }

    fn bucket(&self) -> Option<(u64, u64)> {
        Some(self.0.size())
    }
}

/// `policer = { rate = "10Mbps", bucket = "64kB" }`.
pub(super) const CARD: Card = Card {
    key: "policer",
    values: &[
        Value::needed("rate", ValueKind::Rate, "10Mbps"),
        Value::needed("bucket", ValueKind::Size, "64kB"),
    ],
    place: 1,
    not_back: None,
    words: |_, shown| format!("policer of {} and {}", shown[0], shown[1]),
    build: |values, wire| {
        if values[1] < wire {
            let problem = format!("it holds no packet of {wire} bytes, so that none would pass");
            return Err((Some("bucket"), problem + "; accepted: one packet or more"));
        }
        Ok(Box::new(Policer::new(values[0], values[1])))
    },
};

#[cfg(test)]
mod tests {
    use firstflight_core::units::{Instant, Span};

    use super::*;
    use crate::random::stream;

    fn packet(at_ms: u64, bytes: u64) -> Crossing {
        let (at, waits) = (Instant(at_ms * 1_000_000), Span(0));
        Crossing { at, bytes, flow: 0, ecn_capable: true, marked: false, held: 0, waits }
    }

    #[test]
    fn a_bucket_passes_and_then_the_rate() {
        // 1 Mbit/s are 125 bytes a millisecond.
        let mut policer = Policer::new(1_000_000, 3_000);
        let mut random = stream(1, 0);
        let mut passes =
            |at_ms, bytes| policer.arrive(&packet(at_ms, bytes), &mut random) == Fate::Pass;
        assert!(passes(0, 1_000) && passes(0, 1_000) && passes(0, 1_000));
        assert!(!passes(0, 1), "the bucket is empty");
        assert!(!passes(7, 1_000), "875 bytes are in it");
        assert!(passes(8, 1_000), "what was dropped took nothing");
        assert!(!passes(8, 1));
        // It never holds more than it does.
        assert!(passes(10_000, 3_000) && !passes(10_000, 1));
        assert!(!passes(20_000, 3_001), "larger than the bucket");
    }
}
