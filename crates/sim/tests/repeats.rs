//! What a start-up has sent again before it is known to be lost: Halfback over Linux's repair.

use crate::common::{flow, link, network};
use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::Recorder;
use firstflight_core::knob::{Amount, KnobValue};
use firstflight_core::needs::Facilities;
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::startup::Halfback;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    FastPaths, FlowOutcome, FlowSample, FlowSpec, LinkSpec, LossSpec, Network, Pattern, Recovery,
    Timer, UdpSpec, control, core_control, provides, run, run_watched,
};

const PACKETS: u32 = 100;

/// A flow of 100 packets that leaves within one RTT, as `knob` of the start-up says.
fn short(startup: &str, knob: &str) -> FlowSpec {
    let mut policy = AnyStartup::by_name(startup).unwrap();
    assert!(policy.set(knob, KnobValue::Window(Amount::Segments(PACKETS.into()))));
    let mut spec = flow(&[0], 50, Recovery::Rack);
    spec.control = core_control(policy, AnyAvoidance::by_name("newreno").unwrap());
    spec.packets = Some(PACKETS);
    spec.endpoint.syn = true;
    spec.endpoint.rto.min = Span::from_millis(200);
    spec.endpoint.rto.timer = Timer::Linux;
    spec
}

fn halfback() -> FlowSpec {
    short("halfback", "flow")
}

/// A link of 40 Mbit/s and 50 ms one way with a buffer of 500 packets.
fn path(drop: &[u64]) -> LinkSpec {
    LinkSpec { drop: drop.to_vec(), ..link(40, 50, 500) }
}

fn one(spec: FlowSpec, path: LinkSpec) -> FlowOutcome {
    run(&network(vec![path], vec![spec], 20_000)).flows.remove(0)
}

fn finished_ms(flow: &FlowOutcome) -> u64 {
    flow.finished_at.expect("everything arrives").0 / 1_000_000
}

/// The handshake takes 100 ms, the first flight 100 ms, and its last packet 50 ms to the receiver.
/// The last ten packets are lost; their repeats leave with the first ten ACKs, which come after 200
/// to 210 ms. JumpStart has to find the loss, for which it waits for a tail loss probe.
#[test]
fn a_lost_end_is_mended_within_a_round_trip_of_the_first_ack() {
    let lost: Vec<u64> = (92..=101).collect();
    let jump = |drop: &[u64]| one(short("jump-start", "jump"), path(drop));
    let (whole, mended) = (one(halfback(), path(&[])), one(halfback(), path(&lost)));
    assert_eq!(mended.drops, 10);
    assert!((248..=252).contains(&finished_ms(&whole)), "{}", finished_ms(&whole));
    assert!((258..=263).contains(&finished_ms(&mended)), "{}", finished_ms(&mended));
    assert_eq!(finished_ms(&jump(&[])), finished_ms(&whole));
    assert!(finished_ms(&jump(&lost)) > 500, "{}", finished_ms(&jump(&lost)));
}

/// Half of the packets leave twice, and the ACKs of the copies find no loss.
#[test]
fn where_nothing_is_lost_half_is_repeated_and_no_loss_is_found() {
    let flow = one(halfback(), path(&[]));
    let counts = flow.counts;
    assert_eq!((counts.sent_packets, counts.retransmitted_packets), (150, 50));
    assert_eq!((counts.fast_retransmits, counts.timeouts, counts.cuts), (0, 0, 0));
    assert_eq!(flow.delivered_packets, u64::from(PACKETS));
    // With an ACK for every second packet ACKs and repeats meet at two thirds.
    let mut spec = halfback();
    spec.endpoint.delayed_ack = 2;
    let counts = one(spec, path(&[])).counts;
    assert!((30..=36).contains(&counts.retransmitted_packets), "{counts:?}");
    assert_eq!(counts.cuts, 0);
}

/// A burst of another source delays the second half of the flight by more than an RTT: originals
/// are acknowledged longer after their repeats than the smallest RTT, as repeats would be.
#[test]
fn an_original_that_is_late_is_not_taken_for_its_repeat() {
    for late_ms in [120, 150, 200, 300] {
        let udp = UdpSpec {
            path: vec![0],
            rate_bps: 4_000_000_000,
            pattern: Pattern::Constant,
            packet_bytes: 1_000,
            start: Instant(150_000_000),
            stop: Some(Instant(150_000_000 + late_ms * 10_000)),
        };
        let path = LinkSpec { ..link(40, 50, 5_000) };
        let network = Network { udp: vec![udp], ..network(vec![path], vec![halfback()], 20_000) };
        let flow = run(&network).flows.remove(0);
        assert!(finished_ms(&flow) > 250 + late_ms / 2, "{}", finished_ms(&flow));
        assert_eq!((flow.counts.fast_retransmits, flow.counts.cuts), (0, 0), "{late_ms} ms");
        assert_eq!(flow.counts.timeouts, 0, "{late_ms} ms");
    }
}

/// Drops each packet alone, with its neighbour, and with the packet as far from the other end.
#[test]
fn whatever_is_lost_everything_arrives() {
    for first in 2..=101 {
        for drop in [vec![first], vec![first, first + 1], vec![first, 203 - first]] {
            let flow = one(halfback(), path(&drop));
            assert_eq!(flow.delivered_packets, u64::from(PACKETS), "{drop:?}");
            assert!(finished_ms(&flow) < 1_000, "{drop:?}: {}", finished_ms(&flow));
        }
    }
}

/// A flow longer than its first flight sends nothing new before ACKs and repeats have met.
#[test]
fn a_longer_flow_goes_on_when_acks_and_repeats_have_met() {
    let mut spec = halfback();
    spec.packets = Some(1_000);
    let every = Some(Span::from_millis(1));
    let network = Network { sample_every: every, ..network(vec![path(&[])], vec![spec], 5_000) };
    let flow = run(&network).flows.remove(0);
    assert_eq!((flow.counts.retransmitted_packets, flow.counts.cuts), (50, 0));
    let sent = |ms: u64| {
        let until = |sample: &&FlowSample| sample.at.0 <= ms * 1_000_000;
        let sample = flow.series.iter().take_while(until).last().unwrap();
        sample.acked_packets + sample.in_flight.0 / 1_000
    };
    // They meet after 250 ms, and one packet leaves each millisecond until the window is full.
    assert_eq!(sent(248), 100);
    let refilled = [sent(280), sent(300), sent(340)];
    assert!(
        refilled.iter().zip([130, 150, 190]).all(|(sent, by)| sent.abs_diff(by) < 4),
        "{refilled:?}"
    );
}

#[test]
fn rack_reports_its_repeats_and_no_other_recovery_provides_them() {
    let provided = Facilities::REPEATS | Facilities::SENT | Facilities::PACING;
    for fast_paths in [FastPaths::On, FastPaths::Off] {
        let recorder = Recorder::around(Halfback::default(), provided | Facilities::TIMES);
        let mut spec = halfback();
        spec.control = control(recorder.clone(), NewReno::default());
        let loss = LossSpec::independent(20_000_000);
        let network = network(vec![LinkSpec { loss, ..path(&[]) }], vec![spec], 20_000);
        let outcome = run_watched(&network, fast_paths, &mut || true).unwrap();
        let (report, counts) = (recorder.report(), outcome.flows[0].counts);
        assert_eq!(report.check(Facilities::REPEATS), Ok(()), "{fast_paths:?}");
        assert_eq!(report.sent, Bytes(counts.sent_packets * 1_000));
        assert_eq!(report.acked, Bytes(u64::from(PACKETS) * 1_000));
    }
    let others = [Recovery::NewReno, Recovery::Sack, Recovery::Quic];
    assert!(others.iter().all(|other| !provides(*other).has(Facilities::REPEATS)));
    assert!(provides(Recovery::Rack).has(Facilities::REPEATS));
}
