//! quinn over the simulator's links.

use std::sync::atomic::AtomicBool;

use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_quic_sim::{Control, Pair, Setup, SetupError};
use firstflight_sim::{
    Buffer, Endpoint, Ends, FlowSpec, LinkSpec, Network, Outcome, Pace, run_with,
};

const PACKET: u64 = 1_200;

/// `flows` over one link of `rate_mbps` and `rtt_ms`, with room for `buffer` packets.
fn network(rate_mbps: u64, rtt_ms: u64, buffer: u64, flows: usize, seconds: u64) -> Network {
    let half = Span::from_millis(rtt_ms / 2);
    let flow = FlowSpec {
        startup: AnyStartup::by_name("slow-start").unwrap(),
        avoidance: AnyAvoidance::by_name("newreno").unwrap(),
        endpoint: Endpoint::rfc(Bytes(PACKET)),
        path: vec![0],
        access_rate_bps: 1_000_000_000,
        access_delay: Span(0),
        return_delay: half,
        return_rate_bps: rate_mbps * 1_000_000,
        payload_bytes: PACKET,
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
        loss_ppb: 0,
        drop_nth: Vec::new(),
    };
    Network {
        links: vec![link],
        flows: vec![flow; flows],
        udp: Vec::new(),
        duration: Span::from_secs(seconds),
        seed: 1,
        ns2_ties: false,
        sample_every: Some(Span::from_millis(50)),
    }
}

fn setup(control: &str) -> Setup {
    Setup {
        control: Control::named(control).unwrap(),
        packet_bytes: PACKET,
        initial_window: None,
        initial_ssthresh: None,
        packet_threshold: None,
        delayed_ack: None,
        size: None,
        receive_window: None,
        path_bytes: 2_000_000,
        seed: 1,
    }
}

fn run(network: &Network, setups: &[Setup]) -> Outcome {
    let ends = setups.iter().enumerate().map(|(place, setup)| {
        let ends: Box<dyn Ends> = Box::new(Pair::new(setup).unwrap());
        (place, ends)
    });
    run_with(network, ends.collect(), Pace::Ahead, &AtomicBool::new(false)).unwrap()
}

#[test]
fn a_greedy_flow_fills_the_path_and_only_payload_counts() {
    let network = network(10, 40, 42, 1, 10);
    let outcome = run(&network, &[setup("newreno")]);
    let used = outcome.flows[0].delivered_bytes.0 * 8 / 10;
    assert!((8_500_000..9_800_000).contains(&used), "{used} bit/s");
    assert!(outcome.links[0].totals.busy_ns > 9_000_000_000);
    assert!(outcome.flows[0].drops > 0 && outcome.flows[0].counts.cuts > 0);
    assert!(outcome.flows[0].startup.exit.is_some());
    assert!(outcome.flows[0].series.len() > 150);
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let network = network(20, 60, 50, 2, 5);
    let setups = [setup("astart"), Setup { seed: 2, ..setup("quinn-cubic") }];
    let first = run(&network, &setups);
    assert!(first == run(&network, &setups));
    let other = [Setup { seed: 3, ..setups[0].clone() }, setups[1].clone()];
    assert!(first != run(&network, &other), "the seed decides something");
}

#[test]
fn a_sized_flow_completes_and_says_when() {
    let network = network(10, 100, 100, 1, 10);
    let sized = Setup { size: Some(1_000_000), ..setup("newreno") };
    let outcome = run(&network, &[sized]);
    assert_eq!(outcome.flows[0].delivered_bytes, Bytes(1_000_000));
    let at = outcome.flows[0].finished_at.unwrap().0;
    // Handshake 1 RTT, slow start 3 to 4, 0.8 s of serialisation.
    assert!((900_000_000..1_800_000_000).contains(&at), "{at} ns");
}

#[test]
fn our_newreno_does_what_quinns_does_but_for_the_packet_that_quinn_holds_back() {
    let network = network(10, 100, 100, 1, 5);
    let [ours, quinns] = ["newreno", "quinn-newreno"].map(|name| run(&network, &[setup(name)]));
    let [ours, quinns] = [&ours.flows[0], &quinns.flows[0]];
    let exits = [ours, quinns].map(|flow| flow.startup.exit.unwrap().cwnd.0 / PACKET);
    assert!(exits[0].abs_diff(exits[1]) <= 4, "{exits:?}");
    let [ours, quinns] = [ours.delivered_bytes.0, quinns.delivered_bytes.0];
    assert!(ours.abs_diff(quinns) < quinns / 50, "{ours} and {quinns}");
}

#[test]
fn a_window_of_whole_packets_still_grows() {
    // A buffer so small that the flight at the cut is soon exceeded: what limits growth is the
    // flight since then.
    let network = network(10, 20, 5, 1, 10);
    let acks = |name| Setup { delayed_ack: Some(1), ..setup(name) };
    let outcome = run(&network, &[acks("newreno")]);
    assert!(outcome.flows[0].counts.cuts > 10, "{:?}", outcome.flows[0].counts);
}

#[test]
fn quic_and_tcp_share_a_bottleneck() {
    let network = network(20, 40, 80, 2, 20);
    let outcome = run(&network, &[setup("newreno")]);
    let [quic, tcp] = [0, 1].map(|id: usize| outcome.flows[id].delivered_bytes.0);
    assert!(quic > tcp / 3 && tcp > quic / 3, "{quic} and {tcp} bytes");
    assert!(quic + tcp > 40_000_000, "{quic} and {tcp} bytes");
}

#[test]
fn delayed_acks_are_as_asked_for() {
    let network = network(10, 40, 100, 1, 3);
    let backward = |delayed_ack| {
        let outcome = run(&network, &[Setup { delayed_ack, ..setup("newreno") }]);
        outcome.events
    };
    let (each, second, own) = (backward(Some(1)), backward(Some(2)), backward(None));
    assert!(each > second + second / 10, "{each} and {second} events");
    assert!(own.abs_diff(second) < second / 20, "{own} and {second} events");
}

#[test]
fn a_packet_below_quics_smallest_is_refused() {
    let small = Setup { packet_bytes: 1_000, ..setup("newreno") };
    let problem = Pair::new(&small).err().unwrap();
    assert_eq!(problem, SetupError::Packet { found: 1_000 });
    assert!(problem.to_string().contains("1200 to 65527"), "{problem}");
}
