//! What the simulator's TCP promises arrives, once, in order, with the simulator's own totals, at
//! both paces and under every recovery: a start-up that checks what is reported to it.

use crate::common::{flow, link, network};
use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::{Recorder, Report};
use firstflight_core::needs::Facilities;
use firstflight_core::policy::Answer;
use firstflight_core::units::{Bytes, Rate};
use firstflight_core::view::Window;
use firstflight_sim::{
    FastPaths, FlowOutcome, LinkSpec, LossSpec, PROVIDES, Recovery, control, run_watched,
};

const BOTH: [FastPaths; 2] = [FastPaths::On, FastPaths::Off];

/// Repeats, marks, ECT(1), what routers tell and what earlier connections learned have tests of
/// their own.
const REPORTED: Facilities = PROVIDES
    .without(Facilities::REPEATS)
    .without(Facilities::GRANTS)
    .without(Facilities::ROUTER_CHANGES)
    .without(Facilities::ROUTER_SHARES)
    .without(Facilities::MEMORY)
    .without(Facilities::MARKS)
    .without(Facilities::L4S);

/// Nothing is lost, nothing is paced, nobody waits.
const QUIET: Facilities = REPORTED
    .without(Facilities::RECOVERY_WINDOW)
    .without(Facilities::GAPS)
    .without(Facilities::PACING)
    .without(Facilities::WAKE_UPS)
    .without(Facilities::PACED_WAKE_UPS);

const PACKETS: u32 = 2_000;

/// A transfer over 10 Mbit/s and 100 ms with so much buffer, which loses so many packets of 1000.
fn run(
    recorder: &Recorder,
    recovery: Recovery,
    (buffer, lost_per_mille): (u64, u64),
    fast_paths: FastPaths,
) -> (Report, FlowOutcome) {
    let mut spec = flow(&[0], 50, recovery);
    spec.control = control(recorder.clone(), NewReno::default());
    spec.packets = Some(PACKETS);
    spec.endpoint.syn = true;
    let mut path = link(10, 50, buffer);
    path.loss = LossSpec { in_good_ppb: lost_per_mille * 1_000_000, ..LossSpec::NONE };
    let network = network(vec![path], vec![spec], 200_000);
    let outcome = run_watched(&network, fast_paths, &mut || true).unwrap();
    let flow = outcome.flows.into_iter().next().unwrap();
    assert_eq!(flow.delivered_packets, u64::from(PACKETS), "{recovery:?}");
    (recorder.report(), flow)
}

/// The totals are the simulator's.
fn same_totals(recovery: Recovery, report: &Report, flow: &FlowOutcome) {
    let counts = flow.counts;
    // The SYN of ns-2's TCP/Linux is data to its control.
    let syn = u64::from(recovery == Recovery::Ns2Linux);
    assert_eq!(report.sent.0, (counts.sent_packets + syn) * 1_000);
    // QUIC's first packet of the handshake counts like all others.
    let packets = PACKETS + u32::from(recovery == Recovery::Quic) + syn as u32;
    let delivered = Bytes(u64::from(packets) * 1_000);
    assert_eq!((report.acked, report.credited), (delivered, delivered));
    assert_eq!(report.begins, 1);
}

#[test]
fn on_a_path_without_loss_everything_promised_arrives() {
    for (recovery, fast_paths) in
        Recovery::ALL.iter().flat_map(|it| BOTH.map(|fast_paths| (*it, fast_paths)))
    {
        let (report, flow) = run(&Recorder::new(REPORTED), recovery, (5_000, 0), fast_paths);
        assert_eq!(report.check(QUIET), Ok(()), "{recovery:?} {fast_paths:?}");
        same_totals(recovery, &report, &flow);
        let samples = u64::from(PACKETS) + u64::from(recovery == Recovery::Ns2Linux);
        assert_eq!((report.losses, report.samples), (0, samples), "{recovery:?}");
    }
}

/// Policies learn of pacing what is done.
#[test]
fn a_sender_that_paces_says_so() {
    for (recovery, fast_paths) in [Recovery::Rack, Recovery::Quic]
        .iter()
        .flat_map(|it| BOTH.map(|fast_paths| (*it, fast_paths)))
    {
        let recorder = Recorder::new(REPORTED);
        let mut spec = flow(&[0], 50, recovery);
        spec.control = control(recorder.clone(), NewReno::default());
        spec.packets = Some(PACKETS);
        (spec.endpoint.syn, spec.endpoint.paces) = (true, true);
        let network = network(vec![link(10, 50, 5_000)], vec![spec], 200_000);
        run_watched(&network, fast_paths, &mut || true).unwrap();
        let report = recorder.report();
        assert_eq!(report.check(QUIET), Ok(()), "{recovery:?} {fast_paths:?}");
        assert_eq!(report.paced_ack_parts, report.ack_parts, "{recovery:?}");
    }
}

/// Over a queue that marks what finds five packets waiting, every ACK that echoes a mark (RFC
/// 3168), or whose counts have grown (RFC 9002 section 7.1), is reported to a start-up that goes
/// on.
#[test]
fn marks_are_reported_to_every_sender() {
    let of_tcp = [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack];
    let recoveries = [&of_tcp[..], &[Recovery::Quic]].concat();
    for (recovery, fast_paths) in
        recoveries.iter().flat_map(|it| BOTH.map(|fast_paths| (*it, fast_paths)))
    {
        let recorder = Recorder::new(REPORTED | Facilities::MARKS);
        let mut spec = flow(&[0], 50, recovery);
        spec.control = control(recorder.clone(), NewReno::default());
        spec.packets = Some(PACKETS);
        spec.endpoint.ecn = true;
        let path = LinkSpec { ecn_threshold: Some(5), ..link(10, 50, 5_000) };
        let network = network(vec![path], vec![spec], 200_000);
        let outcome = run_watched(&network, fast_paths, &mut || true).unwrap();
        let report = recorder.report();
        assert_eq!(report.check(QUIET | Facilities::MARKS), Ok(()), "{recovery:?} {fast_paths:?}");
        assert!(report.marked >= Bytes(1_000), "{recovery:?}: {:?}", report.marked);
        assert_eq!(report.credited, Bytes(u64::from(PACKETS) * 1_000));
        assert!(outcome.links[0].totals.marks > 0 && outcome.flows[0].drops == 0);
    }
}

/// Without ns-2's Vegas agent, which declares a loss only when it cuts, and sends a packet that it
/// does not count as in flight.
#[test]
fn every_loss_is_reported() {
    let recoveries = Recovery::ALL.iter().filter(|recovery| **recovery != Recovery::Ns2Vegas);
    for (recovery, fast_paths) in recoveries.flat_map(|it| BOTH.map(|fast_paths| (*it, fast_paths)))
    {
        let (report, flow) = run(&Recorder::new(REPORTED), recovery, (20, 10), fast_paths);
        assert_eq!(report.check(QUIET), Ok(()), "{recovery:?} {fast_paths:?}");
        same_totals(recovery, &report, &flow);
        assert!(report.losses > 0 && flow.drops > 20, "{recovery:?}: {} drops", flow.drops);
        if recovery == Recovery::Sack {
            // What a timeout takes for lost may have arrived; all that is lost is reported.
            assert!(report.lost.0 >= flow.drops * 1_000, "{:?} of {}", report.lost, flow.drops);
            assert!(report.further_losses > 0 && report.gaps > report.losses);
        }
    }
}

#[test]
fn a_start_up_that_answers_losses_itself_decides_in_the_recovery() {
    let half = Window { cwnd: Bytes(60_000), ssthresh: Bytes(60_000) };
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Quic] {
        for answer in [Answer::Ignore, Answer::Land(half)] {
            for fast_paths in BOTH {
                let recorder = Recorder::new(REPORTED).answering(answer);
                let (report, flow) = run(&recorder, recovery, (60, 0), fast_paths);
                let occasion = QUIET | Facilities::RECOVERY_WINDOW;
                assert_eq!(report.check(occasion), Ok(()), "{recovery:?} {answer:?}");
                same_totals(recovery, &report, &flow);
                assert!(report.recovery_steps > 10, "{recovery:?} {answer:?}");
            }
        }
    }
}

#[test]
fn packets_leave_at_the_rate_that_is_set() {
    for (recovery, fast_paths) in
        Recovery::ALL.iter().flat_map(|it| BOTH.map(|fast_paths| (*it, fast_paths)))
    {
        let recorder = Recorder::new(REPORTED).paced(Rate(500_000));
        let (report, flow) = run(&recorder, recovery, (5_000, 0), fast_paths);
        assert_eq!(report.check(QUIET | Facilities::PACING), Ok(()), "{recovery:?} {fast_paths:?}");
        same_totals(recovery, &report, &flow);
    }
}
