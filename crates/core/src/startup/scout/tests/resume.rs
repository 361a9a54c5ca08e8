//! Scouted Resume on ACKs worked by hand.

use super::*;
use crate::hint::{Learned, PathHint};
use crate::view::Rtt;

/// The earlier connection had this many segments in a round of so many ms.
fn informed(resume: &'static str, segments: u64, rtt_ms: u64) -> Drive {
    let mut scout = ordinary();
    assert!(scout.set("resume", KnobValue::Word(resume)));
    let mut drive = Drive::with(scout);
    let (rtt, per_round) = (Span::from_millis(rtt_ms), MSS * segments);
    let window = Window { cwnd: per_round, ssthresh: per_round / 2 };
    let (delivered, age) = (MSS * 10_000, Span::from_secs(1));
    let hint =
        PathHint::Own(Learned { window, rtt, min_rtt: rtt, delivered, per_round, rate: None, age });
    assert_eq!(drive.scout.inform(&hint, &drive.view), drive.view.window.hold());
    drive
}

/// After the first window, whose train passed.
fn resumed() -> Drive {
    let mut drive = informed("on", 200, 100);
    let _ = drive.first_train_passes();
    drive
}

#[test]
fn half_of_what_was_saved_leaves_with_a_train_at_the_whole_rate() {
    let mut drive = informed("on", 200, 100);
    let step = drive.first_train_passes();
    // Half of 200 segments, less a train of an eighth of that and two for delayed ACKs; the train
    // of 86 is two shorter.
    assert_eq!((step.window.cwnd, drive.scout.target), (MSS * 98, MSS * 86));
    let pace = step.pacing_set().unwrap();
    let expected = Pacing::at(Rate(860_000)).beginning(MSS * 10, pace.first.unwrap().1);
    assert_eq!(pace, expected);
    assert!(pace.first.unwrap().1.0.abs_diff(2_000_000) <= 1, "200 segments per 100 ms");
    assert_eq!((drive.scout.growth(), drive.scout.refutes_hint()), (u64::MAX, false));
    assert_eq!(gauge(&drive.scout, "scout_saved"), Some(200_000));
}

#[test]
fn a_train_that_passes_allows_all_of_it_and_one_that_shows_room_that() {
    // Nine segments in 4.5 ms: 200 per RTT, and 8/7 of that are more than what was saved.
    let mut drive = resumed();
    let _ = drive.acks(10, Span::from_micros(500), RTT, Span(0));
    assert_eq!((drive.scout.target, drive.scout.growth()), (MSS * 200, 4));
    // 100 per RTT.
    let mut drive = resumed();
    let _ = drive.acks(10, Span::from_millis(1), RTT, Span::from_micros(500));
    // Behind the train a segment leaves every 1.163 ms.
    for number in 1..=14_u64 {
        assert_eq!(drive.scout.target, MSS * 86, "{number}");
        let rtt = Span::from_micros(104_500 - 163 * number);
        let _ = drive.acks(1, Span::from_millis(1), rtt, Span(0));
    }
    assert_eq!(drive.scout.target, MSS * 100);
    // 33 per RTT: no room, and the packets behind it are late.
    let mut drive = resumed();
    let step = drive.acks(10, Span::from_millis(3), RTT, Span::from_micros(2_500));
    assert_eq!((step.exit, drive.scout.target), (None, MSS * 86));
    let step = drive.acks(40, Span::from_millis(3), Span::from_millis(130), Span(0));
    assert_eq!(step.exit, Some(Exit::Heuristic));
    assert_eq!(drive.scout.found(&drive.view).pipe, Some(Bytes(33_333)));
}

#[test]
fn it_is_scout_without_a_hint_that_is_worth_it() {
    let window = |mut drive: Drive| {
        let _ = drive.first_train_passes();
        (drive.scout.target, drive.scout.growth())
    };
    let scout = (MSS * 40, 4);
    assert_eq!(window(informed("off", 200, 100)), scout);
    // Half of 100 segments, less what leaves beside it, is less than four windows.
    assert_eq!(window(informed("on", 100, 100)), scout);
    assert_eq!(window(informed("on", 200, 200)), scout, "another path");
    let mut drive = informed("on", 200, 100);
    let _ = drive.first_train_finds_no_room();
    assert_eq!(drive.scout.target, MSS * 10, "the first train has said otherwise");
    let first_slowed = |gap_us: u64| {
        let mut drive = informed("on", 200, 100);
        let rise = Span::from_micros(gap_us / 2);
        let _ = drive.acks(10, Span::from_micros(gap_us), RTT, rise);
        drive.scout.target
    };
    assert_eq!(first_slowed(500), MSS * 86, "it has shown 200 segments");
    assert_eq!(first_slowed(4_000), MSS * 25, "that is all that it has shown");
    let mut drive = informed("on", 200, 100);
    drive.view.rtt = Rtt::UNKNOWN;
    assert_eq!(drive.scout.resume.jump(&drive.view), None, "there is no RTT to pace it by");
    // Later trains do not try it again.
    let mut drive = informed("on", 200, 200);
    let _ = drive.first_train_passes();
    drive.view.rtt.min = Span::from_millis(101);
    let _ = drive.acks(8, Span::from_micros(625), Span::from_millis(101), Span(0));
    assert_eq!(drive.scout.target, MSS * 160);
}

#[test]
fn a_loss_of_what_was_resumed_refutes_the_hint_and_lands() {
    let lose = |drive: &mut Drive| {
        let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS);
        assert!(matches!(drive.scout.answer(&loss, &drive.view), Answer::Land(_)));
        drive.scout.refutes_hint()
    };
    let mut drive = resumed();
    assert!(lose(&mut drive), "before the train is judged");
    drive.scout.enter(Entry::Connect, &drive.view);
    assert!(!drive.scout.refutes_hint(), "another connection");
    let mut drive = resumed();
    drive.view.snd_nxt = drive.view.acked + MSS * 100;
    let _ = drive.acks(10, Span::from_micros(500), RTT, Span(0));
    assert!(lose(&mut drive), "90 are outstanding");
    let mut drive = resumed();
    drive.view.snd_nxt = drive.view.acked + MSS * 100;
    let _ = drive.acks(10, Span::from_micros(500), RTT, Span(0));
    let _ = drive.acks(90, Span::from_micros(500), RTT, Span(0));
    assert!(!lose(&mut drive), "all of it is acknowledged");
    let mut without = Drive::new();
    assert!(!lose(&mut without), "nothing was resumed");
}

/// A train of ten, and ten packets behind it instead of forty.
#[test]
fn how_far_it_looks_behind_a_train_is_a_knob() {
    let mut drive = resumed();
    assert!(drive.scout.set("behind", KnobValue::Ratio(RATIO_ONE)));
    let _ = drive.acks(10, Span::from_millis(3), RTT, Span::from_micros(2_500));
    let step = drive.acks(9, Span::from_millis(3), Span::from_millis(130), Span(0));
    assert_eq!(step.exit, None);
    let step = drive.acks(1, Span::from_millis(3), Span::from_millis(130), Span(0));
    assert_eq!(step.exit, Some(Exit::Heuristic));
}
