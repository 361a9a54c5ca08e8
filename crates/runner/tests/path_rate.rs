//! The rate that a path really has, in utilization and BDP: behind a policer, a shaper, a schedule
//! and a trace. The expected values are arithmetic on what each file says.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use firstflight_results::{FlowResult, RunResult};
use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

fn result(text: &str) -> RunResult {
    // Written once: tests in other threads read it.
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("path_rate");
        fs::create_dir_all(&folder).unwrap();
        // Every 2.4 ms: 2000 times 12,000 bit in 4.8 s, 5 Mbit/s.
        let five: String = (1..=2000).map(|i| format!("{}\n", (i * 12) / 5)).collect();
        fs::write(folder.join("five.trace"), five).unwrap();
        folder
    });
    let file = FOLDER.join("x.toml");
    let scenario = Scenario::parse(text, file.to_str().unwrap()).unwrap();
    run(&scenario, &Options::default()).unwrap().runs.remove(0).result
}

fn flow(text: &str) -> FlowResult {
    result(text).flows.remove(0)
}

/// What a flow carried over what the path does, and the window at its exit over the BDP, both from
/// what is counted in packets.
fn shares(flow: &FlowResult, (mbps, seconds): (f64, f64), bdp_packets: f64, bits: f64) -> [f64; 2] {
    let carried = flow.delivered_packets as f64 * bits / (mbps * 1e6 * seconds);
    [carried, flow.startup.exit_cwnd_packets.unwrap() as f64 / bdp_packets]
}

fn assert_shares(flow: &FlowResult, expected: [f64; 2]) {
    let found = [flow.utilization, flow.startup.exit_window_over_bdp.unwrap()];
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 0.02, "{found}, expected {expected}: {flow:?}");
    }
    assert!(flow.startup.time_to_bdp_s.at_90.is_some_and(|after| after < 1.0), "{flow:?}");
}

#[test]
fn behind_a_policer_and_a_shaper_the_path_has_their_rate() {
    let head = "duration = '20s'\npacket = '1448B'\nheaders = '52B'\n[path]\nrate = '1Gbps'\n";
    let policer = "rtt = '10ms'\npolicer = { rate = '100Mbps', bucket = '64kB' }";
    let bbr = flow(&format!("controls = ['bbr']\n{head}{policer}"));
    // 125 kB are 83 packets of 1500 bytes.
    assert_shares(&bbr, shares(&bbr, (100.0, 20.0), 83.3, 1448.0 * 8.0));
    assert!((0.92..0.97).contains(&bbr.utilization), "{bbr:?}");
    let tbf = "rtt = '40ms'\nqueue = 'tbf(rate=100Mbps, burst=64kB)'";
    let hystart = flow(&format!("controls = ['hystart']\n{head}{tbf}"));
    assert_shares(&hystart, shares(&hystart, (100.0, 20.0), 333.3, 1448.0 * 8.0));
    assert!((0.94..0.97).contains(&hystart.utilization), "{hystart:?}");
}

#[test]
fn of_a_schedule_and_of_a_trace_it_is_the_rate_that_passed() {
    let rates = "[path]\nrate = '40Mbps'\nrtt = '100ms'\nrates = [{ rate = '10Mbps' }]";
    let flow_of = |path: &str| flow(&format!("controls = ['hystart']\nduration = '20s'\n{path}"));
    let hystart = flow_of(rates);
    assert_shares(&hystart, shares(&hystart, (10.0, 20.0), 125.0, 8_000.0));
    let trace = "path = { rtt = '40ms', buffer = '100pkt', rate_trace = 'five.trace' }";
    let hystart = flow_of(trace);
    assert_shares(&hystart, shares(&hystart, (5.0, 20.0), 25.0, 8_000.0));
    // 10 Mbit/s while start-up lasts, and a fifth of the time 50: the one is the BDP, the mean of
    // both what was carried.
    let rates = "[path]\nrate = '10Mbps'\nrtt = '100ms'\n\
                 rates = [{ rate = '10Mbps' }, { at = '16s', rate = '50Mbps' }]";
    let hystart = flow_of(rates);
    assert_shares(&hystart, shares(&hystart, (18.0, 20.0), 125.0, 8_000.0));
}

#[test]
fn no_share_is_above_one_and_a_path_of_no_packet_has_no_bdp() {
    let run = result(
        "controls = ['hoe+cubic']\nduration = '3s'\npacket = '9000B'\n[path]\n\
         rate = '100kbps'\nrtt = '1ns'\nbuffer = '0.1bdp'\nrates = [{ rate = '1Mbps' }, \
         { at = '500ms', rate = 'none' }, { at = '1s', rate = '3Mbps' }]",
    );
    // 0.5 and 6 Mbit in three seconds.
    let flow = &run.flows[0];
    let carried = flow.delivered_bytes as f64 * 8.0 / 6.5e6;
    assert!((flow.utilization / carried - 1.0).abs() < 1e-6 && flow.utilization > 0.9, "{flow:?}");
    assert_eq!(run.utilization, flow.utilization);
    assert_eq!(flow.startup.exit_window_over_bdp, None);
}

/// A full bucket passes at once, beyond its rate: it counts among what passes.
#[test]
fn a_bucket_of_the_size_of_the_transfer_is_no_share_above_one() {
    let text = "controls = ['newreno']\nduration = '10s'\n[path]\nrate = '1Gbps'\nrtt = '20ms'\n\
                policer = { rate = '1Mbps', bucket = '1MB' }\n[[flow]]\nsize = '800KB'";
    let flow = flow(text);
    assert!(flow.throughput_bps > 10e6, "{flow:?}");
    assert!(flow.utilization < 1.0, "{flow:?}");
}

/// A stopped flow is measured until it stops: as the run that ends then.
#[test]
fn a_flow_that_stops_has_what_had_come_by_then() {
    let of = |duration: &str, flow: &str| {
        result(&format!(
            "controls = ['newreno', 'cubic', 'hystart', 'astart']\nduration = '{duration}'\n\
             path = {{ rate = '10Mbps', rtt = '40ms', buffer = '10bdp' }}\n[[flow]]\n{flow}"
        ))
    };
    let whole = of("2s", "");
    for stop in ["stop = '2s'", "lifetime = '2s'"] {
        let stopped = of("20s", stop);
        for (stopped, whole) in stopped.flows.iter().zip(&whole.flows) {
            assert_eq!(stopped.delivered_packets, whole.delivered_packets);
            assert_eq!(stopped.throughput_bps, whole.throughput_bps);
            assert!(stopped.utilization <= 1.0, "{stopped:?}");
        }
        assert!(stopped.total_throughput_bps * 20.0 <= 2.0 * 10e6);
    }
}
