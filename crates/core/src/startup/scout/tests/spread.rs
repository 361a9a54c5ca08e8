//! What arrives between trains, on ACKs worked by hand.

use super::*;

/// A train of which one ACK tells, and which left more slowly than at its pace, after packets with
/// this RTT.
fn silent_train_behind(between: Span) -> Step {
    let mut drive = Drive::new();
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
    let step = silent_train_behind(Span::from_millis(120));
    assert_eq!(step.exit, Some(Exit::Heuristic));
    // 40 segments in 120 ms are 33.3 per minrtt; 1.1 of that, and two.
    assert_eq!(step.window.cwnd, Bytes(36_666 + 2_000));
}

#[test]
fn packets_between_trains_are_late_above_an_eighth_of_the_smallest_rtt() {
    let exit = |micros| silent_train_behind(Span::from_micros(micros)).exit;
    for (micros, late) in [(95_000, false), (112_500, false), (112_501, true)] {
        assert_eq!(exit(micros).is_some(), late, "{micros}");
    }
}
