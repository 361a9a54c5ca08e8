//! One link and the flows over it, for the tests and the benchmark.

#[path = "../../../sim/tests/common/mod.rs"]
mod plain;

use firstflight_core::units::Bytes;
use firstflight_quic_sim::quinn::MIN_PACKET;
use firstflight_sim::{Endpoint, Ends, FastPaths, FlowSpec, Network, Outcome, Recovery, run_with};

/// `flows` over one link of `rate_mbps` and `rtt_ms`, with room for `buffer` packets. Those that
/// are given no ends of their own are NewReno over simulated TCP.
pub(crate) fn network(
    rate_mbps: u64,
    rtt_ms: u64,
    buffer: u64,
    flows: usize,
    seconds: u64,
) -> Network {
    let flow = FlowSpec {
        endpoint: Endpoint::rfc(Bytes(MIN_PACKET)),
        return_rate_bps: rate_mbps * 1_000_000,
        payload_bytes: MIN_PACKET,
        bdp_bytes: Some(rate_mbps * 125 * rtt_ms),
        ..plain::flow(&[0], rtt_ms / 2, Recovery::NewReno)
    };
    let link = plain::link(rate_mbps, rtt_ms / 2, buffer);
    plain::network(vec![link], vec![flow; flows], seconds * 1_000)
}

/// The network with these ends for its first flows.
pub(crate) fn run(network: &Network, ends: Vec<Box<dyn Ends>>) -> Outcome {
    let ends = ends.into_iter().enumerate().collect();
    run_with(network, ends, FastPaths::On, &mut || true).expect("nobody stops it")
}
