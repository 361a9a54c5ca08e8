//! The repository's scenarios can be run over QUIC.

use std::path::Path;

use firstflight_quic_sim::quinn::QUIC;
use firstflight_runner::{Options, Simulator, Transport as _};
use firstflight_scenario::{Document, PathFlags, Scenario};

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
        assert_eq!(QUIC.complete(&scenario).unwrap().packet.bytes(), 1_200);
        assert!(!scenario.expect.is_empty(), "{}: expects nothing", file.display());
        for control in &scenario.controls {
            QUIC.full_name(control).unwrap();
        }
    }
    assert!(seen >= 8, "{seen} scenarios");
}

/// The scenarios of BBR's test cases hold over quinn, too. Over simulated TCP
/// `crates/runner/tests/scenarios.rs` runs them.
#[test]
fn quinn_s_ends_meet_what_the_cases_of_bbr_expect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/bbr");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut seen = 0;
    for file in files {
        let scenario = Scenario::load(&file).unwrap();
        let report = QUIC.run(&scenario, &Options::default()).unwrap();
        let unmet: Vec<String> = report
            .runs
            .iter()
            .flat_map(|run| scenario.unmet(&run.result))
            .map(|unmet| unmet.to_string())
            .collect();
        assert!(unmet.is_empty(), "{}: {unmet:#?}", file.display());
        seen += 1;
    }
    assert!(seen >= 10, "{seen} cases");
}

/// One file, simulated TCP and QUIC: a link that loses in bursts, and transfers that arrive whole.
#[test]
fn bursts_of_loss_meet_tcp_and_quic_alike() {
    let text = "controls = ['newreno']\nduration = '60s'\n\
        path = { rate = '20Mbps', rtt = '40ms', loss = 'ge:0.2%,20%' }\n\
        [[flow]]\ntransport = 'tcp'\nsize = '3MB'\n[[flow]]\ntransport = 'quic'\nsize = '3MB'";
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    let report = QUIC.run(&scenario, &Options::default()).unwrap();
    let result = &report.runs[0].result;
    for flow in &result.flows {
        assert!(flow.completion_time_s.is_some(), "{flow:?}");
        // 2500 packets and five bursts of five, in the mean.
        assert!(flow.counts.retransmitted_packets > 5, "{flow:?}");
    }
    let link = &result.bottleneck;
    assert!((15..150).contains(&link.random_losses), "{link:?}");
}

/// quinn takes 10 MiB ahead of what leaves. When the flow stops nothing of that leaves any more,
/// and the next flow has the path for itself, as after a flow of TCP.
#[test]
fn a_stopped_flow_of_quic_stops() {
    for control in ["newreno", "quinn-cubic"] {
        let text = format!(
            "controls = ['{control}']\nduration = '20s'\n\
             path = {{ rate = '10Mbps', rtt = '40ms', buffer = '1bdp' }}\n\
             [[flow]]\nstop = '2s'\n[[flow]]\nstart = '3s'"
        );
        let scenario = Scenario::parse(&text, "x.toml").unwrap();
        let report = QUIC.run(&scenario, &Options::default()).unwrap();
        let [stopped, next] = &report.runs[0].result.flows[..] else { panic!() };
        assert!((0.8..1.0).contains(&stopped.utilization), "{stopped:?}");
        // 2 s carry 2083 packets of 1200 bytes, of which some were dropped, and the path holds 83.
        assert!(stopped.counts.sent_packets < 2_083 + 200, "{stopped:?}");
        assert!(next.utilization > 0.95, "{next:?}");
        assert_eq!(report.runs[0].result.note, None, "a stop breaks nothing");
    }
}

/// Every key of a link, over quinn: one seed gives one result, and nothing breaks the connection.
#[test]
fn quic_crosses_every_element_and_one_seed_gives_one_result() {
    let ways = [
        "delays = [{ delay = '15ms' }, { at = '1s', delay = '50ms' }]",
        "delays = [{ delay = '50ms' }, { at = '500ms', delay = '15ms' }]\ndelays_period = '1s'",
        "rate_trace = 'traces/cell.trace'\ndelay_trace = 'traces/handover.delay'",
        "back = { rate = '100kbps', buffer = '20pkt' }",
        "back = { loss = '10%', release = '10ms', jitter = 'uniform:1ms,3ms' }",
        "jitter = 'normal:5ms,5ms'\nreorder = { share = '1%', by = '3ms' }\nrelease = '5ms'",
    ];
    for way in ways {
        let text = format!(
            "controls = ['cubic']\nduration = '30s'\n[[flow]]\nsize = '2MB'\n\
             [path]\nrate = '10Mbps'\nrtt = '30ms'\nbuffer = '2bdp'\n{way}"
        );
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/x.toml");
        let scenario = Scenario::parse(&text, file).unwrap();
        let once = || {
            let report = QUIC.run(&scenario, &Options::default()).unwrap();
            (report.runs[0].result.flows.clone(), report.runs[0].result.bottleneck)
        };
        let (flows, bottleneck) = once();
        assert!(flows[0].completion_time_s.is_some(), "{way}: {flows:?}");
        let first = format!("{flows:?}, {bottleneck:?}");
        let (flows, bottleneck) = once();
        assert_eq!(first, format!("{flows:?}, {bottleneck:?}"), "{way}");
    }
}

/// The simulator's QUIC and quinn, where ACKs are few and where the sender keeps little: five paths
/// each, on which both carry as much, but for a twentieth.
#[test]
fn few_acks_and_little_room_slow_the_simulators_quic_and_quinn_alike() {
    let paths = [
        ("10Mbps", "40ms", "1bdp"),
        ("10Mbps", "100ms", "1bdp"),
        ("20Mbps", "30ms", "2bdp"),
        ("20Mbps", "80ms", "0.5bdp"),
        ("40Mbps", "50ms", "1bdp"),
    ];
    let keys = ["acks_per_rtt = 4", "acks_per_rtt = 2", "send_buffer = '0.5bdp'"];
    for (key, (rate, rtt, buffer)) in keys.iter().flat_map(|key| paths.map(|path| (key, path))) {
        let text = format!(
            "controls = ['newreno']\nprofile = 'quic'\nduration = '4s'\nheaders = '28B'\n{key}\n\
             path = {{ rate = '{rate}', rtt = '{rtt}', buffer = '{buffer}' }}"
        );
        let scenario = Scenario::parse(&text, "x.toml").unwrap();
        let carried = [Simulator::TCP, QUIC].map(|on| {
            let report = on.run(&scenario, &Options::default()).unwrap();
            report.runs[0].result.total_throughput_bps
        });
        let apart = carried[1] / carried[0] - 1.0;
        assert!(apart.abs() < 0.05, "{key}, {rate}, {rtt}, {buffer}: {carried:?}");
    }
}

/// Applications that write by the clock, a window that opens late, and a handshake that is late:
/// with either transport the transfer takes as long as that and the path make it.
#[test]
fn ends_that_wait_for_their_application_or_their_window_take_as_long_with_either_transport() {
    for (ends, expected) in [
        // 400 kB a second are there after 80 ms each; the last is written at 3 s.
        ("writes = [{ size = '400KB', every = '1s', count = 4 }]", 3.3..3.9),
        ("writes = [{ size = '100KB' }, { at = '2s', size = '2MB' }]", 3.7..4.6),
        // 125 kB in 100 ms for 2 s, and then 10 Mbit/s of what is left of 4 MB.
        ("size = '4MB'\nreceiver_window = '25KB'\nreceiver_window_until = '2s'", 4.7..5.6),
        ("size = '1MB'\nhandshake_delay = '500ms'", 1.6..2.6),
    ] {
        for transport in ["tcp", "quic"] {
            let text = format!(
                "controls = ['cubic']\nduration = '20s'\n\
                 path = {{ rate = '10Mbps', rtt = '100ms', buffer = '1bdp' }}\n\
                 [[flow]]\ntransport = '{transport}'\n{ends}"
            );
            let scenario = Scenario::parse(&text, "x.toml").unwrap();
            let report = QUIC.run(&scenario, &Options::default()).unwrap();
            let took = report.runs[0].result.flows[0].completion_time_s.unwrap();
            assert!(expected.contains(&took), "{transport}, {ends}: {took}");
        }
    }
}

/// Files on one connection: only the first waits for a handshake, and the window that the second
/// finds is what the first has left.
#[test]
fn files_on_one_connection_shake_hands_once_and_keep_the_window() {
    let text = "controls = ['newreno']\nduration = '20s'\npacket = '1200B'\n\
        path = { rate = '20Mbps', rtt = '100ms', buffer = '2bdp' }\n\
        [[flow]]\nfiles = { size = '500KB', pause = '500ms', keep_alive = KEPT }";
    let files = |kept: &str, on: Simulator<'_>| {
        let scenario = Scenario::parse(&text.replace("KEPT", kept), "x.toml").unwrap();
        let report = on.run(&scenario, &Options::default()).unwrap();
        report.runs[0].result.flows[0].files.unwrap()
    };
    let [kept, each, tcp] =
        [("true", QUIC), ("false", QUIC), ("true", Simulator::TCP)].map(|(k, o)| files(k, o));
    // 417 packets take 0.2 s at the rate of the link, and half a round trip.
    assert!(kept.last_time_s < 0.26, "{kept:?}");
    assert!(each.last_time_s > 0.6, "{each:?}");
    assert!((kept.mean_time_s / tcp.mean_time_s - 1.0).abs() < 0.05, "{kept:?}, {tcp:?}");
}

#[test]
fn a_small_file_over_a_slow_satellite_takes_what_the_table_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/quic/geo-small.toml");
    let mut document = Document::load(file).unwrap();
    document.apply(&PathFlags::from_iter([("--duration", "8s")])).unwrap();
    let report = QUIC.run(&document.scenario().unwrap(), &Options::default());
    let report = report.unwrap();
    let time = |alias: &str| {
        let run = report.runs.iter().find(|run| run.result.alias == alias).unwrap();
        run.result.flows[0].completion_time_s
    };
    for alias in ["newreno", "quinn-newreno", "quinn-cubic"] {
        assert!((4.6..5.0).contains(&time(alias).unwrap()), "{alias}: {:?}", time(alias));
    }
    assert!((6.4..7.0).contains(&time("astart").unwrap()), "astart: {:?}", time("astart"));
}

/// 10 Mbit/s and 200 ms: a connection with a memory jumps to half of what the one before had in a
/// round, as over the simulator's TCP.
#[test]
fn a_source_of_files_gives_each_connection_what_the_one_before_has_learned() {
    each_teaches_the_next("careful-resume+cubic", "slow-start+cubic", "ssthresh = '1bdp'");
    each_teaches_the_next("bbr(resume=on)+bbr", "bbr+bbr", "");
    each_teaches_the_next("stateful-tcp+cubic", "hystart+cubic", "ssthresh = '1bdp'");
}

fn each_teaches_the_next(with: &str, without: &str, ssthresh: &str) {
    let text = format!(
        "controls = ['{with}', '{without}']\n\
         duration = '16s'\n{ssthresh}\n\
         path = {{ rate = '10Mbps', rtt = '200ms', buffer = '1bdp' }}\n\
         [[flow]]\nfiles = {{ size = '2MB', pause = '100ms' }}"
    );
    let scenario = Scenario::parse(&text, "x.toml").unwrap();
    let report = QUIC.run(&scenario, &Options::default()).unwrap();
    let results: Vec<_> = report.runs.iter().map(|run| &run.result).collect();
    for result in &results {
        let (flow, alias) = (&result.flows[0], &result.alias);
        let files = flow.files.as_ref().unwrap();
        assert!(files.count >= 5, "{alias}: {files:?}");
        assert_eq!(files.unique_packets, files.count * 2_000_000_u64.div_ceil(1_200), "{alias}");
        assert!(flow.delivered_packets >= files.unique_packets, "{alias}: {flow:?}");
        let note = result.note.as_deref().unwrap_or_default();
        assert!(!note.contains("earlier connections"), "{alias}: {note}");
    }
    // 1.6 s at the rate, 0.3 s for handshake and way, and slow start where there is no memory.
    let files = |place: usize| results[place].flows[0].files.as_ref().unwrap();
    let (with, without) = (files(0).last_time_s, files(1).last_time_s);
    assert!(with < without - 0.2, "{with} {without}");
    assert!(files(0).mean_time_s > with + 0.02, "the first has no memory: {:?}", files(0));
}
