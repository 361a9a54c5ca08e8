//! The packets that Scout spreads over the round, between its trains: the floor of their RTTs says
//! whether even they wait in a queue.

use crate::startup::hystart_pp::{MAX_RTT_THRESH, MIN_RTT_THRESH};
use crate::units::{Bytes, Instant, Span};
use crate::view::View;

/// What has arrived since the last train was acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// When the last train was acknowledged.
    began: Instant,
    /// [`View::delivered`] then.
    delivered: Bytes,
    /// The smallest RTT of packets that are in no train.
    floor: Span,
    /// How many such RTTs there were.
    samples: u64,
    /// All ACKs, those of the train too.
    pub(super) acks: u64,
    /// What all ACKs since then acknowledged.
    pub(super) acked: Bytes,
}

impl Spread {
    /// From now on.
    pub(super) const fn new(view: &View) -> Self {
        Self { began: view.now, delivered: view.delivered, ..Self::NEVER }
    }

    /// Before the first train.
    pub(super) const NEVER: Self = Self {
        began: Instant(0),
        delivered: Bytes(0),
        floor: Span::MAX,
        samples: 0,
        acks: 0,
        acked: Bytes(0),
    };

    /// The floor, if it is one of enough samples.
    pub(super) fn known_floor(&self) -> Option<Span> {
        (self.samples >= LEAST_SAMPLES).then_some(self.floor)
    }

    /// Whether even packets between trains wait in a queue, by the threshold of RFC 9406 section
    /// 4.2. The receiver may have held each of their ACKs back: they leave so far apart that its
    /// timer ends before it has as many packets as it waits for.
    pub(super) fn is_late(&self, view: &View) -> bool {
        let min_rtt = view.rtt.min;
        let threshold = min_rtt + (min_rtt / 8).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
        self.known_floor().is_some_and(|floor| floor > threshold + view.max_ack_delay)
    }

    /// Counts the RTT of a packet that is in no train.
    pub(super) fn note(&mut self, rtt: Span) {
        self.floor = self.floor.min(rtt);
        self.samples += 1;
    }

    /// What arrives in a minrtt.
    pub(super) fn pipe(&self, view: &View) -> Bytes {
        let arrived = view.delivered - self.delivered;
        arrived.per(view.now.since(self.began)).over(view.rtt.min)
    }

    /// What an ACK acknowledges on average: a train is to be long enough for several.
    pub(super) fn per_ack(&self, mss: Bytes) -> Bytes {
        (self.acked / self.acks.max(1)).max(mss)
    }
}

/// The fewest RTTs whose minimum is trusted: a delayed-ACK timer may have lengthened two of them.
const LEAST_SAMPLES: u64 = 4;
