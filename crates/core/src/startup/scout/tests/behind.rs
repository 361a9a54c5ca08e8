//! What follows a train that left no room.

use super::*;

#[test]
fn a_train_that_finds_no_room_ends_start_up_if_what_follows_it_is_late() {
    let mut drive = Drive::new();
    let found_none = drive.first_train_finds_no_room();
    assert_eq!(found_none.exit, None);
    drive.view.snd_nxt = MSS * 40;
    let step = drive.acks(10, Span::from_millis(10), Span::from_millis(165), Span(0));
    assert_eq!(step.exit, Some(Exit::Heuristic));
    assert_eq!(step.window, Window { cwnd: MSS * 12, ssthresh: MSS * 12 });
    assert_eq!(drive.scout.found(&drive.view).pipe, Some(MSS * 10));
}

#[test]
fn a_train_without_room_was_noise_if_what_follows_it_is_not_late() {
    let mut drive = Drive::new();
    let _ = drive.first_train_finds_no_room();
    drive.view.snd_nxt = MSS * 40;
    // They left every 10 ms, as the train says that the path forwards them, so that its queue would
    // still be there. The ACKs of the first six came with the train's last.
    for number in 1..=6_u64 {
        let rtt = Span::from_micros(167_500 - 10_000 * number);
        let _ = drive.acks(1, Span(0), rtt, Span(0));
    }
    let _ = drive.acks(1, Span::from_micros(2_500), RTT, Span(0));
    let step = drive.acks(3, Span::from_millis(10), RTT, Span(0));
    assert_eq!(step.exit, None);
    assert_eq!(drive.scout.window, MSS * 20);
    assert_eq!(gauge(&drive.scout, "scout_refuted"), Some(1));
}

#[test]
fn a_gap_behind_the_train_in_which_its_queue_drains_refutes_nothing() {
    // What follows left as fast as it comes, but half of the rise and more after the train.
    for (late, window) in [(134, 20), (133, 10)] {
        let mut drive = Drive::new();
        let _ = drive.first_train_finds_no_room();
        drive.view.snd_nxt = MSS * 40;
        let rtt = Span::from_millis(late) - Span::from_micros(250);
        drive.scout.full.as_mut().unwrap().before = rtt;
        let step = drive.acks(10, Span::from_millis(10), rtt, Span(0));
        assert_eq!((step.exit, drive.scout.window), (None, MSS * window), "{late}");
    }
}

#[test]
fn where_nothing_can_be_seen_behind_a_train_the_window_stays_twice() {
    let mut drive = Drive::new();
    for round in 1..=2 {
        let _ = drive.first_train_finds_no_room();
        drive.view.snd_nxt = drive.view.acked + MSS * 30;
        // So slowly that the queue of the train has drained in between.
        let step = drive.acks(10, Span::from_millis(30), RTT, Span(0));
        assert_eq!((step.exit, drive.scout.window), (None, MSS * 10));
        assert_eq!(gauge(&drive.scout, "scout_repeats"), Some(round));
        // The rest of the window, up to the next train.
        let rest = (drive.scout.train.begin - drive.view.acked) / MSS.0;
        let _ = drive.acks(rest.0, Span::from_millis(10), RTT, Span(0));
        assert_eq!(drive.scout.train.length(), MSS * 8);
        drive.scout.train = Train { end: drive.scout.train.begin + MSS * 10, ..drive.scout.train };
    }
    let _ = drive.first_train_finds_no_room();
    let step = drive.acks(10, Span::from_millis(30), RTT, Span(0));
    assert_eq!(step.exit, Some(Exit::Heuristic));
}
