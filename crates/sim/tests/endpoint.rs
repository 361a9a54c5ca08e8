//! The TCP endpoints against numbers worked by hand.

use crate::common::{flow, link, network};
use firstflight_core::avoidance::NewReno;
use firstflight_core::knob::KnobValue;
use firstflight_core::registry::AnyStartup;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    FlowOutcome, FlowSpec, LinkSpec, Network, PerWindow, Recovery, control, run,
};

const ALL: [Recovery; 4] = [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack];

/// 8 Mbps and 100 ms: a packet takes 1 ms, 100 packets fill the path, and the buffer holds 100.
fn path(drop: &[u64]) -> LinkSpec {
    LinkSpec { drop: drop.to_vec(), ..link(8, 50, 100) }
}

fn one(spec: FlowSpec, link: LinkSpec, duration_ms: u64) -> FlowOutcome {
    run(&network(vec![link], vec![spec], duration_ms)).flows.remove(0)
}

fn sized(recovery: Recovery, packets: u32) -> FlowSpec {
    let mut spec = flow(&[0], 50, recovery);
    spec.packets = Some(packets);
    spec
}

/// Without access links or ACK sizes to speak of.
fn ideal(mut spec: FlowSpec) -> FlowSpec {
    spec.access_rate_bps = 1_000_000_000_000;
    spec.return_rate_bps = 1_000_000_000_000;
    spec.endpoint.ack_bytes = 1;
    spec
}

#[test]
fn slow_start_doubles_every_round_trip() {
    // Windows 1, 2, 4, 8, 16: packet 31 is the last of the fifth round. It leaves in the burst that
    // answers round four, and the round before takes 8 ms to be sent.
    let outcome = one(ideal(sized(Recovery::NewReno, 31)), path(&[]), 5_000);
    assert_eq!(outcome.delivered_packets, 31);
    assert_eq!(outcome.peak_cwnd, Bytes(32_000));
    let finished_ms = outcome.finished_at.unwrap().0 / 1_000_000;
    // Four round trips of 101 ms, then 16 packets at 1 ms each and 50 ms of propagation.
    assert_eq!(finished_ms, 4 * 101 + 16 + 50);
}

#[test]
fn delayed_acks_grow_the_window_by_half_a_round() {
    let mut spec = sized(Recovery::NewReno, 2 + 3 + 4 + 6);
    spec.endpoint.initial_window = Bytes(2000);
    spec.endpoint.delayed_ack = 2;
    let outcome = one(ideal(spec), path(&[]), 5_000);
    // 2 packets, 1 ACK: 3. Then 3 packets: an ACK for two, and the third waits for its pair.
    assert_eq!(outcome.delivered_packets, 15);
    assert_eq!(outcome.counts.timeouts, 0);
    assert!(outcome.peak_cwnd < Bytes(11_000), "{:?}", outcome.peak_cwnd);
}

#[test]
fn one_loss_costs_one_fast_retransmit_and_half_the_window() {
    for recovery in ALL {
        let mut spec = flow(&[0], 50, recovery);
        spec.endpoint.initial_ssthresh = Bytes(32_000);
        let outcome = one(spec, path(&[40]), 3_000);
        assert_eq!(outcome.counts.fast_retransmits, 1, "{recovery:?}");
        assert_eq!(outcome.counts.retransmitted_packets, 1, "{recovery:?}");
        assert_eq!(outcome.counts.timeouts, 0, "{recovery:?}");
        assert_eq!(outcome.drops, 1, "{recovery:?}");
    }
}

#[test]
fn a_lost_tail_waits_for_the_timer() {
    for recovery in ALL {
        let outcome = one(sized(recovery, 31), path(&[31]), 5_000);
        assert_eq!(outcome.counts.timeouts, 1, "{recovery:?}");
        assert_eq!(outcome.counts.retransmitted_packets, 1, "{recovery:?}");
        // RFC 6298: the smallest timeout is one second, from the last ACK.
        let finished_ms = outcome.finished_at.unwrap().0 / 1_000_000;
        assert!((1_500..1_700).contains(&finished_ms), "{recovery:?}: {finished_ms} ms");
    }
}

#[test]
fn timeouts_of_one_segment_double() {
    let nth = [1, 2, 3];
    let outcome = one(sized(Recovery::NewReno, 1), path(&nth), 20_000);
    assert_eq!(outcome.counts.timeouts, 3);
    // 1 + 2 + 4 seconds after the first try.
    assert_eq!(outcome.finished_at.unwrap().0 / 1_000_000, 7_051);
}

#[test]
fn newreno_repairs_one_loss_a_round_trip_and_sack_all_in_one() {
    let losses = [65, 67, 69, 71, 73];
    let finished = |recovery| {
        let outcome = one(sized(recovery, 200), path(&losses), 20_000);
        assert_eq!(outcome.delivered_packets, 200);
        assert_eq!(outcome.counts.timeouts, 0, "{recovery:?}");
        assert_eq!(outcome.counts.retransmitted_packets, 5, "{recovery:?}");
        outcome.finished_at.unwrap().0 / 1_000_000
    };
    let (newreno, sack) = (finished(Recovery::NewReno), finished(Recovery::Sack));
    // At least one round trip more: while NewReno repairs hole by hole, SACK already sends new
    // data.
    assert!(newreno > sack + 100, "NewReno {newreno} ms, SACK {sack} ms");
}

/// Packets 65 and 67 of the round that sends 64 to 127 are lost. NewReno halves the window; Tahoe
/// begins with one packet, gets both repaired on the way up and needs neither a second cut nor the
/// timer. From one packet back to half of the window are some five round trips more.
#[test]
fn tahoe_answers_losses_with_slow_start() {
    let finished = |recovery| {
        let outcome = one(sized(recovery, 400), path(&[65, 67]), 20_000);
        assert_eq!(outcome.delivered_packets, 400);
        let counts = outcome.counts;
        assert_eq!((counts.fast_retransmits, counts.cuts, counts.timeouts), (1, 1, 0));
        outcome.finished_at.unwrap().0 / 1_000_000
    };
    let (tahoe, newreno) = (finished(Recovery::Tahoe), finished(Recovery::NewReno));
    assert!((200..=600).contains(&(tahoe - newreno)), "Tahoe {tahoe} ms, NewReno {newreno} ms");
}

#[test]
fn reno_cuts_once_per_loss_and_newreno_once_per_window() {
    let cuts = |recovery, per_window| {
        let mut spec = flow(&[0], 50, recovery);
        spec.endpoint.rules.per_window = per_window;
        one(spec, path(&[65, 67]), 4_000).counts.cuts
    };
    assert_eq!(cuts(Recovery::NewReno, PerWindow::Once), 1);
    assert_eq!(cuts(Recovery::Reno, PerWindow::Each), 2);
    assert_eq!(cuts(Recovery::Reno, PerWindow::EachUntilTimeout), 2);
}

/// Packets 65 to 110 are lost, more than Reno repairs before its timer fires. What it sends again
/// after that has arrived in part, and the duplicate ACKs of it are no new loss.
#[test]
fn after_a_timeout_old_duplicates_begin_a_recovery_only_where_each_may() {
    let counts = |per_window| {
        let mut spec = flow(&[0], 50, Recovery::Reno);
        spec.endpoint.rules.per_window = per_window;
        let lost: Vec<u64> = (65..=110).step_by(3).collect();
        one(spec, path(&lost), 8_000).counts
    };
    let [once, until, each] =
        [PerWindow::Once, PerWindow::EachUntilTimeout, PerWindow::Each].map(counts);
    assert_eq!((once.fast_retransmits, once.timeouts), (1, 1));
    assert_eq!((until.fast_retransmits, until.timeouts), (2, 1));
    assert!(each.fast_retransmits > 2, "{each:?}");
}

/// Without recovery the old agent's duplicates still let new packets leave.
#[test]
fn duplicates_after_a_timeout_let_packets_leave_where_they_inflate() {
    let sent = |inflate| {
        let mut spec = flow(&[0], 50, Recovery::NewReno);
        spec.endpoint.rules.duplicates_inflate = inflate;
        let lost: Vec<u64> = (65..=110).step_by(3).collect();
        let outcome = one(spec, path(&lost), 3_000);
        assert!(outcome.counts.timeouts > 0);
        outcome.counts.sent_packets
    };
    assert!(sent(true) > sent(false), "{} and {}", sent(true), sent(false));
}

/// The last three packets of a file, of which the first is lost: two duplicate ACKs are all there
/// can be. 7 packets go in windows of 1, 2 and 4.
#[test]
fn two_duplicate_acks_are_a_loss_where_two_are_asked_for() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut spec = ideal(sized(recovery, 7));
        let patient = one(spec.clone(), path(&[5]), 5_000);
        assert_eq!((patient.counts.fast_retransmits, patient.counts.timeouts), (0, 1));
        spec.endpoint.rules.duplicate_acks = 2;
        let early = one(spec.clone(), path(&[5]), 5_000);
        assert_eq!((early.counts.fast_retransmits, early.counts.timeouts), (1, 0));
        // The third round's packet 5 after 203 ms, its duplicates 101 ms later, and 51 to repair.
        let finished = early.finished_at.unwrap().0 / 1_000_000;
        assert!((355..=360).contains(&finished), "{finished}");
        assert!(patient.finished_at.unwrap().0 > 1_000_000_000);
        // One duplicate is not enough.
        let last_two = one(spec, path(&[6]), 5_000);
        assert_eq!(last_two.counts.timeouts, 1);
    }
}

/// Four ACKs for each packet make a sender that counts them grow by five times a round, and one
/// that counts bytes by two times as ever.
#[test]
fn a_receiver_that_splits_acks_speeds_up_a_sender_that_counts_them_and_no_other() {
    let grown = |startup: &str, count: Option<&'static str>, parts: u32| {
        let mut spec = ideal(flow(&[0], 50, Recovery::NewReno));
        let mut startup = AnyStartup::by_name(startup).unwrap();
        if let Some(word) = count {
            assert!(startup.set("count", KnobValue::Word(word)));
        }
        spec.control = control(startup, NewReno::default());
        spec.endpoint.growth_limit = false;
        spec.endpoint.split_acks = parts;
        // Two rounds of ACKs.
        let outcome = one(spec, path(&[]), 250);
        assert_eq!(outcome.counts.retransmitted_packets, 0);
        outcome.final_cwnd.0 / 1_000
    };
    let (attacked, honest) = (Some("acks"), Some("bytes"));
    assert_eq!(grown("slow-start", attacked, 1), 4);
    assert_eq!(grown("slow-start", attacked, 4), 25);
    for parts in [1, 4, 100] {
        assert_eq!(grown("slow-start", honest, parts), 4, "{parts} parts");
        assert_eq!(grown("bc", None, parts), 4, "{parts} parts");
    }
}

#[test]
fn split_acks_acknowledge_each_packet_once_whatever_is_lost() {
    for recovery in ALL {
        for parts in [1, 3, 7] {
            let mut spec = sized(recovery, 400);
            spec.endpoint.split_acks = parts;
            spec.endpoint.delayed_ack = 2;
            let outcome = one(spec, path(&[20, 21, 50, 90]), 20_000);
            assert_eq!(outcome.delivered_packets, 400, "{recovery:?} {parts}");
            assert!(outcome.finished_at.is_some() && outcome.counts.retransmitted_packets >= 4);
        }
    }
}

#[test]
fn the_receiver_window_bounds_the_flight() {
    for recovery in ALL {
        let mut spec = flow(&[0], 50, recovery);
        spec.endpoint.receiver_window = 20;
        let outcome = one(spec, path(&[]), 10_000);
        let rate = outcome.delivered_packets as f64 / 10.0;
        // 20 packets every 101 ms.
        assert!((190.0..199.0).contains(&rate), "{recovery:?}: {rate} packets/s");
        assert_eq!(outcome.drops, 0);
    }
}

#[test]
fn the_buffer_holds_its_packets_besides_the_one_in_service() {
    let burst = |buffer: u64, counts| {
        let mut spec = ideal(flow(&[0], 50, Recovery::NewReno));
        spec.endpoint.initial_window = Bytes(20_000);
        let link = LinkSpec { buffer_counts_in_service: counts, ..link(8, 50, buffer) };
        one(spec, link, 50).drops
    };
    assert_eq!(burst(19, false), 0);
    assert_eq!(burst(18, false), 1);
    assert_eq!(burst(19, true), 1);
    assert_eq!(burst(20, true), 0);
}

#[test]
fn a_stopped_source_sends_nothing_new_and_repairs_what_it_sent() {
    let mut spec = flow(&[0], 50, Recovery::NewReno);
    spec.stop = Some(Instant(1_000_000_000));
    spec.endpoint.initial_ssthresh = Bytes(20_000);
    // The last packet that leaves is lost, and only its repair takes it out of flight.
    let last = one(spec.clone(), path(&[]), 20_000).counts.sent_packets;
    let short = one(spec.clone(), path(&[last]), 2_000);
    let long = one(spec, path(&[last]), 20_000);
    assert_eq!(short.counts.sent_packets, last, "nothing new, and the timeout comes later");
    assert_eq!((long.counts.sent_packets, long.counts.retransmitted_packets), (last + 1, 1));
}

#[test]
fn what_comes_after_the_stop_is_not_delivered() {
    // As if the run had ended then: the packets that were under way are the difference. The queue
    // holds up to half a second of them.
    for recovery in ALL {
        let mut spec = flow(&[0], 5, recovery);
        let cut = one(spec.clone(), link(1, 5, 60), 1_000);
        spec.stop = Some(Instant(1_000_000_000));
        let stopped = one(spec, link(1, 5, 60), 20_000);
        assert_eq!(stopped.delivered_packets, cut.delivered_packets, "{recovery:?}");
        assert!(cut.delivered_packets <= 125, "{recovery:?}: 1 Mbit/s carry no more in a second");
        assert!(
            cut.delivered_packets + 20 < cut.counts.sent_packets,
            "{recovery:?}: nothing is under way"
        );
    }
}

#[test]
fn a_syn_costs_a_round_trip_and_a_lost_one_the_first_timeout() {
    for recovery in ALL {
        let mut spec = sized(recovery, 1);
        spec.endpoint.syn = true;
        let plain = one(ideal(spec.clone()), path(&[]), 20_000).finished_at.unwrap();
        assert_eq!(plain.0 / 1_000_000, 100 + 51);
        let lost = one(ideal(spec), path(&[1]), 20_000).finished_at.unwrap();
        assert_eq!(lost.since(plain), Span::from_secs(1));
    }
}

#[test]
fn after_a_lost_syn_slow_start_goes_as_far_as_after_any_other() {
    for recovery in ALL {
        // Five round trips of slow start from one packet on, whatever the SYN met.
        let mut spec = ideal(sized(recovery, 31));
        spec.endpoint.syn = true;
        let finished = |spec: &FlowSpec, nth: &[u64]| {
            one(spec.clone(), path(nth), 60_000).finished_at.unwrap()
        };
        let plain = finished(&spec, &[]);
        assert_eq!(finished(&spec, &[1]).since(plain), Span::from_secs(1));
        // ns-2's congestion avoidance from two packets on: 2, 3, 4 and so on, seven round trips.
        spec.endpoint.rules.syn_timeout_cuts = true;
        let late = finished(&spec, &[1]).since(plain);
        assert!(late > Span::from_millis(1_200), "{recovery:?}: {late:?}");
    }
}

#[test]
fn a_link_carries_its_rate_to_the_packet() {
    // 7 Mbps does not divide the nanosecond: the remainder must not drift over a minute.
    let mut spec = flow(&[0], 5, Recovery::Sack);
    spec.endpoint.initial_ssthresh = Bytes(60_000);
    let link = link(7, 5, 500);
    let network = Network { duration: Span::from_secs(60), ..network(vec![link], vec![spec], 0) };
    let outcome = run(&network);
    let busy = outcome.links[0].totals.busy_ns as f64;
    let sent = outcome.links[0].totals.packets as f64 * 8000.0 / 7e6 * 1e9;
    assert!((busy - sent).abs() < 6e8, "busy {busy} ns, {sent} ns of packets");
    assert!(outcome.flows[0].delivered_packets as f64 > 0.98 * 60.0 * 875.0);
}
