//! What the adapter promises arrives, once, in order, with the stack's own totals: s2n-quic's whole
//! stack in virtual time, under a start-up that checks the events it gets.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::{Recorder, Report};
use firstflight_core::needs::Facilities;
use firstflight_core::pair::Pair;
use firstflight_core::policy::{Answer, Startup};
use firstflight_core::registry::{AnyStartup, STARTUPS, startup_needs};
use firstflight_core::units::{Bytes, Rate};
use firstflight_core::view::Window;
use firstflight_s2n_quic::{
    Controller, Endpoint, Factory, PROVIDES, PacketInfo, PathMemory, control,
};
use firstflight_s2n_quic_in_time::{Outcome, Path, transfer};
use s2n_quic::provider::congestion_controller::{
    CongestionController, Endpoint as S2ns, PathInfo, Publisher, RandomGenerator, RttEstimator,
    Timestamp,
};

/// The sums of what the stack reported to the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    sent: u64,
    acked: u64,
    lost: u64,
    frames: u64,
    bursts: u64,
    marks: u64,
}

type Sums = Arc<Mutex<Totals>>;

/// An endpoint whose controllers sum the events they get.
#[derive(Debug)]
struct Summed<S> {
    inner: Endpoint<Pair<S, NewReno>>,
    sums: Sums,
}

#[derive(Clone, Debug)]
struct Counted<S: Startup + Clone + Send + 'static> {
    inner: Controller<Pair<S, NewReno>>,
    sums: Sums,
}

impl<S: Startup + Clone + Send + std::fmt::Debug + 'static> S2ns for Summed<S> {
    type CongestionController = Counted<S>;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Counted<S> {
        let inner = self.inner.new_congestion_controller(path);
        Counted { inner, sums: Arc::clone(&self.sums) }
    }
}

impl<S: Startup + Clone + Send + std::fmt::Debug + 'static> CongestionController for Counted<S> {
    type PacketInfo = PacketInfo;

    fn congestion_window(&self) -> u32 {
        self.inner.congestion_window()
    }

    fn bytes_in_flight(&self) -> u32 {
        self.inner.bytes_in_flight()
    }

    fn is_congestion_limited(&self) -> bool {
        self.inner.is_congestion_limited()
    }

    fn requires_fast_retransmission(&self) -> bool {
        self.inner.requires_fast_retransmission()
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) -> PacketInfo {
        self.sums.lock().unwrap().sent += bytes as u64;
        self.inner.on_packet_sent(sent, bytes, app_limited, rtt, publisher)
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        now: Timestamp,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) {
        self.inner.on_rtt_update(sent, now, rtt, publisher);
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        newest: Timestamp,
        bytes: usize,
        packet: PacketInfo,
        rtt: &RttEstimator,
        random: &mut dyn RandomGenerator,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        let mut sums = self.sums.lock().unwrap();
        sums.acked += bytes as u64;
        sums.frames += 1;
        self.inner.on_ack(newest, bytes, packet, rtt, random, now, publisher);
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        bytes: u32,
        packet: PacketInfo,
        persistent: bool,
        begins_gap: bool,
        random: &mut dyn RandomGenerator,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        let mut sums = self.sums.lock().unwrap();
        sums.lost += u64::from(bytes);
        sums.bursts += u64::from(begins_gap);
        self.inner.on_packet_lost(bytes, packet, persistent, begins_gap, random, now, publisher);
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        marks: u64,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        self.sums.lock().unwrap().marks += marks;
        self.inner.on_explicit_congestion(marks, now, publisher);
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, mtu: u16, publisher: &mut Pub) {
        self.inner.on_mtu_update(mtu, publisher);
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes: usize, publisher: &mut Pub) {
        self.inner.on_packet_discarded(bytes, publisher);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.inner.earliest_departure_time()
    }
}

/// 10 Mbit/s, 40 ms.
fn path(buffer_packets: u64, marks_every: u64) -> Path {
    let rtt = Duration::from_millis(40);
    Path { rate_bps: 10_000_000, rtt, buffer_packets, headers: 28, marks_every }
}

/// A transfer of a megabyte; what the recorder got, and what the stack reported.
fn run<S>(recorder: &Recorder<S>, path: &Path) -> (Report, Totals, Outcome)
where
    S: Startup + Clone + Send + Sync + std::fmt::Debug + 'static,
{
    let inner = Endpoint::from(Factory::new(recorder.clone(), NewReno::default()).unwrap());
    let sums = Sums::default();
    let outcome = transfer(path, SIZE, Summed { inner, sums: Arc::clone(&sums) }).unwrap();
    let totals = *sums.lock().unwrap();
    (recorder.report(), totals, outcome)
}

/// The totals are the stack's.
fn same_totals(report: &Report, totals: Totals) {
    let reported = (report.credited.0, report.lost.0, report.marked.0);
    assert_eq!(reported, (totals.acked, totals.lost, totals.marks * PACKET));
    // The last packets left after the last event of start-up or avoidance.
    assert!(report.sent.0 <= totals.sent, "{} of {}", report.sent.0, totals.sent);
}

#[test]
fn on_a_path_without_loss_everything_promised_arrives() {
    let (report, totals, _) = run(&Recorder::new(PROVIDES), &path(1_000, 0));
    assert_eq!(report.check(QUIET), Ok(()));
    same_totals(&report, totals);
    assert_eq!((report.begins, report.handshakes, report.losses), (1, 1, 0));
    assert!(report.acks == totals.frames, "{} of {}", report.acks, totals.frames);
    assert!(report.ack_parts > report.acks, "frames acknowledge several packets");
    assert_eq!(report.paced_ack_parts, report.ack_parts, "the adapter always paces");
}

#[test]
fn every_loss_is_reported_once_with_its_gaps() {
    let (report, totals, outcome) = run(&Recorder::new(PROVIDES), &path(20, 0));
    assert_eq!(report.check(QUIET | Facilities::GAPS), Ok(()));
    same_totals(&report, totals);
    assert_eq!(report.gaps, totals.bursts);
    assert_eq!(report.lost.0.div_ceil(PACKET), outcome.carried.drops);
    assert!(report.losses > 0 && report.further_losses > 0);
    assert_eq!(report.recovery_steps, 0);
}

#[test]
fn marks_are_reported_with_their_number() {
    let (report, totals, outcome) = run(&Recorder::new(PROVIDES), &path(1_000, 50));
    assert_eq!(report.check(QUIET | Facilities::MARKS), Ok(()));
    same_totals(&report, totals);
    assert!(totals.marks > 10 && totals.marks <= outcome.carried.marks, "{totals:?} {outcome:?}");
}

#[test]
fn dctcp_answers_the_share_of_marks_that_halves_newreno() {
    let took = |name: &str| transfer(&path(1_000, 50), SIZE, control(name).unwrap()).unwrap().took;
    let (dctcp, newreno) = (took("slow-start+dctcp"), took("newreno"));
    assert!(dctcp * 10 < newreno * 9, "{dctcp:?} against {newreno:?}");
}

#[test]
fn a_start_up_that_answers_losses_itself_decides_in_the_recovery() {
    let half = Window { cwnd: Bytes(24_000), ssthresh: Bytes(24_000) };
    for answer in [Answer::Ignore, Answer::Land(half)] {
        let recorder = Recorder::new(PROVIDES).answering(answer);
        let (report, totals, _) = run(&recorder, &path(60, 0));
        let occasion = QUIET | Facilities::GAPS | Facilities::RECOVERY_WINDOW;
        assert_eq!(report.check(occasion), Ok(()), "{answer:?}");
        same_totals(&report, totals);
        assert!(report.recovery_steps > 10, "{answer:?}: {}", report.recovery_steps);
    }
}

#[test]
fn the_promises_hold_under_every_start_up() {
    for card in STARTUPS {
        let needs = startup_needs(card.name).unwrap().required;
        if !needs.without(PROVIDES).is_empty() {
            continue;
        }
        let startup = AnyStartup::by_name(card.name).unwrap();
        let recorder = Recorder::around(startup, PROVIDES).in_bursts_of(Bytes(10 * PACKET));
        let (report, totals, _) = run(&recorder, &path(30, 0));
        assert_eq!(report.check(Facilities::SENT), Ok(()), "{}", card.name);
        same_totals(&report, totals);
    }
}

#[test]
fn packets_leave_at_the_rate_that_is_set() {
    for rate in [100_000, 500_000, 1_000_000] {
        // Ten packets leave before an RTT is known, and bursts are what the rate carries in 2 ms.
        let burst = Bytes(10 * PACKET + rate / 500);
        let recorder = Recorder::new(PROVIDES).paced(Rate(rate)).in_bursts_of(burst);
        let (report, totals, outcome) = run(&recorder, &path(1_000, 0));
        assert_eq!(report.check(QUIET | Facilities::PACING), Ok(()), "{rate} bytes per second");
        same_totals(&report, totals);
        let most = Duration::from_millis(ON_THE_WIRE * 1000 / rate + 200);
        assert!(outcome.took < most, "{rate}: {:?}", outcome.took);
    }
}

#[test]
fn the_next_connection_begins_with_what_the_last_one_learned() {
    let memory = PathMemory::new(Duration::from_secs(3_600), 10);
    let long = Path { rtt: Duration::from_millis(300), ..path(1_000, 0) };
    let endpoint = control("careful-resume").unwrap().remembering(memory.clone());
    let [first, second] = [(); 2].map(|()| transfer(&long, SIZE, endpoint.clone()).unwrap().took);
    assert_eq!(memory.remembered().len(), 1);
    assert!(second * 10 < first * 9, "{second:?} after {first:?}");
}

#[test]
fn every_run_gives_equal_numbers() {
    let run = || transfer(&path(20, 0), SIZE, control("scout").unwrap()).unwrap();
    assert_eq!(run(), run());
}

const PACKET: u64 = 1_200;
const SIZE: u64 = 1_000_000;
/// With QUIC's headers.
const ON_THE_WIRE: u64 = 1_050_000;

/// What arrives where nothing is lost or marked and no rate is set.
const QUIET: Facilities = PROVIDES.without(
    Facilities::GAPS
        .and(Facilities::MARKS)
        .and(Facilities::RECOVERY_WINDOW)
        .and(Facilities::PACING),
);
