//! Rapid Start, with numbers worked by hand from the draft.

use super::*;
use crate::event::LossKind;
use crate::knob::KnobValue;
use crate::pacing::Pacing;
use crate::policy::Pace;
use crate::testing::{MSS, ack, gauge, view};
use crate::units::Instant;

fn with(knobs: &[(&str, KnobValue)]) -> RapidStart {
    let mut policy = RapidStart::default();
    for (name, value) in knobs {
        assert!(policy.set(name, *value), "{name}");
    }
    policy.enter(Entry::Connect, &view(10, Bytes::MAX));
    policy
}

fn version(word: &'static str) -> RapidStart {
    with(&[("version", KnobValue::Word(word))])
}

/// 300 segments outstanding, beta 0.7.
fn overshot() -> View {
    View { beta: 700_000, ..view(300, Bytes::MAX) }
}

fn loss(segments: u64) -> Loss {
    Loss::of(Instant(0), LossKind::Recovery, MSS * segments, MSS * 300)
}

/// The window in whole segments after a recovery in which so many are acknowledged and lost.
fn landed(mut policy: RapidStart, acked: u64, lost: u64) -> (u64, RapidStart) {
    let mut view = overshot();
    let first = lost.min(1);
    let Answer::Land(window) = policy.answer(&loss(first), &view) else { unreachable!() };
    view.window = window;
    if lost > first {
        policy.on_further_loss(&loss(lost - first), &view);
    }
    for _ in 0..acked {
        view.window = policy.recovering(&ack(&view, 1), &view).window;
    }
    ((view.window.cwnd.0 + 500) / 1_000, policy)
}

#[test]
fn the_first_window_is_doubled_and_spread_over_the_rtt() {
    let begun = |mut policy: RapidStart| policy.begin(&view(10, Bytes::MAX));
    let step = begun(with(&[]));
    assert_eq!((step.window.cwnd, step.pace), (MSS * 20, Pace::Set(Pacing::at(Rate(200_000)))));
    let step = begun(with(&[("first", KnobValue::Ratio(1_500_000))]));
    assert_eq!((step.window.cwnd, step.pace), (MSS * 15, Pace::Set(Pacing::at(Rate(150_000)))));
    let mut unknown = view(10, Bytes::MAX);
    unknown.rtt.smoothed = Span(0);
    assert_eq!(with(&[]).begin(&unknown), unknown.window.hold());
}

#[test]
fn the_window_triples_without_a_queue_and_doubles_with_one() {
    let grown = |mut policy: RapidStart, min_us: u64, rtt_us: u64| {
        let mut view = view(10, Bytes::MAX);
        (view.rtt.min, view.rtt.latest) = (Span::from_micros(min_us), Span::from_micros(rtt_us));
        let step = policy.step(&ack(&view, 1), &view);
        (step.window.cwnd.0 - 10_000) / 1_000
    };
    // 1.1 minrtt below 40 ms, minrtt + 4 ms above it.
    assert_eq!([grown(with(&[]), 20_000, 22_000), grown(with(&[]), 20_000, 22_001)], [2, 1]);
    assert_eq!([grown(with(&[]), 100_000, 104_000), grown(with(&[]), 100_000, 104_001)], [2, 1]);
    // quicly: the larger of minrtt + 4 ms and 35/32 minrtt, and nothing below 4 ms.
    let quicly = || version("quicly");
    assert_eq!([grown(quicly(), 20_000, 24_000), grown(quicly(), 20_000, 24_001)], [2, 1]);
    assert_eq!([grown(quicly(), 96_000, 105_000), grown(quicly(), 96_000, 105_001)], [2, 1]);
    assert_eq!([grown(quicly(), 4_000, 4_000), grown(quicly(), 3_999, 3_999)], [2, 1]);
}

#[test]
fn one_short_rtt_in_the_last_minrtt_is_enough() {
    let (mut policy, mut view) = (with(&[]), view(10, Bytes::MAX));
    let mut grown = |now_ms: u64, rtt_ms: u64| {
        view.now = Instant(0) + Span::from_millis(1_000 + now_ms);
        view.rtt.latest = Span::from_millis(rtt_ms);
        (policy.step(&ack(&view, 1), &view).window.cwnd - view.window.cwnd).0 / 1_000
    };
    assert_eq!([grown(0, 100), grown(50, 120), grown(99, 120), grown(100, 120)], [2, 2, 2, 1]);
}

#[test]
fn later_rounds_are_paced_at_two_windows_per_rtt_and_in_the_editors_copy_at_one() {
    for (word, rate) in [("draft-02", 240_000), ("quicly", 240_000), ("editor", 120_000)] {
        let view = view(10, Bytes::MAX);
        let step = version(word).step(&ack(&view, 1), &view);
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(rate))), "{word}");
    }
}

/// Draft, section 3.3, with beta 0.7: 9/10, 1/5, 9/10.
#[test]
fn the_window_lands_at_beta_times_what_was_delivered() {
    assert_eq!(landed(with(&[]), 100, 200).0, 70, "270 - 20 - 180");
    assert_eq!(landed(with(&[]), 250, 50).0, 175, "270 - 50 - 45");
    assert_eq!(landed(with(&[]), 300, 0).0, 210, "270 - 60");
    assert_eq!(landed(with(&[]), 20, 280).0, 70, "a third of beta W0 at the lowest");
}

#[test]
fn more_than_was_outstanding_does_not_count() {
    assert_eq!(landed(with(&[]), 500, 50).0, 175);
    let (cwnd, mut policy) = landed(with(&[]), 250, 50);
    policy.on_further_loss(&Loss { again: true, ..loss(50) }, &overshot());
    assert_eq!((cwnd, policy.landing.unwrap().lost), (175, MSS * 50));
}

/// With two of three packets lost, nothing leaves until the flight has fallen to the window:
/// the pause ends after at most 1 - beta of the round's ACKs.
#[test]
fn after_two_of_three_are_lost_sending_resumes_within_1_minus_beta_of_a_round() {
    let (mut policy, mut view) = (with(&[]), overshot());
    let Answer::Land(window) = policy.answer(&loss(2), &view) else { unreachable!() };
    view.window = window;
    // In every three of the 300, one arrives and two are found lost.
    let resumed = (1..=100).find(|third: &u64| {
        view.window = policy.recovering(&ack(&view, 1), &view).window;
        if *third > 1 {
            policy.on_further_loss(&loss(2), &view);
        }
        MSS * (300 - 3 * third) < view.window.cwnd
    });
    let resumed = resumed.unwrap();
    assert!((28..=30).contains(&resumed), "after {resumed} of 100");
}

#[test]
fn quicly_has_another_k_and_keeps_half_of_the_first_window() {
    // a = 11/60, s = 53/60: 265 - 250 * 11/60 - 50 * 53/60 = 175.
    assert_eq!(landed(version("quicly"), 250, 50).0, 175);
    assert_eq!(landed(version("quicly"), 0, 0).0, 265);
    let mut policy = version("quicly");
    policy.initial_window = MSS * 200;
    assert_eq!(landed(policy, 20, 280).0, 100);
    let mut policy = with(&[("least", KnobValue::Word("iw"))]);
    policy.initial_window = MSS * 200;
    assert_eq!(landed(policy, 20, 280).0, 140);
    let mut policy = with(&[]);
    policy.initial_window = MSS * 200;
    assert_eq!(landed(policy, 20, 280).0, 70, "not unless asked");
}

/// RFC 5681 and RFC 9002: a third of beta W0 is less than a segment here.
#[test]
fn a_small_window_lands_at_two_segments() {
    let four = View { beta: 700_000, ..view(4, Bytes::MAX) };
    assert_eq!(with(&[]).least(&four), MSS * 2);
}

#[test]
fn it_reports_the_smallest_rtt_and_how_it_lands() {
    let names = ["rapid_start_floor", "rapid_start_acked", "rapid_start_lost"];
    let reported = |policy: &RapidStart| names.map(|name| gauge(policy, name).unwrap());
    let mut policy = with(&[]);
    assert_eq!(reported(&policy), [0, 0, 0]);
    let _ = policy.step(&ack(&overshot(), 1), &overshot());
    assert_eq!(reported(&landed(policy, 30, 20).1), [100_000_000, 30_000, 20_000]);
}

#[test]
fn what_it_hands_over_is_twice_what_the_path_held() {
    let (cwnd, policy) = landed(with(&[]), 250, 50);
    let view = View { window: Window { cwnd: MSS * cwnd, ssthresh: MSS * cwnd }, ..overshot() };
    assert_eq!(policy.found(&view).peak, Some(MSS * 500));
    assert_eq!(with(&[]).found(&view), Found::default());
    let window = Window { cwnd: Bytes(u64::MAX / 2), ..view.window };
    assert_eq!(policy.found(&View { window, ..view }).peak, None, "no number of bytes");
}

/// Section 3.3: the loss that begins the recovery counts, also if what was lost is a repair.
#[test]
fn the_first_loss_counts_also_if_it_had_been_sent_again() {
    let first = |again| with(&[]).answer(&Loss { again, ..loss(10) }, &overshot());
    assert_eq!(first(true), first(false));
}
