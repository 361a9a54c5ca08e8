//! The start-ups the papers name, each on a path that shows what its source claims for it.
//! 1000-byte packets, 40 Mbps and 100 ms: 500 packets of BDP.

use crate::common::{flow, link, network};
use firstflight_core::knob::{Amount, KnobValue};
use firstflight_core::policy::Exit;
use firstflight_core::registry::{AVOIDANCES, AnyAvoidance, AnyStartup, STARTUPS};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_sim::{
    FlowOutcome, FlowSample, FlowSpec, LinkSpec, LossSpec, Network, Recovery, control, named, run,
};

/// Start-up and avoidance, with the first ssthresh in packets; none is unlimited.
fn with(startup: &str, avoidance: &str, ssthresh: Option<u64>) -> FlowSpec {
    let mut spec = flow(&[0], 50, Recovery::Sack);
    spec.control = named(startup, avoidance).unwrap();
    spec.endpoint.initial_ssthresh = ssthresh.map_or(Bytes::MAX, |packets| Bytes(packets * 1000));
    spec
}

/// What becomes of it, and the largest queue.
fn one(spec: FlowSpec, link: LinkSpec, duration_ms: u64) -> (FlowOutcome, u64) {
    let mut outcome = run(&network(vec![link], vec![spec], duration_ms));
    (outcome.flows.remove(0), outcome.links[0].totals.peak_packets)
}

fn exit_window(flow: &FlowOutcome) -> u64 {
    flow.startup.exit.unwrap().cwnd.0 / 1000
}

/// Half an RTT of ACKs at the bottleneck's rate are 250, which come in the round that doubles 256.
#[test]
fn hystart_leaves_near_the_bdp_before_the_buffer_overflows() {
    let (hystart, _) = one(with("hystart", "cubic", None), link(40, 50, 500), 3_000);
    assert_eq!(hystart.startup.exit.unwrap().why, Exit::Heuristic);
    assert!((500..=520).contains(&exit_window(&hystart)), "{:?}", hystart.startup);
    assert_eq!(hystart.drops, 0);
    let (slow_start, _) = one(with("slow-start", "cubic", None), link(40, 50, 500), 3_000);
    assert!(slow_start.drops > 900, "{} drops", slow_start.drops);
}

/// It notices beyond two BDP, and each round of conservative slow start that it waits then costs
/// another quarter: from one round to five, 1.25^4 = 2.44 times the window, if nothing is lost.
#[test]
fn hystart_pp_leaves_long_after_it_has_noticed_if_the_buffer_lets_it() {
    let window = |rounds| {
        let mut spec = with("hystart-pp", "cubic", None);
        let mut startup = AnyStartup::by_name("hystart-pp").unwrap();
        assert!(startup.set("css_rounds", KnobValue::Count(rounds)));
        spec.control = control(startup, AnyAvoidance::by_name("cubic").unwrap());
        let (flow, _) = one(spec, link(40, 50, 100_000), 6_000);
        assert_eq!((flow.startup.exit.unwrap().why, flow.drops), (Exit::Heuristic, 0));
        exit_window(&flow)
    };
    let (one, five) = (window(1), window(5));
    assert!(one > 1_000, "{one}");
    assert!((230..250).contains(&(five * 100 / one)), "{one} {five}");
}

/// 45 ms of queue are 225 packets, so that the window must pass 725. A round trip goes by until an
/// ACK shows it, in which a gain of a half lets the window grow to 1088. Four samples take ACKs of
/// half a packet each beyond that; the bound has room for eight, because 1091.5 was measured.
#[test]
fn ledbat_pp_leaves_when_a_queue_of_45_ms_is_seen() {
    let (flow, _) = one(with("ledbat-pp", "cubic", None), link(40, 50, 600), 4_000);
    assert_eq!((flow.startup.exit.unwrap().why, flow.drops), (Exit::Heuristic, 0));
    assert!((725..=1_092).contains(&exit_window(&flow)), "{:?}", flow.startup);
}

/// A buffer of ten packets, which a first window of thirty overflows as a burst: 29 come at once
/// behind the first, of which ten can wait. At a packet per 0.2 ms the link sends them all if they
/// come 3.3 ms apart.
#[test]
fn initial_spreading_fits_a_first_window_into_a_buffer_that_a_burst_of_it_overflows() {
    let drops = |startup, knobs: &[(&str, KnobValue)]| {
        let mut policy = AnyStartup::by_name(startup).unwrap();
        let iw = ("iw", KnobValue::Window(Amount::Segments(30)));
        for (knob, value) in [iw].iter().chain(knobs) {
            assert!(policy.set(knob, *value), "{knob}");
        }
        let mut spec = with(startup, "cubic", None);
        spec.control = control(policy, AnyAvoidance::by_name("cubic").unwrap());
        spec.packets = Some(30);
        spec.endpoint.syn = true;
        let (flow, _) = one(spec, link(40, 50, 10), 3_000);
        assert!(flow.finished_at.is_some());
        flow.drops
    };
    assert!(drops("slow-start", &[]) >= 15);
    assert_eq!(drops("initial-spreading", &[]), 0);
    assert!(drops("paced", &[]) >= 15, "the first window of `paced` is a burst");
    assert_eq!(drops("paced", &[("first", KnobValue::Word("paced"))]), 0);
}

/// What overflows is what the window grew by in the last round: `max_ssthresh / 2`.
#[test]
fn limited_slow_start_loses_fifty_packets_where_slow_start_loses_a_thousand() {
    let drops = |startup| {
        let (flow, _) = one(with(startup, "newreno", None), link(40, 50, 500), 4_000);
        assert_eq!(flow.startup.exit.unwrap().why, Exit::Loss, "{startup}");
        flow.drops
    };
    let (limited, slow_start) = (drops("limited"), drops("slow-start"));
    assert!((1..=50).contains(&limited), "limited loses {limited}");
    assert!(slow_start > 1_000, "slow start loses {slow_start}");
}

/// The rate grows by one packet per 25 ms in every 25 ms: 1600 packets/s per second.
#[test]
fn hybla_grows_alike_at_any_rtt_and_newreno_does_not() {
    let growth = |avoidance, rtt_ms: u64| {
        let rate_at = |duration_ms| {
            let mut spec = with("slow-start", avoidance, Some(32));
            spec.return_delay = Span::from_millis(rtt_ms / 2);
            let (flow, _) = one(spec, link(1_000, rtt_ms / 2, 10_000), duration_ms);
            assert_eq!(flow.drops, 0);
            flow.final_cwnd.0 / rtt_ms
        };
        rate_at(10_000) - rate_at(5_000)
    };
    let hybla = [50, 100, 200].map(|rtt_ms| growth("hybla", rtt_ms));
    assert!(hybla.iter().all(|growth| (7_600..=8_000).contains(growth)), "{hybla:?}");
    let newreno = [50, 200].map(|rtt_ms| growth("newreno", rtt_ms));
    assert!(newreno[0] > 15 * newreno[1], "{newreno:?}");
}

/// 2^rho per RTT is the same growth over time: 8 RTTs of 25 ms multiply the rate by 256, and so do
/// two of 100 ms.
#[test]
fn hybla_starts_alike_at_any_rtt() {
    let left_at_ms = |startup, rtt_ms: u64| {
        // The same rate everywhere: 2560 packets/s.
        let mut spec = with(startup, "newreno", Some(10 * 256 * rtt_ms / 1_000));
        spec.return_delay = Span::from_millis(rtt_ms / 2);
        spec.endpoint.growth_limit = false;
        let (flow, _) = one(spec, link(1_000, rtt_ms / 2, 10_000), 5_000);
        flow.startup.exit.unwrap().at.0 / 1_000_000
    };
    let hybla = [50, 100, 200].map(|rtt_ms| left_at_ms("hybla", rtt_ms));
    assert!(hybla[2] <= hybla[0] + 200, "{hybla:?}");
    let slow_start = [50, 200].map(|rtt_ms| left_at_ms("slow-start", rtt_ms));
    assert!(slow_start[1] > 4 * slow_start[0], "{slow_start:?}");
}

/// 300 packets on a path of 500: the loss is not congestion.
#[test]
fn westwood_plus_keeps_its_window_after_a_loss_without_a_queue() {
    let after = |avoidance| {
        let link = LinkSpec { drop: vec![20_000], ..link(40, 50, 500) };
        let (flow, _) = one(with("slow-start", avoidance, Some(300)), link, 8_500);
        assert_eq!((flow.drops, flow.counts.cuts), (1, 1), "{avoidance}");
        flow.final_cwnd.0 / 1000
    };
    let (plus, newreno) = (after("westwood-plus"), after("newreno"));
    assert!(plus > 320 && newreno < 220, "Westwood+ {plus}, NewReno {newreno}");
}

/// To 450 packets with room for 140 in the buffer: the last doubling of slow start, from 256, puts
/// 194 into it, while both others take that distance in two rounds.
#[test]
fn two_phases_and_smooth_start_reach_ssthresh_without_the_losses_of_slow_start() {
    let drops = |startup| {
        let (flow, _) = one(with(startup, "newreno", Some(450)), link(40, 50, 140), 2_500);
        (flow.drops, flow.startup.exit.map(|exit| exit.why))
    };
    let (lost, end) = drops("slow-start");
    assert!(lost > 40 && end == Some(Exit::Threshold), "{lost} {end:?}");
    for startup in ["two-phase", "smooth-start"] {
        assert_eq!(drops(startup), (0, Some(Exit::Threshold)), "{startup}");
    }
}

/// A satellite: 10 Mbps and 600 ms, 750 packets of BDP.
#[test]
fn the_packet_pair_fills_a_satellite_path_in_four_round_trips_or_overflows_its_buffer() {
    let satellite = |startup, buffer| {
        let mut spec = with(startup, "newreno", None);
        (spec.return_delay, spec.bdp_bytes) = (Span::from_millis(300), Some(750_000));
        one(spec, link(10, 300, buffer), 10_000).0
    };
    let full_at_ms = |flow: &FlowOutcome| flow.startup.time_to_bdp[2].unwrap().0 / 1_000_000;
    let (pair, slow_start) = (satellite("packet-pair", 750), satellite("slow-start", 750));
    assert!(full_at_ms(&pair) < 4 * 605 && full_at_ms(&slow_start) > 10 * 600);
    assert_eq!(pair.drops, 0);
    let overflown = satellite("packet-pair", 100);
    assert!(overflown.drops > 100, "{} drops", overflown.drops);
}

#[test]
fn conservative_slow_start_loses_nothing_and_takes_five_times_as_long() {
    let left = |startup| {
        let (flow, _) = one(with(startup, "newreno", None), link(40, 50, 500), 10_000);
        let full = flow.startup.time_to_bdp[2].unwrap().0 as f64 / 1e9;
        (flow.drops, full)
    };
    let (conservative, slow_start) = (left("conservative"), left("slow-start"));
    assert_eq!(conservative.0, 0);
    assert!(slow_start.0 > 900);
    let ratio = conservative.1 / slow_start.1;
    assert!((4.0..6.0).contains(&ratio), "{ratio}");
}

#[test]
fn afstart_fills_the_path_sooner_than_slow_start_and_queues_less() {
    let run = |startup: &str, buffer| {
        let mut spec = with(startup, "newreno", None);
        spec.endpoint.initial_window = Bytes(4_000);
        let (flow, peak) = one(spec, link(40, 50, buffer), 2_000);
        (flow.startup.time_to_bdp[2].map(|at| at.0 / 1_000_000), peak, flow.drops)
    };
    let (afstart, slow_start) = (run("afstart", 500), run("slow-start", 500));
    assert!(afstart.0.unwrap() + 150 < slow_start.0.unwrap(), "{afstart:?} {slow_start:?}");
    assert!(afstart.1 < 125 && afstart.2 == 0, "{afstart:?}");
    assert!(slow_start.1 >= 500 && slow_start.2 > 0, "{slow_start:?}");
}

#[test]
fn gallop_vegas_leaves_later_than_vegas_and_carries_more() {
    let left = |startup| {
        let (flow, _) = one(with(startup, "vegas", None), link(40, 50, 500), 10_000);
        assert_eq!(flow.startup.exit.unwrap().why, Exit::Heuristic);
        assert_eq!(flow.drops, 0);
        (exit_window(&flow), flow.delivered_packets)
    };
    let (gallop, vegas) = (left("gallop-vegas"), left("vegas"));
    assert!(gallop.0 > vegas.0 && gallop.1 > vegas.1, "{gallop:?} {vegas:?}");
}

/// A BDP of 500 packets and alpha, 100, in the queue, also after a start from few packets.
#[test]
fn fast_settles_with_alpha_packets_in_the_queue() {
    for (startup, ssthresh) in [("afstart", None), ("slow-start", Some(32))] {
        let (flow, peak) = one(with(startup, "fast", ssthresh), link(40, 50, 500), 20_000);
        assert_eq!(flow.drops, 0, "{startup}");
        assert!((590..=610).contains(&(flow.final_cwnd.0 / 1000)), "{:?}", flow.final_cwnd);
        assert!(peak < 250, "{startup}: {peak}");
    }
}

/// 4500 packets on a path of 5000, and one loss: Scalable TCP has its eighth back after 13.4 round
/// trips, HighSpeed TCP its quarter after about 70 (a is 14 to 18), NewReno its half after 2250.
#[test]
fn scalable_and_highspeed_tcp_have_a_large_window_back_soon_after_a_loss() {
    let rounds = |avoidance| {
        let every = Some(Span::from_millis(10));
        let link = LinkSpec { drop: vec![30_000], ..link(400, 50, 5_000) };
        let flow = with("slow-start", avoidance, Some(4_500));
        let network = Network { sample_every: every, ..network(vec![link], vec![flow], 12_000) };
        let flow = run(&network).flows.remove(0);
        assert_eq!((flow.drops, flow.counts.cuts), (1, 1), "{avoidance}");
        let falls = |pair: &[FlowSample]| pair[1].cwnd < pair[0].cwnd;
        let cut = flow.series.windows(2).position(falls).unwrap();
        let before = &flow.series[cut];
        let back = flow.series[cut + 1..].iter().find(|sample| sample.cwnd >= before.cwnd);
        back.map(|back| back.at.since(before.at).0 / 100_000_000)
    };
    let [scalable, highspeed, newreno] = ["scalable", "highspeed", "newreno"].map(rounds);
    assert!(scalable.is_some_and(|rounds| (13..=17).contains(&rounds)), "{scalable:?}");
    assert!(highspeed.is_some_and(|rounds| (60..=80).contains(&rounds)), "{highspeed:?}");
    assert_eq!(newreno, None);
}

/// Without room between alpha and beta twenty flows of Vegas all grow, and all shrink, on what the
/// queue was a round trip ago. With a look ahead it stays at their two packets each.
#[test]
fn stabilized_vegas_holds_the_queue_where_vegas_swings() {
    let queue = |avoidance| {
        let flow = |i: u64| {
            let mut flow = with("vegas", avoidance, None);
            flow.return_delay = Span::from_millis(100);
            flow.start = Instant(i * 37_000_000);
            let mut avoidance = AnyAvoidance::by_name(avoidance).unwrap();
            for knob in ["alpha", "beta"] {
                assert!(avoidance.set(knob, KnobValue::Count(2)));
            }
            flow.control = control(AnyStartup::by_name("vegas").unwrap(), avoidance);
            flow
        };
        let flows = (0..20).map(flow).collect();
        let every = Some(Span::from_millis(50));
        let path = network(vec![link(40, 100, 1_000)], flows, 60_000);
        let outcome = run(&Network { sample_every: every, ..path });
        let late = outcome.links[0].series.iter().filter(|sample| sample.at.0 > 30_000_000_000);
        let held: Vec<u64> = late.map(|sample| sample.held).collect();
        (*held.iter().min().unwrap(), *held.iter().max().unwrap())
    };
    let (stabilized, vegas) = (queue("stabilized-vegas"), queue("vegas"));
    assert!(stabilized.0 >= 38 && stabilized.1 <= 42, "{stabilized:?}");
    assert!(vegas.0 < 15 && vegas.1 > 65, "{vegas:?}");
}

/// Slow start has 90 % of 500 packets after nine round trips and of 5000 after thirteen. e-speed
/// goes with it for two of them, and quadruples from then on.
#[test]
fn e_speed_is_quick_on_a_large_path_and_slow_start_on_a_small_one() {
    let full = |startup, rate, buffer| {
        let mut spec = with(startup, "newreno", None);
        spec.bdp_bytes = Some(rate * 12_500);
        let (flow, _) = one(spec, link(rate, 50, buffer), 3_000);
        (flow.startup.time_to_bdp[2].unwrap().0 / 100_000_000, flow.drops)
    };
    assert_eq!((full("slow-start", 40, 500).0, full("e-speed", 40, 500)), (9, (6, 0)));
    assert_eq!((full("slow-start", 400, 5_000).0, full("e-speed", 400, 5_000)), (13, (8, 0)));
    // Its bursts want three quarters of a BDP of buffer.
    assert!(full("e-speed", 40, 250).1 > 0);
    assert_eq!(full("e-speed", 4, 50), full("slow-start", 4, 50));
}

/// Nothing may leave a sender with data to send and nothing to wake it, whatever is lost. Time is
/// generous, as backed-off timers of a start-up that overshoots again and again take minutes.
#[test]
fn every_pair_finishes_a_lossy_transfer_with_every_recovery() {
    let recoveries = [
        (Recovery::Tahoe, 1),
        (Recovery::Reno, 2),
        (Recovery::NewReno, 1),
        (Recovery::Sack, 2),
        (Recovery::Ns2Sack, 1),
        (Recovery::Ns2Vegas, 2),
        (Recovery::Ns2Linux, 1),
    ];
    for startup in STARTUPS {
        for avoidance in AVOIDANCES {
            for (recovery, delayed_ack) in recoveries {
                let mut spec = with(startup.name, avoidance.name, None);
                spec.endpoint.recovery = recovery;
                spec.endpoint.delayed_ack = delayed_ack;
                spec.packets = Some(1_000);
                let link = LinkSpec { loss: LossSpec::independent(10_000_000), ..link(10, 20, 20) };
                let (flow, _) = one(spec, link, 6_000_000);
                let pair = (startup.name, avoidance.name, recovery);
                assert!(flow.finished_at.is_some(), "{pair:?}: {}", flow.delivered_packets);
            }
        }
    }
}
