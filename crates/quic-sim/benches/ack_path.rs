//! What an ACK costs in quinn's whole stack under each controller:
//! `cargo bench -p firstflight-quic-sim`. Packets, TLS, recovery and the simulator are the same for
//! all, and firstflight's NewReno sends what quinn's does but for one packet in flight, so that the
//! difference is the controller's and the machine's noise.

use std::sync::atomic::AtomicBool;
use std::time::Instant as Clock;

use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_quic_sim::{Control, Pair, Setup};
use firstflight_sim::{Buffer, Endpoint, Ends, FlowSpec, LinkSpec, Network, Pace, run_with};

const PACKET: u64 = 1_200;
const RUNS: u32 = 7;

fn main() {
    let network = network();
    let names = ["quinn-newreno", "newreno", "quinn-cubic", "cubic", "astart", "tcpw-a"];
    let mut best = [f64::INFINITY; 6];
    for _ in 0..RUNS {
        for (name, best) in names.iter().zip(&mut best) {
            *best = best.min(run(&network, name));
        }
    }
    println!("{:16}{:>16}{:>24}", "control", "ns per packet", "against quinn-newreno");
    for (name, ns) in names.iter().zip(best) {
        println!("{name:16}{ns:16.0}{:23.1}%", 100.0 * (ns / best[0] - 1.0));
    }
}

/// One transfer; ns per packet delivered, each of which is acknowledged alone.
fn run(network: &Network, name: &str) -> f64 {
    let setup = Setup {
        control: Control::named(name).expect("a listed name"),
        packet_bytes: PACKET,
        initial_window: None,
        initial_ssthresh: None,
        delayed_ack: Some(1),
        size: None,
        receive_window: None,
        path_bytes: 1_000_000,
        seed: 1,
    };
    let ends: Box<dyn Ends> = Box::new(Pair::new(&setup).expect("1200 bytes"));
    let began = Clock::now();
    let outcome = run_with(network, vec![(0, ends)], Pace::Ahead, &AtomicBool::new(false));
    let ns = began.elapsed().as_nanos() as f64;
    ns / outcome.expect("nobody stops it").flows[0].delivered_packets as f64
}

/// 100 Mbit/s, 20 ms, a buffer of a BDP, 10 s.
fn network() -> Network {
    let flow = FlowSpec {
        startup: AnyStartup::by_name("slow-start").expect("listed"),
        avoidance: AnyAvoidance::by_name("newreno").expect("listed"),
        endpoint: Endpoint::rfc(Bytes(PACKET)),
        path: vec![0],
        access_rate_bps: 1_000_000_000,
        access_delay: Span(0),
        return_delay: Span::from_millis(10),
        return_rate_bps: 100_000_000,
        payload_bytes: PACKET,
        header_bytes: 0,
        syn_bytes: 40,
        start: Instant(0),
        stop: None,
        packets: None,
        files: None,
        bdp_bytes: 250_000,
    };
    let link = LinkSpec {
        rate_bps: 100_000_000,
        delay: Span::from_millis(10),
        buffer: Buffer::Packets(208),
        in_service_counts: false,
        loss_ppb: 0,
        drop_nth: Vec::new(),
    };
    Network {
        links: vec![link],
        flows: vec![flow],
        udp: Vec::new(),
        duration: Span::from_secs(10),
        seed: 1,
        ns2_ties: false,
        sample_every: None,
    }
}
