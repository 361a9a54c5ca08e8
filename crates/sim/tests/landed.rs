//! `landed(x)` in a network: the climb is x's, and what comes after it is what the path delivered.

use crate::common::{flow, link, network};
use firstflight_core::delivery_exit::DeliveryExit;
use firstflight_core::policy::Exit;
use firstflight_core::registry::{AnyAvoidance, AnyStartup};
use firstflight_core::units::{Bytes, Span};
use firstflight_sim::{Control, Endpoint, FlowOutcome, Network, Recovery, control, run};

/// 40 Mbit/s and 100 ms: 500 packets of path.
const BDP: u64 = 500;

/// A transfer of 20,000 packets over a path with a buffer of so many.
fn transfer(control: Control, buffer: u64) -> FlowOutcome {
    let mut spec = flow(&[0], 50, Recovery::Rack);
    spec.control = control;
    spec.endpoint = Endpoint { recovery: Recovery::Rack, syn: true, ..Endpoint::rfc(Bytes(1_000)) };
    spec.endpoint.initial_window = Bytes(10_000);
    spec.packets = Some(20_000);
    let every = Some(Span::from_millis(1));
    let link = link(40, 50, buffer);
    let network = Network { sample_every: every, ..network(vec![link], vec![spec], 60_000) };
    run(&network).flows.remove(0)
}

fn both(startup: &str, buffer: u64) -> [FlowOutcome; 2] {
    let startup = AnyStartup::by_name(startup).unwrap();
    let cubic = AnyAvoidance::by_name("cubic").unwrap();
    let landed = control(DeliveryExit::new(startup.clone()), cubic.clone());
    [control(startup, cubic), landed].map(|control| transfer(control, buffer))
}

#[test]
fn landed_is_the_same_climb_up_to_its_end() {
    for startup in ["slow-start", "hystart", "hystart-pp", "suss", "search", "rapid-start", "scout"]
    {
        for buffer in [BDP / 4, BDP * 2] {
            let [plain, landed] = both(startup, buffer);
            let at = format!("{startup}, {buffer}");
            let (exit, other) = (plain.startup.exit.unwrap(), landed.startup.exit.unwrap());
            assert_eq!((exit.at, exit.why), (other.at, other.why), "{at}");
            let climb = |flow: &FlowOutcome| -> Vec<(u64, u64)> {
                let climb = flow.series.iter().filter(|sample| sample.at < exit.at);
                climb.map(|sample| (sample.at.0, sample.cwnd.0)).collect()
            };
            assert!(climb(&plain).len() > 50, "{at}: {}", climb(&plain).len());
            assert_eq!(climb(&plain), climb(&landed), "{at}");
        }
    }
}

#[test]
fn a_climb_lands_at_what_the_path_holds() {
    // HyStart++ leaves with more than two BDP, because the queue was seen a round late.
    let [plain, landed] = both("hystart-pp", BDP * 10);
    let after = |flow: &FlowOutcome| {
        let exit = flow.startup.exit.unwrap();
        assert_eq!(exit.why, Exit::Heuristic);
        flow.series.iter().find(|sample| sample.at > exit.at).unwrap().cwnd.0 / 1_000
    };
    assert!(after(&plain) > 2 * BDP, "{}", after(&plain));
    assert!((BDP..=BDP * 12 / 10).contains(&after(&landed)), "{}", after(&landed));
}

#[test]
fn a_climb_that_ends_with_a_loss_lands_at_what_arrived() {
    let [_, landed] = both("slow-start", BDP);
    assert_eq!(landed.startup.exit.unwrap().why, Exit::Loss);
    // 1000 packets fit; 0.85 of them are 850.
    let after = landed.series.iter().find(|sample| sample.ssthresh < Bytes::MAX).unwrap();
    let landed = after.ssthresh.0 / 1_000;
    assert!((BDP * 15 / 10..=BDP * 18 / 10).contains(&landed), "{landed}");
}
