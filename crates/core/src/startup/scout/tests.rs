//! Scout on ACKs worked by hand.

mod after_train;
mod frames;
mod law;
mod resume;
mod spread;

use super::*;
use crate::event::LossKind;
use crate::knob::KnobValue;
use crate::policy::Pace;
use crate::testing::{MSS, ack, gauge, view};
use crate::units::Instant;

/// Scout with an ordinary first window, all of which is the first train.
fn ordinary() -> Scout {
    Scout { first_window: RATIO_ONE, ..Scout::default() }
}

/// A connection whose handshake took 100 ms, with a window of ten segments of 1000 bytes.
struct Drive {
    scout: Scout,
    view: View,
    step: Option<Step>,
    /// What the receiver's window allows.
    most_in_flight: Bytes,
}

impl Drive {
    fn new() -> Self {
        Self::with(ordinary())
    }

    fn with(mut scout: Scout) -> Self {
        let view = view(10, Bytes::MAX);
        scout.enter(Entry::Connect, &view);
        let step = scout.begin(&view);
        Self { scout, view, step: Some(step), most_in_flight: Bytes::MAX }
    }

    /// `segments` ACKs of one segment each, `gap` apart, the first with `rtt`; each RTT is longer
    /// by `rise` than the one before it.
    fn acks(&mut self, segments: u64, gap: Span, rtt: Span, rise: Span) -> Step {
        for number in 0..segments {
            self.view.now = self.view.now + gap;
            self.view.rtt.latest = rtt + rise * number;
            self.view.acked += MSS;
            self.view.delivered += MSS;
            self.view.in_flight = (self.view.snd_nxt - self.view.acked).min(self.most_in_flight);
            let ack = ack(&self.view, 1);
            let step = self.scout.step(&ack, &self.view);
            self.view.window = step.window;
            if step.pacing_set().is_some() {
                // All of the round's packets leave at once for what follows.
                self.view.snd_nxt = self.view.acked + step.window.cwnd;
            }
            self.step = Some(step);
        }
        self.step.unwrap()
    }

    /// The first window comes back as it left: every 2.5 ms a segment.
    fn first_train_passes(&mut self) -> Step {
        self.acks(10, Span::from_micros(2_500), RTT, Span(0))
    }

    /// It comes back with a segment every 10 ms, as from a bottleneck of 100 kB/s, which holds ten
    /// segments in 100 ms.
    fn first_train_finds_no_room(&mut self) -> Step {
        self.acks(10, Span::from_millis(10), RTT, Span::from_micros(7_500))
    }
}

#[test]
fn an_ordinary_first_window_is_a_train_where_the_rtt_is_known() {
    let begun = Drive::new().step.unwrap();
    assert_eq!(begun.window.cwnd, MSS * 10);
    // Ten segments per 100 ms, and four times as fast while the train leaves.
    let expected = Pacing::at(Rate(100_000)).beginning(MSS * 10, Rate(400_000));
    assert_eq!(begun.pace, Pace::Set(expected));
}

#[test]
fn the_first_window_is_a_train_and_as_much_behind_it() {
    let begun = Drive::with(Scout::default()).step.unwrap();
    assert_eq!(begun.window.cwnd, MSS * 20);
    let expected = Pacing::at(Rate(200_000)).beginning(MSS * 10, Rate(800_000));
    assert_eq!(begun.pace, Pace::Set(expected));
}

#[test]
fn a_first_window_has_a_packet_per_spacing_of_the_rtt_but_no_less_than_an_ordinary_one() {
    let first = |spacing_us, rtt_ms| {
        let mut scout = Scout::default();
        assert!(scout.set("spacing", KnobValue::Time(Span::from_micros(spacing_us))));
        let mut view = view(10, Bytes::MAX);
        view.rtt.smoothed = Span::from_millis(rtt_ms);
        scout.enter(Entry::Connect, &view);
        scout.begin(&view).window.cwnd.0 / MSS.0
    };
    let windows = [8, 12, 15, 23, 24, 600].map(|rtt_ms| first(1_200, rtt_ms));
    assert_eq!(windows, [10, 10, 12, 19, 20, 20]);
    assert_eq!((first(2_400, 24), first(2_400, 36), first(0, 1)), (10, 15, 20));
}

#[test]
fn a_first_window_is_no_more_than_twice_the_ordinary_one() {
    for asked in [2 * RATIO_ONE, 3 * RATIO_ONE] {
        let mut scout = ordinary();
        assert!(scout.set("first", KnobValue::Ratio(asked)));
        assert_eq!(scout.first_window, 2 * RATIO_ONE);
    }
}

#[test]
fn the_first_train_is_half_of_the_first_window() {
    let mut drive = Drive::with(Scout::default());
    // The ten of [`view`] have left before: a train of ten follows, and ten more.
    drive.view.acked = drive.view.snd_nxt;
    drive.view.snd_nxt += MSS * 20;
    let gap = Span::from_micros(1_250);
    assert_eq!(drive.acks(9, gap, RTT, Span(0)).pace, Pace::Unchanged, "nine of ten");
    let step = drive.acks(1, gap, RTT, Span(0));
    assert_eq!((step.pacing_set().is_some(), drive.scout.target), (true, MSS * 80));
}

#[test]
fn without_an_rtt_the_first_window_leaves_as_the_window_allows() {
    let mut view = view(10, Bytes::MAX);
    view.rtt = crate::view::Rtt::UNKNOWN;
    let mut scout = Scout::default();
    scout.enter(Entry::Connect, &view);
    assert_eq!(scout.begin(&view), view.window.hold());
}

#[test]
fn a_train_that_passes_lets_the_window_grow_fourfold() {
    let mut drive = Drive::new();
    let step = drive.first_train_passes();
    // Nine segments in 22.5 ms are 40 segments per RTT; 8/7 of it, but no more than four times the
    // target.
    // The next train has eight segments, and two more are for delayed ACKs.
    assert_eq!(step.window.cwnd, MSS * (40 + 8 + 2));
    let expected = Pacing::at(Rate(400_000)).beginning(MSS * 8, Rate(1_600_000));
    assert_eq!(step.pace, Pace::Set(expected));
    assert_eq!(gauge(&drive.scout, "scout_passed"), Some(1));
}

#[test]
fn a_longer_window_has_a_train_of_an_eighth() {
    let mut drive = Drive::new();
    let _ = drive.first_train_passes();
    // The rest of the first window's round, then the train of eight, at 1600 kB/s.
    let step = drive.acks(8, Span::from_micros(625), RTT, Span(0));
    assert_eq!(step.window.cwnd, MSS * (160 + 20 + 2));
}

#[test]
fn a_window_that_the_receiver_holds_back_grows_no_further_than_four_times_the_flight() {
    for (most, window) in [(20, 80), (10, 40), (3, 40)] {
        let mut drive = Drive::new();
        let _ = drive.first_train_passes();
        drive.most_in_flight = MSS * most;
        let step = drive.acks(8, Span::from_micros(625), RTT, Span(0));
        assert_eq!(gauge(&drive.scout, "scout_window"), Some(1000 * window), "{most}");
        assert!(step.window.cwnd >= MSS * window);
    }
}

#[test]
fn between_trains_window_and_pace_stay() {
    let mut drive = Drive::new();
    let step = drive.acks(5, Span::from_micros(2_500), RTT, Span(0));
    assert_eq!((step.window.cwnd, step.pace), (MSS * 12, Pace::Unchanged));
}

#[test]
fn a_train_that_slows_down_but_shows_room_sets_the_window() {
    let mut drive = Drive::new();
    // Every 4 ms a segment: 25 segments per RTT.
    let step = drive.acks(10, Span::from_millis(4), RTT, Span::from_micros(1_500));
    assert_eq!(step.window.cwnd, MSS * (25 + 8 + 2));
    assert_eq!(step.exit, None);
    assert_eq!(gauge(&drive.scout, "scout_slowed"), Some(1));
}

#[test]
fn acks_closer_together_than_the_packets_were_let_the_window_grow_by_half() {
    let compress = |drive: &mut Drive, segments: u64| {
        for number in 0..segments {
            let rtt = Span::from_millis(130 - 3 * number);
            let _ = drive.acks(1, Span::from_millis(1), rtt, Span(0));
        }
        drive.scout.target
    };
    let mut drive = Drive::new();
    drive.view.now = Instant(1_000_000_000);
    assert_eq!(compress(&mut drive, 10), MSS * 15);
    assert_eq!(gauge(&drive.scout, "scout_passed"), Some(1));
    let mut drive = Drive::new();
    let _ = drive.first_train_passes();
    assert_eq!(compress(&mut drive, 8), MSS * 60, "a later train too");
}

#[test]
fn a_train_that_passes_shows_no_more_than_its_rate_and_no_less_than_the_window() {
    // Every 6 ms a segment: 16.7 per RTT, and 8/7 of that. Every 15: 6.7, less than the target.
    for (gap, window) in [(6, 19_046), (15, 10_000)] {
        let mut drive = Drive::new();
        let _ = drive.acks(10, Span::from_millis(gap), RTT, Span(0));
        assert_eq!(drive.scout.target, Bytes(window), "{gap}");
    }
}

#[test]
fn an_rtt_that_falls_by_an_eighth_of_the_time_passes() {
    let mut drive = Drive::new();
    // 25 segments per RTT, and 8/7 of that; in 36 ms the RTT falls by 4.5.
    for number in 0..10_u64 {
        let rtt = RTT - Span::from_micros(500) * number;
        let _ = drive.acks(1, Span::from_millis(4), rtt, Span(0));
    }
    assert_eq!(drive.scout.target, Bytes(28_571));
}

#[test]
fn it_looks_one_and_a_half_times_as_far_at_least_and_eight_times_at_most() {
    let mut scout = Scout::default();
    for (asked, kept) in [(1_499_999, 1_500_000), (1_600_000, 1_600_000), (9_000_000, 8_000_000)] {
        assert!(scout.set("look", KnobValue::Ratio(asked)));
        assert_eq!(scout.train_gain, kept);
    }
}

#[test]
fn a_tenth_more_than_the_window_is_no_room() {
    let mut drive = Drive::new();
    // Every 10 ms a segment, 11 per minrtt.
    drive.view.rtt.min = Span::from_millis(110);
    let step = drive.acks(10, Span::from_millis(10), RTT, Span::from_millis(2));
    assert_eq!((step.pace, drive.scout.target), (Pace::Unchanged, MSS * 10));
    assert!(drive.scout.after_train.is_some());
    assert_eq!(gauge(&drive.scout, "scout_slowed"), Some(1));
}

/// The first train, which leaves within 25 ms at its pace: a single ACK comes so long after its
/// newest packet has left, and that long after the train could begin to leave.
fn one_ack(rtt: Span, left_in: Span) -> Drive {
    let mut drive = Drive::new();
    drive.view.now = drive.view.now + left_in + rtt;
    drive.view.rtt.latest = rtt;
    drive.view.acked += MSS * 10;
    drive.view.in_flight = MSS * 10;
    let ack = ack(&drive.view, 10);
    let _ = drive.scout.step(&ack, &drive.view);
    drive
}

#[test]
fn a_single_ack_is_compared_with_the_rtt_before_the_train() {
    // Ten segments in 40 ms, by 30 of which the RTT rose.
    let slowed = one_ack(RTT + Span::from_millis(30), Span::from_millis(10));
    assert_eq!(gauge(&slowed.scout, "scout_slowed"), Some(1));
    assert_eq!(slowed.scout.target, MSS * 25);
    // An ACK for ten segments: a train that three ACKs tell of would be more than half of the
    // target.
    assert_eq!(slowed.scout.train.length(), MSS * 12);
    // In 24 ms, by 3 of which it rose.
    let passed = one_ack(RTT + Span::from_millis(3), Span::from_millis(21));
    assert_eq!(gauge(&passed.scout, "scout_passed"), Some(1));
    assert_eq!(passed.scout.target, MSS * 40);
}

#[test]
fn a_single_ack_of_a_train_that_did_not_leave_at_its_pace_says_nothing() {
    for (micros, silent, window) in [(24_999, 0, 40), (25_000, 1, 20)] {
        let drive = one_ack(RTT, Span::from_micros(micros));
        assert_eq!(gauge(&drive.scout, "scout_silent"), Some(silent), "{micros}");
        assert_eq!(drive.scout.target, MSS * window, "{micros}");
    }
}

#[test]
fn of_how_many_acks_a_train_is_judged_is_a_knob() {
    for (acks, silent, window) in [(4, 1, 20), (3, 0, 30)] {
        let mut scout = ordinary();
        assert!(scout.set("acks", KnobValue::Count(acks)));
        let mut drive = Drive::with(scout);
        // Three ACKs: six segments in 20 ms, 30 per RTT, and the RTT rises by a quarter of that.
        for (segments, rtt) in [(4, 100), (3, 102), (3, 105)] {
            drive.view.now = drive.view.now + Span::from_millis(10);
            drive.view.rtt.latest = Span::from_millis(rtt);
            drive.view.acked += MSS * segments;
            let ack = ack(&drive.view, segments);
            let _ = drive.scout.step(&ack, &drive.view);
        }
        let window = MSS * window;
        assert_eq!(
            (gauge(&drive.scout, "scout_silent"), drive.scout.target),
            (Some(silent), window)
        );
    }
}

#[test]
fn a_round_has_two_segments_at_least_and_an_exit_leaves_four() {
    let mut drive = Drive::new();
    let _ = drive.scout.begin_round(Bytes(1), &drive.view);
    assert_eq!(drive.scout.target, MSS * 2);
    assert_eq!(drive.scout.leave(MSS, &drive.view).window.cwnd, MSS * 4);
}

#[test]
fn a_loss_lands_at_a_share_of_what_arrives_of_what_was_outstanding() {
    let mut drive = Drive::new();
    drive.view.snd_nxt = MSS * 50;
    drive.view.window.cwnd = MSS * 400;
    let lost = |segments: u64| {
        Loss::of(Instant(0), LossKind::Recovery, MSS * segments, drive.view.in_flight)
    };
    let Answer::Land(window) = drive.scout.answer(&lost(1), &drive.view) else { panic!() };
    // (0.85 + 0.1) (50 - 1): not from the window of 400.
    assert_eq!(window.cwnd, Bytes(46_550));
    drive.scout.on_further_loss(&lost(9), &drive.view);
    drive.view.window = window;
    let step = drive.scout.recovering(&ack(&drive.view, 40), &drive.view);
    // 40 of 50 arrived.
    assert_eq!(step.window.cwnd, MSS * 34);
    drive.view.window = step.window;
    assert_eq!(drive.scout.found(&drive.view).peak, Some(MSS * 40));
}

#[test]
fn what_begins_a_recovery_counts_as_lost_and_a_landing_ends_at_four_segments() {
    let answer = |outstanding: u64, again| {
        let mut drive = Drive::new();
        drive.view.snd_nxt = MSS * outstanding;
        let loss = Loss { again, ..Loss::of(Instant(0), LossKind::Recovery, MSS, MSS) };
        let Answer::Land(window) = drive.scout.answer(&loss, &drive.view) else { panic!() };
        window.cwnd
    };
    // 0.95 (10 - 1), whether or not what is lost is a repair; 0.95 (5 - 1) are less than four.
    assert_eq!([answer(10, false), answer(10, true)], [Bytes(8_550); 2]);
    assert_eq!(answer(5, false), MSS * 4);
}

#[test]
fn a_peak_that_is_no_window_is_none() {
    let mut drive = Drive::new();
    drive.view.snd_nxt = Bytes::MAX;
    let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS);
    let _ = drive.scout.answer(&loss, &drive.view);
    assert_eq!(drive.scout.found(&drive.view).peak, None);
}

#[test]
fn three_segments_of_a_connection_are_more_than_a_handshake() {
    for (acked, outstanding) in [(3, 2), (1, 3)] {
        let mut drive = Drive::new();
        (drive.view.acked, drive.view.snd_nxt) = (MSS * acked, MSS * (acked + outstanding));
        let ack = ack(&drive.view, acked);
        let step = drive.scout.step(&ack, &drive.view);
        assert_eq!((step.pace, drive.scout.reopened), (Pace::Unchanged, false), "{acked}");
    }
}

#[test]
fn a_handshake_s_last_ack_is_no_train() {
    let mut drive = Drive::new();
    // QUIC: a packet of the handshake is acknowledged, and two others are outstanding.
    drive.view.snd_nxt = MSS * 2;
    let step = drive.acks(1, Span::from_millis(1), RTT, Span(0));
    // The first window is no larger for it, and leaves as a train.
    assert_eq!(step.window.cwnd, MSS * 10);
    let expected = Pacing::at(Rate(100_000)).beginning(MSS * 10, Rate(400_000));
    assert_eq!(step.pace, Pace::Set(expected));
}

/// After a first train of which an ACK comes every 10 ms, 11 per minrtt, and each RTT is longer by
/// 2 ms: a tenth more than the target, and a fifth of the time.
fn a_tenth_more(knob: &'static str, value: KnobValue) -> Scout {
    let mut scout = ordinary();
    assert!(scout.set(knob, value), "{knob}");
    let mut drive = Drive::with(scout);
    drive.view.rtt.min = Span::from_millis(110);
    let _ = drive.acks(10, Span::from_millis(10), RTT, Span::from_millis(2));
    drive.scout
}

#[test]
fn what_passes_and_what_is_room_are_knobs() {
    assert_eq!(a_tenth_more("room", KnobValue::Ratio(RATIO_ONE)).target, MSS * 11);
    assert_eq!(a_tenth_more("pass", KnobValue::Count(5)).target, MSS * 55 / 4);
    assert_eq!(a_tenth_more("pass", KnobValue::Count(6)).target, MSS * 10);
}

/// Each value beyond its range is taken as the nearest end of it.
#[test]
fn unpaced_it_asks_for_no_rate() {
    let mut scout = Scout::default();
    assert!(scout.set("pace", KnobValue::Word("off")));
    assert_eq!(scout.needs().required, Facilities::TIMES | Facilities::RECOVERY_WINDOW);
    let mut drive = Drive::with(scout);
    assert_eq!(drive.step.unwrap().pace, Pace::Default);
    let step = drive.acks(10, Span::from_micros(1_250), RTT, Span(0));
    assert_eq!(step.pace, Pace::Unchanged);
    assert_eq!(drive.scout.train.leaves_in, Span(0));
}

#[test]
fn ratios_keep_to_their_ranges() {
    let ends = [("room", (1.0, 2.0)), ("behind", (0.0, 8.0)), ("keeps", (0.5, 1.0))];
    for (knob, (least, most)) in ends {
        let told = |asked| {
            let mut scout = Scout::default();
            assert!(scout.set(knob, KnobValue::Ratio(asked)));
            scout.value(knob)
        };
        let ratio = |end: f64| Some(KnobValue::Ratio((end * 1e6) as u64));
        assert_eq!((told(0), told(u64::MAX)), (ratio(least), ratio(most)), "{knob}");
    }
}

#[test]
fn what_a_landing_keeps_is_a_knob() {
    let mut drive = Drive::new();
    assert!(drive.scout.set("keeps", KnobValue::Ratio(RATIO_ONE / 2)));
    let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS);
    // (1/2 + 1/3) (10 - 1).
    let Answer::Land(window) = drive.scout.answer(&loss, &drive.view) else { panic!() };
    assert!(window.cwnd.0.abs_diff(7_500) <= 10, "{window:?}");
    drive.view.window = window;
    assert!(drive.scout.found(&drive.view).peak.unwrap().0.abs_diff(15_000) <= 20);
}

const RTT: Span = Span::from_millis(100);
