//! What is left of a scenario that was told to stop half way.

use std::sync::atomic::{AtomicBool, Ordering};

use firstflight_runner::{Options, RunError, run};
use firstflight_scenario::Scenario;

/// More runs than any machine starts at once.
fn scenario() -> Scenario {
    let controls: Vec<String> =
        (1..=1000).map(|window| format!("'slow-start(iw={window}pkt)'")).collect();
    let text = format!("controls = [{}]\nduration = '5s'", controls.join(", "));
    Scenario::parse(&text, "many.toml").unwrap()
}

#[test]
fn what_was_finished_before_an_interruption_is_reported_in_order() {
    let stop = AtomicBool::new(false);
    let on_done = |_, _| stop.store(true, Ordering::Relaxed);
    let options = Options { stop: Some(&stop), on_done: Some(&on_done), ..Options::default() };
    let report = run(&scenario(), &options).unwrap();
    assert!(report.interrupted);
    assert!((1..1000).contains(&report.runs.len()), "{} runs", report.runs.len());
    let window =
        |alias: &str| -> u32 { alias.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap() };
    assert!(report.runs.is_sorted_by_key(|run| window(&run.result.alias)));
}

#[test]
fn an_interruption_before_any_run_is_finished_leaves_nothing() {
    let stop = AtomicBool::new(true);
    let options = Options { stop: Some(&stop), ..Options::default() };
    assert!(matches!(run(&scenario(), &options), Err(RunError::Interrupted)));
}
