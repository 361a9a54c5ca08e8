//! BBR's Startup and Drain: the draft's cases.

mod resume;
mod versions;

use super::*;
use crate::event::{Departure, RateSample};
use crate::knob::{Amount, KnobValue};
use crate::pacing::Pacing;
use crate::testing::{MSS, ack, view};
use crate::units::Instant;

/// Startup on a path of 100 ms, with one ACK a round.
struct Path {
    policy: Bbr,
    view: View,
    limited: bool,
    /// Segments in flight as the newest packet left.
    flight: u64,
}

impl Path {
    fn new(knobs: &[(&str, KnobValue)]) -> Self {
        let (mut policy, view) = (Bbr::default(), view(10, Bytes::MAX));
        for (name, value) in knobs {
            assert!(policy.set(name, *value), "{name}");
        }
        policy.enter(Entry::Connect, &view);
        Self { policy, view, limited: false, flight: 1 }
    }

    /// A round at whose end so many segments are delivered, at the rate of so many per RTT.
    fn round(&mut self, delivered: u64, rate: u64) -> Step {
        self.view.now = self.view.now + Span::from_millis(100);
        let before = self.view.delivered;
        self.view.delivered += MSS * delivered;
        self.view.in_flight = self.view.window.cwnd;
        let (interval, app_limited) = (Span::from_millis(100), self.limited);
        let sent_at = Instant(0);
        let ack = Ack {
            credited: MSS * delivered,
            sample: Some(RateSample { delivered: MSS * rate, interval, app_limited }),
            packet: Some(Departure { sent_at, delivered: before, in_flight: MSS * self.flight }),
            ..ack(&self.view, delivered)
        };
        self.policy.on_ack(&ack, &self.view);
        let step = self.policy.step(&ack, &self.view);
        self.view.window = step.window;
        step
    }

    fn lose(&mut self, packets: u32, gaps: u32) {
        let lost = MSS * u64::from(packets);
        let loss = Loss { gaps, ..Loss::of(self.view.now, LossKind::Recovery, lost, lost) };
        if self.view.recovering {
            return self.policy.on_further_loss(&loss, &self.view);
        }
        self.policy.on_loss(&loss, &self.view);
        assert_eq!(self.policy.answer(&loss, &self.view), Answer::Ignore);
        self.view.recovering = true;
    }

    fn drains(&self) -> bool {
        matches!(self.policy.state, State::Drain(_))
    }
}

fn pace(step: Step) -> u64 {
    step.pacing_set().map_or(0, |Pacing { rate, .. }| rate.0)
}

#[test]
fn the_first_window_is_paced_at_the_gain_and_without_an_rtt_as_if_it_were_a_millisecond() {
    let begun = |knobs: &[(&str, KnobValue)], rtt: Span| {
        let mut path = Path::new(knobs);
        path.view.rtt.smoothed = rtt;
        pace(path.policy.begin(&path.view))
    };
    assert_eq!(begun(&[], Span::from_millis(100)), 277_000);
    assert_eq!(begun(&[], Span(0)), 27_700_000);
    let quiche = [("preset", KnobValue::Word("quiche"))];
    assert_eq!(begun(&quiche, Span::from_millis(100)), 288_499);
    let mut path = Path::new(&quiche);
    let _ = path.policy.begin(&path.view);
    assert_eq!(pace(path.round(1, 1)), 100_000, "IW per minrtt after the first ACK");
}

/// QUIC begins before an RTT is known, and Startup's pace never falls.
#[test]
fn the_first_rtt_takes_the_place_of_the_millisecond() {
    let mut path = Path::new(&[]);
    path.view.rtt.smoothed = Span(0);
    let before = pace(path.policy.begin(&path.view));
    path.view.rtt.smoothed = Span::from_millis(100);
    path.policy.on_handshake(&path.view);
    let after = pace(path.round(1, 1));
    assert_eq!(before / after, 100, "{before} and {after}");
    path.policy.state = State::Drain(0);
    path.view.rtt.smoothed = Span::from_millis(1);
    path.policy.on_handshake(&path.view);
    assert_eq!(path.policy.pace, Rate(after), "a pace that was measured stays");
}

/// Draft, test cases: the rate stays flat, and Startup ends after the third such round.
#[test]
fn three_rounds_without_a_quarter_more_end_startup() {
    let mut path = Path::new(&[]);
    for rate in [10, 20, 40, 80, 100] {
        let step = path.round(rate, rate);
        assert!(!path.drains());
        assert_eq!(pace(step), (277_000).max(rate * 10_000 * 277 / 100 * 99 / 100), "{rate}");
    }
    for rate in [100, 124] {
        let _ = path.round(100, rate);
        assert!(!path.drains(), "{rate}");
    }
    let drain = path.round(100, 100);
    assert!(path.drains());
    assert_eq!(pace(drain), 1_240_000 / 2 * 99 / 100);
}

#[test]
fn a_quarter_more_begins_counting_anew() {
    let mut path = Path::new(&[]);
    for rate in [100, 100, 100, 125, 125, 125] {
        let _ = path.round(100, rate);
        assert!(!path.drains());
    }
    let _ = path.round(100, 125);
    assert!(path.drains());
}

/// Draft, test cases: limited by the source and without losses it stays for ever.
#[test]
fn what_the_source_limits_never_ends_startup_but_losses_do() {
    let mut path = Path::new(&[]);
    path.limited = true;
    // Four seconds: ProbeRTT comes after five.
    for _ in 0..40 {
        let _ = path.round(10, 10);
    }
    assert!(!path.drains());
    path.lose(3, 6);
    let _ = path.round(10, 10);
    assert!(!path.drains(), "not yet a whole round of recovery");
    path.lose(3, 6);
    let _ = path.round(10, 10);
    assert!(path.drains());
    let safe = path.policy.inflight_longterm;
    assert_eq!(safe, Some(MSS * 10), "what the round delivered");
    assert_eq!(path.policy.found(&path.view).peak, safe);
}

#[test]
fn a_round_must_lose_more_than_two_percent_in_six_gaps() {
    let ends = |knobs: &[(&str, KnobValue)], lost, gaps| {
        let mut path = Path::new(knobs);
        let _ = path.round(98, 100);
        path.lose(lost, gaps);
        let _ = path.round(98, 200);
        path.lose(lost, gaps);
        let _ = path.round(98, 400);
        path.policy.state != State::Startup
    };
    assert!(!ends(&[], 2, 6), "2 of 100 are no more than 2 %");
    assert!(ends(&[], 3, 6));
    assert!(!ends(&[], 3, 5));
    let v2 = [("preset", KnobValue::Word("v2"))];
    assert!(ends(&v2, 3, 3) && !ends(&v2, 3, 2));
    assert!(!ends(&[("preset", KnobValue::Word("v1"))], 90, 90));
}

#[test]
fn a_recovery_without_losses_in_a_round_is_forgotten_when_it_ends() {
    let mut path = Path::new(&[]);
    let _ = path.round(98, 100);
    path.lose(3, 6);
    let _ = path.round(98, 200);
    path.view.recovering = false;
    let _ = path.round(98, 400);
    path.lose(3, 6);
    let _ = path.round(98, 800);
    let state = path.policy.state;
    assert_eq!(state, State::Startup, "another recovery, which has not lasted a round");
}

#[test]
fn a_round_without_losses_does_not_end_a_recovery() {
    let mut path = Path::new(&[]);
    let _ = path.round(98, 100);
    path.lose(3, 6);
    let _ = path.round(98, 200);
    let _ = path.round(98, 400);
    path.lose(3, 6);
    let _ = path.round(98, 800);
    assert_ne!(path.policy.state, State::Startup, "the recovery has lasted more than a round");
}

/// Draft, section 5.3.4: half the pipe, four segments at least, for 200 ms and a round.
#[test]
fn after_five_seconds_startup_lets_half_the_pipe_fly_and_goes_on() {
    let mut path = Path::new(&[]);
    path.limited = true;
    let mut rounds = 0;
    while !path.policy.rtt.probes() {
        let _ = path.round(20, 20);
        rounds += 1;
    }
    assert_eq!(rounds, 52, "51 after the first sample are more than 5 s");
    let before = path.view.window.cwnd;
    let halved = path.round(20, 20);
    assert_eq!((halved.window.cwnd, pace(halved)), (MSS * 10, 200_000 * 99 / 100));
    let windows = [0; 3].map(|_| path.round(20, 20).window.cwnd);
    assert_eq!(windows[..2], [MSS * 10; 2], "the flight became small with the first");
    assert!(windows[2] >= before && !path.drains());
}

fn draining() -> Path {
    let mut path = Path::new(&[]);
    for rate in [100; 4] {
        let _ = path.round(100, rate);
    }
    assert!(path.drains());
    path.view.window.cwnd = MSS * 210;
    path
}

#[test]
fn drain_ends_when_the_flight_is_the_pipe() {
    let mut path = draining();
    let mut at = |in_flight| {
        path.view.in_flight = MSS * in_flight;
        path.policy.step(&ack(&path.view, 0), &path.view)
    };
    assert_eq!(at(101).exit, None);
    let step = at(100);
    assert_eq!(step.window, Window { cwnd: MSS * 100, ssthresh: MSS * 100 });
    assert_eq!(step.exit, Some(Exit::Heuristic));
    assert_eq!(path.policy.found(&path.view).rate, Some(Rate(1_000_000)));
    assert_eq!(path.policy.found(&path.view).pipe, Some(MSS * 100));
}

/// Inflight(1.0): on a path that three quanta fill, no less than these need be in flight.
#[test]
fn drain_ends_at_three_quanta_where_these_are_more_than_the_pipe() {
    for (preset, segments) in [("draft", 120), ("v2", 120), ("quiche", 100), ("v1", 220)] {
        let mut path = draining();
        assert!(path.policy.set("preset", KnobValue::Word(preset)));
        path.policy.pace = Rate(40_000_000);
        for (in_flight, exit) in [(segments + 1, None), (segments, Some(Exit::Heuristic))] {
            path.view.in_flight = MSS * in_flight;
            let step = path.policy.step(&ack(&path.view, 0), &path.view);
            assert_eq!(step.exit, exit, "{preset} {in_flight}");
            path.policy.pace = Rate(40_000_000);
        }
    }
}

/// Draft, test cases: where the rate falls as Drain begins, the flight never gets there. The other
/// versions wait for it.
#[test]
fn drain_ends_after_three_rounds_at_the_latest() {
    for (preset, left) in [("draft", true), ("v2", false), ("quiche", false), ("v1", false)] {
        let mut path = draining();
        assert!(path.policy.set("preset", KnobValue::Word(preset)));
        path.view.window.cwnd = MSS * 1_000;
        let exits = [0; 3].map(|_| path.round(90, 90).exit);
        assert_eq!(exits, [None, None, left.then_some(Exit::Heuristic)], "{preset}");
    }
}

#[test]
fn the_window_grows_below_that_or_while_little_was_sent() {
    let mut path = Path::new(&[]);
    for _ in 0..3 {
        let _ = path.round(10, 10);
    }
    let window = path.policy.most(&path.view);
    // SetCwnd: below the largest window, or before the initial window has been delivered.
    for (cwnd, delivered, grown) in [
        (window, MSS * 10, Bytes(0)),
        (window - Bytes(1), MSS * 10, MSS),
        (window, MSS * 10 - Bytes(1), MSS),
    ] {
        (path.view.window.cwnd, path.view.delivered, path.policy.newly_acked) =
            (cwnd, delivered, MSS);
        assert_eq!(path.policy.decide(&path.view).window.cwnd, cwnd + grown);
    }
}

/// Draft, test cases: a path of less than a packet.
#[test]
fn four_segments_are_the_least() {
    let mut path = Path::new(&[]);
    path.view.window.cwnd = MSS;
    path.policy.initial_window = MSS;
    let step = path.round(0, 0);
    assert_eq!(step.window.cwnd, MSS * 4);
    assert_eq!(path.policy.probe_window(&path.view), MSS * 4);
    path.view.window.cwnd = MSS * 10;
    let left = path.policy.leave(Bytes(0), &path.view).window;
    assert_eq!(left, Window { cwnd: MSS * 4, ssthresh: MSS * 4 });
}

/// Draft, test cases: acknowledged in one piece per RTT, the window doubles all the same.
#[test]
fn aggregated_acks_double_the_window() {
    let mut path = Path::new(&[]);
    let mut delivered = 10;
    for _ in 0..6 {
        let before = path.view.window.cwnd;
        let after = path.round(delivered, delivered).window.cwnd;
        assert!(after >= before * 2 - MSS * 6, "{before:?} {after:?}");
        delivered = after.0 / 1_000;
    }
}

#[test]
fn a_timeout_keeps_what_is_known_and_later_slow_starts_are_ordinary() {
    let mut path = Path::new(&[]);
    let _ = path.round(100, 100);
    path.policy.enter(Entry::Timeout, &path.view);
    assert_eq!(path.policy.eligible(), Some(Eligible::exact(Rate(1_000_000))));
    path.policy.state = State::Over;
    path.policy.enter(Entry::Timeout, &path.view);
    let view = view(10, MSS * 20);
    assert_eq!(path.policy.step(&ack(&view, 3), &view).window.cwnd, MSS * 11);
    path.policy.enter(Entry::Reprobe, &view);
    assert_eq!((path.policy.state, path.policy.eligible()), (State::Startup, None));
}

#[test]
fn a_connection_that_begins_keeps_the_knobs() {
    let iw = KnobValue::Window(Amount::Segments(20));
    let path = Path::new(&[("iw", iw), ("gain", KnobValue::Ratio(2_000_000))]);
    let kept = ["iw", "gain"].map(|name| path.policy.value(name));
    assert_eq!(kept, [Some(iw), Some(KnobValue::Ratio(2_000_000))]);
}

/// Its clock of rounds stands still when it is not in charge, or over.
#[test]
fn acks_of_avoidance_and_after_its_end_change_nothing() {
    for (phase, state) in [(Phase::Avoidance, State::Startup), (Phase::Startup, State::Over)] {
        let mut path = Path::new(&[]);
        (path.view.phase, path.policy.state) = (phase, state);
        let _ = path.round(100, 100);
        assert_eq!((path.policy.model.rounds(), path.policy.eligible()), (0, None));
    }
}

/// Startup repairs losses and goes on; a timeout, a mark and the time after Drain leave it.
#[test]
fn only_a_recovery_of_startup_is_ignored() {
    let answer = |state, kind| {
        let mut path = Path::new(&[]);
        path.policy.state = state;
        path.policy.answer(&Loss::of(Instant(0), kind, MSS, MSS), &path.view)
    };
    assert_eq!(answer(State::Startup, LossKind::Recovery), Answer::Ignore);
    assert_eq!(answer(State::Over, LossKind::Recovery), Answer::Leave);
    assert_eq!(answer(State::Startup, LossKind::Timeout), Answer::Leave);
    assert_eq!(answer(State::Drain(1), LossKind::Mark), Answer::Leave);
}
