//! The repository's scenarios can be run over QUIC.

use std::path::Path;

use firstflight_quic_sim::Quic;
use firstflight_runner::{On, Options, full_name, resolve, run};
use firstflight_scenario::{Document, PathFlags, Scenario};

const ON: Option<On<'_>> = Some(On { transport: &Quic::SILENT, by_default: true });

#[test]
fn every_scenario_of_the_repository_resolves_with_all_its_controls() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/quic");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        seen += 1;
        let scenario = Scenario::load(&file).unwrap();
        assert_eq!(resolve(&scenario, ON).unwrap().packet_bytes, 1_200);
        assert!(!scenario.expect.is_empty(), "{}: expects nothing", file.display());
        for control in &scenario.controls {
            full_name(control, ON).unwrap();
        }
    }
    assert!(seen >= 8, "{seen} scenarios");
}

#[test]
fn a_small_file_over_a_slow_satellite_takes_what_the_table_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/quic/geo-small.toml");
    let mut document = Document::load(file).unwrap();
    document.apply(&PathFlags { duration: Some("8s".to_owned()), ..PathFlags::default() }).unwrap();
    let report = run(&document.scenario().unwrap(), &Options { on: ON, ..Options::default() });
    let report = report.unwrap();
    let time = |alias: &str| {
        let run = report.runs.iter().find(|run| run.result.alias == alias).unwrap();
        run.result.flows[0].completion_time_s
    };
    for alias in ["newreno", "quinn-newreno", "quinn-cubic"] {
        assert!((4.6..5.0).contains(&time(alias).unwrap()), "{alias}: {:?}", time(alias));
    }
    assert_eq!(time("astart"), None, "12.7 s");
}
