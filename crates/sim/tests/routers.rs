//! Systems that need the routers' help, over links whose routers give it. 1000-byte packets, 40
//! Mbps and 100 ms: 500 packets of BDP.

use crate::common::{flow, link, network};
use firstflight_core::policy::Exit;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    FileOutcome, FilesSpec, FlowOutcome, FlowSpec, Network, Outcome, Pattern, Recovery, UdpSpec,
    Uniform, named, run,
};

fn with(startup: &str, avoidance: &str) -> FlowSpec {
    let mut spec = flow(&[0], 50, Recovery::Sack);
    spec.control = named(startup, avoidance).unwrap();
    spec.endpoint.initial_ssthresh = Bytes::MAX;
    spec
}

fn sampled(flows: Vec<FlowSpec>, duration_ms: u64) -> Network {
    let every = Some(Span::from_millis(10));
    Network { sample_every: every, ..network(vec![link(40, 50, 500)], flows, duration_ms) }
}

/// Mean window in packets of a flow between two times.
fn window(flow: &FlowOutcome, from_ms: u64, until_ms: u64) -> u64 {
    let within = |ms: u64| (from_ms..until_ms).contains(&ms);
    let samples = flow.series.iter().filter(|sample| within(sample.at.0 / 1_000_000));
    let windows: Vec<u64> = samples.map(|sample| sample.cwnd.0 / 1_000).collect();
    windows.iter().sum::<u64>() / (windows.len() as u64).max(1)
}

fn utilisation(outcome: &Outcome, duration_s: u64) -> f64 {
    outcome.links[0].totals.busy_ns as f64 / (duration_s * 1_000_000_000) as f64
}

/// ns-2.35's XCP on this path, with packets of 1040 bytes on the link: 555 packets after 0.55 s, at
/// most 682 after 0.75 s, 478 in the end, no loss.
#[test]
fn xcp_fills_the_path_in_half_a_second_and_settles_without_a_queue() {
    let spec = FlowSpec { header_bytes: 40, ..with("xcp", "xcp") };
    let outcome = run(&sampled(vec![spec], 10_000));
    let flow = &outcome.flows[0];
    assert!((500..600).contains(&window(flow, 500, 600)), "{}", window(flow, 500, 600));
    let most = flow.series.iter().map(|sample| sample.cwnd.0 / 1_000).max().unwrap();
    assert!((600..700).contains(&most), "{most}");
    assert!((478..=483).contains(&window(flow, 9_000, 10_000)), "{}", window(flow, 9_000, 10_000));
    assert_eq!((flow.drops, flow.startup.exit.unwrap().why), (0, Exit::Heuristic));
    let queue = outcome.links[0].series.iter().filter(|sample| sample.at.0 > 9_000_000_000);
    assert!(queue.clone().count() > 50 && queue.clone().all(|sample| sample.held < 10));
}

/// ns-2.35's second flow has 85, 193, 230 and 237 of 480 packets after 0.4, 1.4, 2.9 and 4.4 s.
#[test]
fn a_newcomer_of_xcp_has_its_share_after_four_seconds_and_nobody_loses_a_packet() {
    let second = FlowSpec { start: Instant(5_000_000_000), ..with("xcp", "xcp") };
    let outcome = run(&sampled(vec![with("xcp", "xcp"), second], 12_000));
    let [first, second] = &outcome.flows[..] else { panic!("two flows") };
    let at = [6_400, 7_900, 9_400].map(|ms| window(second, ms - 50, ms + 50));
    assert!((180..230).contains(&at[0]) && at[1] > 230 && at[2] > 240, "{at:?}");
    let last = [first, second].map(|flow| window(flow, 11_000, 12_000));
    assert!(last.iter().all(|window| (245..=255).contains(window)), "{last:?}");
    assert_eq!(first.drops + second.drops, 0);
    assert!(utilisation(&outcome, 12) > 0.96);
}

#[test]
fn what_constant_traffic_leaves_xcp_and_ebn_take_within_a_second() {
    for control in ["xcp", "tcp-ebn"] {
        let flow = with_udp(with(control, control), 2..6);
        let during = window(&flow, 5_000, 6_000);
        // 10 of 40 Mbps are 125 packets. XCP has more: it shuffles what it cannot take from UDP.
        assert!((120..200).contains(&during), "{control}: {during}");
        assert!(window(&flow, 7_000, 7_500) > 450, "{control}");
    }
    let newreno = with_udp(with("slow-start", "newreno"), 2..6);
    assert!(window(&newreno, 7_000, 7_500) < 300);
}

/// The flow against UDP of 30 Mbps, between those seconds.
fn with_udp(flow: FlowSpec, seconds: std::ops::Range<u64>) -> FlowOutcome {
    let (start, stop) = (Instant(seconds.start * NANOS), Some(Instant(seconds.end * NANOS)));
    let udp = UdpSpec {
        path: vec![0],
        rate_bps: 30_000_000,
        pattern: Pattern::Constant,
        packet_bytes: 1000,
        start,
        stop,
    };
    run(&Network { udp: vec![udp], ..sampled(vec![flow], 8_000) }).flows.remove(0)
}

#[test]
fn ebn_has_the_whole_window_after_the_first_ack_and_shares_at_once() {
    let second = FlowSpec { start: Instant(5 * NANOS), ..with("tcp-ebn", "tcp-ebn") };
    let outcome = run(&sampled(vec![with("tcp-ebn", "tcp-ebn"), second], 8_000));
    let [first, second] = &outcome.flows[..] else { panic!("two flows") };
    assert!(first.startup.time_to_bdp[2].unwrap() < Instant(205_000_000), "{:?}", first.startup);
    assert_eq!(window(first, 3_000, 5_000), 501);
    for flow in [first, second] {
        assert_eq!((window(flow, 5_500, 8_000), flow.drops), (250, 0));
    }
    assert!(outcome.links[0].totals.peak_packets < 250, "{:?}", outcome.links[0].totals);
}

#[test]
fn the_tightest_router_of_the_path_decides() {
    for control in ["xcp", "tcp-ebn"] {
        for rates in [[40, 20], [20, 40]] {
            let mut spec = FlowSpec { path: vec![0, 1], ..with(control, control) };
            spec.return_delay = Span::from_millis(50);
            let links = rates.map(|rate| link(rate, 25, 500)).into();
            let every = Some(Span::from_millis(10));
            let network = Network { sample_every: every, ..network(links, vec![spec], 6_000) };
            let flow = run(&network).flows.remove(0);
            assert!((248..=252).contains(&window(&flow, 5_000, 6_000)), "{control} {rates:?}");
            assert_eq!(flow.drops, 0);
        }
    }
}

#[test]
fn an_ack_for_two_packets_brings_back_the_feedback_of_both() {
    for (delayed, split) in [(2, 1), (1, 3)] {
        let mut spec = with("xcp", "xcp");
        (spec.endpoint.delayed_ack, spec.endpoint.split_acks) = (delayed, split);
        // One packet would wait for the timer, and the RTT be three times too long.
        spec.endpoint.initial_window = Bytes(2_000);
        let flow = run(&sampled(vec![spec], 6_000)).flows.remove(0);
        assert!((498..=504).contains(&window(&flow, 5_000, 6_000)), "{delayed} {split}");
        assert!(
            flow.startup.time_to_bdp[2].unwrap() < Instant(800_000_000),
            "{delayed} {split} {:?}",
            flow.startup
        );
    }
}

/// Routers that help nobody else cannot hold the others back.
#[test]
fn against_newreno_ebn_is_left_with_what_newreno_leaves() {
    let flows = vec![with("tcp-ebn", "tcp-ebn"), with("slow-start", "newreno")];
    let outcome = run(&sampled(flows, 20_000));
    let [ebn, newreno] = [0, 1].map(|flow| window(&outcome.flows[flow], 10_000, 20_000));
    assert!(ebn < 10 && newreno > 400, "{ebn} {newreno}");
}

const NANOS: u64 = 1_000_000_000;

/// What the ACKs of one connection bring back is not taken for that of the next.
#[test]
fn every_connection_of_a_source_of_files_starts_from_its_own_feedback() {
    let mut spec = with("xcp", "xcp");
    let always = |value| Uniform { from: value, until: value };
    let (bytes, pause_ns) = (always(500_000), always(3 * NANOS));
    spec.files = Some(FilesSpec { bytes, pause_ns, keep_alive: false });
    spec.endpoint.delayed_ack = 2;
    spec.endpoint.initial_window = Bytes(2_000);
    let flow = run(&sampled(vec![spec], 20_000)).flows.remove(0);
    let took = |file: &FileOutcome| file.delivered.since(file.began).0 / 1_000_000;
    let times: Vec<u64> = flow.files.iter().map(took).collect();
    assert!(times.len() == 6 && times.iter().all(|time| *time < 600), "{times:?}");
    assert_eq!(flow.drops, 0);
}
