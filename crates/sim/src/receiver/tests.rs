//! What a receiver answers, packet by packet.

use firstflight_core::units::Bytes;

use super::*;
use crate::endpoint::rules::{Compression, GrowingWindow};

/// What arrives counts at all times.
const ALWAYS: (Instant, Instant) = (Instant(u64::MAX), Instant(u64::MAX));

fn receiver(every: u32) -> Receiver {
    let endpoint = Endpoint {
        delayed_ack: every,
        delayed_ack_timeout: Span::from_millis(100),
        recovery: Recovery::Sack,
        ..Endpoint::rfc(Bytes(1000))
    };
    Receiver::new(&endpoint, false, Some(1000), ALWAYS, true)
}

#[test]
fn a_filled_gap_acknowledges_everything_behind_it() {
    let mut receiver = receiver(1);
    let seen: Vec<u32> = [0, 2, 3, 200, 1, 4]
        .iter()
        .map(|seq| receiver.receive(*seq, Instant(u64::from(*seq))).1.unwrap().next)
        .collect();
    assert_eq!(seen, [1, 1, 1, 1, 4, 5]);
    assert_eq!(receiver.out_of_order.count, 1);
}

#[test]
fn a_held_ack_leaves_by_its_timer_before_a_late_packet() {
    let mut receiver = receiver(2);
    assert_eq!(receiver.receive(0, Instant(0)), (None, None));
    let late = Instant(200_000_000);
    let (overdue, own) = receiver.receive(1, late);
    assert_eq!(overdue.unwrap().at, Instant(100_000_000));
    assert_eq!(overdue.unwrap().next, 1);
    assert_eq!(own, None);
    let (_, own) = receiver.receive(2, late);
    assert_eq!(own.unwrap().next, 3);
}

#[test]
fn a_timer_and_an_arrival_that_rounding_put_apart_are_a_tie_that_the_timer_wins() {
    for (early_ns, ties, timer_first) in [(0, 0, true), (1, 0, false), (8, 8, true), (9, 8, false)]
    {
        let mut receiver = Receiver { hold_ties: Span(ties), ..receiver(2) };
        receiver.receive(0, Instant(0));
        let at = Instant(100_000_000 - early_ns);
        let (overdue, own) = receiver.receive(1, at);
        let due = Instant(100_000_000);
        assert_eq!(overdue.map(|ack| (ack.at, ack.next)), timer_first.then_some((due, 1)));
        assert_eq!(own.is_some(), !timer_first);
        // The tie holds on: the next ACK is due as long after as the one before.
        let next = timer_first.then_some(due + Span::from_millis(100));
        assert_eq!(receiver.deadline(), next);
    }
}

#[test]
fn a_repeated_packet_is_answered_at_once_except_where_ns2_holds_it() {
    for (delay_repeated, answered) in [(false, true), (true, false)] {
        let mut receiver = Receiver { delay_repeated, ..receiver(2) };
        receiver.receive(0, Instant(0));
        assert!(receiver.receive(1, Instant(1)).1.is_some());
        assert_eq!(receiver.receive(1, Instant(2)).1.is_some(), answered);
        assert!(receiver.receive(0, Instant(3)).1.is_some());
    }
}

/// Without a SYN too, and then the second packet waits for a third.
#[test]
fn the_sink_of_ns2_answers_packet_0_at_once() {
    for (delay_repeated, answered) in [(true, [true, false, true]), (false, [false, true, false])] {
        let endpoint = Endpoint {
            delayed_ack: 2,
            delayed_ack_timeout: Span::from_millis(100),
            delay_repeated,
            ..Endpoint::rfc(Bytes(1000))
        };
        let mut receiver = Receiver::new(&endpoint, false, Some(1000), ALWAYS, true);
        let at_once = [0, 1, 2].map(|seq| receiver.receive(seq, Instant(1)).1.is_some());
        assert_eq!(at_once, answered);
    }
}

#[test]
fn the_first_packets_and_those_after_a_repeated_one_are_answered_at_once() {
    let mut receiver = Receiver { quick_until: 4, quick_after_repeated: 2, ..receiver(2) };
    let mut answered = |seq: u32, at: u64| receiver.receive(seq, Instant(at)).1.is_some();
    let first: Vec<bool> = (0..8).map(|seq| answered(seq, u64::from(seq))).collect();
    assert_eq!(first, [true, true, true, true, false, true, false, true]);
    assert!(answered(3, 8));
    assert_eq!([8, 9, 10].map(|seq| answered(seq, 9)), [true, false, true]);
}

/// Four packets make the window grow. With them Linux's 16 quick ACKs are not used up
/// (`tcp_grow_window` adds one), so that they are left then (`tcp_event_data_recv`).
#[test]
fn sixteen_more_are_answered_at_once_when_the_window_has_grown() {
    let endpoint = Endpoint {
        delayed_ack: 2,
        growing_window: Some(GrowingWindow {
            first: Bytes(1_000),
            step: Bytes(2_000),
            most: Bytes(9_000),
            quick: true,
        }),
        ..Endpoint::rfc(Bytes(1000))
    };
    let mut receiver = Receiver::new(&endpoint, false, Some(1000), ALWAYS, true);
    let mut held = (0..30).filter(|seq| receiver.receive(*seq, Instant(1)).1.is_none());
    assert_eq!(held.next(), Some(20));
}

/// One ACK for every second packet, by Linux's rules; packets come 0.1 ms apart.
fn linux() -> Receiver {
    let endpoint = Endpoint {
        delayed_ack: 2,
        delayed_ack_timeout: Span::from_millis(40),
        recovery: Recovery::Rack,
        linux_acks: Some(LinuxAcks { compress: Some(Compression::UNTIL_6_18) }),
        ..Endpoint::rfc(Bytes(1000))
    };
    Receiver::new(&endpoint, false, Some(1000), ALWAYS, true)
}

const fn tenth_ms(tenths: u64) -> Instant {
    Instant(tenths * 100_000)
}

#[test]
fn above_three_packets_out_of_order_one_ack_reports_a_millisecond() {
    let mut receiver = linux();
    receiver.receive(0, tenth_ms(0));
    let ack = |receiver: &mut Receiver, seq: u32| receiver.receive(seq, tenth_ms(u64::from(seq)));
    assert!([2, 3, 4].iter().all(|seq| ack(&mut receiver, *seq).1.is_some()));
    for seq in 5..16 {
        assert_eq!(ack(&mut receiver, seq), (None, None), "{seq}");
    }
    // 1.1 ms after packet 5, which comes first; packet 16 is held for the next.
    let (together, own) = ack(&mut receiver, 16);
    let together = together.unwrap();
    assert_eq!((together.at, together.cause, together.more), (tenth_ms(16), 15, 10));
    let others: Vec<u32> = (0..10).filter_map(|_| receiver.next_compressed()).collect();
    assert_eq!((others, own), ((5..15).collect(), None));
    // What fills the gap is answered at once, and its ACK reports the rest.
    let filled = receiver.receive(1, tenth_ms(20)).1.unwrap();
    assert_eq!((filled.next, filled.more, receiver.next_compressed()), (17, 1, Some(16)));
}

#[test]
fn a_third_run_of_packets_out_of_order_sends_what_is_held() {
    let mut receiver = linux();
    for seq in [0, 2, 3, 4, 5, 7] {
        receiver.receive(seq, tenth_ms(u64::from(seq)));
    }
    // 2 to 5 and 7 are two runs, and the ACKs of 5 and 7 are held back; 8 joins one of the runs.
    assert_eq!(receiver.receive(8, tenth_ms(8)), (None, None));
    let (before, own) = receiver.receive(10, tenth_ms(10));
    assert_eq!(before.map(|ack| (ack.cause, ack.more)), Some((8, 2)));
    assert_eq!(own, None);
}

#[test]
fn after_a_pause_of_more_than_a_timeout_packets_are_answered_at_once() {
    let mut receiver = linux();
    let mut answered = |seq: u32, at: u64| receiver.receive(seq, tenth_ms(at)).1.is_some();
    assert_eq!([answered(0, 1), answered(1, 2), answered(2, 3)], [false, true, false]);
    assert!(answered(3, 4));
    // A second without RTT; no more than 16 packets.
    let quick: Vec<bool> = (4..24).map(|seq| answered(seq, 10_050)).collect();
    assert_eq!(quick.iter().position(|quick| !quick), Some(16));
    assert!(!quick[18] && quick[19]);
}

#[test]
fn packet_numbers_are_acknowledged_in_pairs_and_gaps_at_once() {
    let endpoint = Endpoint {
        delayed_ack: 2,
        delayed_ack_timeout: Span::from_millis(25),
        recovery: Recovery::Quic,
        ..Endpoint::rfc(Bytes(1000))
    };
    let mut receiver = Receiver::new(&endpoint, false, Some(6), ALWAYS, true);
    let mut acks = |seq: u32, ms: u64| {
        let (overdue, own) = receiver.receive(seq, Instant(ms * 1_000_000));
        [overdue, own].map(|ack| ack.map(|ack| (ack.next, ack.cause)))
    };
    assert_eq!([acks(0, 0), acks(1, 1)], [[None, None], [None, Some((2, 1))]]);
    assert_eq!(acks(2, 2), [None, None]);
    assert_eq!(acks(5, 3), [None, Some((3, 5))], "2 was held, 3 and 4 are missing");
    assert_eq!([acks(6, 4), acks(7, 5)], [[None, None], [None, Some((8, 7))]]);
    assert_eq!(acks(8, 6), [None, None]);
    assert_eq!(acks(9, 60)[0], Some((9, 8 | HELD)));
    assert_eq!(receiver.finished_at(), Some(Instant(5_000_000)));
}

#[test]
fn out_of_order_packets_are_acknowledged_at_once() {
    let mut receiver = receiver(2);
    assert!(receiver.receive(1, Instant(0)).1.is_some());
    assert_eq!(receiver.receive(0, Instant(1)).1.unwrap().next, 2);
}
