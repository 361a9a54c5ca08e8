//! One link and the flows over it, for the tests and the benchmark.

use std::sync::atomic::AtomicBool;

use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_quic_sim::MIN_PACKET;
use firstflight_sim::{
    Buffer, Endpoint, Ends, FlowSpec, LinkSpec, LossSpec, Network, Outcome, Pace, run_with,
};

/// `flows` over one link of `rate_mbps` and `rtt_ms`, with room for `buffer` packets. Those that
/// are given no ends of their own are NewReno over simulated TCP.
pub(crate) fn network(
    rate_mbps: u64,
    rtt_ms: u64,
    buffer: u64,
    flows: usize,
    seconds: u64,
) -> Network {
    let half = Span::from_millis(rtt_ms / 2);
    let flow = FlowSpec {
        startup: AnyStartup::by_name("slow-start").expect("listed"),
        avoidance: AnyAvoidance::by_name("newreno").expect("listed"),
        endpoint: Endpoint::rfc(Bytes(MIN_PACKET)),
        path: vec![0],
        access_rate_bps: 1_000_000_000,
        access_delay: Span(0),
        return_delay: half,
        return_rate_bps: rate_mbps * 1_000_000,
        return_link: None,
        payload_bytes: MIN_PACKET,
        header_bytes: 0,
        syn_bytes: 40,
        start: Instant(0),
        stop: None,
        packets: None,
        files: None,
        bdp_bytes: rate_mbps * 125 * rtt_ms,
    };
    let link = LinkSpec {
        rate_bps: rate_mbps * 1_000_000,
        delay: half,
        buffer: Buffer::Packets(buffer),
        in_service_counts: false,
        loss: LossSpec::NONE,
        drop_nth: Vec::new(),
    };
    Network {
        links: vec![link],
        flows: vec![flow; flows],
        udp: Vec::new(),
        duration: Span::from_secs(seconds),
        seed: 1,
        ns2_ties: false,
        sample_every: None,
    }
}

/// The network with these ends for its first flows.
pub(crate) fn run(network: &Network, ends: Vec<Box<dyn Ends>>) -> Outcome {
    let ends = ends.into_iter().enumerate().collect();
    run_with(network, ends, Pace::Ahead, &AtomicBool::new(false)).expect("nobody stops it")
}
