//! Paced chirping: gaps, rounds, landing.

use super::*;
use crate::knob::KnobValue;
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
    assert_eq!(policy.round_length, Span::from_micros(2 * 1_120));
    assert!(policy.growth() >= 10, "all of them before the first ACK");
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
    assert_eq!((policy.done, policy.begun, policy.state), (1, 3, State::Chirping));
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
    assert_eq!(step.pacing_set().map(|pace| pace.rate), Some(Rate(2_000_000)));
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

/// A packet of the window, now or when the next is due.
#[test]
fn packets_wait_for_their_times() {
    let (mut policy, mut view, _) = begun();
    let not_before = |step: Step| step.pacing_set().map(|pace| pace.not_before);
    view.in_flight = MSS;
    (view.now, view.acked) = (policy.due, Bytes(0));
    let step = policy.on_wake(&view);
    assert_eq!((not_before(step), step.wake), (Some(Some(view.now)), Some(policy.due)));
    let step = policy.step(&ack(&view, 0), &view);
    assert_eq!(step.window.cwnd, MSS, "what is in flight");
    assert_eq!((not_before(step), step.wake), (Some(Some(policy.due)), Some(policy.due)));
    let mut recovering = policy;
    let repairs = View { recovering: true, ..view };
    assert_eq!(recovering.on_wake(&repairs), view.window.hold().keep_pace());
    policy.state = State::Waiting;
    assert_eq!(policy.on_wake(&view), view.window.hold().keep_pace());
    (policy.round_begun, view.in_flight) = (2, MSS * 9);
    let step = policy.step(&ack(&view, 0), &view);
    assert_eq!((not_before(step), step.wake), (Some(None), None));
}

#[test]
fn it_begins_with_one_packet_and_the_gap_that_the_knob_says() {
    let mut policy = Chirps::default();
    assert!(policy.set("gap", KnobValue::Time(Span::from_millis(1))));
    let view = view(10, Bytes::MAX);
    assert_eq!(policy.open(view.window, MSS).cwnd, MSS);
    let step = policy.begin(&view);
    assert_eq!((step.window.cwnd, policy.gap), (MSS, Span::from_millis(1)));
    assert_eq!(step.wake, Some(Instant(2_000_000)));
}

#[test]
fn rounds_double_from_the_sixth_chirp_on() {
    let per_round = |begun, round_begun| {
        let mut policy = Chirps { begun, round_begun, per_round: 4, ..Chirps::default() };
        policy.begin_round();
        policy.per_round
    };
    assert_eq!([per_round(5, 4), per_round(6, 3), per_round(6, 4)], [4, 4, 8]);
}

/// At most the chirps that are kept may be outstanding.
#[test]
fn a_chirp_waits_while_128_are_outstanding() {
    let after = |done| {
        let (begun, per_round, left) = (228, 1_000, 15);
        let state = State::Chirping;
        let mut policy = Chirps { begun, done, per_round, left, state, ..Chirps::default() };
        policy.let_one_leave(&view(1, Bytes::MAX));
        policy.state
    };
    assert_eq!([after(100), after(101)], [State::Waiting, State::Guarding]);
}

/// A chirp of 16 is done; what else ends the search besides a round as long as the RTT.
#[test]
fn a_long_round_or_as_many_chirps_as_are_kept_end_the_search() {
    let lands = |begun, done, long| {
        let gaps = [800; OUTSTANDING];
        let mut policy = Chirps { begun, done, long, gaps, round_first: 1, ..Chirps::default() };
        (0..16).for_each(|_| policy.add_delay(&view(1, Bytes::MAX)));
        assert_eq!(policy.done, done + 1);
        matches!(policy.state, State::Landing(_))
    };
    assert!(!lands(10, 4, false) && lands(10, 4, true));
    assert!(!lands(227, 100, false) && lands(228, 100, false));
}

/// The first ACK of a round's first chirp ends the round before: were all of its chirps begun?
#[test]
fn a_round_whose_chirps_have_not_all_left_is_as_long_as_the_rtt() {
    let is_long = |round_first, round_begun, was_long| {
        let (per_round, begun, done) = (2, 5, 4);
        let mut policy = Chirps { per_round, begun, done, round_first, ..Chirps::default() };
        (policy.round_begun, policy.long) = (round_begun, was_long);
        policy.add_delay(&view(1, Bytes::MAX));
        (policy.long, policy.round_first)
    };
    assert_eq!(is_long(4, 1, false), (true, 5));
    assert_eq!(is_long(4, 2, false), (false, 5));
    assert_eq!(is_long(4, 3, false), (false, 5));
    assert_eq!(is_long(4, 2, true), (true, 5), "it stays");
    assert_eq!(is_long(5, 1, false), (false, 5), "not this round's first");
}

/// The delay counts from the smallest RTT at that time, as in the module.
#[test]
fn a_smallest_rtt_that_falls_is_a_queue_from_there_on() {
    let (mut policy, mut view, _) = begun();
    for min_ms in [110, 110, 100, 100, 100] {
        view.rtt.latest = Span::from_millis(110);
        view.rtt.min = Span::from_millis(min_ms);
        policy.add_delay(&view);
    }
    // The delay rises from the second packet on: (200 + 320)/2.
    assert_eq!(policy.gap, Span::from_micros(260));
}

#[test]
fn parts_of_segments_are_put_together() {
    let (mut policy, view, _) = begun();
    let mut delays = |bytes| {
        let ack = Ack { credited: Bytes(bytes), ..ack(&view, 0) };
        let _ = policy.step(&ack, &view);
        policy.delays.len()
    };
    assert_eq!([delays(1_500), delays(400), delays(100)], [1, 1, 2]);
}

#[test]
fn one_ack_may_acknowledge_all_chirps_outstanding() {
    let gaps = [800; OUTSTANDING];
    let mut policy = Chirps { begun: 120, gaps, ..Chirps::default() };
    // Twice five, twice eight, and 116 times 16 packets.
    let _ = policy.step(&ack(&view(1, Bytes::MAX), 1_882), &view(1, Bytes::MAX));
    assert_eq!((policy.done, policy.delays.len()), (120, 0));
}

#[test]
fn chirps_that_are_done_do_not_begin_a_round_without_an_ack() {
    let (round_length, round_begun) = (Span::from_millis(5), 2);
    let mut policy = Chirps { begun: 2, done: 2, round_begun, round_length, ..Chirps::default() };
    let mut view = view(1, Bytes::MAX);
    view.in_flight = Bytes(0);
    let _ = policy.step(&ack(&view, 0), &view);
    assert_eq!(policy.round_length, round_length);
}

#[test]
fn it_ends_at_a_threshold_and_with_two_segments_at_least() {
    let (policy, mut view, _) = begun();
    let step = |cwnd: u64, view: &View| {
        let mut policy = policy;
        let window = Window { cwnd: MSS * cwnd, ssthresh: MSS * 20 };
        policy.step(&ack(view, 0), &View { window, ..*view }).exit
    };
    assert_eq!((step(19, &view), step(20, &view)), (None, Some(Exit::Threshold)));
    view.in_flight = Bytes(0);
    let window = Window { cwnd: MSS * 2, ssthresh: MSS * 2 };
    assert_eq!(Chirps::default().landing(1, 1, &view).window, window);
    view.rtt.min = Span::MAX;
    assert_eq!(policy.found(&view).pipe, None);
}
