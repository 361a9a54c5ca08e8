//! The key `pacing`: an endpoint that paces where its control says nothing.

use firstflight_results::RunResult;
use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

#[test]
fn an_endpoint_that_paces_spreads_the_initial_window_over_its_round_trip() {
    let peak = |more: &str| result("newreno", more).bottleneck.peak_queue_packets.unwrap();
    assert!(peak("") >= 8, "ten packets leave at once: {}", peak(""));
    assert_eq!(peak("pacing = false"), peak(""));
    assert!(peak("pacing = true") <= 1, "{}", peak("pacing = true"));
}

#[test]
fn a_control_that_paces_itself_does_as_without_the_key() {
    let sent = |more: &str| result("paced", more).flows[0].counts.sent_packets;
    assert_eq!(sent("pacing = true"), sent(""));
}

/// The first 150 ms of a path whose round trip takes 100 ms, the SYN's included.
fn result(control: &str, more: &str) -> RunResult {
    let text = format!("controls = ['{control}']\nduration = '150ms'\n{more}");
    let scenario = Scenario::parse(&text, "x.toml").unwrap();
    run(&scenario, &Options::default()).unwrap().runs.remove(0).result
}
