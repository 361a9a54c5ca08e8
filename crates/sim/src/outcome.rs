//! What a run yields, in base units.

use firstflight_core::units::Instant;
use firstflight_link::Totals;
use firstflight_results::FlowOutcome;

/// Everything a run yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// One per flow of the network, in its order.
    pub flows: Vec<FlowOutcome>,
    /// One per link of the network, in its order.
    pub links: Vec<LinkOutcome>,
    /// Events processed.
    pub events: u64,
}

/// What became of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOutcome {
    /// Its counters.
    pub totals: Totals,
    /// One sample of each sampling interval in which a packet was taken in.
    pub series: Vec<LinkSample>,
}

/// One sample of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSample {
    /// The beginning of the interval.
    pub at: Instant,
    /// Largest number of packets held in it, the one in service included.
    pub held: u64,
    /// Packets that the link has taken in to carry since the start of the run, until its end.
    pub carried: u64,
    /// Their bytes on the link.
    pub bytes: u64,
}
