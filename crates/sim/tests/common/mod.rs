//! Networks for the tests, of this crate and of those that hold something against the simulator.

use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{Buffer, Endpoint, FlowSpec, LinkSpec, Network, Recovery, named};

/// A link of `rate_mbps` and `delay_ms` one way, with room for `buffer` packets.
pub(crate) fn link(rate_mbps: u64, delay_ms: u64, buffer: u64) -> LinkSpec {
    LinkSpec {
        delay: Span::from_millis(delay_ms),
        buffer: Buffer::Packets(buffer),
        ..LinkSpec::open(rate_mbps * 1_000_000)
    }
}

/// A NewReno flow of 1000-byte packets over `path`, ACKs taking `return_ms` back.
pub(crate) fn flow(path: &[usize], return_ms: u64, recovery: Recovery) -> FlowSpec {
    let mss = Bytes(1000);
    FlowSpec {
        control: named("slow-start", "newreno").unwrap(),
        endpoint: Endpoint { recovery, ..Endpoint::rfc(mss) },
        path: path.to_vec(),
        access_rate_bps: 1_000_000_000,
        access_delay: Span(0),
        return_delay: Span::from_millis(return_ms),
        return_rate_bps: 40_000_000,
        return_path: Vec::new(),
        path_delay: Span(0),
        payload_bytes: mss.0,
        header_bytes: 0,
        syn_bytes: 40,
        start: Instant(0),
        stop: None,
        packets: None,
        writes: Vec::new(),
        receiver_window_until: None,
        handshake_delay: Span(0),
        files: None,
        bdp_bytes: Some(500_000),
    }
}

/// These flows over these links for `duration_ms`.
pub(crate) fn network(links: Vec<LinkSpec>, flows: Vec<FlowSpec>, duration_ms: u64) -> Network {
    let duration = Span::from_millis(duration_ms);
    Network {
        links,
        flows,
        udp: Vec::new(),
        duration,
        seed: 1,
        ns2_ties: false,
        sample_every: None,
    }
}
