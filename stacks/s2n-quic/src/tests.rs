//! The translation, call by call: what the whole stack does with it is in `in-time`.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use firstflight_core::avoidance::NewReno;
use firstflight_core::conformance::Recorder;
use firstflight_core::pair::{Pair, Policies};
use firstflight_core::units::{Bytes, Rate};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController as _, CubicCongestionController, RttEstimator};
use s2n_quic_core::time::{Clock as _, NoopClock, Timestamp};

use super::*;

const MTU: u16 = 1_200;
const PACKET: u64 = MTU as u64;
const RTT: Duration = Duration::from_millis(100);

/// A controller with a clock that counts milliseconds, and the exits that it published.
struct Path<P: Policies = Named> {
    controller: Controller<P>,
    zero: Timestamp,
    rtt: RttEstimator,
    exits: Exits,
}

impl Path {
    fn new(name: &str) -> Self {
        Self::of(control(name).unwrap().controller(remote(), MTU))
    }
}

impl<P: Policies + Clone + Send + 'static> Path<P> {
    fn of(controller: Controller<P>) -> Self {
        let rtt = RttEstimator::new(Duration::from_millis(333));
        Self { controller, zero: NoopClock.get_time(), rtt, exits: Exits::default() }
    }

    fn at(&self, ms: u64) -> Timestamp {
        self.zero + Duration::from_millis(ms)
    }

    fn send(&mut self, ms: u64) -> PacketInfo {
        let at = self.at(ms);
        let (bytes, limited) = (MTU.into(), Some(false));
        self.controller.on_packet_sent(at, bytes, limited, &self.rtt, &mut self.exits)
    }

    fn ack(&mut self, ms: u64, sent: u64, info: PacketInfo, packets: u64) {
        let (now, sent, bytes) = (self.at(ms), self.at(sent), (packets * PACKET) as usize);
        let exits = &mut self.exits;
        self.controller.on_ack(sent, bytes, info, &self.rtt, &mut NoChance, now, exits);
    }

    fn lose(&mut self, ms: u64, info: PacketInfo, begins_gap: bool) {
        let (bytes, now) = (MTU.into(), self.at(ms));
        let exits = &mut self.exits;
        let (random, lasts) = (&mut NoChance, false);
        self.controller.on_packet_lost(bytes, info, lasts, begins_gap, random, now, exits);
    }

    fn mark(&mut self, ms: u64, packets: u64) {
        self.controller.on_explicit_congestion(packets, self.at(ms), &mut self.exits);
    }

    fn cwnd(&self) -> u64 {
        u64::from(self.controller.congestion_window()) / PACKET
    }
}

fn remote() -> SocketAddr {
    (IpAddr::from([192, 0, 2, 7]), 443).into()
}

/// The windows with which start-up ended, as s2n-quic's subscribers get them.
#[derive(Default)]
struct Exits(Vec<u32>);

impl Publisher for Exits {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, window: u32) {
        self.0.push(window);
    }
    fn on_delivery_rate_sampled(&mut self, _sample: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: num_rational::Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

struct NoChance;

impl Generator for NoChance {
    fn public_random_fill(&mut self, _dest: &mut [u8]) {}
    fn private_random_fill(&mut self, _dest: &mut [u8]) {}
}

#[test]
fn the_window_is_cwnd_and_is_full_where_a_packet_does_not_fit() {
    let mut path = Path::new("newreno");
    assert_eq!(path.cwnd(), 10);
    for _ in 0..10 {
        assert!(!path.controller.is_congestion_limited());
        path.send(0);
    }
    assert!(path.controller.is_congestion_limited());
    assert_eq!(path.controller.bytes_in_flight(), 12_000);
    path.controller.on_packet_discarded(MTU.into(), &mut path.exits);
    assert!(!path.controller.is_congestion_limited());
}

#[test]
fn a_control_begins_with_the_rtt_of_the_handshake() {
    let mut path = Path::new("rapid-start");
    let (at, bytes) = (path.at(1), MTU.into());
    let handshake = path.controller.on_packet_sent(at, bytes, None, &path.rtt, &mut path.exits);
    assert_eq!((path.controller.bytes_in_flight(), path.cwnd()), (PACKET as u32, 10));
    path.ack(101, 1, handshake, 1);
    // Its first window is twice the ordinary one where it can be paced, and grows threefold.
    assert_eq!(path.cwnd(), 22);
    // s2n-quic's difference of two equal times is a microsecond.
    let rtt = path.controller.inspect(|sender| sender.view().rtt.smoothed.0);
    assert!(rtt.abs_diff(100_000_000) <= 1_000, "{rtt}");
    let mut early = Path::new("rapid-start");
    early.send(0);
    assert_eq!(early.cwnd(), 10, "data before that begins without");
}

#[test]
fn slow_start_grows_by_every_packet_of_a_frame_and_by_none_in_a_recovery() {
    let mut path = Path::new("newreno");
    let infos: Vec<_> = (0..10).map(|ms| path.send(ms)).collect();
    path.ack(100, 1, infos[1], 2);
    assert_eq!(path.cwnd(), 12);
    path.lose(101, infos[2], true);
    path.ack(101, 5, infos[5], 3);
    assert_eq!(path.cwnd(), 6, "and half a window is left");
    let after = path.send(110);
    path.ack(210, 110, after, 1);
    assert!(!path.controller.inspect(|sender| sender.view().recovering));
}

#[test]
fn the_packets_of_one_loss_are_one_loss_with_its_gaps() {
    let recorder = Recorder::new(PROVIDES);
    let mut path = recorded(&recorder);
    let infos: Vec<_> = (0..10).map(|ms| path.send(ms)).collect();
    path.ack(100, 0, infos[0], 1);
    for (number, begins_gap) in [(1, true), (2, false), (5, true)] {
        path.lose(101, infos[number], begins_gap);
    }
    assert_eq!(recorder.report().losses, 0, "nothing else has been reported or asked");
    assert_eq!(path.cwnd(), 5);
    let report = recorder.report();
    assert_eq!((report.losses, report.further_losses, report.gaps), (1, 0, 2));
    assert_eq!(report.lost, Bytes(3 * PACKET));
    path.lose(150, infos[7], true);
    assert_eq!(path.cwnd(), 5);
    assert_eq!(recorder.report().further_losses, 1, "it had left before the recovery began");
    path.ack(151, 9, infos[9], 5);
    let after = path.send(160);
    path.ack(260, 160, after, 1);
    assert_eq!(recorder.report().check(Facilities::GAPS | Facilities::PACKETS), Ok(()));
    assert_eq!(path.exits.0, [13_200], "as start-up ended");
}

#[test]
fn marks_are_counted_and_dctcp_answers_their_share() {
    let (mut dctcp, mut newreno) = (Path::new("slow-start+dctcp"), Path::new("newreno"));
    for path in [&mut dctcp, &mut newreno] {
        let infos: Vec<_> = (0..10).map(|_| path.send(0)).collect();
        path.ack(100, 0, infos[0], 5);
        path.mark(101, 1);
        path.ack(101, 0, infos[5], 5);
        assert!(path.cwnd() < 15, "{}", path.cwnd());
        // A round without marks, then one with a tenth: Reno halves again, DCTCP does not.
        let infos: Vec<_> = (0..5).map(|_| path.send(110)).collect();
        path.ack(210, 110, infos[4], 5);
    }
    let before = [dctcp.cwnd(), newreno.cwnd()];
    for path in [&mut dctcp, &mut newreno] {
        let infos: Vec<_> = (0..5).map(|_| path.send(220)).collect();
        path.mark(320, 1);
        path.ack(320, 220, infos[4], 5);
    }
    assert!(newreno.cwnd() <= before[1] / 2 + 1, "{} of {before:?}", newreno.cwnd());
    assert!(dctcp.cwnd() >= before[0] * 5 / 10, "{} of {before:?}", dctcp.cwnd());
    let report = {
        let recorder = Recorder::new(PROVIDES);
        let mut path = recorded(&recorder);
        let infos: Vec<_> = (0..10).map(|_| path.send(0)).collect();
        path.mark(100, 3);
        path.ack(100, 0, infos[4], 5);
        recorder.report()
    };
    assert_eq!(report.marked, Bytes(3 * PACKET));
    assert_eq!(report.check(Facilities::MARKS), Ok(()));
}

#[test]
fn packets_wait_for_the_controls_rate_or_for_the_default() {
    let recorder = Recorder::new(PROVIDES).paced(Rate(120_000));
    let mut path = recorded(&recorder);
    assert_eq!(path.controller.earliest_departure_time(), None);
    let infos: Vec<_> = (0..4).map(|_| path.send(1_000)).collect();
    path.ack(1_100, 1_000, infos[3], 4);
    path.send(1_200);
    path.send(1_200);
    // A packet takes 10 ms at that rate, and one millisecond is made up for.
    assert_eq!(due(&path), Duration::from_millis(1_219));
    let mut plain = Path::new("newreno");
    assert_eq!(plain.controller.earliest_departure_time(), None, "no RTT is known");
    let infos: Vec<_> = (0..10).map(|_| plain.send(0)).collect();
    plain.rtt.update_rtt(Duration::ZERO, RTT, plain.at(100), true, PacketNumberSpace::Initial);
    plain.ack(100, 0, infos[9], 10);
    (0..10).for_each(|_| _ = plain.send(100));
    // Two windows of twenty packets in 100 ms are 2.5 ms for a packet, and ten leave at once.
    assert!(due(&plain).as_micros().abs_diff(102_500) <= 1, "{:?}", due(&plain));
}

fn due<P: Policies + Clone + Send + 'static>(path: &Path<P>) -> Duration {
    path.controller.earliest_departure_time().unwrap().saturating_duration_since(path.zero)
}

#[test]
fn what_a_connection_learned_is_the_next_ones_when_it_is_over() {
    let memory = PathMemory::new(Duration::from_secs(60), 10);
    let endpoint = control("careful-resume").unwrap();
    assert!(endpoint.missing().has(Facilities::MEMORY));
    let endpoint = endpoint.remembering(memory.clone());
    assert!(!endpoint.missing().has(Facilities::MEMORY));
    let mut path = Path::of(endpoint.controller(remote(), MTU));
    for round in 0..8 {
        let infos: Vec<_> = (0..path.cwnd()).map(|_| path.send(round * 100)).collect();
        let packets = infos.len() as u64;
        path.ack(round * 100 + 99, round * 100, infos[infos.len() - 1], packets);
    }
    assert!(memory.remembered().is_empty());
    let copy = path.controller.clone();
    drop(path);
    assert!(memory.remembered().is_empty(), "s2n-quic goes on with the copy");
    drop(copy);
    let [(remembered, known)] = memory.remembered()[..] else { panic!("one is remembered") };
    assert_eq!(remembered, remote().ip());
    assert!(known.learned.window.cwnd > Bytes(100 * PACKET), "{known:?}");
    assert!(memory.visit(remembered).hint().is_some());
}

/// By how many packets the window grows in ten rounds after a rest of so many milliseconds, of
/// which a round is 100. Start-up has ended with a loss.
fn grown_after<C: s2n_quic_core::recovery::CongestionController>(mut of: C, rest: u64) -> u32 {
    let (zero, mut exits) = (NoopClock.get_time(), Exits::default());
    let mut rtt = RttEstimator::new(RTT);
    rtt.update_rtt(Duration::ZERO, RTT, zero + RTT, true, PacketNumberSpace::ApplicationData);
    let mut round = |at: u64, share: u32, loses: bool| {
        let [sent, now] = [at, at + 100].map(|ms| zero + Duration::from_millis(ms));
        let packets = of.congestion_window() / u32::from(MTU) / share;
        let infos: Vec<_> = (1..=packets)
            .map(|packet| {
                let is_last = Some(share > 1 && packet == packets);
                of.on_packet_sent(sent, MTU.into(), is_last, &rtt, &mut exits)
            })
            .collect();
        for (number, info) in infos.into_iter().enumerate() {
            if loses && number == 0 {
                of.on_packet_lost(MTU.into(), info, false, true, &mut NoChance, now, &mut exits);
                continue;
            }
            of.on_rtt_update(sent, now, &rtt, &mut exits);
            of.on_ack(sent, MTU.into(), info, &rtt, &mut NoChance, now, &mut exits);
        }
        of.congestion_window() / u32::from(MTU)
    };
    (0..10).for_each(|number| _ = round(number * 100, 1, number == 4));
    let before = round(1_000, 2, false);
    let mut after = before;
    (0..10).for_each(|number| after = round(1_100 + rest + number * 100, 1, false));
    after - before
}

/// RFC 9438 section 5.8. s2n-quic's own CUBIC leaves out the time up to the last ACK before a rest
/// and counts what follows.
#[test]
fn a_rest_does_not_count_on_cubics_curve() {
    let ours = |rest| grown_after(control("cubic").unwrap().controller(remote(), MTU), rest);
    let s2ns = |rest| grown_after(CubicCongestionController::new(MTU, Default::default()), rest);
    assert!(ours(0).abs_diff(s2ns(0)) <= 1, "{} and {}", ours(0), s2ns(0));
    assert_eq!(ours(3_000), ours(0));
    assert!(s2ns(3_000) > s2ns(0) * 3 / 2, "{} and {}", s2ns(3_000), s2ns(0));
}

#[test]
fn what_s2n_quic_lacks_is_named() {
    let missing = |name: &str| control(name).unwrap().missing();
    assert_eq!(missing("bbr"), Facilities::NONE);
    assert_eq!(missing("prague"), Facilities::L4S);
    let refused = control("suss").unwrap_err().to_string();
    assert!(refused.contains("which s2n-quic does not provide"), "{refused}");
}

type Recorded = Pair<Recorder, NewReno>;

fn recorded(recorder: &Recorder) -> Path<Recorded> {
    let factory = Factory::new(recorder.clone(), NewReno::default()).unwrap();
    Path::of(Endpoint::from(factory).controller(remote(), MTU))
}
