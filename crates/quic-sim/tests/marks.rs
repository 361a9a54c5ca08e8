//! ECN over quinn: links mark its datagrams, ACK frames count them, and start-up ends with a mark.

use crate::common::network;
use firstflight_core::policy::Exit;
use firstflight_quic_sim::quinn::{ClientAndServer, MIN_PACKET, QuicControl, Setup};
use firstflight_sim::{Ends, FlowOutcome, LinkSpec, Network, Outcome};

/// 20 Mbit/s and 100 ms hold 208 packets; the buffer holds 1000, so that what a window doubles by
/// before the first mark comes back finds room.
fn path(ecn: bool, ecn_threshold: Option<u64>) -> Network {
    let mut network = network(20, 100, 1_000, 1, 5);
    network.flows[0].endpoint.ecn = ecn;
    let link = LinkSpec { ecn_threshold, ..network.links[0].clone() };
    Network { links: vec![link], ..network }
}

fn run(network: &Network, control: &str) -> Outcome {
    let setup = Setup::new(QuicControl::named(control).unwrap(), 2_000_000);
    crate::common::run(
        network,
        vec![Box::new(ClientAndServer::new(&setup).unwrap()) as Box<dyn Ends>],
    )
}

fn exit(flow: &FlowOutcome) -> (Exit, u64) {
    let exit = flow.startup.exit.unwrap();
    (exit.why, exit.cwnd.0 / MIN_PACKET)
}

/// The window is at most what path and step hold, and a round trip of doubling beyond, when the
/// first mark comes; nothing is lost for it.
#[test]
fn every_start_up_that_leaves_at_a_loss_leaves_at_a_mark() {
    for start_up in ["slow-start", "limited", "hystart", "astart", "jump-start", "rapid-start"] {
        let outcome = run(&path(true, Some(40)), &format!("{start_up}+newreno"));
        let flow = &outcome.flows[0];
        let (why, window) = exit(flow);
        assert_eq!(why, Exit::Mark, "{start_up}");
        assert!(window <= 800, "{start_up}: {window}");
        let totals = outcome.links[0].totals;
        assert!(totals.marks > 0 && flow.counts.cuts > 0, "{start_up}: {totals:?}");
        assert_eq!(flow.counts.timeouts, 0, "{start_up}");
    }
}

#[test]
fn marks_come_instead_of_drops() {
    let marked = run(&path(true, Some(40)), "cubic");
    let totals = marked.links[0].totals;
    assert!(totals.marks > 10 && totals.drops == 0, "{totals:?}");
    assert!(totals.peak_packets < 500, "{totals:?}");
    let used = marked.flows[0].delivered_bytes.0 * 8 / 5;
    assert!(used > 15_000_000, "{used} bit/s");
    for (ecn, ecn_threshold) in [(false, Some(40)), (true, None)] {
        let totals = run(&path(ecn, ecn_threshold), "cubic").links[0].totals;
        assert!(totals.marks == 0 && totals.drops > 0, "{ecn}: {totals:?}");
    }
}

/// quinn hands on that marks came, not how many.
#[test]
fn what_reads_the_share_of_marks_is_refused() {
    for control in ["dctcp", "prague+prague"] {
        let problem = QuicControl::named(control).unwrap_err().to_string();
        assert!(problem.contains("ECN marks"), "{problem}");
    }
}
