//! A sender whose policy sets a pacing rate.

use crate::common::{flow, link, network};
use firstflight_core::units::{Bytes, Span};
use firstflight_sim::{FlowSpec, LinkSpec, Outcome, Recovery, named, run};

/// All of TCP's.
fn recoveries() -> impl Iterator<Item = Recovery> {
    Recovery::ALL.into_iter().filter(|recovery| *recovery != Recovery::Quic)
}

fn with(startup: &str, recovery: Recovery, ssthresh: u64) -> FlowSpec {
    let mut spec = flow(&[0], 50, recovery);
    spec.control = named(startup, "newreno").unwrap();
    spec.endpoint.initial_ssthresh = Bytes(ssthresh * 1000);
    spec
}

/// 40 Mbps and 100 ms, 500 packets of BDP.
fn outcome(spec: FlowSpec, link: LinkSpec, duration_ms: u64) -> Outcome {
    run(&network(vec![link], vec![spec], duration_ms))
}

/// Up to half the BDP a gain of two does not exceed the bottleneck's rate, so next to nothing
/// waits; a burst leaves half of itself in the queue.
#[test]
fn paced_slow_start_queues_a_fraction_of_what_bursts_queue() {
    for recovery in recoveries() {
        let peak = |startup| {
            let outcome = outcome(with(startup, recovery, 250), link(40, 50, 500), 1_500);
            assert_eq!(outcome.flows[0].drops, 0, "{startup} {recovery:?}");
            outcome.links[0].totals.peak_packets
        };
        let (bursts, paced) = (peak("slow-start"), peak("paced"));
        assert!(bursts > 100, "{recovery:?}: in bursts {bursts}");
        assert!(paced < 10, "{recovery:?}: paced {paced}");
    }
}

/// A buffer of a quarter of the BDP overflows at a window of 2 B = 250 with bursts (short-transfers
/// paper, equation 4), far below the BDP of 500. Paced, 400 packets fit.
#[test]
fn paced_slow_start_does_not_overflow_an_undersized_buffer() {
    for recovery in recoveries() {
        let drops = |startup| {
            outcome(with(startup, recovery, 400), link(40, 50, 125), 2_000).flows[0].drops
        };
        assert!(drops("slow-start") > 0, "{recovery:?}");
        assert_eq!(drops("paced"), 0, "{recovery:?}");
    }
}

#[test]
fn pacing_costs_slow_start_less_than_one_round_trip() {
    for recovery in recoveries() {
        let finished = |startup| {
            let mut spec = with(startup, recovery, 1_000_000);
            spec.packets = Some(255);
            let flow = outcome(spec, link(40, 50, 500), 5_000).flows.remove(0);
            flow.finished_at.unwrap()
        };
        let (bursts, paced) = (finished("slow-start"), finished("paced"));
        assert!(paced > bursts && paced.since(bursts) < Span::from_millis(100), "{recovery:?}");
    }
}

/// Whatever is left to send when the ACKs stop must leave by the clock alone.
#[test]
fn a_paced_sender_repairs_after_a_timeout_without_waiting_for_acks() {
    for recovery in recoveries() {
        let finished = |startup| {
            let mut spec = with(startup, recovery, 1_000_000);
            spec.packets = Some(255);
            // The tail of the transfer is lost at once: 40 packets, found by the timer alone.
            let link = LinkSpec { drop: (216..256).collect(), ..link(40, 50, 500) };
            let flow = outcome(spec, link, 60_000).flows.remove(0);
            assert_eq!(flow.delivered_packets, 255, "{startup} {recovery:?}");
            (flow.finished_at.unwrap(), flow.counts.timeouts)
        };
        let (bursts, paced) = (finished("slow-start"), finished("paced"));
        assert_eq!(bursts.1, paced.1, "{recovery:?}");
        assert!(paced.0.since(bursts.0) < Span::from_millis(400), "{recovery:?}");
    }
}

/// 20 packets over an RTT of 100 ms are one every 5 ms. Linux paces from the tenth on: ten leave at
/// once, and the last one 50 ms after them instead of 95.
#[test]
fn ten_packets_of_a_connection_of_linux_leave_at_once() {
    let finished = |linux_pacing| {
        let mut spec = with("rapid-start", Recovery::Rack, 1_000_000);
        spec.packets = Some(20);
        spec.endpoint.syn = true;
        spec.endpoint.initial_window = Bytes(10_000);
        spec.endpoint.linux_pacing = linux_pacing;
        let flow = outcome(spec, link(1_000, 50, 500), 5_000).flows.remove(0);
        flow.finished_at.unwrap().0 / 1_000_000
    };
    assert_eq!((finished(false), finished(true)), (245, 200));
}
