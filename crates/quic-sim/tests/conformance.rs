//! What the adapter of a QUIC stack promises arrives, once, in order, with the stack's own totals:
//! the stack in virtual time, under a start-up that checks the events it gets. Compiled once for
//! each.

use std::sync::{Arc, Mutex};
use std::time::Instant as Clock;

use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::{Recorder, Report};
use firstflight_core::hint::{Learned, PathHint};
use firstflight_core::needs::Facilities;
use firstflight_core::policy::{Answer, Startup};
use firstflight_core::registry::{AnyStartup, STARTUPS, startup_needs};
use firstflight_core::units::{Bytes, Instant, Rate, Span};
use firstflight_core::view::Window;

use super::adapter::{Build, Built, Event, Factory, OfStack, PROVIDES, Watch, Watched};
use super::proto::congestion::{Controller, ControllerFactory};
use super::stack::{ClientAndServer, QuicControl, Setup};
use super::{ON_THE_WIRE, PACED};

/// The sums of what the stack reported to the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    sent: u64,
    acked: u64,
    lost: u64,
    frames: u64,
    /// Packets that left after the last ACK frame or loss was handled: those of the pacer.
    paced: u64,
    /// When that was.
    handled_at: Option<Clock>,
    /// When all was delivered.
    finished: Option<Instant>,
}

#[derive(Clone, Default)]
struct Sums(Arc<Mutex<Totals>>);

impl Watch for Sums {
    fn on_event(&mut self, event: &Event, _controller: &Built) {
        let mut sums = self.0.lock().unwrap();
        match *event {
            Event::Sent { now, bytes, .. } => {
                sums.sent += bytes;
                sums.paced += u64::from(sums.handled_at.is_some_and(|at| now > at));
            }
            Event::Ack { bytes, .. } => sums.acked += bytes,
            Event::Congestion { now, lost, .. } => {
                sums.lost += lost;
                sums.handled_at = Some(now);
            }
            Event::EndAcks { now, .. } => {
                sums.frames += 1;
                sums.handled_at = Some(now);
            }
            _ => {}
        }
    }
}

/// Builds controllers whose events are summed.
struct Summed {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    sums: Sums,
}

impl ControllerFactory for Summed {
    fn build(self: Arc<Self>, now: Clock, mtu: u16) -> Box<dyn Controller> {
        let controller = Build::Other(Arc::clone(&self.inner)).controller(now, mtu);
        Box::new(Watched::new(controller, self.sums.clone()))
    }
}

/// A transfer of a megabyte over a buffer of so many packets; what the recorder got, and what
/// the stack reported.
fn run<S>(recorder: &Recorder<S>, buffer: u64, hint: Option<PathHint>) -> (Report, Totals)
where
    S: Startup + Clone + Send + Sync + std::fmt::Debug + 'static,
{
    let factory = Factory::new(recorder.clone(), NewReno::default()).unwrap();
    let factory = hint.into_iter().fold(factory, Factory::hint);
    let sums = Sums::default();
    let summed = Arc::new(Summed { inner: Arc::new(factory), sums: sums.clone() });
    let setup = Setup {
        size: Some(1_000_000),
        ..Setup::new(QuicControl::Stacks(OfStack::NewReno), 200_000)
    };
    let pair = ClientAndServer::with_controller(&setup, summed).unwrap();
    let network = crate::common::network(10, 40, buffer, 1, 20);
    let outcome = crate::common::run(&network, vec![Box::new(pair)]);
    assert_eq!(outcome.flows[0].delivered_bytes, Bytes(1_000_000));
    let finished = outcome.flows[0].finished_at;
    let totals = Totals { finished, ..*sums.0.lock().unwrap() };
    (recorder.report(), totals)
}

/// The totals are the stack's.
fn same_totals(report: &Report, totals: Totals) {
    let reported = (report.sent.0, report.credited.0, report.lost.0);
    assert_eq!(reported, (totals.sent, totals.acked, totals.lost));
}

#[test]
fn on_a_path_without_loss_everything_promised_arrives() {
    let (report, totals) = run(&Recorder::new(PROVIDES), 1_000, None);
    assert_eq!(report.check(QUIET), Ok(()));
    same_totals(&report, totals);
    assert_eq!((report.begins, report.handshakes, report.losses), (1, 1, 0));
    // Some frames acknowledge only packets that are nothing but acknowledgements.
    assert!(report.acks <= totals.frames && report.acks > totals.frames / 2);
    assert!(report.ack_parts > report.acks, "frames acknowledge several packets");
    assert_eq!(report.acked, report.credited);
    // The stacks always pace.
    assert_eq!(report.paced_ack_parts, report.ack_parts);
    assert!(totals.paced > PACED, "{} by the pacer", totals.paced);
}

#[test]
fn every_loss_is_reported_once() {
    let (report, totals) = run(&Recorder::new(PROVIDES), 20, None);
    assert_eq!(report.check(QUIET | LOSSES), Ok(()));
    same_totals(&report, totals);
    assert!(report.losses > 0 && report.further_losses > 0 && report.lost > Bytes(0));
    assert_eq!(report.recovery_steps, 0);
}

#[test]
fn a_start_up_that_answers_losses_itself_decides_in_the_recovery() {
    let half = Window { cwnd: Bytes(24_000), ssthresh: Bytes(24_000) };
    for answer in [Answer::Ignore, Answer::Land(half)] {
        let recorder = Recorder::new(PROVIDES).answering(answer);
        let (report, totals) = run(&recorder, 60, None);
        let occasion = QUIET | LOSSES | Facilities::RECOVERY_WINDOW;
        assert_eq!(report.check(occasion), Ok(()), "{answer:?}");
        same_totals(&report, totals);
        assert!(report.recovery_steps > 10, "{answer:?}: {}", report.recovery_steps);
    }
}

#[test]
fn a_hint_that_was_handed_over_arrives_before_the_beginning() {
    let window = Window { cwnd: Bytes(60_000), ssthresh: Bytes(50_000) };
    let (rtt, age) = (Span::from_millis(40), Span::from_secs(1));
    let (min_rtt, delivered, per_round) = (rtt, Bytes(1_000_000), Bytes(60_000));
    let learned = Learned { window, rtt, min_rtt, delivered, per_round, rate: None, age };
    let these = PROVIDES | Facilities::MEMORY;
    let (report, _) = run(&Recorder::new(these), 1_000, Some(PathHint::Own(learned)));
    assert_eq!(report.check(QUIET | Facilities::MEMORY), Ok(()));
    assert_eq!(report.hints, 1);
}

#[test]
fn the_promises_hold_under_every_start_up() {
    for card in STARTUPS {
        let needs = startup_needs(card.name).unwrap().required;
        if !needs.without(PROVIDES).is_empty() {
            continue;
        }
        let startup = AnyStartup::by_name(card.name).unwrap();
        let recorder = Recorder::around(startup, PROVIDES).in_bursts_of(Bytes(10 * 1_200));
        let (report, totals) = run(&recorder, 30, None);
        assert_eq!(report.check(Facilities::SENT), Ok(()), "{}", card.name);
        same_totals(&report, totals);
    }
}

#[test]
fn packets_leave_at_the_rate_that_is_set() {
    // Ten packets leave before an RTT is known, and ten are in the pacer's bucket.
    let burst = Bytes(20 * 1_200);
    for rate in [100_000, 500_000, 1_000_000] {
        let recorder = Recorder::new(PROVIDES).paced(Rate(rate)).in_bursts_of(burst);
        let (report, totals) = run(&recorder, 1_000, None);
        let occasion = QUIET | Facilities::PACING;
        assert_eq!(report.check(occasion), Ok(()), "{rate} bytes per second");
        same_totals(&report, totals);
        // Nor does the stack's own pace hold it back: a megabyte takes what the rate says.
        let most = Span::from_millis(ON_THE_WIRE * 1000 / rate + 200);
        assert!(totals.finished.unwrap() < Instant(0) + most, "{rate}: {:?}", totals.finished);
    }
}

/// What arrives where nothing is lost and no rate is set.
const QUIET: Facilities =
    PROVIDES.without(LOSSES).without(Facilities::RECOVERY_WINDOW.and(Facilities::PACING));

/// What a stack reports of losses besides their bytes.
const LOSSES: Facilities = PROVIDES.common(Facilities::GAPS);
