//! The simulator's profile `quic` held to quinn in virtual time: over the same paths what arrives,
//! what is lost, and why start-up ends. `docs/deviations.md` explains what differs and why.

use firstflight_quic_sim::quinn::QUIC;
use firstflight_runner::{Options, Run, Simulator, Transport as _};
use firstflight_scenario::Scenario;

/// Both stacks over a path of the scenario's words: pairs of runs, the simulator's first.
fn both(controls: &[&str], words: &str) -> Vec<(Run, Run)> {
    let on = |profile: &str, on: Simulator<'_>| {
        let text = format!("packet = '1200B'\ncontrols = {controls:?}\n{profile}\n{words}");
        let scenario = Scenario::parse(&text, "x.toml").unwrap();
        on.run(&scenario, &Options::default()).unwrap().runs
    };
    let (ours, quinns) = (on("profile = 'quic'", Simulator::TCP), on("", QUIC));
    assert_eq!(ours.len(), quinns.len());
    ours.into_iter().zip(quinns).collect()
}

/// Packets that reached the far end: what a throughput is made of, in whatever order.
fn arrived(run: &Run) -> f64 {
    (run.result.flows[0].counts.sent_packets - run.result.bottleneck.drops) as f64
}

fn near(ours: f64, quinns: f64, share: f64) -> bool {
    (ours - quinns).abs() <= share * quinns
}

/// NewReno, CUBIC and Astart lose what the buffer and the doubling of the window decide. When
/// HyStart leaves and how far `mstart` leaps ahead hangs on the times of single ACKs, and so does
/// what they lose: a packet of queue at the beginning of a round is a round more of slow start.
fn check_drops(ours: &Run, quinns: &Run, place: &str) {
    let [x, y] = [ours, quinns].map(|run| run.result.bottleneck.drops as f64);
    let sent = quinns.result.flows[0].counts.sent_packets as f64;
    let (share, packets) = match ours.result.alias.as_str() {
        "hystart" | "mstart" => (0.15, 0.005 * sent),
        _ => (0.03, 10.0),
    };
    assert!(near(x, y, share) || (x - y).abs() <= packets, "{place}: {x} and {y} drops");
}

/// All but the throughput.
fn check_packets(ours: &Run, quinns: &Run, place: &str) {
    let (x, y) = (arrived(ours), arrived(quinns));
    assert!(near(x, y, 0.03), "{place}: {x} and {y} packets arrived");
    check_drops(ours, quinns, place);
    let [x, y] = [ours, quinns].map(|run| &run.result.flows[0]);
    assert_eq!((x.counts.timeouts, y.counts.timeouts), (0, 0), "{place}");
    assert_eq!(x.startup.exit_reason, y.startup.exit_reason, "{place}");
}

const CONTROLS: [&str; 5] = ["newreno", "cubic", "hystart", "astart", "mstart"];

#[test]
fn without_random_loss_throughput_is_within_a_twentieth_of_quinns() {
    for words in [
        "duration = '12s'\npath = { rate = '27Mbps', rtt = '130ms', buffer = '220pkt' }",
        "duration = '15s'\npath = { rate = '40Mbps', rtt = '200ms' }",
        "duration = '10s'\npath = { rate = '20Mbps', rtt = '100ms', buffer = '0.5bdp' }",
        // scenarios/quic: astart-40mbps-100ms, geo-small, overshoot-40ms.
        "duration = '20s'\npath = { rate = '40Mbps', rtt = '100ms' }",
        "duration = '30s'\npath = { rate = '10Mbps', rtt = '600ms' }\nflow = [{ size = '1MB' }]",
        "duration = '20s'\npath = { rate = '50Mbps', rtt = '40ms' }\nflow = [{ size = '10MiB' }]",
    ] {
        for (ours, quinns) in both(&CONTROLS, words) {
            let place = format!("{} over {words}", ours.result.alias);
            let [x, y] = [&ours, &quinns].map(|run| run.result.flows[0].throughput_bps);
            assert!(near(x, y, 0.05), "{place}: {x} and {y} bit/s");
            check_packets(&ours, &quinns, &place);
        }
    }
}

/// Where start-up loses much of a long window, quinn's streams wait for it (see below).
#[test]
fn as_much_arrives_where_quinns_streams_wait_for_what_is_lost() {
    let words = "duration = '15s'\npath = { rate = '8Mbps', rtt = '330ms', buffer = '2bdp' }";
    for (ours, quinns) in both(&CONTROLS, words) {
        check_packets(&ours, &quinns, &format!("{} over {words}", ours.result.alias));
    }
}

/// quinn's application writes streams of a mebibyte, and quinn sends what is lost of a stream that
/// has been written behind all that was written since: its throughput, which counts every stream in
/// order, falls behind what arrives. So the test compares what arrives. It compares means over
/// seeds: quinn's handshake takes more packets, so that the same random losses hit other packets.
#[test]
fn with_random_loss_as_much_arrives_as_over_quinn() {
    for path in [
        "duration = '12s'\npath = { rate = '27Mbps', rtt = '130ms', buffer = '220pkt'",
        "duration = '10s'\npath = { rate = '20Mbps', rtt = '100ms', buffer = '0.5bdp'",
    ] {
        for loss in ["0.1%", "1%"] {
            let words = format!("runs = 5\n{path}, loss = '{loss}' }}");
            for control in CONTROLS {
                let runs = both(&[control], &words);
                let place = format!("{control} over {words}");
                let mean = |of: fn(&(Run, Run)) -> f64| {
                    let values: Vec<f64> = runs.iter().map(of).collect();
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                    (mean, (squares / (values.len() * (values.len() - 1)) as f64).sqrt())
                };
                let (ours, our_error) = mean(|pair| arrived(&pair.0));
                let (quinns, error) = mean(|pair| arrived(&pair.1));
                // One loss earlier or later makes another throughput of those that leap ahead.
                let chance = match control {
                    "astart" | "mstart" => our_error.hypot(error),
                    _ => 0.0,
                };
                assert!(
                    (ours - quinns).abs() <= 0.05 * quinns + chance,
                    "{place}: {ours} ({our_error}) and {quinns} ({error}) packets"
                );
                for (ours, quinns) in &runs {
                    let [x, y] = [ours, quinns].map(|run| &run.result.flows[0]);
                    assert_eq!((x.counts.timeouts, y.counts.timeouts), (0, 0), "{place}");
                    if control != "hystart" {
                        let reasons = [x, y].map(|flow| flow.startup.exit_reason.clone());
                        assert_eq!(reasons[0], reasons[1], "{place}");
                    }
                }
            }
        }
    }
}
