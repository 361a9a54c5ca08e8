//! Every file of `scenarios/` shows what it says it shows.

use std::fs;
use std::path::Path;

use firstflight_runner::{Options, run};
use firstflight_scenario::Scenario;

#[test]
fn every_scenario_of_the_repository_meets_its_expectations() {
    meets_expectations("scenarios", "scenarios/README.md", 6);
}

#[test]
fn every_case_of_bbr_that_shows_from_outside_meets_its_expectations() {
    meets_expectations("scenarios/bbr", "papers/modern/deviations.md", 10);
}

/// Runs every scenario of a folder and checks its `[expect]`. There are `least` files or more, and
/// `page` names each of them.
fn meets_expectations(folder: &str, page: &str, least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join(page)).unwrap();
    let files = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(files.len() >= least, "{files:?}");
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(readme.contains(&format!("`{name}`")), "{page} does not mention {name}");
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.expect.is_empty(), "{name} expects nothing");
        let report = run(&scenario, &Options::default()).unwrap();
        let unmet: Vec<String> = report
            .runs
            .iter()
            .flat_map(|run| scenario.unmet(&run.result))
            .map(|unmet| unmet.to_string())
            .collect();
        assert!(unmet.is_empty(), "{name}: {unmet:#?}");
    }
}

/// On a line that is equal both ways, two flows that change their directions have the results that
/// they had.
#[test]
fn a_line_that_is_the_same_both_ways_carries_either_way_alike() {
    let flows = |profile: &str, recovery: &str, reversed: usize| {
        let flow = |place: usize, control: &str| {
            let reverse = place == reversed;
            format!("[[flow]]\ncontrol = '{control}'\nstart = '{place}s'\nreverse = {reverse}\n")
        };
        let text = format!(
            "profile = '{profile}'\nrecovery = '{recovery}'\n\
             duration = '10s'\n[path]\nrate = '8Mbps'\nrtt = '60ms'\nbuffer = '30pkt'\n\
             access_delay = '2ms'\nback = {{ buffer = '30pkt' }}\n{}{}",
            flow(0, "newreno"),
            flow(1, "hystart")
        );
        let scenario = Scenario::parse(&text, "example.toml").unwrap();
        let result = run(&scenario, &Options::default()).unwrap().runs.remove(0).result;
        assert!(result.flows.iter().all(|flow| flow.utilization > 0.3), "{result:?}");
        serde_json::to_string(&result.flows).unwrap()
    };
    for (profile, recovery) in [("linux", "rack"), ("linux", "newreno"), ("rfc", "sack")] {
        let ways = [0, 1].map(|reversed| flows(profile, recovery, reversed));
        assert_eq!(ways[0], ways[1], "{profile} {recovery}");
    }
}

/// One ACK for ten packets, over ten round trips of an empty path: RFC 5681 and ns-2 count a
/// segment of it, Linux and QUIC all ten. The knob of a control outweighs its profile's rule.
#[test]
fn what_slow_start_counts_of_an_ack_is_the_profiles() {
    let grown = |profile: &str, control: &str, more: &str| {
        let text = format!(
            "controls = ['{control}']\nprofile = '{profile}'\nduration = '2s'\niw = '10pkt'\n\
             ssthresh = 'none'\ndelayed_ack = 10\nquick_acks = false\n{more}\n\
             [path]\nrate = '1Gbps'\nrtt = '195ms'"
        );
        let scenario = Scenario::parse(&text, "example.toml").unwrap();
        let report = run(&scenario, &Options::default()).unwrap();
        let sent = report.runs[0].result.flows[0].counts.sent_packets;
        // Every round trip doubles 10 packets, to thousands; or it adds a tenth and a packet.
        match sent {
            5_000.. => "all",
            ..200 => "one",
            _ => panic!("{profile} {control} {more}: {sent} packets"),
        }
    };
    let profiles = ["linux", "rfc", "ns2", "quic"];
    let own = profiles.map(|profile| grown(profile, "newreno", ""));
    assert_eq!(own, ["all", "one", "one", "all"]);
    assert_eq!(grown("linux", "newreno", "segment_per_ack = true"), "one");
    assert_eq!(grown("rfc", "newreno", "segment_per_ack = false"), "all");
    for profile in ["linux", "rfc", "ns2"] {
        assert_eq!(grown(profile, "slow-start(count=all)+newreno", ""), "all");
        assert_eq!(grown(profile, "slow-start(count=bytes)+newreno", ""), "one");
    }
}

/// A receiver that waits for sixteen packets or 25 ms holds each ACK back where packets leave 30 ms
/// apart, as Scout's first do over such an RTT. That is no queue: taken for one, it ended start-up
/// at a twentieth of the BDP, and the transfer took 17 and 18 s.
#[test]
fn scout_takes_no_ack_that_a_receiver_of_quic_holds_back_for_a_queue() {
    for packet in ["1200B", "1448B"] {
        let text = format!(
            "controls = ['scout']\nprofile = 'quic'\nduration = '30s'\npacket = '{packet}'\n\
             delayed_ack = 16\npath = {{ rate = '10Mbps', rtt = '604ms', buffer = '1bdp' }}\n\
             flow = [{{ size = '5MB' }}]"
        );
        let scenario = Scenario::parse(&text, "example.toml").unwrap();
        let report = run(&scenario, &Options::default()).unwrap();
        let took = report.runs[0].result.flows[0].completion_time_s.unwrap();
        assert!(took < 7.0, "{packet}: {took} s");
    }
}

/// Halfback's packets are sent again before they are known to be lost, which Linux's repair can.
#[test]
fn what_a_recovery_cannot_carry_is_refused_with_the_reason() {
    let with = |more: &str| {
        let text = format!("controls = ['halfback']\nduration = '1s'\n{more}");
        let scenario = Scenario::parse(&text, "example.toml").unwrap();
        run(&scenario, &Options::default()).map(|_| ()).map_err(|problem| problem.to_string())
    };
    assert_eq!(with(""), Ok(()));
    for more in ["recovery = 'sack'", "profile = 'rfc'", "profile = 'quic'"] {
        let problem = with(more).unwrap_err();
        assert!(problem.contains("halfback needs packets sent again before"), "{problem}");
        assert!(problem.contains("sim without recovery `rack`"), "{problem}");
    }
    assert_eq!(with("profile = 'rfc'\nrecovery = 'rack'"), Ok(()));
}

/// QUIC's recovery of the simulator knows no ACK that is lost, and no packet that is overtaken.
#[test]
fn what_the_simulators_own_ends_cannot_have_on_their_path_is_refused() {
    let problem = |path: &str, more: &str| {
        let text = format!("controls = ['cubic']\nduration = '1s'\n{more}\n[path]\n{path}");
        let scenario = Scenario::parse(&text, "example.toml").unwrap();
        run(&scenario, &Options::default()).map(|_| ()).map_err(|problem| problem.to_string())
    };
    let [reorder, back] = ["reorder = { share = '1%', by = '3ms' }", "back = { loss = '1%' }"];
    for path in [reorder, back, "back = { rate = '10kbps' }"] {
        assert_eq!(problem(path, ""), Ok(()));
    }
    let quic = "profile = 'quic'";
    assert_eq!(problem("back = { rate = '10kbps' }", quic), Ok(()), "nothing is lost");
    for (path, key) in [(reorder, "`reorder`"), (back, "`back`")] {
        let problem = problem(path, quic).unwrap_err();
        assert!(problem.starts_with(&format!("{key} of link bottleneck: ")), "{problem}");
        assert!(problem.ends_with("accepted: `--on quic`, or TCP"), "{problem}");
    }
}
