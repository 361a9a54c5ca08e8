//! What arrives between trains, on ACKs worked by hand.

use super::*;

/// A train of which one ACK tells, and which left more slowly than at its pace, after packets with
/// this RTT.
fn silent_train_behind(between: Span, max_ack_delay: Span) -> Step {
    let mut drive = Drive::new();
    drive.view.max_ack_delay = max_ack_delay;
    let _ = drive.first_train_passes();
    // 32 packets before the train, in 96 ms.
    drive.scout.train.begin = drive.view.acked + MSS * 32;
    drive.scout.train.end = drive.scout.train.begin + MSS * 8;
    let _ = drive.acks(32, Span::from_millis(3), between, Span(0));
    drive.scout.train.leaves_in = Span(0);
    drive.view.now = drive.view.now + Span::from_millis(24);
    (drive.view.acked, drive.view.delivered) =
        (drive.view.acked + MSS * 8, drive.view.delivered + MSS * 8);
    let ack = ack(&drive.view, 8);
    drive.scout.step(&ack, &drive.view)
}

#[test]
fn silent_trains_and_late_packets_end_start_up_with_what_arrives() {
    let step = silent_train_behind(Span::from_millis(120), Span(0));
    assert_eq!(step.exit, Some(Exit::Heuristic));
    // 40 segments in 120 ms are 33.3 per minrtt; 1.1 of that, and two.
    assert_eq!(step.window.cwnd, Bytes(36_666 + 2_000));
}

#[test]
fn packets_between_trains_are_late_above_an_eighth_of_the_smallest_rtt() {
    let exit =
        |micros, held| silent_train_behind(Span::from_micros(micros), Span::from_millis(held)).exit;
    for (micros, late) in [(95_000, false), (112_500, false), (112_501, true)] {
        assert_eq!(exit(micros, 0).is_some(), late, "{micros}");
    }
    // A receiver that holds ACKs back for 25 ms may have made each so late.
    for (micros, late) in [(125_000, false), (137_500, false), (137_501, true)] {
        assert_eq!(exit(micros, 25).is_some(), late, "{micros}");
    }
}
