//! Paced chirping: gaps, rounds, landing.

use super::*;
use crate::testing::{MSS, ack, view};

/// 100 ms, no queue; after the handshake.
fn begun() -> (Chirps, View, Step) {
    let (mut policy, mut view) = (Chirps::default(), view(1, Bytes::MAX));
    view.in_flight = Bytes(0);
    let step = policy.begin(&view);
    (policy, view, step)
}

/// The times in microseconds at which packets leave until it waits for ACKs.
fn departures(policy: &mut Chirps, view: &mut View) -> Vec<u64> {
    let mut times = vec![view.now.0 / 1_000];
    while matches!(policy.state, State::Chirping | State::Guarding) {
        view.now = policy.due;
        let step = policy.on_wake(view);
        assert_eq!(step.window.cwnd, view.in_flight + MSS, "one packet may leave");
        view.in_flight += MSS;
        times.push(view.now.0 / 1_000);
    }
    times
}

extern crate std;
use std::vec;
use std::vec::Vec;

/// g = 200 us: 400, 320, 240, 160 us; 50 ms of a round for each chirp.
#[test]
fn the_first_two_chirps_have_five_packets_and_share_the_first_rtt() {
    let (mut policy, mut view, step) = begun();
    assert_eq!((step.window.cwnd, step.wake), (MSS, Some(Instant(400_000))));
    view.in_flight = MSS;
    let times = departures(&mut policy, &mut view);
    assert_eq!(times[..6], [0, 400, 720, 960, 1_120, 50_000]);
    assert_eq!(times[6..], [50_400, 50_720, 50_960, 51_120]);
    assert_eq!(policy.state, State::Waiting);
}

/// Acknowledges the next chirp with these queueing delays, in microseconds.
fn acknowledge(policy: &mut Chirps, view: &mut View, delays: &[u64]) -> Step {
    let mut step = view.window.hold();
    for delay in delays {
        view.rtt.latest = Span::from_millis(100) + Span::from_micros(*delay);
        view.in_flight -= MSS;
        step = policy.step(&ack(view, 1), view);
        if step.window.cwnd > view.in_flight {
            view.in_flight = step.window.cwnd;
        }
    }
    step
}

#[test]
fn a_chirp_without_a_queue_halves_the_way_to_its_last_gap_and_begins_the_second_round() {
    let (mut policy, mut view, _) = begun();
    view.in_flight = MSS;
    let _ = departures(&mut policy, &mut view);
    view.now = view.now + Span::from_millis(50);
    let step = acknowledge(&mut policy, &mut view, &[0; 5]);
    // The last gap of five is 400/5 = 80 us: (200 + 80)/2 = 140.
    assert_eq!(policy.gap, Span::from_micros(140));
    assert_eq!((policy.begun, policy.state), (3, State::Chirping));
    assert_eq!(step.wake, Some(view.now + Span::from_micros(280)));
    // Eight packets: 280 less an eighth each.
    let times = departures(&mut policy, &mut view);
    let first: Vec<u64> = times.windows(2).take(7).map(|two| two[1] - two[0]).collect();
    assert_eq!(first, [280, 245, 210, 175, 140, 105, 70]);
    assert_eq!(policy.begun, 4, "two chirps in the second round too");
}

#[test]
fn an_estimate_stays_within_30_us_and_10_ms() {
    let (mut policy, mut view, _) = begun();
    policy.gap = LEAST_GAP;
    policy.gaps[0] = (LEAST_GAP.0 / KEPT_UNIT) as u16;
    view.in_flight = MSS * 10;
    let _ = acknowledge(&mut policy, &mut view, &[0; 5]);
    assert_eq!(policy.gap, LEAST_GAP, "12 us count as 30");
}

/// A round as long as the RTT: minrtt/g segments fill the path.
#[test]
fn a_round_that_fills_the_rtt_lands_paced_and_leaves_with_what_is_in_flight() {
    let (mut policy, mut view, _) = begun();
    (policy.gap, policy.round_length) = (Span::from_micros(500), Span::from_millis(100));
    policy.gaps[0] = (500_000 / KEPT_UNIT) as u16;
    policy.done = 4;
    policy.begun = 5;
    policy.gaps[4] = (500_000 / KEPT_UNIT) as u16;
    // The delay rises to the end from packet 8 on: gap(8) = 1000 us * 8/16 = 500 us.
    let delays: Vec<u64> = (0..16).map(|at: u64| at.saturating_sub(8) * 50).collect();
    let mut step = view.window.hold();
    for delay in delays {
        view.rtt.latest = Span::from_millis(100) + Span::from_micros(delay);
        step = policy.step(&ack(&view, 1), &view);
    }
    assert_eq!(policy.gap, Span::from_micros(500));
    assert_eq!(policy.state, State::Landing(200));
    assert_eq!(step.window.cwnd, MSS * 400);
    assert_eq!(step.pace.map(|pace| pace.rate), Some(Rate(2_000_000)));
    view.in_flight = MSS * 190;
    assert_eq!(policy.step(&ack(&view, 199), &view).exit, None);
    let step = policy.step(&ack(&view, 1), &view);
    assert_eq!((step.window.cwnd, step.window.ssthresh), (MSS * 190, MSS * 190));
    assert_eq!(step.exit, Some(Exit::Heuristic));
    assert_eq!(policy.found(&view).pipe, Some(MSS * 200));
}

#[test]
fn chirps_that_the_source_left_unfinished_do_not_hold_the_next() {
    let (mut policy, mut view, _) = begun();
    view.in_flight = MSS;
    let _ = departures(&mut policy, &mut view);
    // Three of the ten left.
    view.in_flight = MSS * 3;
    let _ = acknowledge(&mut policy, &mut view, &[0; 2]);
    assert_eq!((policy.begun, policy.state), (2, State::Waiting));
    let step = acknowledge(&mut policy, &mut view, &[0]);
    assert_eq!((policy.begun, policy.state), (3, State::Chirping));
    assert_eq!(step.window.cwnd, MSS);
}

#[test]
fn after_a_timeout_it_is_slow_start() {
    let (mut policy, _, _) = begun();
    policy.enter(Entry::Timeout, &view(1, MSS * 20));
    let view = view(1, MSS * 20);
    assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 2);
    assert_eq!(policy.on_wake(&view).wake, None);
}
