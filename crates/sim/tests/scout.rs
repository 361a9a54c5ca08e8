//! Scout on clean paths: what it loses, what it queues, and how far a train lets the window grow.

mod common;

use common::{flow, link, network};
use firstflight_core::knob::KnobValue;
use firstflight_core::policy::Exit;
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Span};
use firstflight_sim::{
    Endpoint, FlowOutcome, FlowSpec, LinkSpec, Network, Recovery, core_control, run,
};
use proptest::prelude::*;

/// A transfer of so many packets of 1000 bytes with Linux's RACK and ten packets to begin with,
/// and CUBIC after the start-up. `delay_ms` is the way back.
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
        let (plus, _) = one(transfer("hystart-pp", 4_000, 50), link(40, 50, buffer));
        let (flow, _) = one(transfer("scout", 4_000, 50), link(40, 50, buffer));
        let exit = flow.startup.exit.unwrap();
        assert_eq!((exit.why, flow.drops), (Exit::Heuristic, 0), "{buffer}");
        assert!((500..=573).contains(&(exit.cwnd.0 / 1_000)), "{buffer}: {exit:?}");
        let took = |flow: &FlowOutcome| flow.finished_at.unwrap().0;
        assert!(took(&flow) < took(&plus), "{buffer}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A train that passes shows at most the path's rate, so that W is at most 8/7 BDP after it and
    /// 1/7 BDP of it queues; the next train is an eighth of that, 1/7 BDP, and queues no more than
    /// itself. A window is at most four times the one before it, and the train and what delayed
    /// ACKs hold back on top. So with the knobs that change how it begins, how few ACKs are enough
    /// and what a standing queue means.
    #[test]
    fn a_train_queues_no_more_than_itself_and_growth_is_what_it_has_shown(
        mbps in 2..200_u64,
        delay_ms in 5..200_u64,
        other in any::<bool>(),
    ) {
        let bdp = mbps * delay_ms * 2 / 8;
        prop_assume!((64..5_000).contains(&bdp));
        let packets = (bdp * 6) as u32;
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
        // The first window of ten is a train too, and whole packets are rounded up.
        let most = (bdp * 2).div_ceil(7) + 2;
        prop_assert!(peak <= most.max(10), "a queue of {peak}, BDP {bdp}");
        let series = flow.series.iter().filter(|sample| sample.at <= exit.at);
        let windows: Vec<u64> = series.map(|sample| sample.cwnd.0).collect();
        for pair in windows.windows(2) {
            prop_assert!(pair[1] <= pair[0] * 5, "{pair:?}");
        }
    }
}
