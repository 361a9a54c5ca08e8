//! A source that keeps its connection and rests between files: what is left of its window.

use crate::common::{flow, link, network};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    FileOutcome, FilesSpec, FlowOutcome, FlowSample, FlowSpec, LinkSpec, Network, Recovery, Timer,
    Uniform, run,
};

const MSS: u64 = 1000;

/// 80 Mbit/s and 100 ms: a packet takes 0.1 ms, a thousand of them fill the path.
fn path() -> LinkSpec {
    link(80, 50, 5000)
}

/// Files of so many packets on one connection, so many milliseconds between them, a window of ten
/// packets at first. The timeout is 300 ms: an RTT of 100 and Linux's least of what is added.
fn source(packets: u64, pause_ms: u64) -> FlowSpec {
    let always = |value| Uniform { from: value, until: value };
    let mut spec = flow(&[0], 50, Recovery::Rack);
    spec.files = Some(FilesSpec {
        bytes: always(packets * MSS),
        pause_ns: always(pause_ms * 1_000_000),
        keep_alive: true,
    });
    spec.endpoint.initial_window = Bytes(10 * MSS);
    spec.endpoint.rto.min = Span::from_millis(200);
    spec.endpoint.rto.timer = Timer::Linux;
    spec
}

fn one(spec: FlowSpec, duration_ms: u64) -> FlowOutcome {
    let sample_every = Some(Span(20_000));
    let network = network(vec![path()], vec![spec], duration_ms);
    run(&Network { sample_every, ..network }).flows.remove(0)
}

/// Window and threshold in packets shortly before a file began, and shortly after.
fn windows(outcome: &FlowOutcome, file: usize) -> [(u64, Option<u64>); 2] {
    let began = outcome.files[file].began.0;
    [began - 2_000_000, began + 2_000_000].map(|at| {
        let earlier = |sample: &&FlowSample| sample.at <= Instant(at);
        let sample = outcome.series.iter().rev().find(earlier).unwrap();
        let ssthresh = Some(sample.ssthresh).filter(|ssthresh| *ssthresh < Bytes::MAX);
        (sample.cwnd.0 / MSS, ssthresh.map(|ssthresh| ssthresh.0 / MSS))
    })
}

#[test]
fn the_files_share_a_connection_and_its_window() {
    let mut spec = source(150, 20);
    let kept = one(spec.clone(), 3_000);
    let took = |file: &FileOutcome| file.delivered.since(file.began).0 / 1_000_000;
    // 10, 20, 40 and 80 packets, then the window of 150 holds a file.
    assert_eq!(took(&kept.files[0]) / 50, 7);
    assert!(kept.files[1..].iter().all(|file| took(file) / 50 == 1), "{:?}", kept.files);
    assert!(kept.files.iter().all(|file| (file.packets, file.sent) == (150, 150)));
    let files = kept.files.len() as u64;
    assert!(files > 15 && kept.delivered_packets.div_ceil(150) - files <= 1);
    assert_eq!(kept.counts.timeouts + kept.counts.retransmitted_packets, 0);
    spec.files = spec.files.map(|files| FilesSpec { keep_alive: false, ..files });
    assert!(one(spec, 3_000).files.iter().all(|file| took(file) / 50 == 7));
}

/// `tcp_cwnd_restart`: the window is halved for every timeout of rest, counted from the last
/// packet, down to the initial one.
#[test]
fn a_window_that_rests_is_halved_for_every_timeout() {
    for (pause_ms, halvings) in [(150, 0), (350, 1), (650, 2), (950, 3)] {
        let [(before, _), (after, ssthresh)] = windows(&one(source(400, pause_ms), 4_000), 1);
        // All 400 were sent with a full window, or before one was seen that was not.
        assert_eq!(before, 410);
        assert_eq!((after, ssthresh), (before >> halvings, None), "{pause_ms} ms");
    }
    assert_eq!(windows(&one(source(400, 5_000), 8_000), 1)[1].0, 10);
}

/// `tcp_current_ssthresh`: three quarters of the window it had, if that is more than the threshold.
#[test]
fn slow_start_goes_on_to_three_quarters_of_the_window() {
    let mut spec = source(1_000, 1_500);
    spec.endpoint.initial_ssthresh = Bytes(100 * MSS);
    let outcome = one(spec, 7_000);
    let [(before, old), (after, ssthresh)] = windows(&outcome, 1);
    assert!(old == Some(100) && (104..112).contains(&before), "{before} {old:?}");
    assert_eq!((after, ssthresh), (10, Some(100)), "above three quarters");
    // Ten packets again, and four round trips later a hundred.
    let began = outcome.files[1].began.0;
    let at = |ms: u64| {
        let until = Instant(began + ms * 1_000_000);
        outcome.series.iter().rev().find(|sample| sample.at <= until).unwrap().cwnd.0 / MSS
    };
    assert_eq!([at(190), at(290), at(390)], [20, 40, 80]);
}

#[test]
fn the_rule_can_be_turned_off() {
    let mut spec = source(400, 3_000);
    spec.endpoint.slow_start_after_idle = false;
    let [before, after] = windows(&one(spec, 8_000), 1);
    assert_eq!(before, after);
}
