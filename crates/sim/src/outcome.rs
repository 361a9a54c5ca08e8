//! What a run yields, in base units.

use firstflight_core::sender::StartupExit;
use firstflight_core::units::{Bytes, Instant, Span};

use crate::link::Totals;
use crate::tcp::Counts;

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

/// What became of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowOutcome {
    /// Packets delivered in order to the receiver until the flow stopped or the run was over.
    pub delivered_packets: u64,
    /// Their payload.
    pub delivered_bytes: Bytes,
    /// What the sender counted.
    pub counts: Counts,
    /// Packets lost at links.
    pub drops: u64,
    /// When the last packet of a sized flow was delivered.
    pub finished_at: Option<Instant>,
    /// Why a flow of another protocol ended before its time.
    pub failure: Option<String>,
    /// Files whose last ACK came within the run, in order.
    pub files: Vec<FileOutcome>,
    /// Largest cwnd.
    pub peak_cwnd: Bytes,
    /// cwnd at the end.
    pub final_cwnd: Bytes,
    /// How the first start-up went.
    pub startup: StartupOutcome,
    /// When the flight first reached which size, each larger by 1/64 than the one before, where the
    /// BDP changes ([`crate::FlowSpec::bdp_bytes`]).
    pub flights: Vec<(Instant, Bytes)>,
    /// How often start-up began again because the avoidance asked for it.
    pub reprobes: u64,
    /// Samples over time, if asked for.
    pub series: Vec<FlowSample>,
    /// Names of the values in [`FlowSample::gauges`].
    pub gauge_names: Vec<&'static str>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOutcome {
    /// Its size.
    pub packets: u32,
    /// Data packets sent for it, retransmissions included.
    pub sent: u64,
    /// When its connection was opened.
    pub began: Instant,
    /// When its last packet was delivered.
    pub delivered: Instant,
}

/// How the first start-up of a flow went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartupOutcome {
    /// How it ended, if it did.
    pub exit: Option<StartupExit>,
    /// Packets lost at links within one smoothed RTT before and after the end.
    pub drops_in_exit_round: u64,
    /// Cuts of the window in the ten smoothed RTTs after the end, the one that ended it excepted.
    pub reductions_next_10_rtt: u64,
    /// When the flight first reached 60, 80 and 90 % of the BDP.
    pub time_to_bdp: [Option<Instant>; 3],
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

/// One sample of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// When.
    pub at: Instant,
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; [`Bytes::MAX`] while unset.
    pub ssthresh: Bytes,
    /// Payload in flight.
    pub in_flight: Bytes,
    /// Smoothed RTT.
    pub srtt: Span,
    /// Packets acknowledged so far.
    pub acked_packets: u64,
    /// The policies' own quantities.
    pub gauges: Vec<u64>,
}
