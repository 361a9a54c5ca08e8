//! What follows a train that slowed down.

use super::*;

#[test]
fn five_trains_in_a_row_that_find_no_room_end_start_up_if_what_follows_them_is_late() {
    let mut drive = Drive::new();
    for full in 1..=4 {
        assert_eq!(drive.full_train(Span::from_millis(10), LATE).exit, None);
        assert_eq!((drive.scout.target, drive.full_trains()), (MSS * 10, full));
        drive.next_train();
    }
    let step = drive.full_train(Span::from_millis(10), LATE);
    assert_eq!(step.exit, Some(Exit::Heuristic));
    assert_eq!(step.window, Window { cwnd: MSS * 12, ssthresh: MSS * 12 });
    assert_eq!(drive.scout.found(&drive.view).pipe, Some(MSS * 10));
}

#[test]
fn start_up_ends_with_the_most_that_one_of_the_full_trains_showed() {
    let mut drive = Drive::new();
    for pipe in [4, 8, 5, 5, 5] {
        let gap = Span::from_millis(100 / pipe);
        let step = drive.acks(10, gap, RTT, gap - Span::from_micros(2_500));
        assert_eq!(step.exit, None);
        drive.view.snd_nxt = drive.view.acked + MSS * 60;
        let _ = drive.acks(40, gap, LATE * 2, Span(0));
        if drive.scout.pipe.is_none() {
            drive.next_train();
        }
    }
    let shown = drive.scout.found(&drive.view).pipe.unwrap();
    assert!(shown.0.abs_diff(8_333) <= 1, "{shown:?}");
}

#[test]
fn a_train_that_passes_or_noise_begins_the_row_anew() {
    let mut drive = Drive::new();
    for _ in 0..4 {
        let _ = drive.full_train(Span::from_millis(10), LATE);
        drive.next_train();
    }
    let _ = drive.first_train_passes();
    assert_eq!(drive.full_trains(), 0);
    let _ = drive.full_train(Span::from_millis(10), LATE);
    drive.next_train();
    let step = drive.full_train(Span::from_millis(1), RTT);
    assert_eq!((step.exit, drive.full_trains()), (None, 0));
}

#[test]
fn a_train_is_believed_at_once_without_a_look_behind_it() {
    let mut drive = Drive::new();
    assert!(drive.scout.set("behind", KnobValue::Ratio(0)));
    let step = drive.first_train_finds_no_room();
    assert_eq!((step.exit, drive.scout.pipe), (Some(Exit::Heuristic), Some(MSS * 10)));

    let mut scout = Scout::default();
    assert!(scout.set("behind", KnobValue::Ratio(0)));
    // 400 kB/s of others leave as much of 800; the train came at more.
    let drive = train_of(scout, 400, 800);
    assert!(drive.scout.target > MSS * 30, "{:?}", drive.scout.target);
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
    assert_eq!(drive.scout.target, MSS * 15);
    assert_eq!(gauge(&drive.scout, "scout_refuted"), Some(1));
}

#[test]
fn a_gap_behind_the_train_in_which_its_queue_drains_refutes_nothing() {
    // The first segment behind the train left so late that 33.75 ms of the queue could drain before
    // it, which is half of the rise, or 34.75 ms: the path forwards a segment in 10 ms.
    for (late, window) in [(133, 15), (132, 10)] {
        let mut drive = Drive::new();
        let _ = drive.first_train_finds_no_room();
        drive.view.snd_nxt = MSS * 40;
        let rtt = Span::from_millis(late) - Span::from_micros(250);
        let step = drive.acks(10, Span::from_millis(9), rtt, Span(0));
        assert_eq!((step.exit, drive.scout.target), (None, MSS * window), "{late}");
    }
}

#[test]
fn a_queue_that_stood_before_the_train_and_drained_is_no_noise() {
    let mut drive = Drive::new();
    let _ = drive.first_train_finds_no_room();
    // The round before had a queue of 60 ms, which was gone when the train's first packet came.
    drive.scout.after_train.as_mut().unwrap().before = RTT + Span::from_millis(60);
    drive.view.snd_nxt = MSS * 40;
    let step = drive.acks(10, Span::from_millis(10), RTT + Span::from_millis(50), Span(0));
    assert_eq!((step.exit, drive.scout.target, drive.full_trains()), (None, MSS * 10, 1));
}

#[test]
fn a_train_behind_which_nothing_can_be_seen_counts_as_full() {
    let mut drive = Drive::new();
    for full in 1..=4 {
        // So slowly that the queue of the train has drained in between.
        let step = drive.full_train(Span::from_millis(30), RTT);
        assert_eq!((step.exit, drive.scout.target), (None, MSS * 10));
        assert_eq!(drive.full_trains(), full);
        drive.next_train();
    }
    let step = drive.full_train(Span::from_millis(30), RTT);
    assert_eq!(step.exit, Some(Exit::Heuristic));
}

impl Drive {
    /// A train that finds no room, and ten segments behind it, `gap` apart, with `rtt`.
    fn full_train(&mut self, gap: Span, rtt: Span) -> Step {
        let step = self.first_train_finds_no_room();
        assert_eq!(step.exit, None);
        self.view.snd_nxt = self.view.acked + MSS * 30;
        self.acks(10, gap, rtt, Span(0))
    }

    /// The rest of the window is acknowledged, up to the next train, which has ten segments.
    fn next_train(&mut self) {
        let rest = (self.scout.train.begin - self.view.acked) / MSS.0;
        let _ = self.acks(rest.0, Span::from_millis(10), RTT, Span(0));
        let train = self.scout.train;
        self.scout.train = Train { end: train.begin + MSS * 10, ..train };
    }

    fn full_trains(&self) -> u64 {
        gauge(&self.scout, "scout_full").unwrap()
    }
}

/// The RTT at the end of a train that finds no room, or nearly so.
const LATE: Span = Span::from_millis(165);

/// A connection whose first window of 20 segments, half of it a train, has left.
fn begun(scout: Scout) -> Drive {
    let mut drive = Drive::with(scout);
    drive.view.snd_nxt = Bytes(0);
    let _ = drive.scout.begin(&drive.view);
    drive.view.snd_nxt = MSS * 20;
    drive
}

/// A first train of ten segments, which left every 1.25 ms, behind which a segment leaves every
/// 5 ms. A bottleneck of `capacity` kB/s also forwards `others` kB/s.
fn train_beside(others: u64, capacity: u64) -> Drive {
    train_of(Scout::default(), others, capacity)
}

/// Such a train of that start-up.
fn train_of(scout: Scout, others: u64, capacity: u64) -> Drive {
    let mut drive = begun(scout);
    let gap = gap(800, others, capacity);
    let _ = drive.acks(10, gap, RTT, gap - Span::from_micros(1_250));
    drive
}

/// How far ACKs of segments are apart that left at `rate` kB/s, while a queue stands.
fn gap(rate: u64, others: u64, capacity: u64) -> Span {
    Span(1_000_000_000 / rate * (rate + others) / capacity)
}

/// The target after so many segments behind such a train, and why start-up has ended.
fn after(drive: &mut Drive, segments: u64, others: u64, capacity: u64) -> (Option<Exit>, Bytes) {
    let gap = gap(200, others, capacity);
    let falls = Span::from_millis(5) - gap;
    for _ in 0..segments {
        let rtt = drive.view.rtt.latest - falls;
        let _ = drive.acks(1, gap, rtt, Span(0));
    }
    (drive.step.unwrap().exit, drive.scout.target)
}

#[test]
fn alone_all_of_the_bottleneck_is_free() {
    let mut drive = train_beside(0, 250);
    assert_eq!(drive.scout.after_train.unwrap().room, Some(MSS * 25));
    // The RTT rose by 9 times 2.75 ms, and falls by 1 ms per segment.
    assert_eq!(after(&mut drive, 12, 0, 250), (None, MSS * 20));
    assert_eq!(after(&mut drive, 1, 0, 250), (None, MSS * 25));
}

#[test]
fn beside_others_no_more_is_taken_than_they_leave_free() {
    // The ACKs of the train came at 381 kB/s. Of the 500 kB/s the others leave 250 free.
    let mut drive = train_beside(250, 500);
    assert_eq!(drive.scout.after_train.unwrap().room, Some(Bytes(38_095)));
    let (exit, window) = after(&mut drive, 13, 250, 500);
    assert_eq!(exit, None);
    assert!(window > MSS * 23 && window <= MSS * 25, "{window:?}");
}

#[test]
fn where_nothing_is_free_start_up_ends_with_what_has_just_been_sent() {
    // As much is free as is sent, and the train came at 364 kB/s.
    let mut drive = train_beside(300, 500);
    assert!(drive.scout.after_train.unwrap().room > Some(MSS * 22));
    assert_eq!(after(&mut drive, 19, 300, 500), (None, MSS * 20));
    assert_eq!(after(&mut drive, 1, 300, 500).0, Some(Exit::Heuristic));
    assert_eq!(drive.step.unwrap().window.cwnd, MSS * 22);
}

#[test]
fn where_others_fill_the_path_the_avoidance_is_told_of_a_quarter_of_it() {
    let told = |mut drive: Drive| {
        assert_eq!(after(&mut drive, 20, 800, 1_000).0, Some(Exit::Heuristic));
        drive.scout.found(&drive.view).pipe
    };
    // A train that left at once, as Linux lets the first ten packets leave, came at 1 MB/s.
    let mut at_once = begun(Scout::default());
    let gap = Span::from_millis(1);
    let _ = at_once.acks(10, gap, RTT, gap);
    assert_eq!(told(at_once), Some(MSS * 25));
    // Of one that came at 500 kB/s a quarter is less than the target.
    assert_eq!(told(train_beside(800, 1_000)), Some(MSS * 20));
}

#[test]
fn what_others_take_is_taken_at_once_where_that_is_asked_for() {
    let mut scout = Scout::default();
    assert!(scout.set("polite", KnobValue::Word("off")));
    let drive = train_of(scout, 300, 500);
    assert_eq!((drive.scout.after_train.is_none(), drive.scout.target), (true, Bytes(36_363)));
}

#[test]
fn what_follows_an_ordinary_first_window_or_a_single_ack_is_not_waited_for() {
    let mut drive = Drive::new();
    let _ = drive.acks(10, Span::from_millis(5), RTT, Span::from_micros(2_500));
    assert_eq!((drive.scout.after_train.is_none(), drive.scout.target), (true, MSS * 20));
    let mut drive = begun(Scout::default());
    drive.view.now = drive.view.now + Span::from_millis(140);
    drive.view.rtt.latest = Span::from_millis(131);
    drive.view.acked += MSS * 10;
    let ack = ack(&drive.view, 10);
    let _ = drive.scout.step(&ack, &drive.view);
    assert_eq!((drive.scout.after_train.is_none(), drive.scout.target), (true, MSS * 25));
}

#[test]
fn the_ack_that_ends_a_train_may_tell_of_what_follows_it() {
    let mut drive = train_beside(0, 250);
    drive.scout.after_train = None;
    drive.scout.train.end += MSS;
    // It is of the train's last segment and of two behind it, for which the queue was gone.
    drive.view.now = drive.view.now + Span::from_millis(4);
    drive.view.rtt.latest = Span::from_millis(110);
    drive.view.acked += MSS * 3;
    let ack = ack(&drive.view, 3);
    let _ = drive.scout.step(&ack, &drive.view);
    assert_eq!((drive.scout.after_train.is_none(), drive.scout.target), (true, MSS * 25));
}

#[test]
fn what_left_with_the_train_tells_nothing() {
    let segments = |gap_us| {
        let mut drive = train_beside(300, 500);
        let rtt = drive.view.rtt.latest + Span::from_micros(gap_us);
        // ACKs come every 2.75 ms, as those of the train did.
        let _ = drive.acks(1, Span::from_micros(2_750), rtt, Span(0));
        drive.scout.target
    };
    // It left 0.624 ms after the train, whose segments left every 1.25 ms; and 0.625 ms.
    assert_eq!([segments(2_126), segments(2_125)], [Bytes(36_363), MSS * 20]);
}

#[test]
fn a_queue_that_is_gone_at_once_leaves_all_of_the_room() {
    let window = |rtt_us| {
        let mut drive = train_beside(0, 250);
        // The RTT had risen from 100 ms to 124.75, of which an eighth is 3.09.
        let _ = drive.acks(1, Span::from_millis(30), Span::from_micros(rtt_us), Span(0));
        drive.scout.target
    };
    assert_eq!(window(103_093), MSS * 25);
    assert!(window(103_094) < MSS * 25);
}

#[test]
fn what_a_receiver_holds_back_is_no_queue() {
    // Up to the last ACK all come later than what is behind the train can queue.
    let after = |more: Span| {
        let mut drive = train_beside(300, 500);
        let queued = RTT.scaled(20_000, drive.scout.after_train.unwrap().pipe.0);
        let rtt = drive.view.rtt.latest + queued + more;
        let _ = drive.acks(1, Span::from_millis(65), rtt, Span(0));
        let _ = drive.acks(18, Span::from_millis(5), rtt, Span(0));
        assert_eq!((drive.step.unwrap().exit, drive.scout.target), (None, MSS * 20));
        let _ = drive.acks(1, Span::from_millis(5), rtt, Span(0));
        (drive.step.unwrap().exit, drive.scout.target)
    };
    assert_eq!(after(Span(0)), (Some(Exit::Heuristic), MSS * 20));
    assert_eq!(after(Span(1)), (None, Bytes(36_363)));
}

#[test]
fn a_train_of_two_acks_is_not_waited_for() {
    let mut drive = begun(Scout::default());
    let mut acks = |segments: u64, after_ms: u64, rtt_ms: u64| {
        drive.view.now = drive.view.now + Span::from_millis(after_ms);
        drive.view.rtt.latest = Span::from_millis(rtt_ms);
        drive.view.acked += MSS * segments;
        let ack = ack(&drive.view, segments);
        let _ = drive.scout.step(&ack, &drive.view);
        (drive.scout.after_train.is_none(), drive.scout.target)
    };
    // Five segments in 20 ms are 25 in an RTT.
    assert_eq!(acks(5, 120, 105), (true, MSS * 20));
    assert_eq!(acks(5, 20, 120), (true, MSS * 25));
}
