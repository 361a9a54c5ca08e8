//! Vegas' start-up and avoidance with numbers worked by hand: a view in, a window out.

use firstflight_core::avoidance::Vegas as VegasAvoidance;
use firstflight_core::event::{Ack, LossKind};
use firstflight_core::knob::{KnobValue, Knobs};
use firstflight_core::policy::{Avoidance, Entry, Exit, Found, Observer, Startup};
use firstflight_core::startup::Vegas;
use firstflight_core::units::{Bytes, Span};
use firstflight_core::view::{View, Window};

use crate::policy_view::{MSS, ack, loss, segments, view};

/// Rounds of one ACK each at this RTT; the window outstanding, as far as start-up grows it.
fn rounds(policy: &mut Vegas, rtts_ms: &[u64], mut window: Window) -> Vec<(u64, Option<Exit>)> {
    let (mut now, mut acked) = (0, 0);
    let mut found = Vec::new();
    for rtt_ms in rtts_ms {
        let cwnd = window.cwnd.0 / MSS;
        (now, acked) = (now + rtt_ms, acked + cwnd);
        let view = View { window, ..view(now, acked, cwnd, window.ssthresh.0 / MSS) };
        let ack = ack(&view, *rtt_ms);
        policy.on_ack(&ack, &view);
        let step = policy.step(&ack, &view);
        window = step.window;
        found.push((window.cwnd.0, step.exit));
    }
    found
}

#[test]
fn every_other_round_grows() {
    let window = Window { cwnd: segments(4), ssthresh: segments(100) };
    let found = rounds(&mut Vegas::default(), &[100; 6], window);
    assert_eq!(found.map_windows(), [4_000, 5_000, 5_000, 6_000, 6_000, 7_000]);
    let mut greeted = Vegas::default();
    greeted.on_handshake(&view(100, 0, 1, 100));
    let found = rounds(&mut greeted, &[100; 4], window);
    assert_eq!(found.map_windows(), [5_000, 5_000, 6_000, 6_000]);
}

#[test]
fn the_first_round_holds_or_grows_as_the_knob_says() {
    let first = |word, grow_every| {
        let mut policy = Vegas::default();
        assert!(policy.set("first", KnobValue::Word(word)));
        assert!(policy.set("grow_every", KnobValue::Count(grow_every)));
        policy.enter(Entry::Connect, &view(100, 0, 4, 100));
        policy.on_handshake(&view(100, 0, 4, 100));
        let window = Window { cwnd: segments(4), ssthresh: segments(100) };
        rounds(&mut policy, &[100; 5], window).map_windows()
    };
    assert_eq!(first("grows", 3), [5_000, 5_000, 5_000, 6_000, 6_000]);
    assert_eq!(first("auto", 3), [5_000, 5_000, 5_000, 6_000, 6_000]);
    assert_eq!(first("holds", 3), [4_000, 4_000, 5_000, 5_000, 5_000]);
}

#[test]
fn after_a_timeout_nothing_grows_before_the_next_decision() {
    let mut policy = Vegas::default();
    let window = Window { cwnd: segments(4), ssthresh: segments(100) };
    assert_eq!(rounds(&mut policy, &[100; 2], window).map_windows(), [4_000, 5_000]);
    policy.enter(Entry::Timeout, &view(300, 8, 2, 8));
    // An ACK for what the last decision covers decides nothing.
    let view = view(400, 8, 2, 8);
    policy.on_ack(&ack(&view, 100), &view);
    assert_eq!(policy.step(&ack(&view, 100), &view).window.cwnd, segments(2));
}

/// The ACK answers one segment of what was outstanding before it.
#[test]
fn growth_waits_while_more_than_two_segments_are_unused() {
    let grown = |outstanding: u64| {
        let mut policy = Vegas::default();
        let window = Window { cwnd: segments(16), ssthresh: segments(100) };
        assert_eq!(rounds(&mut policy, &[100; 2], window).map_windows()[1], 17_000);
        let view = View { snd_nxt: segments(40 + outstanding), ..view(400, 40, 16, 100) };
        policy.on_ack(&ack(&view, 100), &view);
        policy.step(&ack(&view, 100), &view).window.cwnd - view.window.cwnd
    };
    assert_eq!([12, 13, 15].map(grown), [Bytes(0), segments(1), segments(1)]);
}

/// ACKs without samples: the round took 150 ms since the first data left at 50 ms.
#[test]
fn without_samples_a_round_is_timed_from_the_first_data() {
    let mut policy = Vegas::default();
    policy.on_begin(&view(50, 0, 4, 100));
    let view = view(200, 4, 4, 100);
    policy.on_ack(&Ack { rtt: None, ..ack(&view, 0) }, &view);
    let mut found = Vec::new();
    policy.gauges(&mut |name, value| found.push((name, value)));
    assert_eq!(found[1], ("vegas_base_rtt", Span::from_millis(150).0));
}

trait Windows {
    fn map_windows(&self) -> Vec<u64>;
}

impl Windows for Vec<(u64, Option<Exit>)> {
    fn map_windows(&self) -> Vec<u64> {
        self.iter().map(|(cwnd, _)| *cwnd).collect()
    }
}

#[test]
fn a_growing_round_with_a_queue_gives_an_eighth_back_and_ends() {
    // 16 segments; the round before measured 120 ms against a base of 100: 16 (1 - 100/120) =
    // 2.67 segments queue, more than gamma. The round with the queue in its samples ends in the
    // fourth.
    let window = Window { cwnd: segments(16), ssthresh: segments(100) };
    let found = rounds(&mut Vegas::default(), &[100, 100, 120, 120], window);
    assert_eq!(found[1], (17_000, None));
    assert_eq!(found[2], (17_000, None));
    assert_eq!(found[3], (17_000 - 17_000 / 8, Some(Exit::Heuristic)));
}

#[test]
fn a_timeout_restarts_with_two_segments() {
    let mut policy = Vegas::default();
    assert_eq!(policy.restart_window(Bytes(MSS)), segments(2));
    policy.enter(Entry::Timeout, &view(0, 0, 2, 8));
    let window = Window { cwnd: segments(2), ssthresh: segments(8) };
    assert_eq!(rounds(&mut policy, &[100, 100], window).map_windows(), [2_000, 3_000]);
}

/// ns-2.35's agent takes the RTT of a round of one segment for the path's, up as well as down.
#[test]
fn a_round_of_one_segment_sets_the_base_rtt_even_upwards() {
    let base = |cwnd| {
        let mut policy = Vegas::default();
        let window = Window { cwnd: segments(cwnd), ssthresh: segments(1) };
        rounds(&mut policy, &[100, 150, 150], window);
        let mut found = Span(0);
        policy.gauges(&mut |name, value| {
            if name == "vegas_base_rtt" {
                found = Span(value);
            }
        });
        found
    };
    assert_eq!(base(1), Span::from_millis(150));
    assert_eq!(base(2), Span::from_millis(100));
}

/// One decision of avoidance: a round at the base RTT, then one at `rtt_ms`, with 20 segments.
fn decide(rtt_ms: u64) -> i64 {
    let mut policy = VegasAvoidance::default();
    for (now, acked, rtt) in [(100, 20, 100), (200, 40, rtt_ms), (300, 60, rtt_ms)] {
        let view = view(now, acked, 20, 2);
        let ack = ack(&view, rtt);
        policy.on_ack(&ack, &view);
        let step = policy.step(&ack, &view);
        if now == 300 {
            return step.window.cwnd.0 as i64 - 20_000;
        }
    }
    0
}

#[test]
fn avoidance_keeps_between_alpha_and_beta_segments_queued() {
    // 20 (1 - 100/rtt) segments queue: 0 at 100 ms, 1.8 at 110, 3.3 at 120, 4.0 at 125.
    assert_eq!(decide(100), 50, "a twentieth of a segment per ACK");
    assert_eq!(decide(110), 0);
    assert_eq!(decide(120), 0, "3.3 rounds to beta");
    assert_eq!(decide(125), -1_000);
}

#[test]
fn a_loss_costs_a_quarter_or_half_if_resent() {
    let mut policy = VegasAvoidance::default();
    let view = view(0, 0, 21, 100);
    let mut cut =
        |flight, again| policy.cut(&loss(LossKind::Recovery, flight, again), &view).cwnd.0 / MSS;
    assert_eq!([cut(21, false), cut(21, true), cut(4, false), cut(3, false)], [16, 10, 3, 2]);
    let timeout = policy.cut(&loss(LossKind::Timeout, 21, false), &view);
    assert_eq!((timeout.cwnd, timeout.ssthresh), (segments(2), Bytes(10_500)));
    let left = policy.cut(&loss(LossKind::Recovery, 21, false), &view);
    assert_eq!(left.ssthresh, segments(2), "no slow start again before a timeout");
}

/// A round of 150 ms from the first data, then one of 200 ms: of 20 segments 5 queue at a base
/// of 150 ms. Timed from zero, both rounds took 200 ms.
#[test]
fn without_samples_avoidance_times_the_first_round_from_the_first_data() {
    let shrinks = |begins: bool| {
        let mut policy = VegasAvoidance::default();
        if begins {
            policy.on_begin(&view(50, 0, 20, 2));
        }
        let decided = [(200, 20), (400, 40)].map(|(now, acked)| {
            let view = view(now, acked, 20, 2);
            let ack = Ack { rtt: None, ..ack(&view, 0) };
            policy.on_ack(&ack, &view);
            policy.step(&ack, &view).window.cwnd < segments(20)
        });
        decided[1]
    };
    assert!(shrinks(true) && !shrinks(false));
}

/// Avoidance that has just decided to grow, and then an ACK that decides nothing.
fn grows_on(policy: &mut VegasAvoidance, outstanding: u64, enters: bool) -> Bytes {
    for (now, acked) in [(100, 20), (200, 40)] {
        let view = view(now, acked, 20, 2);
        policy.on_ack(&ack(&view, 100), &view);
        assert_eq!(policy.step(&ack(&view, 100), &view).window.cwnd, Bytes(20_050));
    }
    let view = View { snd_nxt: segments(41 + outstanding), ..view(201, 41, 20, 2) };
    if enters {
        policy.enter(&Found::default(), &view);
    }
    policy.on_ack(&ack(&view, 100), &view);
    policy.step(&ack(&view, 100), &view).window.cwnd - segments(20)
}

#[test]
fn avoidance_does_not_grow_with_more_than_two_segments_unused_nor_when_it_begins_anew() {
    for sums in ["exact", "double"] {
        let grown = |outstanding, enters| {
            let mut policy = VegasAvoidance::default();
            assert!(policy.set("sums", KnobValue::Word(sums)));
            grows_on(&mut policy, outstanding, enters)
        };
        // Unused by two segments a twentieth is added, by three nothing.
        assert_eq!([grown(17, false), grown(16, false)], [Bytes(50), Bytes(0)], "{sums}");
        assert_eq!(grown(17, true), Bytes(0), "{sums}");
    }
}

/// 20 segments were outstanding at twice the base RTT, the window is two: ten queue.
#[test]
fn a_queue_leaves_avoidance_two_segments() {
    let mut policy = VegasAvoidance::default();
    let windows = [(100, 20, 100), (200, 40, 200), (300, 60, 200)].map(|(now, acked, rtt)| {
        let window = Window { cwnd: segments(2), ssthresh: segments(2) };
        let view = View { window, ..view(now, acked, 20, 2) };
        policy.on_ack(&ack(&view, rtt), &view);
        policy.step(&ack(&view, rtt), &view).window.cwnd
    });
    assert_eq!(windows[2], segments(2));
}
