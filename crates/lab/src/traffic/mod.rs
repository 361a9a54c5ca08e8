//! What travels: TCP connections, by the lab's own source or by iperf3, and datagrams.

pub(crate) mod iperf;
pub(crate) mod own;
pub(crate) mod udp;

use crate::tcp_info::TcpInfo;

/// What became of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowOutcome {
    /// When and what was seen, by the run's clock from its start, ns.
    pub(crate) samples: Vec<(u64, TcpInfo)>,
    /// Payload received in order by the end of the flow.
    pub(crate) delivered_bytes: u64,
    /// How long the generator measured, where that is its own choice.
    pub(crate) measured_ns: Option<u64>,
    /// When the last byte of a flow of a given size had arrived.
    pub(crate) finished_ns: Option<u64>,
    /// Why it never ran, or broke.
    pub(crate) problem: Option<String>,
}

/// When to look and when to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// The run's start and end, ns of the path's clock.
    pub(crate) from: u64,
    pub(crate) until: u64,
    /// Between two looks, ns.
    pub(crate) every: u64,
}

/// Nobody who waits for a moment sleeps longer, ns, so that an end comes soon.
const LONGEST_SLEEP: u64 = 50_000_000;
