//! The runner alone prints what the whole program prints.

use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

/// serde_json sorts the keys of a value unless its feature `preserve_order` is on. In the program
/// quinn's qlog turns that on, here nobody but the workspace.
#[test]
fn the_keys_of_the_scenario_come_in_the_order_of_its_fields() {
    let scenario = Scenario::parse("controls = ['newreno']\nduration = '1s'", "x.toml").unwrap();
    let report = run(&scenario, &Options::default()).unwrap();
    let json = report.results().to_json().unwrap();
    let keys = json.lines().filter_map(|line| line.strip_prefix("    \"")?.split_once('"'));
    let keys: Vec<&str> = keys.map(|(key, _)| key).take(6).collect();
    assert_eq!(keys, ["name", "title", "controls", "duration_ns", "seed", "runs"]);
}
