//! What is left of a scenario that was stopped half way.

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
fn of_several_seeds_whole_rounds_are_left() {
    let text = "controls = ['hoe', 'vegas', 'astart']\nduration = '5s'\nruns = 400";
    let scenario = Scenario::parse(text, "rounds.toml").unwrap();
    let stop = AtomicBool::new(false);
    let on_done = |done, _| stop.store(done >= 10, Ordering::Relaxed);
    let options = Options { stop: Some(&stop), on_done: Some(&on_done), ..Options::default() };
    let report = run(&scenario, &options).unwrap();
    let of = |alias: &str| -> Vec<u64> {
        let runs = report.runs.iter().filter(|run| run.result.alias == alias);
        runs.map(|run| run.result.seed).collect()
    };
    assert!((2..400).contains(&of("hoe").len()), "{:?}", of("hoe"));
    assert!(of("hoe") == of("vegas") && of("hoe") == of("astart"), "every control has the seeds");
    let partial = report.results().partial.unwrap();
    assert_eq!((partial.runs, partial.asked), (report.runs.len(), 1200));
}

#[test]
fn an_interruption_before_any_run_is_finished_leaves_nothing() {
    let stop = AtomicBool::new(true);
    let options = Options { stop: Some(&stop), ..Options::default() };
    assert!(matches!(run(&scenario(), &options), Err(RunError::Interrupted)));
}
