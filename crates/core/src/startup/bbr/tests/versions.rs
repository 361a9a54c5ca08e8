//! What version 2, quiche and version 1 do otherwise than the draft.

use super::*;
use crate::knob::KnobValue;

/// The draft looks as a round begins, at that ACK's sample. The versions that look at the largest
/// rate then count a rate of within the round from there.
#[test]
fn a_rate_of_within_a_round_counts_only_where_the_largest_does() {
    for (preset, rounds) in [("draft", 3), ("v2", 4), ("quiche", 4), ("v1", 4)] {
        let mut path = Path::new(&[("preset", KnobValue::Word(preset))]);
        let _ = path.round(10, 16);
        let interval = Span::from_millis(100);
        let sample = RateSample { delivered: MSS * 20, interval, app_limited: false };
        let within = Ack { sample: Some(sample), packet: None, ..ack(&path.view, 1) };
        path.policy.on_ack(&within, &path.view);
        let counted = (1..9).find(|_| {
            let _ = path.round(18, 18);
            path.drains()
        });
        assert_eq!(counted, Some(rounds), "{preset}");
    }
}

/// quiche counts rounds that the source limits, and leaves with the first that it does not.
#[test]
fn quiche_counts_limited_rounds_and_waits_for_one_that_is_not() {
    for (preset, rounds) in [("draft", 3), ("quiche", 1)] {
        let mut path = Path::new(&[("preset", KnobValue::Word(preset))]);
        path.limited = true;
        for _ in 0..6 {
            let _ = path.round(10, 10);
            assert!(!path.drains());
        }
        path.limited = false;
        // The first that counts is the draft's best.
        let _ = path.round(10, 10);
        assert_eq!(path.drains(), preset == "quiche");
        let counted = (1..9).find(|_| {
            let _ = path.round(10, 10);
            path.drains()
        });
        assert_eq!(counted, Some(rounds), "{preset}");
    }
}

/// quiche's `is_inflight_too_high`: eight ACKs that find losses, 1.5 % of what was in flight as the
/// packet left, in a round that did not grow.
#[test]
fn quiche_leaves_by_the_losses_of_a_round_without_growth() {
    let ends_from = |flight, packets: u32, acks: u32, rate: u64, limited: bool| {
        let mut path = Path::new(&[("preset", KnobValue::Word("quiche"))]);
        path.flight = flight;
        let _ = path.round(98, 100);
        for ack in 0..acks {
            path.view.now = path.view.now + Span::from_millis(1);
            path.lose(if ack == 0 { packets } else { 0 }, 1);
        }
        path.limited = limited;
        let _ = path.round(98, rate);
        path.policy.state != State::Startup
    };
    assert!(!ends_from(0, 4, 8, 124, false), "what was in flight is not known");
    let ends = |packets, acks, rate, limited| ends_from(200, packets, acks, rate, limited);
    assert!(ends(4, 8, 124, false));
    assert!(!ends(3, 8, 124, false), "3 of 200 are no more than 1.5 %");
    assert!(!ends(4, 7, 124, false));
    assert!(!ends(4, 8, 125, false), "the round has grown");
    assert!(!ends(4, 8, 124, true));
}

/// The pace of Startup never falls but in quiche's form.
#[test]
fn a_round_with_losses_lowers_quiche_s_pace_alone() {
    // 20 of 100 that were in flight, and of 200.
    for (preset, others, left) in [("draft", 80, 100), ("quiche", 80, 80), ("quiche", 180, 90)] {
        let mut path = Path::new(&[("preset", KnobValue::Word(preset))]);
        let _ = path.round(100, 100);
        let _ = path.round(100, 100);
        let before = path.policy.pace.0;
        path.view.in_flight = MSS * others;
        path.lose(20, 1);
        let _ = path.policy.decide(&path.view);
        assert_eq!(path.policy.pace.0 * 1_000 / before, left * 10, "{preset}");
    }
}

/// Version 1 takes what is lost off what was in flight and is delivered, but not what was found
/// lost outside a recovery; the draft goes on growing by what is delivered.
#[test]
fn in_the_first_round_of_a_recovery_version_one_sends_what_arrives() {
    for (preset, grown) in [("v1", 10 - 3), ("draft", 10)] {
        let mut path = Path::new(&[("preset", KnobValue::Word(preset))]);
        let _ = path.round(10, 10);
        let outside = Loss::of(Instant(0), LossKind::Recovery, MSS * 2, MSS * 2);
        path.policy.on_further_loss(&outside, &path.view);
        path.lose(3, 1);
        let before = path.view.window.cwnd;
        assert_eq!(path.round(10, 20).window.cwnd, before + MSS * grown, "{preset}");
    }
}

/// UpdateMaxInflight: the larger of the two, never their sum. At 100 ms and 277 kB/s a quantum is
/// two segments.
#[test]
fn the_window_stops_at_twice_the_pipe_or_three_quanta_whichever_is_more() {
    let most = |preset, rate: u64, pace: u64| {
        let mut path = Path::new(&[("preset", KnobValue::Word(preset))]);
        path.policy.model.take((MSS * rate).per(Span::from_millis(100)), false);
        path.policy.pace = Rate(pace);
        path.policy.most(&path.view).0 / MSS.0
    };
    assert_eq!(most("draft", 10, 277_000), 20);
    assert_eq!(most("draft", 10, 10_000_000), 30, "three quanta of ten segments");
    assert_eq!(most("draft", 10, 1_000_000_000), 196, "of 64 KiB at the most");
    assert_eq!(most("draft", 2, 277_000), 6);
    assert_eq!(most("v2", 10, 277_000), 20);
    assert_eq!(most("quiche", 10, 10_000_000), 20, "no quanta");
    assert_eq!(most("v1", 10, 277_000), 28 + 6, "Linux adds them");
}

/// In Linux of 2017 and in quiche ACKs that run ahead widen the window after Startup only.
#[test]
fn acks_that_run_ahead_widen_the_window_of_the_drafts_startup() {
    for (preset, wider) in [("draft", true), ("v2", true), ("quiche", false), ("v1", false)] {
        let mut path = Path::new(&[("preset", KnobValue::Word(preset))]);
        for _ in 0..3 {
            let _ = path.round(10, 10);
        }
        assert!(path.policy.model.extra_acked() > Bytes(0));
        let pipe = path.policy.model.pipe(&path.view).unwrap_or_default();
        let bound =
            path.policy.budget(pipe.scaled(path.policy.form.cwnd_gain, 1_000_000), &path.view);
        assert_eq!(path.policy.most(&path.view) > bound, wider, "{preset}");
        path.policy.state = State::Drain(1);
        assert!(path.policy.most(&path.view) > bound, "{preset}");
    }
}

/// quiche grows to two initial windows whatever the path holds, and keeps one.
#[test]
fn quiche_grows_to_two_initial_windows_and_keeps_one() {
    let mut path = Path::new(&[("preset", KnobValue::Word("quiche"))]);
    path.policy.model.take((MSS * 4).per(Span::from_millis(100)), false);
    path.view.delivered = MSS * 100;
    for (cwnd, after) in [(4, 10), (19, 20), (20, 20)] {
        (path.view.window.cwnd, path.policy.newly_acked) = (MSS * cwnd, MSS);
        assert_eq!(path.policy.decide(&path.view).window.cwnd, MSS * after, "{cwnd}");
    }
}

/// What has run ahead is kept for two rounds, in version 2 for ten.
#[test]
fn version_two_remembers_longer_how_far_acks_have_run_ahead() {
    for (preset, kept) in [("draft", false), ("v2", true)] {
        let mut path = Path::new(&[("preset", KnobValue::Word(preset))]);
        let _ = path.round(10, 10);
        // As much as comes in no time runs ahead, and then nothing does.
        let _ = path.round(30, 10);
        for _ in 0..3 {
            path.view.now = path.view.now + Span::from_secs(1);
            let _ = path.round(1, 10);
        }
        let pipe = path.policy.model.pipe(&path.view).unwrap_or_default();
        let pipe =
            path.policy.budget(pipe.scaled(path.policy.form.cwnd_gain, 1_000_000), &path.view);
        assert_eq!(path.policy.most(&path.view) >= pipe + MSS * 20, kept, "{preset}");
    }
}
