//! Fast paths give exactly what the general path gives, whatever the network is.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{flow, link, network};
use firstflight_core::registry::partner;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_link::{Crossing, Fate, Jitter};
use firstflight_sim::{
    Buffer, Compression, Element, FastPaths, FilesSpec, FlowSpec, GrowingWindow, Interrupted,
    LinkSpec, LinuxAcks, LossSpec, Network, Outcome, Pattern, Recovery, Timer, UNLIMITED_WINDOW,
    UdpSpec, Uniform, named, run_watched,
};
use proptest::prelude::*;
use rand_pcg::Pcg64Mcg;

/// The outcome of a run, which must end. One that does not fails and shows its network: the run is
/// stopped after more events than any of these networks has, which finds a run whose time stands
/// still, and it is given up where even one event has no end.
fn outcome(network: &Network, fast_paths: FastPaths) -> Outcome {
    let (done, over) = mpsc::channel();
    let runs = network.clone();
    std::thread::spawn(move || {
        let mut looks = 0..MOST_LOOKS;
        // Nobody waits for it any more if it took too long.
        let _ = done.send(run_watched(&runs, fast_paths, &mut || looks.next().is_some()));
    });
    match over.recv_timeout(LONGEST_RUN) {
        Ok(Ok(outcome)) => Outcome { events: 0, ..outcome },
        Ok(Err(Interrupted)) => panic!("its events have no end: {network:#?}"),
        Err(why) => panic!("no outcome within {LONGEST_RUN:?} ({why}): {network:#?}"),
    }
}

/// A run asks after every 2^14 events, and these networks have some 100,000.
const MOST_LOOKS: u32 = 16;

/// They take milliseconds.
const LONGEST_RUN: Duration = Duration::from_secs(120);

/// None, few independent losses or many, or bursts of some packets.
fn losses() -> impl Strategy<Value = LossSpec> {
    let bursts = |[into, out, in_good, in_bad]: [u64; 4]| LossSpec {
        to_bad_ppb: into * 200_000,
        to_good_ppb: out * 20_000_000,
        in_good_ppb: in_good * 50_000,
        in_bad_ppb: in_bad * 20_000_000,
    };
    prop_oneof![
        (0..3_u64).prop_map(|share| LossSpec::independent(share * 1_000_000)),
        (1..30_u64).prop_map(|percent| LossSpec::independent(percent * 10_000_000)),
        prop::array::uniform4(1..=50_u64).prop_map(bursts),
    ]
}

/// Uses all that an element may do.
#[derive(Clone, Debug)]
struct Odd {
    /// It delays one in so many packets, and drops or marks some of those.
    every: u64,
    by: Span,
    reorders: bool,
    /// From then on the link sends at 3 Mbit/s.
    slow_from: Instant,
    seen: u64,
}

impl Element for Odd {
    fn arrive(&mut self, _packet: &Crossing, _random: &mut Pcg64Mcg) -> Fate {
        self.seen += 1;
        match self.seen % (self.every * 7) {
            0 => Fate::Drop,
            1 => Fate::Mark,
            _ => Fate::Pass,
        }
    }

    fn sent_at(&mut self, bytes: u64, start: Instant) -> Option<Instant> {
        (start >= self.slow_from).then(|| start + Span(bytes * 8_000 / 3))
    }

    fn pass_on(&mut self, _packet: &Crossing, at: Instant, _random: &mut Pcg64Mcg) -> Instant {
        if self.seen.is_multiple_of(self.every) { at + self.by } else { at }
    }

    fn reorders(&self) -> bool {
        self.reorders
    }
}

/// On most links none.
fn elements() -> impl Strategy<Value = Vec<Box<dyn Element>>> {
    let jitter = |most: u64| -> Vec<Box<dyn Element>> {
        vec![Box::new(Jitter::up_to(Span::from_micros(most)))]
    };
    let odd = |(every, by, slow_from, reorders): (u64, u64, u64, bool)| -> Vec<Box<dyn Element>> {
        let (by, slow_from) = (Span::from_micros(by), Instant(slow_from * 1_000_000));
        let odd = Odd { every, by, reorders, slow_from, seen: 0 };
        vec![Box::new(odd), Box::new(Jitter::up_to(by))]
    };
    prop_oneof![
        4 => Just(Vec::new()),
        1 => (0..20_000_u64).prop_map(jitter),
        1 => (2..40_u64, 0..60_000_u64, 0..6_000_u64, any::<bool>()).prop_map(odd),
    ]
}

type DrawnLink = (u64, u64, u64, LossSpec, bool, Vec<Box<dyn Element>>);

fn links() -> impl Strategy<Value = Vec<LinkSpec>> {
    let one = (1..60_u64, 1..60_u64, 1..200_u64, losses(), any::<bool>(), elements());
    let build = |(rate, delay, buffer, loss, bytes, elements): DrawnLink| LinkSpec {
        elements,
        buffer: if bytes { Buffer::Bytes(buffer * 900 + 2000) } else { Buffer::Packets(buffer) },
        loss,
        drop: vec![buffer * 3 + 1],
        ecn_threshold: (delay % 2 == 0).then_some(1 + buffer / 3),
        ..link(rate, delay, buffer)
    };
    prop::collection::vec(one.prop_map(build), 1..4)
}

type Drawn = (
    usize,
    Recovery,
    u64,
    u64,
    Option<u32>,
    u32,
    ((bool, &'static str), u64, (u64, u64), Option<(u64, u64)>),
);

const RECOVERIES: [Recovery; 11] = [
    Recovery::Tahoe,
    Recovery::Reno,
    Recovery::NewReno,
    Recovery::Sack,
    Recovery::Rack,
    Recovery::Rack,
    Recovery::Quic,
    Recovery::Quic,
    Recovery::Ns2Sack,
    Recovery::Ns2Vegas,
    Recovery::Ns2Linux,
];

const NOT_OF_RFCS: [Recovery; 4] =
    [Recovery::Quic, Recovery::Ns2Sack, Recovery::Ns2Vegas, Recovery::Ns2Linux];

/// Bursts, pacing, samples, jumps, repeats, estimates, what routers tell.
const STARTUPS: [&str; 10] = [
    "slow-start",
    "paced",
    "rapid-start",
    "bbr",
    "afstart",
    "packet-pair",
    "halfback",
    "astart",
    "xcp",
    "tcp-ebn",
];

/// None, or Linux's without compression, or as one release has it or another.
fn linux_acks(draw: u64) -> Option<LinuxAcks> {
    let compress = match draw % 5 {
        2 => None,
        3 => Some(Compression::UNTIL_6_18),
        4 => Some(Compression::SINCE_6_19),
        _ => return None,
    };
    Some(LinuxAcks { compress })
}

/// Mostly its own system's for RACK, always for QUIC, and any for the others.
fn timer(recovery: Recovery, back: u64) -> Timer {
    match (back % 3, back % 7, recovery) {
        (.., Recovery::Rack) if !back.is_multiple_of(5) => Timer::Linux,
        (.., Recovery::Quic) => Timer::Quic,
        (0, ..) => {
            Timer::Ns2 { phase: Span::from_micros(30), eighths_below: back.is_multiple_of(2) }
        }
        (_, 0..4, _) => Timer::Linux,
        _ => Timer::Rfc6298,
    }
}

fn flows(links: usize) -> impl Strategy<Value = Vec<FlowSpec>> {
    let recoveries = prop::sample::select(&RECOVERIES[..]);
    let startups = prop::sample::select(&STARTUPS[..]);
    let one = (
        0..links,
        recoveries,
        1..80_u64,
        0..500_u64,
        prop::option::of(1..400_u32),
        1..4_u32,
        (
            (any::<bool>(), startups),
            0..3_u64,
            // A smallest timeout of a few milliseconds fires while nothing is lost.
            (1..200_u64, prop_oneof![Just(1000), 1..300_u64]),
            prop::option::of((1..60_000_u64, 0..3_u64)),
        ),
    );
    let build = move |(first, recovery, back, start, packets, every, more): Drawn| {
        let ((syn, startup), access_delay, (access_rate, least_timeout), files) = more;
        let path: Vec<usize> = (first..links).collect();
        let mut flow = flow(&path, back, recovery);
        flow.control = named(startup, partner(startup).unwrap()).unwrap();
        flow.start = Instant(start * 1_000_000);
        flow.packets = packets;
        flow.endpoint.delayed_ack = every;
        // So short that the timer fires between packets, or so long that it rarely does.
        flow.endpoint.delayed_ack_timeout = Span::from_millis(1 + start % 90);
        flow.endpoint.syn = syn;
        let quic = recovery == Recovery::Quic;
        let of_rfc = !NOT_OF_RFCS.contains(&recovery);
        let endpoint = &mut flow.endpoint;
        (endpoint.handshake_ack, endpoint.fin) = (of_rfc && back % 3 > 0, of_rfc && back % 4 > 0);
        endpoint.wakes_up = of_rfc && back % 5 > 0;
        endpoint.paces = quic && start % 3 > 0;
        // Without repeats, which only RACK provides, its window in a recovery is too large to pace.
        endpoint.linux_pacing =
            !quic && (startup != "halfback" || recovery == Recovery::Rack) && start % 4 > 0;
        endpoint.tso = recovery == Recovery::Rack && back % 3 == 0;
        endpoint.ecn = back % 4 == 1;
        flow.endpoint.rto.timer = timer(recovery, back);
        flow.endpoint.growing_window = (start % 2 == 0).then_some(GrowingWindow {
            first: Bytes(1500 * (1 + start % 7)),
            step: Bytes(500 * (1 + start % 4)),
            most: Bytes(1000 * start),
            quick: start % 3 > 0,
        });
        flow.endpoint.linux_acks = linux_acks(start);
        flow.endpoint.rto.min = Span::from_millis(least_timeout);
        flow.endpoint.initial_ssthresh = Bytes(1000 * (8 << (back % 8)));
        flow.endpoint.send_buffer = if back % 9 == 2 { 20 } else { UNLIMITED_WINDOW };
        // So slow that ACKs with SACK blocks hold up those behind them.
        flow.return_rate_bps = if start % 3 == 0 { 100_000 } else { 40_000_000 };
        flow.access_delay = Span::from_millis(access_delay);
        flow.access_rate_bps = access_rate * 1_000_000;
        // QUIC's recovery has one connection only: scenario files refuse others.
        let files = files.filter(|_| recovery != Recovery::Quic);
        flow.files = files.map(|(bytes, pause)| FilesSpec {
            bytes: Uniform { from: bytes, until: bytes * 3 },
            pause_ns: Uniform { from: 0, until: pause * 40_000_000 },
            keep_alive: pause > 0 && bytes % 2 == 0,
        });
        flow
    };
    prop::collection::vec(one.prop_map(build), 1..6)
}

fn networks() -> impl Strategy<Value = Network> {
    links().prop_flat_map(|links| {
        let count = links.len();
        let udp = prop::option::of((1..20_u64, 0..count, 0..1500_u64));
        (Just(links), flows(count), udp, any::<u64>()).prop_map(move |(links, flows, udp, seed)| {
            let udp = udp.map(|(rate, first, stop)| UdpSpec {
                path: (first..count).collect(),
                rate_bps: rate * 1_000_000,
                pattern: Pattern::Constant,
                packet_bytes: 700,
                start: Instant(100_000_000),
                stop: Some(Instant((100 + stop) * 1_000_000)),
            });
            let udp = udp.into_iter().collect();
            // What the policies hold is seen in the samples only.
            let sample_every = seed.is_multiple_of(2).then_some(Span::from_millis(20));
            // As with ns-2: ACKs queue on the reverse path, and ties are decided otherwise.
            let ns2_ties = seed % 3 == 0;
            // Where every packet is acknowledged and no connection follows, ACKs may cross early.
            let each = ns2_ties && seed % 5 < 3;
            let back = |mut flow: FlowSpec| {
                let last = flow.path[flow.path.len() - 1];
                flow.return_path = if ns2_ties { vec![count + last] } else { Vec::new() };
                if each {
                    flow.endpoint.delayed_ack = 1;
                    flow.files = None;
                }
                flow
            };
            let flows: Vec<FlowSpec> = flows.into_iter().map(back).collect();
            let mut links = links;
            // Sometimes over a slow link of their own, which loses some; not of QUIC's recovery.
            let quic = |flow: &FlowSpec| flow.endpoint.recovery == Recovery::Quic;
            if seed % 7 < 3 && !flows.iter().any(quic) {
                for link in &mut links {
                    let loss = LossSpec::independent(seed % 4 * 10_000_000);
                    let buffer = Buffer::Bytes(400 + seed % 2_000);
                    let back = LinkSpec {
                        rate_bps: 100_000 + seed % 1_000_000,
                        buffer,
                        loss,
                        ..link.clone()
                    };
                    link.back = Some(Box::new(LinkSpec { ecn_threshold: None, ..back }));
                }
            }
            // Then some send the other way, besides the others' ACKs.
            let mut flows = flows;
            let turned = |(place, flow): &(usize, &mut FlowSpec)| {
                let back = flow.path.last().is_some_and(|last| links[*last].back.is_some());
                back && seed % 5 < 2 && (seed + *place as u64).is_multiple_of(2)
            };
            for (_, flow) in flows.iter_mut().enumerate().filter(turned) {
                flow.return_path = flow.path.clone();
                flow.path = vec![count + flow.path[flow.path.len() - 1]];
                (flow.path_delay, flow.return_delay) = (flow.return_delay, Span(0));
            }
            Network { udp, seed, sample_every, ns2_ties, ..network(links, flows, 3000) }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        // A run that never ends takes its time in every simpler network, too.
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn fast_paths_change_no_outcome(network in networks()) {
        prop_assert_eq!(outcome(&network, FastPaths::On), outcome(&network, FastPaths::Off));
    }

    #[test]
    fn packets_are_conserved(network in networks()) {
        let outcome = outcome(&network, FastPaths::On);
        for (spec, flow) in network.flows.iter().zip(&outcome.flows) {
            let counts = flow.counts;
            // A SYN can be dropped but is no data packet sent.
            if !spec.endpoint.syn {
                prop_assert!(flow.delivered_packets + flow.drops <= counts.sent_packets);
            }
            prop_assert!(counts.retransmitted_packets <= counts.sent_packets);
            if let (Some(packets), None) = (spec.packets, &spec.files) {
                prop_assert!(flow.delivered_packets <= u64::from(packets));
            }
        }
    }
}

#[test]
fn a_network_runs_the_same_twice() {
    let lossy = LinkSpec { loss: LossSpec::independent(5_000_000), ..link(20, 20, 60) };
    let flows = (0..5).map(|i| flow(&[0], 20 + i, Recovery::Sack)).collect();
    let network = network(vec![lossy], flows, 20_000);
    assert_eq!(outcome(&network, FastPaths::On), outcome(&network, FastPaths::On));
    let other = Network { seed: 2, ..network.clone() };
    assert_ne!(outcome(&network, FastPaths::On), outcome(&other, FastPaths::On));
}

#[test]
fn what_comes_late_to_a_connection_that_is_over_is_answered_on_either_path() {
    let links = vec![
        LinkSpec {
            buffer: Buffer::Bytes(22_700),
            loss: LossSpec::independent(2_000_000),
            drop: vec![70],
            ..link(5, 22, 1)
        },
        LinkSpec { loss: LossSpec::independent(1_000_000), drop: vec![247], ..link(43, 38, 82) },
    ];
    let mut flow = flow(&[0, 1], 27, Recovery::Tahoe);
    flow.endpoint.delayed_ack = 1;
    flow.endpoint.syn = false;
    flow.endpoint.rto.timer = Timer::Ns2 { phase: Span(0), eighths_below: false };
    flow.endpoint.initial_ssthresh = Bytes(64_000);
    flow.access_rate_bps = 10_000_000;
    flow.access_delay = Span(0);
    flow.files = Some(FilesSpec {
        bytes: Uniform { from: 45_860, until: 137_580 },
        pause_ns: Uniform { from: 0, until: 0 },
        keep_alive: false,
    });
    flow.return_path = vec![3];
    let network = Network {
        seed: 11_375_531_571_904_934_112,
        sample_every: Some(Span::from_millis(20)),
        ns2_ties: true,
        ..network(links, vec![flow], 3000)
    };
    assert_eq!(outcome(&network, FastPaths::On), outcome(&network, FastPaths::Off));
}

/// A copy that start-up had sent was found lost while the window had no room, and then the timer
/// fired: what it had found lost before was never sent again, and time stood still.
#[test]
fn a_lost_copy_is_sent_again_after_a_timeout() {
    let lossy = LinkSpec {
        loss: LossSpec::independent(110_000_000),
        ecn_threshold: Some(40),
        drop: vec![355],
        ..link(35, 16, 118)
    };
    let mut flow = flow(&[0], 45, Recovery::Rack);
    flow.control = named("halfback", "newreno").unwrap();
    flow.start = Instant(3_000_000);
    flow.endpoint.syn = true;
    flow.endpoint.ecn = true;
    flow.endpoint.linux_pacing = true;
    flow.endpoint.tso = true;
    flow.endpoint.linux_acks = Some(LinuxAcks { compress: Some(Compression::UNTIL_6_18) });
    flow.endpoint.delayed_ack_timeout = Span::from_millis(4);
    flow.endpoint.rto.min = Span::from_millis(3);
    flow.endpoint.rto.timer = Timer::Linux;
    flow.endpoint.initial_ssthresh = Bytes(256_000);
    flow.access_rate_bps = 35_000_000;
    flow.access_delay = Span::from_millis(1);
    flow.return_rate_bps = 100_000;
    flow.files = Some(FilesSpec {
        bytes: Uniform { from: 19_017, until: 57_051 },
        pause_ns: Uniform { from: 0, until: 80_000_000 },
        keep_alive: false,
    });
    let seed = 10_636_022_229_249_306_463;
    let network = Network { seed, ..network(vec![lossy], vec![flow], 3000) };
    assert_eq!(outcome(&network, FastPaths::On), outcome(&network, FastPaths::Off));
}
