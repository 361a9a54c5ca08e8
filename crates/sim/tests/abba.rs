//! ABBA on paths that lose at random: what its source claims.

use crate::common::{flow, link, network};
use firstflight_sim::{FlowOutcome, LinkSpec, LossSpec, Recovery, named, run};

/// 40 Mbit/s, 100 ms and a BDP of buffer, of whose packets so many in 10^9 are lost; two minutes.
fn over(avoidance: &str, loss_ppb: u64) -> (f64, FlowOutcome) {
    let mut spec = flow(&[0], 50, Recovery::Rack);
    spec.control = named("slow-start", avoidance).unwrap();
    let loss = LossSpec { in_good_ppb: loss_ppb, ..LossSpec::NONE };
    let link = LinkSpec { loss, ..link(40, 50, 500) };
    let flow = run(&network(vec![link], vec![spec], 120_000)).flows.remove(0);
    (flow.delivered_bytes.0 as f64 * 8.0 / 120e6, flow)
}

/// Where one packet in ten thousand is lost CUBIC loses its window before it has filled the path;
/// ABBA adds a fortieth per round trip meanwhile, and looks again for the end of slow start.
#[test]
fn abba_keeps_a_path_full_that_loses_a_packet_in_ten_thousand() {
    let ((cubic, _), (abba, flow)) = (over("cubic", 100_000), over("abba", 100_000));
    assert!(abba > 1.3 * cubic, "{abba} {cubic}");
    assert_eq!(flow.counts.timeouts, 0);
}

/// On a path that loses by its queue alone ABBA has no occasion.
#[test]
fn abba_is_cubic_where_the_queue_is_never_empty() {
    let ((cubic, before), (abba, after)) = (over("cubic", 0), over("abba", 0));
    assert!((abba - cubic).abs() < 0.5, "{abba} {cubic}");
    assert_eq!(after.reprobes, 0);
    assert!(after.drops <= before.drops * 3 / 2, "{} {}", after.drops, before.drops);
}
