//! Scenarios on the running kernel: bytes, counts and what is left behind.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use firstflight_lab::{Generator, Lab, run};
use firstflight_runner::RunError;
use firstflight_runner::{Options, Report};
use firstflight_scenario::Scenario;

fn measure(text: &str, lab: Lab) -> Option<Report> {
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    let options = Options { samples: Some(100), ..Options::default() };
    super::granted(run(&scenario, &options, lab))
}

#[test]
fn a_transfer_arrives_whole_and_every_loss_is_repaired() {
    let text = "controls = ['linux-reno']\nduration = '20s'\niw = '4pkt'\n\
        [path]\nrate = '10Mbps'\nrtt = '20ms'\ndrop = [30, 31, 77]\n\
        [[flow]]\nsize = '300KB'";
    let Some(report) = measure(text, Lab::TUN) else { return };
    let run = report.runs.into_iter().next().unwrap();
    let flow = &run.result.flows[0];
    assert_eq!((flow.delivered_bytes, flow.delivered_packets), (300_000, 300));
    assert!(flow.completion_time_s.is_some());
    assert_eq!(run.result.bottleneck.drops, 3);
    // All within an RTT of the exit, as in the simulator.
    let exit = &flow.startup;
    assert_eq!((exit.exit_reason.as_deref(), exit.drops_in_exit_round), (Some("loss"), Some(3)));
    assert!(flow.counts.retransmitted_packets >= 3, "{}", flow.counts.retransmitted_packets);
    assert_eq!(flow.counts.sent_packets, 300 + flow.counts.retransmitted_packets);
    assert_eq!((run.result.transport.as_str(), run.result.profile.as_str()), ("linux", "linux"));
    let first = run.flows[0].column("cwnd_packets").unwrap().next().unwrap().unwrap();
    assert!(first >= 4.0 && !run.flows[0].is_empty() && run.queues.len() == 1);
}

#[test]
fn a_run_ends_when_nothing_is_left_to_happen_and_its_numbers_are_of_the_whole_duration() {
    let text = "controls = ['linux-reno']\nduration = '30s'\n\
        [path]\nrate = '10Mbps'\nrtt = '20ms'\n[[flow]]\nsize = '300KB'";
    let began = Instant::now();
    let Some(report) = measure(text, Lab::TUN) else { return };
    assert!(began.elapsed() < Duration::from_secs(30), "it went on to the end of the duration");
    let run = &report.runs[0].result;
    assert!(run.flows[0].completion_time_s.is_some() && run.duration_s == 30.0);
    // 300 packets and what few the kernel sent again, of 37,500 that 30 s could carry.
    assert!((0.008..0.010).contains(&run.bottleneck.utilization), "{}", run.bottleneck.utilization);
    let text = text.replace("30s", "3s") + "\n[[udp]]\nrate = '1Mbps'\nstop = '2s'";
    let began = Instant::now();
    let report = measure(&text, Lab::TUN).unwrap();
    assert!(began.elapsed() > Duration::from_secs(2), "cross traffic is waited for");
    // A 15th of the 3 s is that traffic's, and 0.08 of them the transfer's.
    let utilization = report.runs[0].result.bottleneck.utilization;
    assert!((0.14..0.16).contains(&utilization), "{utilization}");
}

#[test]
fn bursts_of_loss_are_those_of_the_scenario() {
    let text = "controls = ['linux-reno']\nduration = '20s'\n\
        [path]\nrate = '10Mbps'\nrtt = '20ms'\nloss = 'ge:1%,50%'\n[[flow]]\nsize = '1MB'";
    let Some(report) = measure(text, Lab::TUN) else { return };
    let result = &report.runs[0].result;
    let (flow, link) = (&result.flows[0], &result.bottleneck);
    assert_eq!((flow.delivered_bytes, flow.delivered_packets), (1_000_000, 1_000));
    // One packet in 51 of those that were sent.
    let share = link.random_losses as f64 / flow.counts.sent_packets as f64;
    assert!((0.005..0.06).contains(&share), "{share}: {link:?}");
    assert!(flow.counts.retransmitted_packets >= link.random_losses, "{flow:?}");
}

#[test]
fn the_routes_give_windows_to_each_group_of_flows() {
    let text = "duration = '2s'\n[path]\nrate = '5Mbps'\nrtt = '100ms'\nbuffer = '500pkt'\n\
        [[flow]]\ncontrol = 'linux-reno'\nssthresh = '8pkt'\niw = '2pkt'\n\
        [[flow]]\ncontrol = 'linux-cubic'\nssthresh = '20pkt'\nstart = '500ms'\nrtt = '160ms'";
    let Some(report) = measure(text, Lab::TUN) else { return };
    let run = &report.runs[0];
    let first =
        |flow: usize, name: &str| run.flows[flow].column(name).unwrap().flatten().next().unwrap();
    assert_eq!((first(0, "ssthresh_packets"), first(1, "ssthresh_packets")), (8.0, 20.0));
    assert!(first(1, "time_s") >= 0.5);
    let exit = |flow: usize| run.result.flows[flow].startup.exit_cwnd_packets;
    assert!(exit(0) >= Some(8) && exit(0) < Some(20), "{:?}", exit(0));
}

#[test]
fn cross_traffic_and_flows_that_end_share_the_link() {
    let text = "controls = ['linux-cubic']\nduration = '3s'\n\
        [path]\nrate = '10Mbps'\nrtt = '20ms'\nbuffer = '2000pkt'\n\
        [[flow]]\ncount = 3\nstarts = 'uniform 0s..500ms'\nlifetime = '1s'\n\
        [[udp]]\nrate = '2Mbps'\npacket = '500B'\nstart = '1s'\nstop = '2s'";
    let Some(report) = measure(text, Lab::TUN) else { return };
    let result = &report.runs[0].result;
    assert_eq!(result.flows.len(), 3);
    for flow in &result.flows {
        assert!(flow.delivered_bytes > 0 && flow.start_s <= 0.5, "{flow:?}, {:?}", result.note);
    }
    // Flows and datagrams: 250,000 bytes of the latter in their second.
    let carried: u64 = result.flows.iter().map(|flow| flow.counts.sent_packets * 1_000).sum();
    let sent = result.bottleneck.utilization * 10e6 / 8.0 * 3.0;
    let others = sent - carried as f64 + result.bottleneck.drops as f64 * 1_000.0;
    assert!((100_000.0..500_000.0).contains(&others), "{others}");
}

#[test]
fn iperf3_sends_as_well() {
    let text = "controls = ['linux-reno']\nduration = '3s'\n[path]\nrate = '10Mbps'\nrtt = '20ms'";
    let lab = Lab { generator: Generator::Iperf3, ..Lab::TUN };
    let Some(report) = measure(text, lab) else { return };
    let run = &report.runs[0].result;
    assert_eq!(run.lab.as_ref().unwrap().generator, "iperf3");
    let flow = &run.flows[0];
    let bytes = flow.throughput_bps * run.duration_s / 8.0;
    assert!(flow.delivered_bytes > 500_000 && bytes < 10e6 / 8.0 * 3.0, "{:?}", run.note);
    let sized = Scenario::parse(&format!("{text}\n[[flow]]\nsize = '1KB'"), "x.toml").unwrap();
    let problem = firstflight_lab::run(&sized, &Options::default(), lab).unwrap_err();
    assert!(matches!(problem, RunError::Input(_)), "{problem}");
}

#[test]
fn a_run_that_is_stopped_keeps_nothing_and_a_series_keeps_what_was_finished() {
    let text = "controls = ['linux-reno', 'linux-cubic']\nduration = '1s'";
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    let stop = AtomicBool::new(true);
    let options = Options { stop: Some(&stop), ..Options::default() };
    match run(&scenario, &options, Lab::TUN) {
        Err(RunError::Interrupted) => {}
        Err(RunError::Lacks(_)) => return,
        other => panic!("{other:?}"),
    }
    let stop = AtomicBool::new(false);
    let first_done = |_, _| stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let options = Options { stop: Some(&stop), on_done: Some(&first_done), ..Options::default() };
    let report = run(&scenario, &options, Lab::TUN).unwrap();
    assert!(report.interrupted);
    let names: Vec<&str> = report.runs.iter().map(|run| run.result.alias.as_str()).collect();
    assert_eq!(names, ["linux-reno"]);
}

#[test]
fn what_this_kernel_has_not_is_a_lack_and_found_before_anything_runs() {
    let text = "controls = ['linux-reno', 'linux-vegas']\nduration = '60s'";
    let scenario = Scenario::parse(text, "x.toml").unwrap();
    if firstflight_kernel::catalogue::available().iter().any(|name| name == "vegas") {
        return;
    }
    let problem = run(&scenario, &Options::default(), Lab::TUN).unwrap_err();
    assert!(matches!(&problem, RunError::Lacks(text) if text.contains("modprobe tcp_vegas")));
}
