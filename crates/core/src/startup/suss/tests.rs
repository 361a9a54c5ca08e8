//! The authors' recorded run, and what turns SUSS off.

use super::*;
use crate::event::LossKind;
use crate::knob::KnobValue;
use crate::pacing::Pacing;
use crate::policy::Pace;
use crate::testing::{ack, view};

const MSS: Bytes = Bytes(1_448);

/// A connection whose smallest RTT is that of the authors' run.
struct Path {
    policy: Suss,
    view: View,
    now_us: u64,
}

impl Path {
    fn new() -> Self {
        let mut view = view(10, Bytes::MAX);
        view.mss = MSS;
        view.window.cwnd = MSS * 10;
        view.rtt.min = Span::from_micros(49_986);
        view.rtt.latest = view.rtt.min;
        view.snd_nxt = Bytes(0);
        let mut policy = Suss::default();
        assert!(policy.set("rounds", KnobValue::Word("window")));
        policy.enter(Entry::Connect, &view);
        view.snd_nxt = MSS * 10;
        Self { policy, view, now_us: 1_000_000 }
    }

    /// Takes `acks` ACKs for a segment each, evenly over `us`; what an ACK frees is sent, and
    /// what a jump allows after it.
    fn train(&mut self, acks: u64, us: u64) -> Step {
        let (began, mut step) = (self.now_us, self.view.window.hold());
        for number in 0..acks {
            self.now_us = began + us * number / (acks - 1).max(1);
            self.view.now = Instant(self.now_us * 1_000);
            self.view.acked += MSS;
            self.view.in_flight = self.view.snd_nxt - self.view.acked;
            let ack = Ack {
                now: self.view.now,
                acked: MSS,
                credited: MSS,
                rtt: Some(self.view.rtt.latest),
                in_flight: self.view.in_flight,
                snd_nxt: self.view.snd_nxt,
                ..Ack::default()
            };
            step = self.policy.step(&ack, &self.view);
            self.view.window = step.window;
            if !self.policy.red.is_some_and(|red| red.leaves) {
                self.fill();
            }
        }
        step
    }

    /// The guard is over: how long it was, and the step that follows.
    fn woken(&mut self, step: Step) -> (u64, Step) {
        let at = step.wake.unwrap();
        self.view.now = at;
        let step = self.policy.on_wake(&self.view);
        self.view.window = step.window;
        (at.0 / 1_000 - self.now_us, step)
    }

    fn fill(&mut self) {
        self.view.snd_nxt = self.view.acked + self.view.window.cwnd;
    }

    fn segments(&self) -> u64 {
        self.view.window.cwnd.0 / MSS.0
    }

    /// Until the pause that follows an RTT.
    fn next_round(&mut self) {
        self.fill();
        self.now_us += 30_000;
    }
}

/// The authors' recorded run: 50 Mbit/s, 50 ms, segments of 1448 bytes.
#[test]
fn the_recorded_run_is_repeated_round_by_round() {
    let mut path = Path::new();
    // Round 2: ten blue ACKs in 2,176 us.
    let last = path.train(10, 2_176);
    assert_eq!((path.segments(), last.pace), (20, Pace::Default), "blue data leave at once");
    assert_eq!(path.policy.last_train.0 / 1_000, 2_417);
    let (guard, red) = path.woken(last);
    assert_eq!(guard, 11_287, "11,288 in whole microseconds");
    assert_eq!((path.segments(), red.pace), (40, Pace::Set(Pacing::at(Rate(1_158_724)))));
    path.next_round();
    // Round 3: twenty blue ACKs in 4,559 us, and as many red ones.
    let last = path.train(20, 4_559);
    assert_eq!(path.policy.last_train.0 / 1_000, 4_798);
    let (guard, red) = path.woken(last);
    assert_eq!((path.segments(), guard), (160, 3_848));
    assert!((4_634_700..4_634_900).contains(&red.pacing_set().unwrap().rate.0), "{red:?}");
    let _ = path.train(20, 20_000);
    assert_eq!(path.segments(), 160, "red ACKs do not open the window");
    path.next_round();
    // Round 4: forty blue ACKs in 9,389 us; no jump, and growth goes on by ACKs.
    let step = path.train(40, 9_389);
    assert_eq!((path.segments(), step.pace, path.policy.jumps), (200, Pace::Default, 2));
    assert!(!path.policy.may_jump);
    let _ = path.train(120, 37_000);
    assert_eq!(path.segments(), 320);
    path.next_round();
    // Round 5: HyStart's begins with its 49th ACK, and 4 times 6.4 ms of it are too long. The
    // run has the cap at 72 blue ACKs and 608 segments, with up to five segments less in flight
    // than the window at the ends of rounds.
    let mut blue = 0;
    while path.policy.cap.is_none() && blue < 200 {
        let _ = path.train(1, 0);
        path.now_us += 242;
        blue += 1;
    }
    let seen = blue - 1;
    assert!((72..=77).contains(&seen), "{seen}");
    let cap = path.policy.cap.unwrap().0 / MSS.0;
    assert_eq!(cap, 320 + seen + 3 * seen);
    let left = (0..400).map(|_| path.train(1, 0)).find(|step| step.exit.is_some()).unwrap();
    assert_eq!(left.exit, Some(Exit::Heuristic));
    assert_eq!(left.window.ssthresh, left.window.cwnd);
    assert_eq!(path.segments(), cap, "the flight, a segment less than the window beyond it");
}

/// With the code as published 27 blue ACKs of round 4 are as long.
#[test]
fn rounds_of_hystart_that_begin_with_the_data_cap_it_a_round_earlier() {
    let mut path = Path::new();
    assert!(path.policy.set("rounds", KnobValue::Word("data")));
    for (acks, us) in [(10, 2_176), (20, 4_559)] {
        let last = path.train(acks, us);
        let _ = path.woken(last);
        if acks == 20 {
            let _ = path.train(20, 20_000);
        }
        path.next_round();
    }
    let _ = path.train(40, 9_389);
    assert!((260..=270).contains(&(path.policy.cap.unwrap().0 / MSS.0)));
}

/// The authors' code leaves a paced socket to HyStart, for which a train may be twice as long then.
#[test]
fn on_a_paced_socket_it_is_hystart() {
    let begun = |paced| {
        let mut path = Path::new();
        path.view.paced = paced;
        let _ = path.policy.begin(&path.view);
        path
    };
    for (paced, alone) in [
        (Paced::No, false),
        (Paced::ByPolicy, false),
        (Paced::ByEndpoint(200), true),
        (Paced::ByEndpoint(125), true),
    ] {
        assert_eq!(begun(paced).policy.hystart_alone, alone, "{paced:?}");
    }
    // 20 ACKs of 1.5 ms are 28.5 ms: more than half of the RTT and less than all of it.
    let leaves = |paced| {
        let mut path = begun(paced);
        path.policy.hystart_alone = true;
        path.view.window.cwnd = MSS * 20;
        path.view.now = Instant(path.now_us * 1_000);
        path.fill();
        path.policy.enter(Entry::Timeout, &path.view);
        path.train(20, 28_500).exit.is_some()
    };
    assert!(leaves(Paced::No) && !leaves(Paced::ByEndpoint(200)));
}

#[test]
fn a_short_or_a_full_path_turns_it_off() {
    let off = |min_us: u64, train_us: u64| {
        let mut path = Path::new();
        path.view.rtt.min = Span::from_micros(min_us);
        path.view.rtt.latest = path.view.rtt.min;
        let _ = path.train(10, train_us);
        path.policy.hystart_alone
    };
    assert!(off(10_000, 900) && !off(10_001, 900));
    // D is 20/18 of the train.
    assert!(off(40_000, 9_000) && !off(40_000, 8_999));
}

/// Two rounds on, `2 mu Dt <= minrtt` (`suss_speedup`): with the length of this round's train, of
/// the last one and the smallest RTT, in milliseconds.
#[test]
fn a_train_that_grows_past_the_rtt_in_two_rounds_does_not_jump() {
    let fits = |number, train, last, min: Span| {
        let mut path = Path::new();
        (path.policy.number, path.policy.last_train) = (number, Span::from_millis(last));
        (path.policy.most_jumps, path.policy.fell_in) = (10, number);
        (path.view.rtt.min, path.policy.round.curr_rtt) = (min, min);
        path.policy.fits(Span::from_millis(train), &path.view)
    };
    // Dt^2/Dp: 2^2/2, 16^2/8 and 8^2/4 ms.
    for (number, train, last, needed) in [(3, 1, 2, 2), (4, 4, 4, 32), (5, 1, 1, 16)] {
        let needed = Span::from_millis(needed);
        assert!(fits(number, train, last, needed), "round {number}");
        assert!(!fits(number, train, last, needed - Span(1)), "round {number}");
    }
}

#[test]
fn jumps_end_with_the_round_that_the_knob_says() {
    let fits = |most_jumps, number| {
        let mut path = Path::new();
        (path.policy.number, path.policy.most_jumps) = (number, most_jumps);
        (path.policy.last_train, path.policy.fell_in) = (Span(1), number);
        path.policy.round.curr_rtt = path.view.rtt.min;
        path.policy.fits(Span(1), &path.view)
    };
    assert!(fits(3, 4) && !fits(3, 5) && !fits(1, 3) && fits(4, 5));
}

/// k rounds after the smallest RTT fell, a round's may have (k+1) minrtt + k minrtt/8 over k+1.
#[test]
fn the_rtt_may_grow_by_an_eighth_in_the_rounds_since_it_was_smallest() {
    let fits = |fell_in, rtt: u64, more| {
        let mut path = Path::new();
        (path.policy.number, path.policy.fell_in) = (4, fell_in);
        path.policy.last_train = Span(1);
        path.view.rtt.min = Span::from_millis(96);
        path.policy.round.curr_rtt = Span::from_millis(rtt) + Span(more);
        path.policy.fits(Span(1), &path.view)
    };
    for (fell_in, most) in [(4, 96), (3, 102), (2, 104), (1, 105)] {
        assert!(fits(fell_in, most, 0) && !fits(fell_in, most, 1), "{fell_in}");
    }
}

#[test]
fn it_knows_the_round_in_which_the_smallest_rtt_fell() {
    let mut path = Path::new();
    let after = |path: &mut Path, us| {
        path.next_round();
        path.view.acked = path.policy.head;
        path.view.rtt.min = Span::from_micros(us);
        let _ = path.train(1, 0);
        (path.policy.number, path.policy.fell_in)
    };
    // The round's number rises after its first ACK has been looked at.
    assert_eq!(after(&mut path, 50_000), (2, 1));
    assert_eq!(after(&mut path, 50_000), (3, 1), "it stays the same");
    assert_eq!(after(&mut path, 49_999), (4, 3));
    assert_eq!(after(&mut path, 50_001), (5, 3));
}

#[test]
fn an_ack_for_all_of_a_round_says_nothing_of_its_length() {
    let mut path = Path::new();
    path.view.acked = MSS * 10;
    path.view.now = Instant(1);
    let step = path.policy.step(&Ack { now: path.view.now, ..ack(&path.view, 10) }, &path.view);
    assert!(!path.policy.may_jump && step.wake.is_none());
}

#[test]
fn a_round_that_begins_before_the_guard_is_over_has_no_red_part() {
    let mut path = Path::new();
    let last = path.train(10, 2_176);
    let mut early = path.policy;
    path.view.now = Instant(last.wake.unwrap().0 - 1);
    assert_eq!(early.on_wake(&path.view), path.view.window.hold().keep_pace());
    let _ = path.train(1, 0);
    path.view.now = last.wake.unwrap();
    assert_eq!(path.policy.on_wake(&path.view), path.view.window.hold().keep_pace());
    assert_eq!(path.segments(), 21);
}

#[test]
fn what_the_pacer_has_not_sent_is_taken_off_when_the_next_round_begins() {
    let mut path = Path::new();
    let last = path.train(10, 2_176);
    let _ = path.woken(last);
    // Only 25 segments have left.
    path.view.snd_nxt = path.view.acked + MSS * 25;
    path.now_us += 30_000;
    let _ = path.train(1, 0);
    assert_eq!(path.segments(), 25 + 2 + 1);
}

#[test]
fn a_loss_while_the_red_part_leaves_lands_at_beta_of_the_flight() {
    let mut path = Path::new();
    let last = path.train(10, 2_176);
    let _ = path.woken(last);
    let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS * 40);
    path.view.in_flight = MSS * 30;
    path.view.beta = 700_000;
    let mut policy = path.policy;
    let window = Window { cwnd: MSS * 21, ssthresh: MSS * 21 };
    assert_eq!(policy.answer(&loss, &path.view), Answer::Land(window));
    assert_eq!(policy.found(&path.view).peak, Some(MSS * 30));
    assert_eq!((path.policy.growth(), policy.growth()), (4, 2));
    path.view.in_flight = MSS * 39;
    assert_eq!(path.policy.answer(&loss, &path.view), Answer::Leave);
}

/// It lands then, and is woken while it does.
#[test]
fn a_loss_in_the_guard_takes_the_red_part_back() {
    let mut path = Path::new();
    let last = path.train(10, 2_176);
    path.view.in_flight = MSS * 15;
    path.view.beta = 500_000;
    let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS * 20);
    let landed = Window { cwnd: MSS * 15 / 2, ssthresh: MSS * 15 / 2 };
    assert_eq!(path.policy.answer(&loss, &path.view), Answer::Land(landed));
    path.view.window = landed;
    path.view.now = last.wake.unwrap();
    assert_eq!(path.policy.on_wake(&path.view), landed.hold().keep_pace());
}

#[test]
fn a_flight_counts_for_two_segments_at_least() {
    let mut path = Path::new();
    let last = path.train(10, 2_176);
    let _ = path.woken(last);
    path.view.in_flight = Bytes(0);
    let mut policy = path.policy;
    let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS * 40);
    assert!(matches!(policy.answer(&loss, &path.view), Answer::Land(_)));
    assert_eq!(policy.found(&path.view).peak, Some(MSS * 2));
    path.policy.jumps = 2;
    assert_eq!(path.policy.leave(&Ack::default(), &path.view).window.cwnd, MSS * 2);
}

/// After two jumps the pacer may not have filled the window; HyStart alone, or one jump, does.
#[test]
fn it_leaves_with_the_flight_only_after_two_jumps() {
    let left = |alone, jumps| {
        let mut path = Path::new();
        (path.policy.hystart_alone, path.policy.jumps) = (alone, jumps);
        let ack = Ack { in_flight: MSS * 7, ..Ack::default() };
        path.policy.leave(&ack, &path.view).window.cwnd.0 / MSS.0
    };
    assert_eq!([left(false, 2), left(false, 1), left(true, 2)], [7, 10, 10]);
}

#[test]
fn the_red_part_stays_paced_and_a_round_without_one_keeps_its_window() {
    let mut path = Path::new();
    let last = path.train(10, 2_176);
    let _ = path.woken(last);
    path.next_round();
    let last = path.train(20, 4_559);
    let (_, red) = path.woken(last);
    let step = path.train(1, 0);
    assert_eq!((step.pace, step.wake), (red.pace, None));
    let mut idle = Path::new();
    (idle.view.acked, idle.view.in_flight) = (MSS, Bytes(0));
    let step = idle.policy.step(&ack(&idle.view, 1), &idle.view);
    assert_eq!(step.window.cwnd, MSS * 10 + crate::testing::MSS, "the source sends little");
}

#[test]
fn hystart_s_round_begins_as_it_is_entered() {
    let mut path = Path::new();
    (path.view.now, path.view.snd_nxt) = (Instant(7), MSS * 3);
    path.policy.enter(Entry::Connect, &path.view);
    assert_eq!((path.policy.round.round_start, path.policy.round.end_seq), (Instant(7), MSS * 3));
}

#[test]
fn after_a_timeout_it_is_hystart_alone() {
    let mut path = Path::new();
    path.policy.enter(Entry::Timeout, &path.view);
    let _ = path.train(10, 2_176);
    assert_eq!((path.segments(), path.policy.jumps), (20, 0));
}
