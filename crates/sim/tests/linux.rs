//! Rules of Linux's endpoints against numbers worked by hand: RACK-TLP, the timeout, the window
//! that a receiver advertises.

use crate::common::{flow, link, network};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    Buffer, Compression, FlowOutcome, FlowSpec, GrowingWindow, LinkSpec, LinuxAcks, Network,
    Pattern, Recovery, Timer, UdpSpec, named, run,
};

/// 8 Mbps and 100 ms: a packet takes 1 ms, 100 packets fill the path, and the buffer holds 100.
fn path(drop: &[u64]) -> LinkSpec {
    LinkSpec { drop: drop.to_vec(), ..link(8, 50, 100) }
}

fn linux(recovery: Recovery, packets: u32) -> FlowSpec {
    let mut spec = flow(&[0], 50, recovery);
    spec.packets = Some(packets);
    spec.endpoint.initial_window = Bytes(10_000);
    spec.endpoint.rto.min = Span::from_millis(200);
    spec.endpoint.rto.timer = Timer::Linux;
    (spec.endpoint.fin, spec.endpoint.wakes_up) = (true, true);
    spec
}

fn one(spec: FlowSpec, drop: &[u64]) -> FlowOutcome {
    run(&network(vec![path(drop)], vec![spec], 20_000)).flows.remove(0)
}

pub(crate) fn finished_ms(flow: &FlowOutcome) -> u64 {
    flow.finished_at.expect("everything arrives").0 / 1_000_000
}

/// The tenth packet is lost, and one of those that arrive after it, which may be the tenth again.
#[test]
fn a_retransmission_that_is_lost_is_found_without_the_timer() {
    let timeouts = |recovery| -> Vec<u64> {
        let all = (20..60).map(|nth| one(linux(recovery, 400), &[10, nth]));
        all.map(|outcome| {
            assert_eq!((outcome.drops, outcome.delivered_packets), (2, 400));
            outcome.counts.timeouts
        })
        .collect()
    };
    assert_eq!(timeouts(Recovery::Sack).iter().sum::<u64>(), 1);
    assert_eq!(timeouts(Recovery::Rack).iter().sum::<u64>(), 0);
}

#[test]
fn a_lost_tail_costs_a_probe_and_no_timeout() {
    let (lost, whole) =
        (one(linux(Recovery::Rack, 10), &[10]), one(linux(Recovery::Rack, 10), &[]));
    assert_eq!((lost.counts.timeouts, lost.counts.retransmitted_packets), (0, 1));
    // The probe leaves when the timer would fire, as that is sooner than two RTTs and 200 ms. The
    // last ACK comes after 109 ms, and the timer counts from the tick at 108 ms: an RTT of 104 ms
    // and 200 ms are 77 ticks. The probe arrives 51 ms later.
    assert_eq!(finished_ms(&whole), 60);
    assert_eq!(finished_ms(&lost), 108 + 77 * 4 + 51);
    // The answer to a probe that repaired a loss cuts the window (RFC 8985 section 7.4.2), once
    // something behind it is acknowledged; here nothing is.
    assert_eq!(lost.counts.cuts, 0);
    let timed_out = one(linux(Recovery::Sack, 10), &[10]);
    assert_eq!(timed_out.counts.timeouts, 1);
}

#[test]
fn one_selective_acknowledgement_is_enough_when_the_reordering_window_has_passed() {
    // Two packets, the first lost: no three duplicates can come.
    let outcome = one(linux(Recovery::Rack, 2), &[1]);
    assert_eq!((outcome.counts.timeouts, outcome.counts.retransmitted_packets), (0, 1));
    // The selective acknowledgement comes after 101 ms and is the first sample. No RTT sample comes
    // before, so that a quarter of 101 ms is waited, and two ticks of the clock: from the tick at
    // 100 ms 34 ms are nine ticks, and it takes 51 ms to the receiver.
    assert_eq!(finished_ms(&outcome), 100 + 9 * 4 + 51);
}

/// The link alone for 1 s, then behind 270 packets of another source: no ACK for 270 ms.
fn crowded(recovery: Recovery, drop: &[u64]) -> FlowOutcome {
    let mut spec = linux(recovery, 4_000);
    spec.endpoint.receiver_window = 20;
    spec.endpoint.rto.min = Span::from_millis(1);
    spec.endpoint.rto.granularity = Span::from_millis(1);
    let udp = UdpSpec {
        path: vec![0],
        rate_bps: 800_000_000,
        pattern: Pattern::Constant,
        packet_bytes: 1_000,
        start: Instant(1_000_000_000),
        stop: Some(Instant(1_002_700_000)),
    };
    let links = vec![LinkSpec { drop: drop.to_vec(), ..link(8, 50, 400) }];
    let network = network(links, vec![spec], 20_000);
    run(&Network { udp: vec![udp], ..network }).flows.remove(0)
}

#[test]
fn a_timeout_while_nothing_is_lost_is_undone() {
    let (rack, sack) = (crowded(Recovery::Rack, &[]), crowded(Recovery::Sack, &[]));
    assert_eq!((rack.drops, sack.drops), (0, 0));
    // The probe and what the timeout sent; RFC 6675 takes everything for lost.
    assert_eq!((rack.counts.timeouts, rack.counts.retransmitted_packets), (1, 2));
    assert!(sack.counts.timeouts > 0 && sack.counts.retransmitted_packets >= 20);
    assert!(rack.delivered_packets > sack.delivered_packets);
}

/// A packet of the window that waits behind the other source is lost. The timeout that is undone
/// took it for lost; ACKs of what follows show that it is, without another timeout.
#[test]
fn what_is_missing_after_a_timeout_that_was_undone_is_found_without_the_timer() {
    for nth in (465..480).chain(483..500) {
        let flow = crowded(Recovery::Rack, &[nth]);
        // The probe, what the timeout sent, and what is missing.
        let counts =
            (flow.counts.timeouts, flow.counts.fast_retransmits, flow.counts.retransmitted_packets);
        assert_eq!((flow.drops, counts), (1, (1, 1, 3)), "packet {nth} of the link");
    }
}

#[test]
fn a_burst_stays_within_the_advertised_window() {
    let mut spec = linux(Recovery::Rack, 100);
    spec.endpoint.initial_window = Bytes(100_000);
    let whole = one(spec.clone(), &[]);
    assert_eq!(finished_ms(&whole), 150);
    // Ten packets at first, and two more for each that arrives: 10, 30 and the rest.
    spec.endpoint.growing_window = Some(GrowingWindow {
        first: Bytes(10_000),
        step: Bytes(2_000),
        most: Bytes(500_000),
        quick: true,
    });
    let growing = one(spec, &[]);
    assert_eq!(growing.delivered_packets, 100);
    assert!((310..=314).contains(&finished_ms(&growing)), "{} ms", finished_ms(&growing));
}

/// Linux lets the FIN pass the congestion window (`tcp_cwnd_test`), not the receiver's
/// (`tcp_snd_wnd_test`): of 21 packets the last waits for the ACK of the first, 100 ms, and takes
/// 50 ms to the receiver.
#[test]
fn the_last_packet_waits_for_the_receivers_window_and_not_for_the_senders() {
    let last = |congestion: u64, receiver: u32| {
        let mut spec = linux(Recovery::Rack, 21);
        spec.endpoint.initial_window = Bytes(congestion * 1_000);
        spec.endpoint.receiver_window = receiver;
        finished_ms(&one(spec, &[]))
    };
    assert!((70..80).contains(&last(20, 21)), "{} ms", last(20, 21));
    assert!((150..160).contains(&last(20, 20)), "{} ms", last(20, 20));
    assert!((150..160).contains(&last(21, 20)), "{} ms", last(21, 20));
    // Nor does the short way of a calm ACK let it go together with the one before it.
    let mut spec = linux(Recovery::Rack, 41);
    spec.endpoint.initial_window = Bytes(20_000);
    spec.endpoint.receiver_window = 20;
    let network = network(vec![path(&[])], vec![spec], 20_000);
    let flow = run(&Network { sample_every: Some(Span(100_000)), ..network }).flows.remove(0);
    let most = flow.series.iter().map(|sample| sample.in_flight).max();
    assert_eq!(most, Some(Bytes(20_000)));
}

#[test]
fn a_receiver_that_delays_acks_answers_the_beginning_at_once_unless_that_is_off() {
    let growth = |packets: Option<u64>, quick| {
        let mut spec = linux(Recovery::Rack, 310);
        spec.endpoint.delayed_ack = 2;
        spec.endpoint.growing_window = packets.map(|packets| GrowingWindow {
            first: Bytes(1_000_000),
            step: Bytes(1_000),
            most: Bytes(1_000_000 + 1_000 * packets),
            quick,
        });
        one(spec, &[])
    };
    // Windows of 10, 20, 40, 80, 160 where each packet is answered, of 10, 15, 22, 33, 49, 73 and
    // 109 where every second is.
    let (delayed, quick) = (growth(None, true), growth(Some(1_000), true));
    let first = growth(Some(0), true);
    assert!(finished_ms(&quick) + 150 < finished_ms(&delayed));
    // Sixteen are always quick.
    assert!(finished_ms(&first) < finished_ms(&delayed), "{} ms", finished_ms(&first));
    assert!(finished_ms(&first) > finished_ms(&quick));
    let thinned = growth(Some(1_000), false);
    assert_eq!(finished_ms(&thinned), finished_ms(&delayed), "as if there were no such window");
}

/// In slow start from 80 packets to 160, 80 ACKs a packet time apart bring two packets each, of
/// which the first comes as one leaves the buffer. The buffer is full when the last two come: the
/// first is lost and the second finds its place, so that RACK finds the loss after a quarter of an
/// RTT. If the last were lost, it would take a probe after two RTTs.
#[test]
fn the_first_packet_of_an_ack_comes_just_before_the_departure_at_its_time() {
    let mut spec = linux(Recovery::Rack, 310);
    spec.endpoint.initial_ssthresh = Bytes(160_000);
    let path = LinkSpec { buffer: Buffer::Packets(79), ..path(&[]) };
    let outcome = run(&network(vec![path], vec![spec], 20_000)).flows.remove(0);
    assert_eq!((outcome.drops, outcome.counts.retransmitted_packets), (1, 1));
    assert!((700..800).contains(&finished_ms(&outcome)), "{} ms", finished_ms(&outcome));
}

/// Ten packets of which the third is lost: two ACKs make the window twelve, and eight are
/// outstanding, of which CUBIC leaves 5.6. The last ACK acknowledges all eight and ends the
/// recovery.
#[test]
fn a_recovery_ends_with_a_window_of_whole_packets_and_its_last_ack_opens_nothing() {
    let mut spec = linux(Recovery::Rack, 10);
    spec.control = named("slow-start", "cubic").unwrap();
    let outcome = one(spec, &[3]);
    assert_eq!((outcome.counts.cuts, outcome.counts.retransmitted_packets), (1, 1));
    assert_eq!(outcome.final_cwnd, Bytes(5_000));
}

/// Every link keeps the order, so that what a selective acknowledgement leaves out is lost: nothing
/// is sent again that has arrived, also where flows share a reverse path and an ACK of several
/// packets reaches the queue of events later than another flow's.
#[test]
fn what_an_ack_of_several_packets_reports_is_not_sent_again() {
    let flow = |recovery, start_us: u64| {
        let mut spec = linux(recovery, 20_000);
        spec.endpoint.delayed_ack = 2;
        spec.endpoint.linux_acks = Some(LinuxAcks { compress: Some(Compression::UNTIL_6_18) });
        (spec.start, spec.return_delay) = (Instant(start_us * 1_000), Span::from_millis(5));
        spec
    };
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut drops = 0;
        for later in 1..8 {
            let starts = [0, 1_230 * later, 2_710 * later];
            let flows = starts.map(|start_us| flow(recovery, start_us)).to_vec();
            for flow in run(&network(vec![link(190, 5, 45)], flows, 10_000)).flows {
                let again = flow.counts.retransmitted_packets;
                // Three duplicates mean that the first is lost, even if it has just been sent again
                // (RFC 6675 section 5 step 2).
                let twice = if recovery == Recovery::Sack { 1 } else { 0 };
                let most = flow.drops + twice;
                assert!(again <= most, "{later}: {} drops, {again} sent again", flow.drops);
                assert_eq!(flow.counts.timeouts, 0);
                drops += flow.drops;
            }
        }
        assert!(drops > 500, "{drops}");
    }
}

/// The third packet of a handshake takes a place in the buffers too, and is not counted
/// where packets are lost by their number.
#[test]
fn the_third_packet_of_a_handshake_crosses_the_link() {
    let carried = |recovery, handshake_ack| {
        let mut spec = linux(recovery, 20);
        (spec.endpoint.syn, spec.endpoint.handshake_ack) = (true, handshake_ack);
        let outcome = run(&network(vec![path(&[2])], vec![spec], 20_000));
        assert_eq!(outcome.flows[0].counts.retransmitted_packets, 1, "the first of data");
        outcome.links[0].totals.packets
    };
    for recovery in OF_RFCS {
        assert_eq!(carried(recovery, false), 1 + 20 + 1);
        assert_eq!(carried(recovery, true), 2 + 20 + 1);
    }
}

/// A full buffer has no room for it, or it takes that of a packet of data.
#[test]
fn the_third_packet_of_a_handshake_takes_the_place_of_data() {
    let dropped = |handshake_ack, room| {
        let mut spec = linux(Recovery::Rack, 30);
        (spec.endpoint.syn, spec.endpoint.handshake_ack) = (true, handshake_ack);
        // Its ten packets come while all of a burst before them is there.
        let udp = UdpSpec {
            path: vec![0],
            rate_bps: 800_000_000,
            pattern: Pattern::Constant,
            packet_bytes: 1_000,
            start: Instant(98_000_000),
            stop: Some(Instant(98_300_000)),
        };
        let network = network(vec![link(8, 50, room)], vec![spec], 20_000);
        let outcome = run(&Network { udp: vec![udp], ..network });
        assert_eq!(outcome.flows[0].delivered_packets, 30);
        outcome.flows[0].drops
    };
    for room in [30, 35] {
        assert_eq!(dropped(true, room), dropped(false, room) + 1);
    }
}

/// The initial window is ten packets. An eleventh leaves with them if it carries the FIN; where
/// the FIN is in the twelfth, both wait for the first ACK.
#[test]
fn the_last_packet_leaves_right_behind_the_one_before() {
    let finished = |recovery, fin, packets| {
        let mut spec = linux(recovery, packets);
        spec.endpoint.fin = fin;
        finished_ms(&one(spec, &[]))
    };
    for recovery in OF_RFCS {
        assert_eq!(finished(recovery, true, 11), 50 + 11);
        assert_eq!(finished(recovery, false, 11), 150 + 2);
        assert_eq!(finished(recovery, true, 12), 150 + 3);
    }
    let mut bursts = linux(Recovery::Rack, 11);
    bursts.endpoint.tso = true;
    assert_eq!(finished_ms(&one(bursts, &[])), 50 + 11);
}

/// The recoveries that RFCs have for TCP.
const OF_RFCS: [Recovery; 5] =
    [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack];
