//! Pacing and wake-ups.

use firstflight_core::event::LossKind;
use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::needs::{Facilities, Needs};
use firstflight_core::pacing::Pacing;
use firstflight_core::policy::{Answer, Exit};
use firstflight_core::sender::Config;
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::{Paced, Phase};

use crate::contract::support::{Call, Line, MSS, RTT, Start, config, window};

fn paced(start: Start) -> Line {
    let mut line = Line::with(start, Config { paces: true, ..config() });
    assert_eq!(line.sender.pacing(), None, "no rate without an RTT");
    line.sender.on_handshake(line.at(), RTT);
    line.sender.begin(line.at());
    line
}

fn rate(line: &Line) -> Option<u64> {
    line.sender.pacing().map(|pacing| pacing.rate.0)
}

#[test]
fn an_endpoint_that_paces_does_so_at_twice_the_window_and_at_five_quarters_after_start_up() {
    let mut line = paced(Start::default());
    // 10 segments of 1000 bytes over 100 ms, twice.
    assert_eq!(line.sender.pacing(), Some(Pacing::at(Rate(200_000))));
    line.fill().ack(10);
    assert_eq!(rate(&line), Some(400_000));
    line.fill().lose(LossKind::Recovery);
    assert_eq!(rate(&line), Some(175_000), "14 segments");
    assert_eq!(rate(&Line::begun(Start::default())), None);
}

#[test]
fn policies_see_whether_and_by_whom_packets_are_paced() {
    let seen = |line: &Line| line.sender.view().paced;
    assert_eq!(seen(&Line::begun(Start::default())), Paced::No);
    assert_eq!(seen(&paced(Start::default())), Paced::ByEndpoint(200));
    let mut own = Line::begun(Start::default());
    own.sender.endpoint_paces(125);
    assert_eq!(seen(&own), Paced::ByEndpoint(125));
    own.sender.endpoint_paces(0);
    assert_eq!(seen(&own), Paced::No);
    // A policy paces its first two windows.
    let mut start = Start { begin: |view| view.window.hold().paced(Rate(5)), ..Start::default() };
    start.step = |_, view| match view.acked < MSS * 2 {
        true => view.window.hold().paced(Rate(7)),
        false => view.window.hold(),
    };
    let mut line = Line::begun(start.clone());
    assert_eq!(seen(&line), Paced::ByPolicy);
    line.fill().ack(1);
    assert_eq!(seen(&line), Paced::ByPolicy);
    line.ack(1);
    assert_eq!(seen(&line), Paced::No);
    // A socket that Linux once paced stays paced, and a connection that start-up paced to its end.
    let mut linux = Line::new(start.clone());
    linux.sender.pace_as_linux();
    linux.sender.on_handshake(linux.at(), RTT);
    linux.sender.begin(linux.at());
    linux.fill().ack(2);
    assert_eq!(seen(&linux), Paced::ByEndpoint(200));
    let mut line = Line::begun(start);
    line.fill().lose(LossKind::Recovery);
    assert_eq!(seen(&line), Paced::ByEndpoint(200));
}

/// What a transport may ask cheaply: whether packets are paced, and from when on one may leave.
#[test]
fn whether_and_from_when_packets_are_paced_is_as_the_pacing_says() {
    let agree = |line: &Line, from: Option<u64>| {
        assert_eq!(line.sender.paced_from(), from.map(Instant));
        assert_eq!(line.sender.is_paced(), from.is_some());
        assert_eq!(line.sender.pacing().is_some(), from.is_some());
        let whole = line.sender.pacing().map(|pacing| (pacing.rate, pacing.burst));
        assert_eq!(line.sender.rate_and_burst(), whole);
    };
    agree(&Line::begun(Start::default()), None);
    let mut line = Line::with(Start::default(), Config { paces: true, ..config() });
    agree(&line, None);
    line.sender.on_handshake(line.at(), RTT);
    agree(&line, Some(0));
    let waits = |view: &firstflight_core::view::View| view.window.hold().wake_at(Instant(9));
    agree(&Line::begun(Start { begin: waits, ..Start::default() }), None);
    let begin = |view: &firstflight_core::view::View| {
        view.window.hold().pacing(Pacing::at(Rate(1)).not_before(Instant(7)))
    };
    agree(&Line::begun(Start { begin, ..Start::default() }), Some(7));
}

#[test]
fn the_default_rate_is_never_zero() {
    let mut line = Line::with(
        Start::default(),
        Config { paces: true, mss: Bytes(1), initial_window: Bytes(1), ..config() },
    );
    line.sender.on_handshake(line.at(), Span::from_secs(1_000));
    assert_eq!(rate(&line), Some(1));
}

#[test]
fn what_a_policy_decides_goes_before_the_default() {
    let step = |ack: &firstflight_core::event::Ack, view: &firstflight_core::view::View| {
        let step = view.window.grow(ack.acked);
        if view.acked < MSS * 5 { step.paced(Rate(5_000)) } else { step }
    };
    let mut line = paced(Start { step, ..Start::default() });
    line.fill().ack(1);
    assert_eq!(rate(&line), Some(5_000));
    line.ack(9);
    assert_eq!(rate(&line), Some(400_000), "nothing decided: the default");
}

#[test]
fn the_first_bytes_leave_at_another_rate_and_the_rest_at_the_rate() {
    let begin = |view: &firstflight_core::view::View| {
        let pacing = Pacing::at(Rate(1_000)).beginning(MSS * 3, Rate(50));
        let until = view.now + Span::from_millis(2);
        view.window.hold().pacing(pacing.in_bursts_of(MSS * 2).not_before(until))
    };
    let mut line = Line::begun(Start { begin, ..Start::default() });
    let first = line.sender.pacing().expect("start-up decided");
    assert_eq!((first.rate, first.burst), (Rate(50), MSS * 2));
    assert_eq!(line.sender.rate_and_burst(), Some((Rate(50), MSS * 2)));
    assert_eq!(first.not_before, Some(Instant(1_002_000_000)));
    line.send(1).sender.on_paced(MSS);
    assert_eq!(rate(&line), Some(50), "two segments are left of the first bytes");
    line.send(1).sender.on_paced(MSS);
    assert_eq!(rate(&line), Some(1_000), "the gap behind the last one is of what follows");
    line.send(1).sender.on_paced(MSS);
    let rest = line.sender.pacing().expect("it stands");
    assert_eq!((rest.rate, rest.first, rest.burst), (Rate(1_000), None, MSS * 2));
    line.send(1).sender.on_paced(MSS);
    assert_eq!(rate(&line), Some(1_000));
}

#[test]
fn a_step_that_keeps_the_pace_leaves_what_an_earlier_one_set() {
    let step = |_: &firstflight_core::event::Ack, view: &firstflight_core::view::View| {
        let step = view.window.hold();
        match view.acked.0 {
            1_000 => step.pacing(Pacing::at(Rate(1_000)).beginning(MSS * 3, Rate(50))),
            ..5_000 => step.keep_pace(),
            5_000 => step.paced(Rate(77)),
            _ => step,
        }
    };
    let mut line = Line::begun(Start { step, ..Start::default() });
    line.fill().ack(1);
    line.send(2).sender.on_paced(MSS * 2);
    line.ack(1);
    assert_eq!(line.sender.pacing().and_then(|pacing| pacing.first), Some((MSS, Rate(50))));
    line.send(1).sender.on_paced(MSS);
    line.ack(1);
    assert_eq!(rate(&line), Some(1_000));
    line.ack(2);
    assert_eq!(rate(&line), Some(77));
    line.ack(1);
    assert_eq!(rate(&line), None);
}

#[test]
fn no_bytes_at_another_rate_are_none() {
    let begin = |view: &firstflight_core::view::View| {
        view.window.hold().pacing(Pacing::at(Rate(1_000)).beginning(Bytes(0), Rate(1)))
    };
    let line = Line::begun(Start { begin, ..Start::default() });
    assert_eq!(line.sender.pacing(), Some(Pacing::at(Rate(1_000))));
}

#[test]
fn begin_sets_window_and_pacing_before_data_and_only_then() {
    let begin = |view: &firstflight_core::view::View| {
        window(40).hold().paced(view.window.cwnd.per(view.rtt.smoothed)).wake_at(Instant(9))
    };
    let start = Start { begin, ..Start::default() };
    let line = Line::begun(start.anew());
    assert_eq!((line.cwnd(), rate(&line)), (40, Some(100_000)));
    assert_eq!(line.sender.wake_at(), Some(Instant(9)));
    assert_eq!((line.calls(Call::Begin), line.later.borrow().len()), (1, 1), "both see it");
    assert_eq!(line.calls(Call::Handshake), 1);
    let mut late = Line::new(start);
    late.send(1).sender.begin(Instant(0));
    assert_eq!((late.cwnd(), late.calls(Call::Begin)), (10, 0));
}

#[test]
fn begin_keeps_the_pacing_of_a_hint_unless_it_decides_itself() {
    // Fast Start paces 79 segments over 100 ms.
    let start = firstflight_core::startup::FastStart::default();
    let avoidance = firstflight_core::avoidance::NewReno::default();
    let mut sender = firstflight_core::sender::Sender::new(start, avoidance, config());
    let last = firstflight_core::view::Window { cwnd: MSS * 80, ssthresh: MSS * 50 };
    let learned = Learned {
        window: last,
        rtt: RTT,
        min_rtt: RTT,
        delivered: MSS * 99,
        per_round: MSS * 9,
        rate: None,
        age: Span(0),
    };
    sender.on_hint(Instant(0), &PathHint::Own(learned));
    sender.begin(Instant(0));
    assert_eq!(sender.cwnd(), MSS * 79);
    assert_eq!(sender.pacing(), Some(Pacing::at(Rate(790_000))));
}

#[test]
fn what_begin_sets_counts_as_the_largest_flight() {
    let begin = |_: &firstflight_core::view::View| window(40).hold();
    let step =
        |_: &firstflight_core::event::Ack, _: &firstflight_core::view::View| window(1_000).hold();
    let limited = Config { limit_growth_to_flight: true, ..config() };
    let mut line = Line::with(Start { begin, step, ..Start::default() }, limited);
    line.sender.begin(line.at());
    assert_eq!(line.send(1).ack(1).cwnd(), 80);
}

#[test]
fn a_start_up_that_paced_to_its_end_leaves_the_connection_paced() {
    let step = |_: &firstflight_core::event::Ack, view: &firstflight_core::view::View| {
        view.window.hold().paced(Rate(3_000))
    };
    let mut line = Line::begun(Start { step, ..Start::default() });
    line.fill().ack(1);
    assert_eq!(rate(&line), Some(3_000));
    line.fill().lose(LossKind::Recovery);
    assert_eq!(rate(&line), Some(87_500), "1.25 times 7 segments over 100 ms");
    line.lose(LossKind::Timeout);
    assert_eq!(rate(&line), Some(20_000), "twice a segment");
    // One that did not pace does not.
    let mut line = Line::begun(Start::default());
    line.fill().lose(LossKind::Recovery);
    assert_eq!(rate(&line), None);
}

#[test]
fn linux_goes_on_at_its_own_rate_once_a_policy_has_paced() {
    let step = |ack: &firstflight_core::event::Ack, view: &firstflight_core::view::View| {
        let step = view.window.grow(ack.acked);
        if view.acked == MSS { step.paced(Rate(5_000)) } else { step }
    };
    let mut line = Line::begun(Start { step, ..Start::default() });
    line.sender.pace_as_linux();
    assert_eq!((rate(&line), line.sender.acts_on_acks_only()), (None, true), "never paced");
    line.fill().ack(1);
    assert_eq!(rate(&line), Some(5_000));
    line.fill().ack(1);
    assert_eq!(rate(&line), Some(240_000), "2 times 12 segments over 100 ms");
    // What is outstanding counts where that is more than the window, which is ssthresh now.
    line.fill().lose(LossKind::Recovery);
    assert_eq!((line.cwnd(), rate(&line)), (8, Some(144_000)), "1.2 times 12 segments");
    line.lose(LossKind::Timeout);
    assert_eq!(line.cwnd(), 1);
    assert!(rate(&line).is_some(), "it stays paced");
    // What needs the pacer's timer has it for that time only.
    let needs = Needs::required(Facilities::PACED_WAKE_UPS);
    let mut line = Line::begun(Start { step, needs, ..Start::default() });
    line.sender.pace_as_linux();
    line.fill().ack(1);
    assert_eq!(rate(&line), Some(5_000));
    line.fill().ack(1);
    assert_eq!(rate(&line), None);
}

/// `tcp_tso_autosize`: `sk_pacing_rate` is known where nothing is paced too, once there is an RTT.
#[test]
fn the_rate_for_bursts_is_that_of_the_pacing_or_what_linux_would_pace_at() {
    let line = Line::new(Start::default());
    assert_eq!(line.sender.rate_for_bursts(), Rate::MAX, "no RTT");
    let line = Line::begun(Start::default());
    assert_eq!((rate(&line), line.sender.rate_for_bursts()), (None, Rate(200_000)));
    // Linux paces at 2 windows per RTT while cwnd, here 10 segments, is below half of ssthresh, and
    // at 1.2 windows from there on.
    for (ssthresh, rate) in [(21, 200_000), (20, 120_000)] {
        let initial_ssthresh = MSS * ssthresh;
        let mut line = Line::with(Start::default(), Config { initial_ssthresh, ..config() });
        line.sender.on_handshake(line.at(), RTT);
        assert_eq!(line.sender.rate_for_bursts(), Rate(rate));
    }
    let begin = |view: &firstflight_core::view::View| view.window.hold().paced(Rate(5_000));
    let line = Line::begun(Start { begin, ..Start::default() });
    assert_eq!(line.sender.rate_for_bursts(), Rate(5_000));
}

#[test]
fn pacing_stays_through_a_landing_until_it_is_decided_anew() {
    let mut start = Start::answering(Answer::Land(window(5)));
    start.step = |_, view| view.window.hold().paced(Rate(3_000));
    start.recovering = |_, view| view.window.hold().paced(Rate(1_500));
    let mut line = Line::begun(start);
    line.fill().ack(1).lose(LossKind::Recovery);
    assert_eq!(rate(&line), Some(3_000));
    line.duplicate();
    assert_eq!(rate(&line), Some(1_500));
}

#[test]
fn start_up_is_woken_when_it_wished_and_the_last_wish_counts() {
    let mut start = Start::answering(Answer::Leave);
    start.step = |_, view| {
        let step = view.window.hold().paced(Rate(3_000));
        if view.acked < MSS * 3 { step.wake_at(Instant(view.acked.0)) } else { step }
    };
    start.wake = |view| view.window.grow(view.mss).keep_pace().wake_at(view.now + Span(5));
    let mut line = Line::begun(start);
    assert_eq!(line.sender.wake_at(), None);
    line.fill().ack(1).ack(1).ack(1);
    assert_eq!(line.sender.wake_at(), Some(Instant(2_000)), "no wish leaves the last");
    line.sender.on_wake(Instant(2_000));
    assert_eq!((line.cwnd(), line.calls(Call::Wake)), (11, 1));
    assert_eq!(line.sender.wake_at(), Some(Instant(2_005)));
    assert_eq!(line.sender.view().now, Instant(2_000));
    assert_eq!(rate(&line), Some(3_000));
}

#[test]
fn a_wake_up_can_pace_and_end_start_up_and_comes_once() {
    let mut start = Start::answering(Answer::Leave);
    start.begin = |view| view.window.hold().wake_at(view.now);
    start.wake = |view| view.window.grow(MSS * 2).paced(Rate(9)).exit(Exit::Heuristic);
    let mut line = Line::begun(start);
    line.sender.on_wake(line.at());
    assert_eq!((line.phase(), line.exit()), (Phase::Avoidance, Some((Exit::Heuristic, 12))));
    assert_eq!((rate(&line), line.sender.wake_at()), (Some(9), None));
    line.sender.on_wake(line.at());
    assert_eq!(line.calls(Call::Wake), 1, "start-up is over");
}

#[test]
fn a_wake_up_without_a_new_wish_is_the_last() {
    let begin = |view: &firstflight_core::view::View| view.window.hold().wake_at(view.now);
    let mut line = Line::begun(Start { begin, ..Start::default() });
    line.sender.on_wake(line.at());
    assert_eq!((line.sender.wake_at(), line.phase()), (None, Phase::Startup));
}

#[test]
fn a_wish_ends_with_start_up_and_with_its_next_beginning() {
    let begin = |view: &firstflight_core::view::View| view.window.hold().wake_at(Instant(5));
    for kind in [LossKind::Recovery, LossKind::Timeout] {
        let mut line = Line::begun(Start { begin, ..Start::default() });
        line.fill().lose(kind);
        assert_eq!(line.sender.wake_at(), None);
    }
    let mut line = Line::begun(Start { begin, ..Start::answering(Answer::Ignore) });
    line.fill().lose(LossKind::Recovery);
    assert_eq!(line.sender.wake_at(), Some(Instant(5)));
    line.sender.on_restart();
    assert_eq!(line.sender.wake_at(), None);
}

#[test]
fn what_a_wake_up_grows_is_limited_as_on_an_ack() {
    let mut start = Start::answering(Answer::Leave);
    start.wake = |view| view.window.grow(MSS * 1_000);
    let limited = Config { limit_growth_to_flight: true, ..config() };
    let mut line = Line::with(start.anew(), limited);
    line.send(20).ack(1).sender.on_wake(Instant(5));
    assert_eq!(line.cwnd(), 40);
    // A loss that is repaired after a retreat: the window waits.
    start.answer = Answer::Retreat(window(4));
    for limit_growth_to_flight in [false, true] {
        let config = Config { limit_growth_to_flight, ..config() };
        let mut line = Line::with(start.anew(), config);
        line.send(20).lose(LossKind::Recovery);
        line.lose(LossKind::Recovery);
        assert!(line.ack(1).recovering());
        line.sender.on_wake(Instant(5));
        assert_eq!((line.cwnd(), line.calls(Call::Wake)), (4, 1));
    }
    // A landing sets it.
    start.answer = Answer::Land(window(4));
    let mut line = Line::with(start, limited);
    line.send(20).lose(LossKind::Recovery);
    line.sender.on_wake(Instant(5));
    assert_eq!(line.cwnd(), 1_004);
}

#[test]
fn a_landing_that_a_wake_up_ends_is_over() {
    let mut start = Start::answering(Answer::Land(window(4)));
    start.wake = |view| view.window.hold().threshold(MSS * 4).exit(Exit::Heuristic);
    let mut line = Line::begun(start);
    line.fill().lose(LossKind::Recovery);
    line.sender.on_wake(Instant(5));
    assert_eq!(line.phase(), Phase::Avoidance);
    line.duplicate();
    assert_eq!(line.calls(Call::Recovering), 0);
    assert!(!line.sender.policy_sets_recovery_window());
}
