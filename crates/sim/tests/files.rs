//! Sources of files: every file on a connection of its own, over the same route.

use crate::common::{flow, link, network};
use firstflight_core::units::{Instant, Span};
use firstflight_sim::{
    FileOutcome, FilesSpec, FlowOutcome, FlowSpec, LinkSpec, Network, Recovery, Uniform, run,
};

/// 8 Mbps and 100 ms: a packet takes 1 ms, 100 packets fill the path.
fn path() -> LinkSpec {
    link(8, 50, 100)
}

fn always(value: u64) -> Uniform {
    Uniform { from: value, until: value }
}

/// Files of exactly so many packets, or at random between the two.
fn source(packets: Uniform, pause: Uniform) -> FlowSpec {
    let mut spec = flow(&[0], 50, Recovery::NewReno);
    let bytes = Uniform { from: packets.from * 1000, until: packets.until * 1000 };
    let pause_ns = Uniform { from: pause.from * 1_000_000, until: pause.until * 1_000_000 };
    spec.files = Some(FilesSpec { bytes, pause_ns, keep_alive: false });
    spec.access_rate_bps = 1_000_000_000_000;
    spec.return_rate_bps = 1_000_000_000_000;
    spec.endpoint.ack_bytes = 1;
    spec
}

fn one(spec: FlowSpec, duration_ms: u64) -> FlowOutcome {
    run(&network(vec![path()], vec![spec], duration_ms)).flows.remove(0)
}

#[test]
fn every_file_is_a_new_connection_with_a_window_of_its_own() {
    // Windows 1, 2 and 4: seven packets take two round trips of 101 ms, then 4 ms and 50 ms.
    let outcome = one(source(always(7), always(100)), 1_200);
    let times: Vec<(u64, u64)> = outcome
        .files
        .iter()
        .map(|file| (file.began.0 / 1_000_000, file.delivered.0 / 1_000_000))
        .collect();
    // The last ACK is back 50 ms after the last packet; then comes the pause.
    assert_eq!(times, [(0, 256), (406, 662), (812, 1068)]);
    assert!(outcome.files.iter().all(|file| file.packets == 7 && file.sent == 7));
    assert_eq!(outcome.delivered_packets, 21);
    assert_eq!(outcome.counts.sent_packets, 21);
    assert_eq!(outcome.finished_at, None);
}

#[test]
fn a_file_not_done_when_the_run_ends_counts_as_packets_but_not_as_a_file() {
    let outcome = one(source(always(7), always(100)), 600);
    assert_eq!(outcome.files.len(), 1);
    assert_eq!(outcome.delivered_packets, 7 + 3);
}

#[test]
fn a_stop_ends_the_source_between_files_and_within_one() {
    // The packet that is under way at 450 ms comes too late to count.
    for (stop_ms, files, sent) in [(300, 1, 7), (450, 1, 7 + 1)] {
        let mut spec = source(always(7), always(100));
        spec.stop = Some(Instant(stop_ms * 1_000_000));
        let outcome = one(spec, 5_000);
        assert_eq!((outcome.files.len(), outcome.delivered_packets), (files, 7));
        assert_eq!(outcome.counts.sent_packets, sent);
    }
}

#[test]
fn sizes_and_pauses_come_from_the_seed_and_a_stream_of_the_source() {
    let spec = source(Uniform { from: 10, until: 60 }, Uniform { from: 0, until: 500 });
    let sizes = |network: &Network| -> Vec<Vec<u32>> {
        let flows = run(network).flows;
        flows.iter().map(|flow| flow.files.iter().map(|file| file.packets).collect()).collect()
    };
    let pair = network(vec![path()], vec![spec.clone(), spec.clone()], 60_000);
    let both = sizes(&pair);
    assert_ne!(both[0][..20], both[1][..20]);
    assert_eq!(both, sizes(&pair));
    assert_ne!(both, sizes(&Network { seed: 2, ..pair.clone() }));
    let alone = sizes(&network(vec![path()], vec![spec], 60_000));
    assert_eq!(alone[0][..20], both[0][..20], "another source disturbs neither sizes nor pauses");
    let mean = alone[0].iter().sum::<u32>() as f64 / alone[0].len() as f64;
    assert!((mean - 35.0).abs() < 5.0, "{mean}");
}

#[test]
fn what_is_left_of_a_connection_does_not_disturb_the_next() {
    // The first timeout comes before the first ACK and sends packet 0 again, so a copy of it and
    // its ACK are still under way when the next file begins at once.
    let mut spec = source(always(1), always(0));
    spec.endpoint.rto.min = Span::from_millis(10);
    spec.endpoint.rto.initial = Span::from_millis(60);
    let outcome = one(spec, 120_000);
    // A round trip of 101 ms each: were the copy's ACK taken for the next file's, it would be less.
    assert_eq!(outcome.files.len() as u64, 120_000 / 101);
    assert_eq!(outcome.counts.retransmitted_packets, outcome.files.len() as u64);
    let took = |file: &FileOutcome| file.delivered.since(file.began).0 / 1_000_000;
    assert!(outcome.files.iter().all(|file| took(file) == 51));
}
