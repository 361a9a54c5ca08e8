//! Captures of every kind: where they were taken, what limited the sender, what they cannot show.

use std::io::Cursor;

use crate::wire::{ACK, MSS, SYN, Segment, Transfer, Wire};
use firstflight_qlog::{Limit, Limited};
use firstflight_record::{Form, Recorded, read};

fn shown(wire: Wire) -> Recorded {
    number(wire, None)
}

fn number(wire: Wire, number: Option<usize>) -> Recorded {
    read("x.pcap", Cursor::new(wire.bytes()), number).unwrap()
}

fn of(transfer: Transfer) -> Recorded {
    let mut wire = Wire::new();
    wire.transfer(0, transfer);
    shown(wire)
}

fn limits(recorded: &Recorded) -> Vec<(Limit, f64, f64)> {
    let limits = recorded.connection.limits.intervals();
    limits.iter().map(|it: &Limited| (it.by, it.from_s, it.to_s)).collect()
}

#[test]
fn only_a_capture_from_the_sender_shows_flight_and_rtt() {
    for receiver_opens in [false, true] {
        let sender = of(Transfer { receiver_opens, ..Transfer::default() });
        assert_eq!(sender.form, Form::Capture);
        assert_eq!(sender.connection.hidden, None);
        assert_eq!(sender.connection.vantage, "sender");
        let summary = &sender.connection.summary;
        assert_eq!(summary.min_rtt_ms, Some(100.0), "{receiver_opens}");
        assert_eq!(summary.peak_in_flight_bytes, Some(370 * u64::from(MSS)));
        for (at, place) in [(1.0, "receiver"), (0.5, "network")] {
            let other = of(Transfer { at, receiver_opens, ..Transfer::default() });
            let hidden = other.connection.hidden.as_ref().unwrap();
            assert!(hidden.contains("SYN to SYN-ACK took"), "{hidden}");
            assert_eq!(other.connection.vantage, place, "{hidden}");
            let summary = &other.connection.summary;
            assert_eq!((&summary.exit, summary.peak_in_flight_bytes), (&None, None));
            assert_eq!(summary.min_rtt_ms, Some(100.0), "that of the handshake");
            assert_eq!((summary.packets_lost, summary.bytes_lost), (None, None), "not 0");
            assert_eq!(summary.bytes_sent, Some(1000 * u64::from(MSS)), "what arrived");
            let sent = other.connection.curves(summary.duration_s).sent;
            assert!(sent.points().len() > 100, "the rate can be drawn");
            assert!(other.connection.limits.intervals().is_empty());
        }
    }
}

#[test]
fn a_capture_near_the_sender_is_as_good() {
    let near = of(Transfer { at: 0.05, ..Transfer::default() });
    assert_eq!((near.connection.hidden, near.connection.vantage.as_str()), (None, "sender"));
}

#[test]
fn a_window_without_room_is_the_receivers() {
    let held = Transfer { segments: 700, most: 45, window: 65_535, ..Transfer::default() };
    let unscaled = of(Transfer { scale: None, ..held });
    assert_eq!(unscaled.connection.summary.exit, None, "start-up did not end");
    let found = limits(&unscaled);
    let [(Limit::Receiver, from_s, to_s)] = found[..] else { panic!("{found:?}") };
    assert!((0.3..0.5).contains(&from_s) && to_s > 1.5, "{found:?}");
    let why = &unscaled.connection.limits.intervals()[0].why;
    assert!(why.contains("65.5 kB"), "{why}");
    // With a scale the same number is another window.
    let scaled = of(Transfer { window: 512, scale: Some(7), ..held });
    assert_eq!(limits(&scaled)[0].0, Limit::Receiver);
    assert_eq!(scaled.connection.summary.exit, None);
}

#[test]
fn as_much_in_flight_for_long_is_the_senders_limit() {
    let held = Transfer { segments: 700, most: 45, window: 23_437, ..Transfer::default() };
    let found = of(held);
    assert_eq!(found.connection.summary.exit, None, "no end of start-up");
    assert_eq!(limits(&found)[0].0, Limit::SendBuffer);
    let why = &found.connection.limits.intervals()[0].why;
    for number in ["65.2 kB", "2999.9 kB", "application"] {
        assert!(why.contains(number), "{why}");
    }
    // Where the scale is not known, no window is.
    let mut wire = Wire::new();
    wire.transfer(0, held);
    wire.retain(|_, packet| packet[33] != SYN | ACK);
    let found = shown(wire);
    assert!(found.connection.limits.intervals().is_empty());
    assert_eq!(found.connection.summary.exit, None);
}

#[test]
fn what_grows_no_more_behind_a_queue_has_ended_start_up() {
    // Flat for nine rounds, which a congestion control may be.
    let found = of(Transfer { segments: 70 + 9 * 45, most: 45, ..Transfer::default() });
    let exit = found.connection.summary.exit.unwrap();
    assert_eq!(exit.reason.as_deref(), Some("flight no longer grew"));
}

#[test]
fn an_application_that_pauses_is_seen_and_its_rounds_do_not_count() {
    let rests = Transfer { most: 10, segments: 80, rest_us: 400_000, ..Transfer::default() };
    let found = of(rests);
    assert_eq!(found.connection.summary.exit, None, "no plateau");
    let all = limits(&found);
    assert!(all.iter().all(|(by, ..)| *by == Limit::Application), "{all:?}");
    let held = found.connection.limits.held_s(Limit::Application, 0.0, 10.0);
    assert!((2.7..2.9).contains(&held), "{held}");
}

/// Answers of a few bytes on a short path, whose ACKs are delayed.
#[test]
fn a_conversation_has_no_end_of_start_up() {
    let mut wire = Wire::new();
    wire.transfer(0, Transfer { segments: 0, rtt_us: 200, ..Transfer::default() });
    for turn in 0..40_u32 {
        let (at_us, sequence) = (10_000 + u64::from(turn) * 60_000, 1 + turn * 60);
        wire.push(at_us, Segment { sequence, ack: 1, payload: 60, ..Segment::default() });
        let ack = Segment { sequence: 1, ack: sequence + 60, ..Segment::default() };
        let delayed_us = if turn % 2 == 0 { 200 } else { 40_000 };
        wire.push(at_us + delayed_us, Segment { to_receiver: false, ..ack });
    }
    let found = shown(wire);
    assert_eq!(found.connection.summary.exit, None);
    let all = limits(&found);
    assert!(!all.is_empty() && all.iter().all(|(by, ..)| *by == Limit::Application), "{all:?}");
}

#[test]
fn a_connection_without_data_hides_nothing() {
    let mut wire = Wire::new();
    wire.push(0, Segment { flags: SYN, ..Segment::default() });
    let refused = Segment { to_receiver: false, flags: 20, ack: 1, ..Segment::default() };
    wire.push(10, refused);
    let found = shown(wire);
    assert_eq!((found.connection.hidden, found.connection.summary.packets_sent), (None, None));
}

#[test]
fn a_capture_from_the_middle_has_no_start_up() {
    let mut wire = Wire::new();
    wire.transfer(0, Transfer { segments: 2000, ..Transfer::default() });
    wire.retain(|at_us, _| at_us > 501_000);
    let found = shown(wire);
    let hidden = found.connection.hidden.as_ref().unwrap();
    assert!(hidden.contains("no SYN") && hidden.contains("kB were in flight"), "{hidden}");
    assert_eq!(found.connection.summary.exit, None);
    assert_eq!(found.connection.summary.peak_in_flight_bytes, None);
}

#[test]
fn one_direction_alone_is_bytes_over_time() {
    for (to_receiver, words) in [(true, "no ACKs"), (false, "not the data")] {
        let mut wire = Wire::new();
        wire.transfer(0, Transfer::default());
        wire.retain(|_, packet| (packet[15] == 5) == to_receiver);
        let found = shown(wire);
        let hidden = found.connection.hidden.as_ref().unwrap();
        assert!(hidden.contains(words), "{hidden}");
        assert_eq!(found.connection.summary.packets_lost, None);
    }
}

/// At the promised size: what walks through all that was sent before takes days.
#[test]
fn segments_that_come_twice_without_acks_take_linear_time() {
    let mut wire = Wire::new();
    for place in 0..100_000_u32 {
        let sequence = place * 1000;
        let segment = Segment { sequence, payload: 1000, ..Segment::default() };
        wire.push(u64::from(place) * 10, segment);
    }
    wire.repeat(2, 5);
    let found = shown(wire);
    assert_eq!(found.connection.summary.bytes_sent, Some(200_000_000));
    // With a handshake and no more than its ACK nothing is hidden.
    let mut wire = Wire::new();
    wire.transfer(0, Transfer { segments: 0, ..Transfer::default() });
    for place in 0..100_000_u32 {
        let segment = Segment { sequence: 1 + place * 100, payload: 100, ..Segment::default() };
        wire.push(200_000 + u64::from(place) * 10, segment);
        wire.push(200_000_000 + u64::from(place) * 10, segment);
    }
    wire.push(900_000_000, Segment { to_receiver: false, ack: 101, ..Segment::default() });
    let found = shown(wire);
    assert_eq!(found.connection.hidden, None);
    assert_eq!(found.connection.summary.packets_lost, Some(100_000));
}

#[test]
fn a_capture_of_several_interfaces_has_no_losses() {
    let mut wire = Wire::new();
    wire.transfer(0, Transfer::default());
    wire.repeat(3, 2);
    let found = shown(wire);
    assert_eq!(found.connection.summary.packets_lost, Some(0));
    assert_eq!(found.connection.summary.bytes_sent, Some(1000 * u64::from(MSS)));
}

#[test]
fn what_a_capture_has_late_is_no_loss() {
    let mut wire = Wire::new();
    wire.transfer(0, Transfer::default());
    let late = |place: u32| {
        let sequence = 1 + place * MSS;
        Segment { sequence, ack: 1, payload: MSS as usize, ..Segment::default() }
    };
    let is = |packet: &[u8], place: u32| {
        packet[15] == 5 && packet[24..28] == (1 + place * MSS).to_be_bytes()
    };
    wire.retain(|_, packet| !is(packet, 30) && !is(packet, 200));
    wire.push(101_000 + 100_000 + 600, late(30));
    let found = shown(wire);
    assert_eq!(found.connection.summary.packets_lost, Some(0));
}

#[test]
fn segments_without_a_sensible_size_are_counted_not_kept() {
    for count in [200, 1000] {
        let mut wire = Wire::new();
        let options = [2, 4, 0, 1];
        wire.push(0, Segment { flags: SYN, options: &options, ..Segment::default() });
        for place in 0..count {
            let sequence = 1 + place * 65_000;
            let segment = Segment { sequence, payload: 65_000, ..Segment::default() };
            wire.push(1000 + u64::from(place), segment);
        }
        let found = shown(wire);
        assert_eq!(found.connection.events, u64::from(count), "an event for each");
        // The least segment of Linux has 48 bytes.
        let packets = u64::from(count) * 65_000_u64.div_ceil(48);
        assert_eq!(found.connection.summary.packets_sent, Some(packets));
    }
}

#[test]
fn every_connection_is_listed_and_named() {
    let mut wire = Wire::new();
    for (port, segments) in [(50_001, 20), (50_002, 300), (50_003, 60)] {
        wire.transfer(u64::from(port), Transfer { port, segments, ..Transfer::default() });
    }
    let bytes = wire.bytes();
    let of = |number| read("x.pcap", Cursor::new(&bytes), number);
    let found = of(None).unwrap();
    assert_eq!((found.number, found.all.len()), (2, 3));
    assert_eq!(found.connection.title, "TCP from 198.51.100.5:5202 to 198.51.100.9:50002");
    let listed = &found.all[2];
    assert_eq!(listed.title, "TCP from 198.51.100.5:5202 to 198.51.100.9:50003");
    assert_eq!((listed.bytes, listed.events), (Some(60 * u64::from(MSS)), 2 * 60 + 3));
    assert_eq!(of(Some(3)).unwrap().connection.title, listed.title);
    let problem = of(Some(4)).unwrap_err().to_string();
    assert_eq!(problem, "x.pcap: --connection 4: the file has 3; accepted: 1 to 3");
}
