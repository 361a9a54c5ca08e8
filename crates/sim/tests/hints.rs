//! What connections learn from those before them, and what routers grant. 8 Mbps and 100 ms: a
//! packet takes 1 ms, 100 packets fill the path.

use crate::common::{flow, link, network};
use firstflight_core::knob::KnobValue;
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    FastPaths, FileOutcome, FilesSpec, FlowOutcome, FlowSpec, LinkSpec, Network, Pattern, Recovery,
    UdpSpec, Uniform, control, named, run, run_watched,
};

fn path() -> LinkSpec {
    link(8, 50, 100)
}

fn with(startup: &str) -> FlowSpec {
    let mut spec = flow(&[0], 50, Recovery::Sack);
    spec.control = named(startup, "newreno").unwrap();
    spec.bdp_bytes = Some(100_000);
    spec.syn_bytes = 40;
    spec
}

/// Files of so many packets, one second apart.
fn files(startup: &str, packets: u64) -> FlowSpec {
    let always = |value| Uniform { from: value, until: value };
    let (bytes, pause_ns) = (always(packets * 1_000), always(1_000_000_000));
    FlowSpec { files: Some(FilesSpec { bytes, pause_ns, keep_alive: false }), ..with(startup) }
}

fn one(spec: FlowSpec, duration_ms: u64) -> FlowOutcome {
    run(&network(vec![path()], vec![spec], duration_ms)).flows.remove(0)
}

fn times_ms(flow: &FlowOutcome) -> Vec<u64> {
    let took = |file: &FileOutcome| file.delivered.since(file.began).0 / 1_000_000;
    flow.files.iter().map(took).collect()
}

#[test]
fn fast_start_goes_on_where_the_connection_before_ended() {
    // Windows of 1, 2, 4 .. 32: 63 packets in six rounds. The window is 64 then, of which the next
    // takes half, and ends at 95: the second file needs two rounds, those after it hardly more
    // than one.
    let flow = one(files("fast-start", 63), 10_000);
    let times = times_ms(&flow);
    assert!((560..=590).contains(&times[0]), "{times:?}");
    assert!(times[1..].iter().all(|time| (150..=185).contains(time)), "{times:?}");
    assert_eq!((flow.drops, flow.counts.retransmitted_packets), (0, 0));
    let slow_start = times_ms(&one(files("slow-start", 63), 10_000));
    assert!(slow_start.iter().all(|time| *time == times[0]), "{slow_start:?}");
}

#[test]
fn fast_start_that_loses_its_window_is_slow_start_again() {
    // The first file ends in avoidance with a window of 66, which its successor sends at 5.3 Mbps.
    // By then 5 of the 8 Mbps are somebody else's, and forty packets is all that can wait.
    let tried = |startup| {
        let mut spec = files(startup, 200);
        spec.endpoint.initial_ssthresh = Bytes(64_000);
        let udp = UdpSpec {
            path: vec![0],
            rate_bps: 5_000_000,
            pattern: Pattern::Constant,
            packet_bytes: 1_000,
            start: Instant(1_500_000_000),
            stop: None,
        };
        let every = Some(Span::from_millis(1));
        let ended = network(vec![link(8, 50, 40)], vec![spec], 5_500);
        run(&Network { udp: vec![udp], sample_every: every, ..ended }).flows.remove(0)
    };
    let windows = |flow: &FlowOutcome, from_ms: u64| -> Vec<u64> {
        let late = flow.series.iter().filter(|sample| sample.at.0 >= from_ms * 1_000_000);
        late.map(|sample| sample.cwnd.0 / 1_000).collect()
    };
    let (fast, slow) = (tried("fast-start"), tried("slow-start"));
    assert_eq!(fast.counts.timeouts, 0);
    let began_ms = fast.files[1].began.0 / 1_000_000;
    let second = windows(&fast, began_ms + 1);
    let cut = second.iter().position(|cwnd| *cwnd < 60).unwrap();
    assert!(second[..cut].iter().all(|cwnd| *cwnd >= 65), "{second:?}");
    assert_eq!(second[cut], 1, "the ordinary first window, not half of what was lost");
    // It gained nothing by the attempt, and lost nothing.
    let (fast, slow) = (times_ms(&fast)[1], times_ms(&slow)[1]);
    assert!(fast.abs_diff(slow) < 100, "{fast} {slow}");
}

/// The first connection never has more than 64 packets in flight, on a path that holds 100: what
/// arrived in a round would say 64, the ACKs between its pauses say 100.
#[test]
fn stateful_tcp_begins_at_the_rate_of_the_path_however_small_the_windows_before_were() {
    let times = times_ms(&one(files("stateful-tcp", 63), 10_000));
    assert!((560..=590).contains(&times[0]), "{times:?}");
    // 63 packets a millisecond apart, half a round trip and the transmission of the last.
    assert!(times[1..].iter().all(|time| (112..=116).contains(time)), "{times:?}");
    let long = one(files("stateful-tcp", 400), 6_000);
    assert_eq!((long.drops, long.counts.timeouts), (0, 0));
    assert!(times_ms(&long)[1] < 470, "{:?}", times_ms(&long));
}

#[test]
fn spand_learns_from_other_flows_of_its_path_and_of_no_other() {
    let first = FlowSpec { packets: Some(63), ..with("slow-start") };
    let start = Instant(3_000_000_000);
    let second = FlowSpec { packets: Some(63), start, ..with("spand") };
    let took = |second: &FlowSpec| {
        let links = vec![path(), path()];
        let network = network(links, vec![first.clone(), second.clone()], 10_000);
        run(&network).flows[1].finished_at.unwrap().since(start).0 / 1_000_000
    };
    // 63 packets paced over the RTT: the last leaves after 98 ms and takes 51.
    assert!((140..=155).contains(&took(&second)), "{}", took(&second));
    let other_path = FlowSpec { path: vec![1], ..second.clone() };
    assert!(took(&other_path) > 500, "nothing is known of the other link: slow start");
    let own = FlowSpec { control: named("fast-start", "newreno").unwrap(), ..second };
    assert!(took(&own) > 500, "fast start has no connection of its own to go by");
}

/// Two links, of which the second grants less. 1000-byte packets without headers.
fn quick_start(rate_mbps: u64) -> FlowOutcome {
    let mut spec = with("quick-start");
    spec.path = vec![0, 1];
    spec.packets = Some(60);
    spec.endpoint.syn = true;
    let links = vec![link(100, 25, 1_000), link(rate_mbps, 25, 1_000)];
    run(&network(links, vec![spec], 5_000)).flows.remove(0)
}

#[test]
fn quick_start_takes_what_the_slowest_router_grants() {
    // 85 % of 8 Mbit/s, so 5.12 of the option, over 100 ms: 64 packets, which leave within the RTT
    // after the handshake.
    let granted = quick_start(8);
    let finished = granted.finished_at.unwrap().0 / 1_000_000;
    assert!((240..=260).contains(&finished), "{finished}");
    // 60 of them were sent, and each ACK for one makes one more.
    assert_eq!(granted.peak_cwnd, Bytes(120_000));
    // 1.28 of 2 Mbit/s: 16 packets.
    let less = quick_start(2).finished_at.unwrap().0 / 1_000_000;
    assert!((380..=460).contains(&less), "{less}");
}

#[test]
fn a_busy_router_grants_nothing_and_slow_start_follows() {
    let mut spec = with("quick-start");
    spec.start = Instant(1_000_000_000);
    spec.packets = Some(60);
    spec.endpoint.syn = true;
    let udp = UdpSpec {
        path: vec![0],
        rate_bps: 7_200_000,
        pattern: Pattern::Constant,
        packet_bytes: 1_000,
        start: Instant(0),
        stop: Some(Instant(1_100_000_000)),
    };
    let busy = Network { udp: vec![udp], ..network(vec![path()], vec![spec.clone()], 5_000) };
    let idle = network(vec![path()], vec![spec], 5_000);
    let took = |network: &Network| {
        run(network).flows[0].finished_at.unwrap().since(Instant(1_000_000_000)).0 / 1_000_000
    };
    assert!((240..=260).contains(&took(&idle)), "{}", took(&idle));
    assert!(took(&busy) > 600, "{}", took(&busy));
}

#[test]
fn memories_and_grants_do_not_depend_on_what_is_computed_ahead() {
    let mut spec = files("quick-start", 40);
    spec.endpoint.syn = true;
    spec.endpoint.fast_open = true;
    let flows = vec![spec, files("fast-start", 63), files("spand", 30), with("slow-start")];
    let network = network(vec![path()], flows, 20_000);
    let outcome = |fast_paths| {
        let outcome = run_watched(&network, fast_paths, &mut || true).unwrap();
        outcome.flows.iter().map(times_ms).collect::<Vec<_>>()
    };
    assert_eq!(outcome(FastPaths::On), outcome(FastPaths::Off));
}

#[test]
fn fast_open_saves_the_handshake_of_every_connection_but_the_first() {
    let mut spec = files("slow-start", 7);
    spec.endpoint.syn = true;
    let times = |spec: &FlowSpec| times_ms(&one(spec.clone(), 10_000));
    let ordinary = times(&spec);
    assert!(ordinary.iter().all(|time| time / 10 == 35), "{ordinary:?}");
    spec.endpoint.fast_open = true;
    let fast = times(&spec);
    assert_eq!(fast[0], ordinary[0]);
    // A round trip of 100 ms and little more: the SYN's own time on the links.
    assert!(fast[1..].iter().all(|time| time / 10 == 25), "{fast:?}");
}

#[test]
fn what_is_old_is_not_used() {
    let mut spec = files("fast-start", 63);
    spec.files.as_mut().unwrap().pause_ns = Uniform { from: 0, until: 0 };
    let soon = times_ms(&one(spec.clone(), 5_000));
    let long = Span::from_secs(700).0;
    spec.files.as_mut().unwrap().pause_ns = Uniform { from: long, until: long };
    let late = times_ms(&one(spec, 710_000));
    assert!(soon[1] < soon[0] / 2 && late[1] == late[0], "{soon:?} {late:?}");
}

/// BBR with the rate of the connection before: in the second file the window of 50 packets, half
/// of what a round brought, follows the first window, where Startup needs six rounds to it.
#[test]
fn bbr_goes_on_at_half_the_rate_of_the_connection_before() {
    let flow = one(bbr_files("on"), 20_000);
    let (with, without) = (times_ms(&flow), times_ms(&one(bbr_files("off"), 20_000)));
    assert!(with[0] == without[0] && with.len() > 3, "{with:?} {without:?}");
    assert!(with[1] + 200 < with[0], "{with:?}");
    assert!(without[1].abs_diff(without[0]) < 50, "{without:?}");
}

/// All of the link is somebody else's when the second file begins, for two and a half seconds, and
/// forty packets can wait, of which twelve do: BBR loses within the two rounds, drains, and goes
/// on.
#[test]
fn bbr_that_loses_what_it_resumed_with_retreats() {
    let tried = |resume, crowded: Option<Instant>| {
        let udp = |start| UdpSpec {
            path: vec![0],
            rate_bps: 8_200_000,
            pattern: Pattern::Constant,
            packet_bytes: 1_000,
            start,
            stop: Some(start + Span::from_secs(3)),
        };
        let every = Some(Span::from_millis(1));
        let ended = network(vec![link(8, 50, 40)], vec![bbr_files(resume)], 30_000);
        let udp = crowded.into_iter().map(udp).collect();
        run(&Network { udp, sample_every: every, ..ended }).flows.remove(0)
    };
    let began = tried("on", None).files[1].began;
    let crowded = Some(Instant(began.0 - 500_000_000));
    let (with, without) = (tried("on", crowded), tried("off", crowded));
    let gauge = |name| with.gauge_names.iter().position(|other| *other == name).unwrap();
    let (rate, drains) = (gauge("bbr_resume_rate"), gauge("bbr_drains"));
    let mut samples = with.series.iter().skip_while(|sample| sample.gauges[rate] == 0);
    assert!(samples.next().unwrap().at > began, "the first file has nothing to go by");
    let ended = samples.find(|sample| sample.gauges[rate] == 0).unwrap();
    assert_eq!(ended.gauges[drains], 1, "at {:?}", ended.at);
    let (with_ms, without_ms) = (times_ms(&with)[1], times_ms(&without)[1]);
    assert!(with_ms < without_ms * 5 / 4, "{with_ms} {without_ms}");
}

/// Files of 1000 packets, one second apart, each with BBR.
fn bbr_files(resume: &'static str) -> FlowSpec {
    resuming("bbr", "bbr", resume)
}

fn resuming(startup: &str, avoidance: &str, resume: &'static str) -> FlowSpec {
    let mut spec = files(startup, 1_000);
    let mut startup = AnyStartup::by_name(startup).unwrap();
    assert!(startup.set("resume", KnobValue::Word(resume)));
    spec.control = control(startup, AnyAvoidance::by_name(avoidance).unwrap());
    spec
}

/// Scout tests the hundred packets of the connection before with a train, and its second file is a
/// round trip sooner by it. Careful Resume believes half of them, and slow start overflows the
/// buffer after that.
#[test]
fn scout_tests_what_the_connection_before_knew_and_loses_nothing() {
    let flow = |spec| run(&network(vec![link(8, 50, 40)], vec![spec], 20_000)).flows.remove(0);
    let with = flow(resuming("scout", "cubic", "on"));
    let without = flow(resuming("scout", "cubic", "off"));
    let believed = flow(files("careful-resume", 1_000));
    let [resumed, scout, believing] = [&with, &without, &believed].map(times_ms);
    assert!(resumed[0] == scout[0] && scout[1] == scout[0], "{resumed:?} {scout:?}");
    assert!(resumed[1] + 100 < scout[1] && resumed[1] < believing[1], "{resumed:?} {believing:?}");
    assert_eq!((with.drops, believed.drops > 100), (0, true), "{}", believed.drops);
}
