//! Scout on clean paths: what it loses, what it queues, and how far a train lets the window grow;
//! and what it takes against others and behind a policer.

use crate::common::{flow, link, network};
use firstflight_core::knob::KnobValue;
use firstflight_core::policy::Exit;
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_link::{Jitter, Policer};
use firstflight_sim::{
    Endpoint, FlowOutcome, FlowSpec, LinkSpec, Network, Pattern, Recovery, UdpSpec, core_control,
    run,
};
use proptest::prelude::*;

/// A transfer of so many packets of 1000 bytes with Linux's RACK and ten packets to begin with,
/// and CUBIC after the start-up. `delay_ms` is the reverse path.
fn transfer(startup: &str, packets: u32, delay_ms: u64) -> FlowSpec {
    transfer_of(AnyStartup::by_name(startup).unwrap(), packets, delay_ms)
}

fn transfer_of(startup: AnyStartup, packets: u32, delay_ms: u64) -> FlowSpec {
    let mut spec = flow(&[0], delay_ms, Recovery::Rack);
    spec.control = core_control(startup, AnyAvoidance::by_name("cubic").unwrap());
    spec.endpoint = Endpoint { recovery: Recovery::Rack, syn: true, ..Endpoint::rfc(Bytes(1_000)) };
    spec.endpoint.initial_window = Bytes(10_000);
    spec.packets = Some(packets);
    spec
}

/// What becomes of it, and the longest queue in packets.
fn one(spec: FlowSpec, link: LinkSpec) -> (FlowOutcome, u64) {
    let every = Some(Span::from_millis(5));
    let network = Network { sample_every: every, ..network(vec![link], vec![spec], 60_000) };
    let mut outcome = run(&network);
    (outcome.flows.remove(0), outcome.links[0].totals.peak_packets)
}

/// 500 packets of path. Where HyStart++ overflows the buffer Scout loses nothing, and is sooner.
#[test]
fn scout_fills_the_path_and_loses_nothing() {
    for buffer in [125, 250, 500, 1_000] {
        let (plus, _) = one(transfer("hystart-pp", 8_000, 50), link(40, 50, buffer));
        let (flow, _) = one(transfer("scout", 8_000, 50), link(40, 50, buffer));
        let exit = flow.startup.exit.unwrap();
        assert_eq!((exit.why, flow.drops), (Exit::Heuristic, 0), "{buffer}");
        assert!((500..=573).contains(&(exit.cwnd.0 / 1_000)), "{buffer}: {exit:?}");
        let took = |flow: &FlowOutcome| flow.finished_at.unwrap().0;
        assert!(took(&flow) < took(&plus), "{buffer}");
    }
}

/// The window with which start-up ends against others who take so many of 40 Mbit/s, and how many
/// packets it has lost by the end. A BDP is 500 packets, and a fourth of that is the buffer.
fn against(others_mbps: u64, startup: &str) -> (u64, u64) {
    let udp = UdpSpec {
        path: vec![0],
        rate_bps: others_mbps * 1_000_000,
        pattern: Pattern::Constant,
        packet_bytes: 1_000,
        start: Instant(0),
        stop: None,
    };
    let links = vec![link(40, 50, 125)];
    let network = network(links, vec![transfer(startup, 2_000, 50)], 60_000);
    let flow = run(&Network { udp: vec![udp], ..network }).flows.remove(0);
    (flow.startup.exit.unwrap().cwnd.0 / 1_000, flow.drops)
}

/// A train comes at its share of what all send, which is more than what others leave free.
#[test]
fn against_others_it_takes_what_is_free_and_loses_less_than_slow_start_does() {
    for others in [8, 16, 24] {
        let free = 500 * (40 - others) / 40;
        let (cwnd, lost) = against(others, "scout");
        let (_, of_slow_start) = against(others, "slow-start");
        // A train passes at up to 8/7 of the path's rate, that of others included.
        assert!(cwnd * 10 >= free * 8 && cwnd <= free + 500 / 7, "{others}: {cwnd} of {free}");
        assert!(lost * 10 < of_slow_start, "{others}: {lost}, slow start {of_slow_start}");
    }
}

/// A policer of 10 Mbit/s lets 1 MB pass at once, at a gigabit per second: W is several times what
/// comes in a round trip by then. A landing that goes no lower than a sixth of it loses 39,000
/// packets, most of them again and again.
#[test]
fn behind_a_policer_no_packet_is_lost_twice_in_the_mean() {
    let policer = Policer::new(10_000_000, 1_000_000);
    let link = LinkSpec { elements: vec![Box::new(policer)], ..link(1_000, 20, 5_000) };
    let packets = 5_000;
    let (flow, _) = one(transfer("scout", packets, 20), link);
    assert!(flow.drops < packets.into(), "{}", flow.drops);
}

/// What is lost over ten seeds with jitter of so many ms, where a BDP is 173 packets and a buffer a
/// quarter of that.
fn lost_under_jitter(startup: &str, ms: u64) -> u64 {
    let of_seed = |seed| {
        let jitter = Jitter::up_to(Span::from_millis(ms));
        let link = LinkSpec { elements: vec![Box::new(jitter)], ..link(35, 20, 43) };
        let network = network(vec![link], vec![transfer(startup, 1_000, 20)], 60_000);
        run(&Network { seed, ..network }).flows[0].drops
    };
    (1..=10).map(of_seed).sum()
}

/// Jitter makes a train seem full that is not, and lets its ACKs come faster than it left. Growth
/// by half after that overflows a buffer of a quarter of a BDP less often than doubling, which
/// loses 0.47 and 0.51 of what HyStart++ does.
#[test]
fn under_jitter_it_loses_less_than_half_of_what_hystart_plus_plus_does() {
    for ms in [2, 5] {
        let (lost, of_plus) = (lost_under_jitter("scout", ms), lost_under_jitter("hystart-pp", ms));
        assert!(lost * 20 < of_plus * 9, "{ms} ms: {lost}, HyStart++ {of_plus}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A train that passes shows at most the path's rate, so that W is at most 8/7 BDP after it and
    /// 1/7 BDP of it queues; the next train is an eighth of that, 1/7 BDP, and queues no more than
    /// itself. A window is at most four times the one before it, and the train and what delayed
    /// ACKs hold back on top. So with the knobs that change how it begins, how few ACKs are enough
    /// and what it takes of the room that a train shows.
    #[test]
    fn a_train_queues_no_more_than_itself_and_growth_is_what_it_has_shown(
        mbps in 2..200_u64,
        delay_ms in 5..200_u64,
        other in any::<bool>(),
    ) {
        let bdp = mbps * delay_ms * 2 / 8;
        prop_assume!((64..5_000).contains(&bdp));
        let packets = (bdp * 20) as u32;
        let mut startup = AnyStartup::by_name("scout").unwrap();
        if other {
            prop_assert!(startup.set("first", KnobValue::Ratio(1_000_000)));
            prop_assert!(startup.set("acks", KnobValue::Count(4)));
            prop_assert!(startup.set("polite", KnobValue::Word("off")));
        }
        let spec = transfer_of(startup, packets, delay_ms);
        let (flow, peak) = one(spec, link(mbps, delay_ms, bdp * 4));
        let exit = flow.startup.exit.unwrap();
        prop_assert_eq!((exit.why, flow.drops), (Exit::Heuristic, 0));
        // The first window of ten is a train too. Whole packets are rounded up, and cwnd is W, the
        // train, and two packets for delayed ACKs.
        let most = (bdp * 2).div_ceil(7) + 4;
        prop_assert!(peak <= most.max(10), "a queue of {peak}, BDP {bdp}");
        let series = flow.series.iter().filter(|sample| sample.at <= exit.at);
        let windows: Vec<u64> = series.map(|sample| sample.cwnd.0).collect();
        for pair in windows.windows(2) {
            prop_assert!(pair[1] <= pair[0] * 5, "{pair:?}");
        }
    }
}
