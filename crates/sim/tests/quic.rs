//! QUIC's rules (RFC 9002) against numbers worked by hand.

use crate::common::{flow, link, network};
use crate::linux::finished_ms;
use firstflight_core::units::{Bytes, Span};
use firstflight_sim::{FlowOutcome, FlowSpec, LinkSpec, Recovery, named, run};

/// 8 Mbps and 100 ms: a packet takes 1 ms, 100 packets fill the path, and the buffer holds 1000.
fn path(drop: &[u64]) -> LinkSpec {
    LinkSpec { drop: drop.to_vec(), ..link(8, 50, 1_000) }
}

fn quic(packets: u32) -> FlowSpec {
    let mut spec = flow(&[0], 50, Recovery::Quic);
    spec.packets = Some(packets);
    spec.endpoint.initial_window = Bytes(10_000);
    spec.endpoint.delayed_ack_timeout = Span::from_millis(25);
    spec
}

fn one(spec: FlowSpec, drop: &[u64]) -> FlowOutcome {
    run(&network(vec![path(drop)], vec![spec], 20_000)).flows.remove(0)
}

#[test]
fn a_packet_is_lost_when_one_three_numbers_later_is_acknowledged() {
    // The fourth is acknowledged after 104 ms; what was lost arrives 51 ms after that.
    let four = one(quic(4), &[1]);
    assert_eq!((four.counts.retransmitted_packets, four.delivered_packets), (1, 4));
    assert_eq!(finished_ms(&four), 155);
    let threshold_of_one = {
        let mut spec = quic(4);
        spec.endpoint.rules.duplicate_acks = 1;
        one(spec, &[1])
    };
    assert_eq!(finished_ms(&threshold_of_one), 153);
}

#[test]
fn a_packet_is_lost_when_nine_eighths_of_an_rtt_have_passed() {
    // Two packets, of which the second is acknowledged after 102 ms. The first is lost 114.75 ms
    // after it left (and some microseconds of access links).
    assert_eq!(finished_ms(&one(quic(2), &[1])), 165);
}

#[test]
fn a_lost_tail_costs_probes_that_cut_nothing_and_a_loss_that_does() {
    let (whole, lost) = (one(quic(10), &[]), one(quic(10), &[10]));
    assert_eq!(finished_ms(&whole), 60);
    // Two probes without data leave after some 165 ms (a smoothed RTT of 103, four variations of
    // 9, and 25); the first is acknowledged 101 ms later, and the tail lost by its age.
    assert!((310..=330).contains(&finished_ms(&lost)), "{} ms", finished_ms(&lost));
    assert_eq!((lost.counts.sent_packets, lost.counts.retransmitted_packets), (13, 1));
    assert_eq!((lost.counts.cuts, lost.counts.timeouts), (1, 0));
    // Both probes are lost too, then the next two are sent after twice the time.
    let probes = one(quic(10), &[10, 11, 12]);
    assert_eq!((probes.counts.sent_packets, probes.counts.cuts), (15, 1));
    assert!(finished_ms(&probes) > finished_ms(&lost) + 150, "{} ms", finished_ms(&probes));
}

#[test]
fn probes_carry_data_where_there_is_some() {
    // Everything from the 30th packet on is lost for a flight of up to 38 and its probes.
    let mut spec = quic(200);
    spec.endpoint.receiver_window = 20;
    let lost: Vec<u64> = (30..=49).collect();
    let outcome = one(spec, &lost);
    assert_eq!((outcome.delivered_packets, outcome.drops), (200, 20));
    // The window is the receiver's: nothing new may leave, and the probes are empty.
    assert_eq!(outcome.counts.sent_packets, 200 + 20 + 2);
    let mut spec = quic(200);
    spec.endpoint.initial_ssthresh = Bytes(20_000);
    spec.endpoint.growth_limit = false;
    let outcome = one(spec, &lost);
    assert_eq!(outcome.counts.sent_packets, 200 + outcome.drops, "the probes were data");
}

#[test]
fn losses_of_one_flight_cut_once_and_a_loss_of_the_next_again() {
    let mut spec = quic(400);
    spec.endpoint.initial_ssthresh = Bytes(60_000);
    let cuts = |lost: &[u64]| {
        let outcome = one(spec.clone(), lost);
        assert_eq!(outcome.delivered_packets, 400);
        (outcome.counts.cuts, outcome.counts.retransmitted_packets)
    };
    assert_eq!(cuts(&[100, 103, 110, 120]), (1, 4));
    assert_eq!(cuts(&[100, 260]), (2, 2));
}

#[test]
fn only_a_long_row_of_losses_is_persistent_congestion() {
    let spec = {
        let mut spec = quic(2_000);
        spec.endpoint.initial_ssthresh = Bytes(60_000);
        spec
    };
    let outage = |packets: u64| {
        let lost: Vec<u64> = (500..500 + packets).collect();
        let outcome = one(spec.clone(), &lost);
        assert_eq!((outcome.delivered_packets, outcome.drops), (2_000, packets));
        outcome.counts.timeouts
    };
    // A flight of some 65 packets leaves within an RTT; the probes after it at 1, 3 and 7 timeouts.
    assert_eq!([outage(20), outage(60)], [0, 0]);
    assert_eq!(outage(76), 1);
}

#[test]
fn every_second_packet_is_acknowledged_and_a_gap_at_once() {
    let mut spec = quic(4);
    spec.endpoint.delayed_ack = 2;
    // The second makes a gap, so that the threshold is met as if every packet were acknowledged.
    assert_eq!(finished_ms(&one(spec.clone(), &[1])), 155);
    // Nothing follows the third, which is acknowledged after 25 ms; the RTT is without them.
    spec.packets = Some(3);
    let outcome = one(spec, &[]);
    assert_eq!((outcome.counts.sent_packets, outcome.delivered_packets), (3, 3));
}

#[test]
fn headers_count_in_the_window_and_not_as_delivered() {
    let mut spec = quic(10);
    spec.endpoint.overhead_bytes = 30;
    let outcome = one(spec, &[]);
    assert_eq!(outcome.delivered_bytes, Bytes(9_700));
    assert_eq!(finished_ms(&outcome), 60);
}

/// The handshake's timer fires before the answer arrives, so that two answers arrive. The second
/// changes nothing: the packets in flight stay the same too.
#[test]
fn a_handshake_that_is_answered_twice_counts_once() {
    let mut spec = quic(200);
    spec.endpoint.syn = true;
    (spec.endpoint.rto.initial, spec.endpoint.rto.min) =
        (Span::from_millis(60), Span::from_millis(60));
    let flow = one(spec, &[]);
    assert_eq!((flow.delivered_packets, flow.drops), (200, 0));
    assert_eq!(
        (flow.counts.sent_packets, flow.counts.retransmitted_packets),
        (201, 0),
        "{:?}",
        flow.counts
    );
}

/// What start-up misses then is the RTT, and no part of the window: Scout is less than a round trip
/// later.
#[test]
fn a_handshake_that_takes_longer_than_its_timer_leaves_the_first_window() {
    let finished = |timer_ms| {
        let mut spec = quic(500);
        spec.endpoint.syn = true;
        spec.endpoint.paces = true;
        spec.control = named("scout", "cubic").unwrap();
        (spec.endpoint.rto.initial, spec.endpoint.rto.min) =
            (Span::from_millis(timer_ms), Span::from_millis(60));
        finished_ms(&one(spec, &[]))
    };
    let (known, late) = (finished(1_000), finished(60));
    assert!(late < known + 100, "{known} and {late} ms over an RTT of 100 ms");
}

/// The answer is 1.5 s late, and after a second the first packet is sent again. Both are answered
/// then, and no later ACK waits behind a second answer that is as late once more.
#[test]
fn a_late_answer_answers_what_was_sent_again_meanwhile() {
    let mut spec = quic(20);
    (spec.endpoint.syn, spec.handshake_delay) = (true, Span::from_millis(1_500));
    spec.endpoint.rto.initial = Span::from_secs(1);
    // Three halves of an RTT for two windows of ten, the first ACK of which comes after 1.7 s.
    let finished = finished_ms(&one(spec, &[]));
    assert!((1_750..1_800).contains(&finished), "{finished} ms");
}
