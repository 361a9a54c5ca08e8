//! quinn's two questions for the window: the limit, and the rate of its pacer.

use firstflight_core::units::Span;

use super::*;

/// A controller that sets a rate, with an RTT of 100 ms and two packets in flight of twelve.
fn paced() -> Path {
    let mut path = Path::new("paced+newreno");
    path.send(0, 10);
    path.controller.stack.srtt = Span::from_millis(100);
    path.ack(100, 0, 2);
    path.ack(100, 0, 8);
    path.send(101, 2);
    path
}

fn asked(path: &Path) -> u64 {
    path.controller.window()
}

#[test]
fn the_second_question_is_answered_with_the_rate_and_the_first_with_the_limit() {
    let path = paced();
    let cwnd = path.controller.metrics().congestion_window;
    let rate = path.controller.sender().pacing().unwrap().rate.0;
    assert_eq!((cwnd, rate), (24_000, 480_000), "2 cwnd per RTT");
    // quinn's pacer makes 1.25 windows per RTT of it: 38,400 * 1.25 / 0.1 s are 480,000.
    for _ in 0..3 {
        assert_eq!((asked(&path), asked(&path)), (24_001, 38_400));
    }
}

#[test]
fn where_the_limit_holds_quinn_asks_no_second_time() {
    let mut path = paced();
    path.send(102, 17);
    assert_eq!((asked(&path), asked(&path)), (24_001, 38_400), "19 packets of 20 in flight");
    path.send(103, 1);
    assert_eq!((asked(&path), asked(&path)), (24_001, 24_001), "20 of 20");
}

#[test]
fn every_event_makes_the_next_question_the_first() {
    let mut path = paced();
    assert_eq!(asked(&path), 24_001);
    path.send(102, 1);
    assert_eq!(asked(&path), 24_001, "after a packet that left");
    path.ack(110, 101, 1);
    assert_eq!(asked(&path), path.controller.cwnd + 1, "after an ACK");
    path.lose(111, 101, 1);
    assert_eq!(asked(&path), path.controller.cwnd + 1, "after a loss");
    let copy = path.controller.clone();
    assert_eq!(copy.window(), copy.cwnd + 1, "another path's copy");
}

#[test]
fn the_window_for_the_pacer_lets_a_packet_leave_and_keeps_the_pacer_on() {
    let mut path = paced();
    path.controller.stack.srtt = Span(1);
    path.controller.update_pace();
    assert_eq!((asked(&path), asked(&path)), (24_001, 2 * PACKET + 1));
    path.controller.stack.srtt = Span::from_secs(1_000_000);
    path.controller.update_pace();
    assert_eq!((asked(&path), asked(&path)), (24_001, u64::from(u32::MAX)));
}

#[test]
fn without_a_rate_or_an_rtt_every_answer_is_the_window() {
    let mut path = paced();
    path.controller.stack.srtt = Span(0);
    path.controller.update_pace();
    assert_eq!((asked(&path), asked(&path)), (24_001, 24_001));
    let mut plain = Path::new("newreno");
    plain.controller.stack.srtt = Span::from_millis(100);
    plain.send(0, 2);
    plain.ack(100, 0, 1);
    let answer = asked(&plain);
    assert_eq!((asked(&plain), asked(&plain)), (answer, answer));
}
