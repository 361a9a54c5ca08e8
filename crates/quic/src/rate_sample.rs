//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1, "delivery rate samples"): how much had
//! been delivered when a packet left, kept until it is acknowledged.
//!
//! quinn tells the controller when an acknowledged packet was sent, not which one it was. Packets
//! that left at the same instant left in the same state, so that one snapshot serves them.

use std::collections::VecDeque;

use firstflight_core::event::RateSample;
use firstflight_core::units::{Bytes, Instant};

/// What had been delivered at the times when packets left, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshots {
    kept: VecDeque<Snapshot>,
    /// When the newest packet acknowledged had left.
    first_sent: Instant,
    /// When something was delivered last.
    delivered_at: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Snapshot {
    sent: Instant,
    first_sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    app_limited: bool,
}

impl Snapshots {
    /// Packets leave; `idle` if nothing was in flight.
    pub(crate) fn on_sent(&mut self, now: Instant, idle: bool, delivered: u64, app_limited: bool) {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let same = self.kept.back().is_some_and(|last| last.sent >= now);
        if same || self.kept.len() >= MOST {
            return;
        }
        let (first_sent, delivered_at) = (self.first_sent, self.delivered_at);
        self.kept.push_back(Snapshot {
            sent: now,
            first_sent,
            delivered,
            delivered_at,
            app_limited,
        });
    }

    /// The newest packet acknowledged at `now` had left at `sent`; `delivered` counts it.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        sent: Instant,
        delivered: u64,
    ) -> Option<RateSample> {
        while self.kept.get(1).is_some_and(|next| next.sent <= sent) {
            self.kept.pop_front();
        }
        let then = self.kept.front().filter(|then| then.sent <= sent)?;
        let sending = sent.since(then.first_sent);
        let acknowledging = now.since(then.delivered_at);
        let sample = RateSample {
            delivered: Bytes(delivered.saturating_sub(then.delivered)),
            interval: sending.max(acknowledging),
            app_limited: then.app_limited,
        };
        (self.first_sent, self.delivered_at) = (sent, now);
        Some(sample)
    }
}

/// Snapshots kept: 40 KiB. A packet that leaves while all are in use is measured from the last one
/// before it, which is a longer interval and as right.
const MOST: usize = 1_024;

#[cfg(test)]
mod tests {
    use firstflight_core::units::Span;

    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_steady_flow_is_sampled_at_its_rate() {
        let mut snapshots = Snapshots::default();
        let mut delivered = 0;
        // 1000 bytes a millisecond over 50 ms.
        for ms in 0..200_u64 {
            if ms >= 50 {
                delivered += 1000;
                let sent = Instant((ms - 50) * MS);
                let sample = snapshots.sample(Instant(ms * MS), sent, delivered).unwrap();
                if ms >= 100 {
                    assert_eq!((sample.delivered, sample.interval), (Bytes(50_000), Span(50 * MS)));
                }
            }
            snapshots.on_sent(Instant(ms * MS), ms == 0, delivered, false);
        }
    }

    #[test]
    fn a_burst_that_is_acknowledged_slowly_is_sampled_at_the_slow_rate() {
        let mut snapshots = Snapshots::default();
        snapshots.on_sent(Instant(0), true, 0, true);
        let sample = snapshots.sample(Instant(40 * MS), Instant(0), 8_000).unwrap();
        assert_eq!((sample.delivered, sample.interval), (Bytes(8_000), Span(40 * MS)));
        assert!(sample.app_limited);
    }

    #[test]
    fn memory_is_bounded_and_samples_go_on() {
        let mut snapshots = Snapshots::default();
        (0..10_000).for_each(|ms| snapshots.on_sent(Instant(ms * MS), false, 0, false));
        assert_eq!(snapshots.kept.len(), MOST);
        assert!(snapshots.sample(Instant(20_000 * MS), Instant(9_000 * MS), 1).is_some());
    }
}
