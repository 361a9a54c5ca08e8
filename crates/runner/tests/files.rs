//! Sources of files from a scenario to the results.

use firstflight_results::{FilesResult, RunResult};
use firstflight_runner::{Options, Simulator, Transport as _, run};
use firstflight_scenario::Scenario;

const SCENARIO: &str = "controls = ['stcp']\nprofile = 'rfc'\nduration = '30s'\n\
    [[flow]]\ncount = 2\nstarts = 'uniform 0s..2s'\n\
    files = { size = '20KB..60KB', pause = '0s..1s' }\n";

fn result(text: &str) -> RunResult {
    let scenario = Scenario::parse(text, "files.toml").unwrap();
    run(&scenario, &Options::default()).unwrap().runs.remove(0).result
}

#[test]
fn a_source_of_files_reports_what_became_of_them() {
    let run = result(SCENARIO);
    for flow in &run.flows {
        let files: FilesResult = flow.files.unwrap();
        // Six or seven round trips of 100 ms and half a second of pause each.
        assert!((20..40).contains(&files.count), "{files:?}");
        let mean_packets = files.unique_packets as f64 / files.count as f64;
        assert!((20.0..=60.0).contains(&mean_packets));
        assert_eq!(files.sent_packets, files.unique_packets, "nothing is lost on this path");
        assert!(files.mean_throughput_bps > 0.5 * mean_packets * 8e3 / files.mean_time_s);
        assert!(files.standard_error_bps.unwrap() > 0.0);
        assert_eq!(flow.completion_time_s, None);
        assert!(flow.delivered_packets >= files.unique_packets);
    }
    assert_ne!(run.flows[0].start_s, run.flows[1].start_s);
}

#[test]
fn a_flow_without_files_reports_none() {
    let run = result("controls = ['newreno']\nduration = '1s'");
    assert_eq!(run.flows[0].files, None);
    assert!(!serde_json::to_string(&run).unwrap().contains("files"));
}

#[test]
fn an_application_that_rests_between_writes_keeps_its_window_if_the_key_says_so() {
    let finishes = |keeps: &str| {
        let writes = "writes = [{ size = '500KB' }, { at = '5s', size = '500KB' }]";
        let run = result(&format!("controls = ['newreno']\n{keeps}\n[[flow]]\n{writes}"));
        run.flows[0].completion_time_s.unwrap()
    };
    let (decays, keeps) = (finishes(""), finishes("slow_start_after_idle = false"));
    assert!(keeps < decays - 0.1, "{keeps} {decays}");
    let checked = |more: &str| {
        let text = format!("controls = ['newreno']\nslow_start_after_idle = false\n{more}");
        Simulator::TCP.check_keys(&Scenario::parse(&text, "x.toml").unwrap())
    };
    checked("[[flow]]\nwrites = [{ size = '1KB' }, { at = '5s', size = '1KB' }]").unwrap();
    let refused = checked("").unwrap_err().to_string();
    assert!(refused.ends_with("files with keep_alive, or as false with quinn's QUIC"), "{refused}");
}
