//! Explicit congestion notification: links mark, receivers echo, senders reduce once per window.

use crate::common::{flow, link, network};
use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::Recorder;
use firstflight_core::policy::Exit;
use firstflight_core::units::{Bytes, Span};
use firstflight_sim::{
    Buffer, Compression, EcnFeedback, FlowOutcome, FlowSample, FlowSpec, LinkSpec, LinuxAcks,
    Network, Outcome, PROVIDES, Recovery, Timer, control, named, run,
};

const MSS: u64 = 1000;

/// 8 Mbit/s and 100 ms: 100 packets fill the path, and the queue marks from 20 on.
fn path() -> LinkSpec {
    LinkSpec { ecn_threshold: Some(20), ..link(8, 50, 200) }
}

fn capable(startup: &str, avoidance: &str) -> FlowSpec {
    let mut spec = flow(&[0], 50, Recovery::Rack);
    spec.control = named(startup, avoidance).unwrap();
    spec.endpoint.initial_window = Bytes(10 * MSS);
    spec.endpoint.ecn = true;
    spec.endpoint.rto.min = Span::from_millis(200);
    spec.endpoint.rto.timer = Timer::Linux;
    spec
}

fn outcome(path: LinkSpec, spec: FlowSpec) -> Outcome {
    let network = network(vec![path], vec![spec], 20_000);
    run(&Network { sample_every: Some(Span::from_millis(1)), ..network })
}

fn only(outcome: Outcome) -> FlowOutcome {
    outcome.flows.into_iter().next().unwrap()
}

#[test]
fn marks_come_instead_of_drops_to_flows_that_take_them() {
    let marked = outcome(path(), capable("slow-start", "newreno"));
    let totals = marked.links[0].totals;
    assert!(totals.marks > 20 && totals.drops == 0, "{totals:?}");
    let flow = &marked.flows[0];
    assert_eq!((flow.drops, flow.counts.retransmitted_packets, flow.counts.timeouts), (0, 0, 0));
    assert!(flow.counts.cuts >= 2 && flow.counts.fast_retransmits == 0, "{:?}", flow.counts);
    assert_eq!(flow.startup.exit.map(|exit| exit.why), Some(Exit::Mark));

    let mut deaf = capable("slow-start", "newreno");
    deaf.endpoint.ecn = false;
    let totals = outcome(path(), deaf).links[0].totals;
    assert!(totals.marks == 0 && totals.drops > 0, "{totals:?}");
    let plain = LinkSpec { ecn_threshold: None, ..path() };
    let totals = outcome(plain, capable("slow-start", "newreno")).links[0].totals;
    assert!(totals.marks == 0 && totals.drops > 0, "{totals:?}");
}

/// The queue is never longer than what a round trip of growth adds to the threshold.
#[test]
fn the_queue_stays_near_the_threshold() {
    let mut spec = capable("slow-start", "newreno");
    spec.endpoint.initial_ssthresh = Bytes(50 * MSS);
    let outcome = outcome(path(), spec);
    let peak = outcome.links[0].totals.peak_packets;
    assert!((21..=24).contains(&peak), "{peak}");
}

/// A sender that avoids congestion reaches 121 packets, of which the path holds 101, and goes down
/// to half of that within a round trip: for every two packets that have arrived one leaves. Where
/// every packet is acknowledged, the first of them, which says that the window was reduced, still
/// finds 20 waiting, so that a round later the window is halved once more.
#[test]
fn a_window_is_halved_once_for_all_marks_of_a_round() {
    for delayed_ack in [1, 2] {
        let mut spec = capable("slow-start", "newreno");
        spec.endpoint.initial_ssthresh = Bytes(40 * MSS);
        spec.endpoint.delayed_ack = delayed_ack;
        spec.endpoint.linux_acks = Some(LinuxAcks { compress: Some(Compression::UNTIL_6_18) });
        let flow = only(outcome(path(), spec));
        let windows: Vec<u64> = flow.series.iter().map(|sample| sample.cwnd.0 / MSS).collect();
        let falls: Vec<(u64, u64)> =
            windows.windows(2).filter(|two| two[1] < two[0]).map(|two| (two[0], two[1])).collect();
        let first = falls[0];
        assert!((120..=124).contains(&first.0) && first.1 == first.0 / 2, "{falls:?}");
        let second = falls.get(1).filter(|_| delayed_ack == 1);
        assert!(second.is_none_or(|second| *second == (first.1, first.1 / 2)), "{falls:?}");
        assert_eq!(second.is_some(), delayed_ack == 1, "{falls:?}");
        assert_eq!(flow.counts.cuts, falls.len() as u64);
        assert!(falls.len() <= 4, "{falls:?}");
        let drop = |two: &[FlowSample]| two[0].in_flight.0.saturating_sub(two[1].in_flight.0);
        let steepest = flow.series.windows(2).map(drop).max();
        assert!(steepest.unwrap() <= 3 * MSS, "it comes down step by step");
    }
}

#[test]
fn cubic_keeps_seven_tenths() {
    let mut spec = capable("slow-start", "cubic");
    spec.endpoint.initial_ssthresh = Bytes(80 * MSS);
    let flow = only(outcome(path(), spec));
    let windows: Vec<u64> = flow.series.iter().map(|sample| sample.cwnd.0).collect();
    let (before, after) =
        windows.windows(2).find(|two| two[1] < two[0]).map(|two| (two[0], two[1])).unwrap();
    let share = after as f64 / before as f64;
    assert!((0.69..=0.71).contains(&share), "{before} {after}");
}

/// A start-up ends with a mark as with a loss; BBR's goes on to drain, Rapid Start lands.
#[test]
fn start_ups_hear_of_marks() {
    let pairs =
        [("hystart", "cubic"), ("bbr", "bbr"), ("rapid-start", "newreno"), ("astart", "westwood")];
    for ((startup, avoidance), recovery) in
        pairs.into_iter().flat_map(|pair| [(pair, Recovery::Rack), (pair, Recovery::Quic)])
    {
        let deep =
            LinkSpec { buffer: Buffer::Packets(2_000), ecn_threshold: Some(3), ..link(8, 50, 0) };
        let mut spec = capable(startup, avoidance);
        spec.endpoint.recovery = recovery;
        let flow = only(outcome(deep, spec));
        let why = flow.startup.exit.map(|exit| exit.why);
        let who = (startup, recovery);
        assert!(matches!(why, Some(Exit::Mark | Exit::Heuristic)), "{who:?}: {why:?}");
        assert_eq!(flow.drops, 0, "{who:?}");
        let share = flow.delivered_bytes.0 as f64 * 8.0 / (20.0 * 8e6);
        assert!(share > 0.5, "{who:?}: {share}");
    }
}

/// Other repairs reduce at once (RFC 3168 section 6.1.2), and once per window too.
#[test]
fn every_recovery_answers_marks() {
    let of_tcp = [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack];
    for recovery in of_tcp.into_iter().chain([Recovery::Quic]) {
        let mut spec = capable("slow-start", "newreno");
        spec.endpoint.recovery = recovery;
        let flow = only(outcome(path(), spec));
        assert_eq!((flow.drops, flow.counts.timeouts), (0, 0), "{recovery:?}");
        assert!((2..=8).contains(&flow.counts.cuts), "{recovery:?}: {:?}", flow.counts);
    }
}

/// The counts of an ACK frame that have grown begin a recovery period (RFC 9002 appendix B.7), in
/// which what left before does not open the window (section 7.3.2): it stands at half until a
/// packet is acknowledged that left when the other half had arrived. That is 60 packets, 60 ms or
/// more, and the packet takes 101 ms.
#[test]
fn a_mark_of_quics_begins_a_recovery_period() {
    let mut spec = capable("slow-start", "newreno");
    spec.endpoint.recovery = Recovery::Quic;
    let series = only(outcome(path(), spec)).series;
    let fall = series.windows(2).position(|two| two[1].cwnd < two[0].cwnd).unwrap();
    let (before, after) = (series[fall].cwnd, series[fall + 1].cwnd);
    assert!(before > Bytes(117 * MSS) && before < Bytes(125 * MSS), "{before:?}");
    assert_eq!(after, before / 2);
    let next = series[fall + 1..].iter().find(|sample| sample.cwnd != after).unwrap();
    assert!(next.cwnd > after, "one cut per period: {next:?}");
    let stands_ms = next.at.since(series[fall + 1].at).0 / 1_000_000;
    assert!((161..=190).contains(&stands_ms), "{stands_ms} ms");
}

/// Random loss besides marks: what is lost is repaired, and the two do not cut twice in a round.
#[test]
fn losses_while_the_window_comes_down_are_repaired() {
    let mut lossy = path();
    lossy.loss = firstflight_sim::LossSpec::independent(3_000_000);
    let flow = only(outcome(lossy, capable("slow-start", "newreno")));
    assert!(flow.counts.fast_retransmits > 10, "{:?}", flow.counts);
    assert_eq!(flow.counts.timeouts, 0);
    assert!(flow.counts.retransmitted_packets >= flow.drops, "{:?}", flow.counts);
}

fn exact(startup: &str, avoidance: &str, feedback: EcnFeedback) -> FlowSpec {
    let mut spec = capable(startup, avoidance);
    spec.endpoint.ecn_feedback = feedback;
    spec
}

/// Marked packets as reported to the core, against those that the link has marked. The echo of RFC
/// 3168 goes on for a round trip and reports far more.
#[test]
fn exact_feedback_reports_every_marked_byte_once() {
    for delayed_ack in [1, 2, 4] {
        let marks = |feedback, recovery| {
            let recorder = Recorder::new(PROVIDES);
            let mut spec = exact("slow-start", "newreno", feedback);
            spec.control = control(recorder.clone(), NewReno::default());
            spec.endpoint.delayed_ack = delayed_ack;
            spec.endpoint.recovery = recovery;
            spec.packets = Some(2_000);
            let outcome = outcome(path(), spec);
            let totals = outcome.links[0].totals;
            assert!(totals.marks > 20 && totals.drops == 0, "{totals:?}");
            (recorder.report().marked.0 / MSS, totals.marks)
        };
        for feedback in [EcnFeedback::Dctcp, EcnFeedback::Accurate] {
            let (reported, marked) = marks(feedback, Recovery::Rack);
            assert_eq!(reported, marked, "{feedback:?}, {delayed_ack}");
        }
        let (reported, marked) = marks(EcnFeedback::Classic, Recovery::Quic);
        assert_eq!(reported, marked, "QUIC, {delayed_ack}");
        let (reported, marked) = marks(EcnFeedback::Classic, Recovery::Rack);
        assert!(reported > marked, "{reported} {marked}");
    }
}

/// 8 Mbit/s and 100 ms with a step at 20 packets. A mark ends start-up at 120 packets, of which the
/// path holds 100. DCTCP cuts to 73, and to 45 a round trip later, whose packets still found 20
/// waiting. A packet per round trip brings it back in 55, in which the link idles for 1.6 of the 20
/// s, besides 0.3 s of slow start. Prague counts from a round trip later on and cuts once, to 60:
/// 0.9 s. From then on alpha is small and the link is never idle, where NewReno goes on halving.
#[test]
fn dctcp_and_prague_keep_the_link_busy_over_a_step() {
    let busy = |spec| {
        let outcome = outcome(path(), spec);
        assert_eq!(outcome.links[0].totals.drops, 0);
        let why = outcome.flows[0].startup.exit.map(|exit| exit.why);
        assert_eq!(why, Some(Exit::Mark));
        outcome.links[0].totals.busy_ns as f64 / 20e9
    };
    let reno = busy(capable("slow-start", "newreno"));
    for (feedback, recovery) in [
        (EcnFeedback::Dctcp, Recovery::Rack),
        (EcnFeedback::Accurate, Recovery::Rack),
        (EcnFeedback::Counts, Recovery::Quic),
    ] {
        for (startup, avoidance) in [("slow-start", "dctcp"), ("prague", "prague")] {
            let mut spec = exact(startup, avoidance, feedback);
            spec.endpoint.recovery = recovery;
            let share = busy(spec);
            assert!(
                share > 0.9 && share > reno + 0.1,
                "{avoidance}, {feedback:?}: {share}, {reno}"
            );
        }
    }
}
