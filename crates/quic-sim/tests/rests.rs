//! A request, a rest, a request: how CUBIC goes on. RFC 9438 section 5.8 does not count the time in
//! which the source had nothing to send.

use firstflight_quic_sim::noq::NOQ;
use firstflight_quic_sim::quinn::QUIC;
use firstflight_runner::{Options, Simulator, Transport as _};
use firstflight_scenario::Scenario;

/// By how many packets cwnd grows in the half second after a rest, which lasts from 1.7 s until
/// `at` milliseconds. A loss has ended start-up before it.
fn grown(on: Simulator<'_>, profile: &str, control: &str, at: u32) -> f64 {
    let text = format!(
        "controls = ['{control}']\n{profile}\nduration = '{}ms'\npacket = '1200B'\n\
         path = {{ rate = '20Mbps', rtt = '100ms', buffer = '0.25bdp' }}\n\
         [[flow]]\nwrites = [{{ size = '2.5MB' }}, {{ at = '{at}ms', size = '2MB' }}]",
        at + 500
    );
    let scenario = Scenario::parse(&text, "x.toml").unwrap();
    let options = Options { samples: Some((at + 500) / 10), ..Options::default() };
    let report = on.run(&scenario, &options).unwrap();
    let (flow, series) = (&report.runs[0].result.flows[0], &report.runs[0].flows[0]);
    assert_eq!(flow.startup.exit_reason.as_deref(), Some("loss"), "{control}");
    let times = series.column("time_s").unwrap().flatten();
    let windows: Vec<_> = times.zip(series.column("cwnd_packets").unwrap().flatten()).collect();
    let before = windows.iter().rfind(|(time, _)| *time < f64::from(at) / 1e3).unwrap();
    assert!((1.5..1.8).contains(&before.0), "{control}: {before:?}");
    windows.last().unwrap().1 - before.1
}

#[test]
fn the_curve_rests_with_the_source_over_every_stack_as_in_the_simulator() {
    let simulated = grown(Simulator::TCP, "profile = 'quic'", "cubic", 5_000);
    for (stack, at) in [(QUIC, 2_000), (QUIC, 5_000), (NOQ, 5_000)] {
        let grown = grown(stack, "", "cubic", at);
        assert!((grown - simulated).abs() < 1.0, "{at} ms: {grown}, simulated {simulated}");
    }
    // quinn's own counts the rest, and its window leaps ahead.
    let [short, long] = [2_000, 5_000].map(|at| grown(QUIC, "", "quinn-cubic", at));
    assert!(long > 2.0 * short, "{short} and {long} packets");
}
