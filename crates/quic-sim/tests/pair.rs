//! quinn over the simulator's links.

use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::common::network;
use firstflight_core::units::{Bytes, Span};
use firstflight_qlog::{Header, Log};
use firstflight_quic_sim::quinn::{ClientAndServer, MIN_PACKET, QuicControl, Setup, SetupError};
use firstflight_sim::{Ends, Network, Outcome, Recovery};

fn setup(control: &str) -> Setup {
    Setup::new(QuicControl::named(control).unwrap(), 2_000_000)
}

fn run(network: &Network, setups: &[Setup]) -> Outcome {
    let network = Network { sample_every: Some(Span::from_millis(50)), ..network.clone() };
    let ends = |setup| -> Box<dyn Ends> { Box::new(ClientAndServer::new(setup).unwrap()) };
    crate::common::run(&network, setups.iter().map(ends).collect())
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
    let exits = [ours, quinns].map(|flow| flow.startup.exit.unwrap().cwnd.0 / MIN_PACKET);
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

/// 208 packets of path and as many of buffer: 694 are lost over TCP, 601 over quinn. All losses of
/// the landing count, also of what had left before it: without them 1530 were lost over quinn.
#[test]
fn rapid_start_lands_over_quinn_where_it_lands_over_tcp() {
    let mut network = network(20, 100, 208, 1, 4);
    let flow = &mut network.flows[0];
    flow.control = firstflight_sim::named("rapid-start", "cubic").unwrap();
    flow.endpoint.recovery = Recovery::Sack;
    (flow.endpoint.syn, flow.endpoint.initial_window) = (true, Bytes(10 * MIN_PACKET));
    for (outcome, stack) in
        [(run(&network, &[]), "TCP"), (run(&network, &[setup("rapid-start")]), "quinn")]
    {
        let flow = &outcome.flows[0];
        let set = flow.series.iter().map(|sample| sample.ssthresh).find(|it| *it < Bytes::MAX);
        let landed = set.unwrap().0 as f64 / (MIN_PACKET * 416) as f64;
        assert!((550..750).contains(&flow.drops), "{stack}: {} drops", flow.drops);
        assert!((0.69..0.73).contains(&landed), "{stack}: {landed}");
    }
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

/// quinn's own initial window of 12,000 bytes would hold no two packets of more than 6,000, so that
/// the receiver's first ACK would wait for ever behind what it cannot send.
#[test]
fn large_packets_fill_the_path_too() {
    let network = network(10, 60, 20, 1, 5);
    for (control, packet_bytes) in [("cubic", 7_000), ("cubic", 9_000), ("quinn-cubic", 16_383)] {
        let outcome = run(&network, &[Setup { packet_bytes, ..setup(control) }]);
        let used = outcome.flows[0].delivered_bytes.0 * 8 / 5;
        assert!(used > 6_000_000, "{control}, {packet_bytes} bytes: {used} bit/s");
    }
}

#[test]
fn a_packet_below_quics_smallest_is_refused() {
    let small = Setup { packet_bytes: 1_000, ..setup("newreno") };
    let problem = ClientAndServer::new(&small).err().unwrap();
    assert_eq!(problem, SetupError::Packet { found: 1_000 });
    assert!(problem.to_string().contains("1200 to 16383"), "{problem}");
}

/// A writer whose bytes another owner can read.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file system without room.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn logged(control: &str, to: impl Write + Send + Sync + 'static) -> Outcome {
    let header = Header { title: control.to_owned(), ..Header::default() };
    let pair = ClientAndServer::logged(&setup(control), header, Box::new(to)).unwrap();
    crate::common::run(&network(10, 40, 42, 1, 2), vec![Box::new(pair)])
}

#[test]
fn quinns_own_log_has_what_the_simulator_counted() {
    for control in ["newreno", "quinn-cubic"] {
        let kept = Kept::default();
        let outcome = logged(control, kept.clone());
        let flow = &outcome.flows[0];
        let bytes = kept.0.lock().unwrap().clone();
        let log = Log::of_bytes(control, &bytes, None).unwrap();
        let summary = log.connection.summary;
        assert_eq!(summary.packets_sent, Some(flow.counts.sent_packets), "{control}");
        assert_eq!(summary.packets_lost, Some(flow.counts.retransmitted_packets), "{control}");
        let (exit, seen) = (summary.exit.unwrap(), flow.startup.exit.unwrap());
        assert_eq!(exit.reason.as_deref(), Some(seen.why.name()), "{control}");
        // The log has it with the first event after it.
        assert!(
            (exit.time_s - seen.at.0 as f64 / 1e9).abs() < 0.02,
            "{control}: {exit:?} {seen:?}"
        );
        assert!((40.0..42.0).contains(&summary.min_rtt_ms.unwrap()), "{control}");
    }
}

#[test]
fn the_same_seed_writes_the_same_log() {
    let [first, second] = [0, 1].map(|_| {
        let kept = Kept::default();
        logged("astart", kept.clone());
        kept
    });
    assert!(first.0.lock().unwrap().len() > 100_000);
    assert!(*first.0.lock().unwrap() == *second.0.lock().unwrap());
}

#[test]
fn a_log_that_cannot_be_written_is_a_failure() {
    let failure = logged("newreno", Full).flows[0].failure.clone().unwrap();
    assert!(failure.contains("its qlog was not written"), "{failure}");
}
