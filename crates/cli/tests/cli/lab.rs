//! `--on linux` and `link`: what they refuse without any kernel, and on one what they leave behind.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::process::{Outcome, Place, run, wait_until};

/// `false`, with a word about why, where the machine cannot; there the lab may be required.
pub(crate) fn able(outcome: &Outcome) -> bool {
    if outcome.code != 3 {
        return true;
    }
    let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_LAB").is_some_and(|value| value == "1");
    assert!(!required, "the lab is required here, but {}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    eprintln!("skipped: {}", outcome.stderr);
    false
}

#[test]
fn a_command_of_the_link_that_is_not_there_is_told_with_what_is_accepted() {
    let outcome = run(&["link", "--rate", "40Mbps", "--", "no-such-program"]);
    if able(&outcome) {
        assert_eq!(outcome.code, 2, "{outcome:?}");
        let message = "no-such-program: there is no such program; accepted: a program that is";
        assert!(outcome.stderr.contains(message), "{outcome:?}");
    }
}

#[test]
fn wrong_words_are_refused_before_anything_is_made() {
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "linux-qubic", "--on", "linux"], "did you mean `linux-cubic`"),
        (&["compare", "linux-reno", "--on", "linux", "--link", "tap"], "accepted: tun, netem"),
        (&["compare", "newreno", "--link", "tun"], "`--on linux`"),
        (&["compare", "linux-reno"], "unknown start-up `linux-reno`"),
        (&["compare", "linux-reno", "--on", "linux", "--recovery", "reno"], "tcp_sack"),
        (&["compare", "hoe", "--real-time"], "`--on quic`"),
        (&["compare", "hoe", "--on", "quic", "--real-time", "--flows", "200"], "1 to 100"),
        (&["compare", "hoe", "--on", "quic", "--real-time", "--packet", "16384B"], "to 16383B"),
        (
            &["compare", "hoe", "--on", "quic", "--real-time", "--receiver-window", "60KB"],
            "accepted: 65536B or more",
        ),
        (&["compare", "hoe", "--on", "quic", "--profile", "rfc"], "accepted over QUIC: no profile"),
        (
            &["compare", "hoe", "--on", "quic", "--split-acks", "2"],
            "no effect with quinn's QUIC; accepted: with the simulator's TCP",
        ),
        (&["link", "--rate", "40"], "--rate 40: a rate needs a unit"),
        (&["link", "--loss", "ge:1%"], "--loss ge:1%: "),
        (&["link", "--back-loss", "ge:1%"], "ge:0.5%,20%"),
        (&["link", "--rate-trace", "no-such-file"], "no-such-file"),
        (&["link", "--mtu", "100"], "accepted: 576 to 65521"),
        (&["link", "--spin", "5ms"], "accepted: 0ms to 600us"),
    ];
    for (words, part) in cases {
        let outcome = run(words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{words:?}: {outcome:?}");
        assert!(outcome.stderr.contains(part), "{words:?}: {}", outcome.stderr);
    }
}

#[test]
fn quinn_in_real_time_has_the_schema_of_all_transports() {
    let words = "compare hoe quinn-cubic --on quic --real-time --size 300KB --rate 20Mbps \
                 --rtt 20ms --duration 20s --json";
    let outcome = run(&words.split_whitespace().collect::<Vec<_>>());
    if !able(&outcome) {
        return;
    }
    let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
    for (run, name) in results["runs"].as_array().unwrap().iter().zip(["hoe", "quinn-cubic"]) {
        assert_eq!((&run["alias"], &run["transport"]), (&name.into(), &"quic".into()));
        assert_eq!(
            (&run["lab"]["link"], &run["lab"]["generator"]),
            (&"tun".into(), &"quinn".into())
        );
        assert_eq!(run["flows"][0]["delivered_bytes"], 300_000);
        // A handshake, and 0.12 s of sending: never less.
        assert!(run["flows"][0]["completion_time_s"].as_f64().unwrap() > 0.14, "{run}");
        assert!(run["bottleneck"]["utilization"].as_f64().unwrap() > 0.0, "{run}");
    }
}

/// Those that virtual time takes, each with a trace in the results.
#[test]
fn real_time_takes_the_flags_of_virtual_time() {
    let place = Place::new();
    let scenario = "controls = ['cubic']\n[path]\nrate = '8Mbps'\nrtt = '60ms'";
    place.write("x.toml", scenario);
    let words = "run x.toml --on quic --real-time --size 200KB --duration 8s --ssthresh 20pkt \
                 --iw 4pkt --packet 1300B --headers 100B --delayed-ack 1 --duplicate-acks 4 \
                 --receiver-window 500KB --flows 2 --start-jitter 1s --qlog logs --trace traces \
                 --json";
    let outcome = place.run(&words.split_whitespace().collect::<Vec<_>>());
    if !able(&outcome) {
        return;
    }
    let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let run = &results["runs"][0];
    let flows = run["flows"].as_array().unwrap();
    assert_eq!((flows.len(), run["duration_s"].as_f64()), (2, Some(8.0)));
    for flow in flows {
        let startup = &flow["startup"];
        assert_eq!(startup["exit_reason"], "ssthresh", "{flow}");
        assert!((20..30).contains(&startup["exit_cwnd_packets"].as_u64().unwrap()), "{flow}");
        // Of a BDP of 43 packets with their headers.
        assert!((0.4..0.7).contains(&startup["exit_window_over_bdp"].as_f64().unwrap()), "{flow}");
        assert!((154..190).contains(&flow["sent_packets"].as_u64().unwrap()), "{flow}");
    }
    let starts: Vec<f64> = flows.iter().filter_map(|flow| flow["start_s"].as_f64()).collect();
    assert!((starts[0] - starts[1]).abs() > 0.01, "{starts:?}");
    // 400 kB in packets of 1400 bytes on the link take 0.43 of 8 s, and ACKs of words a little.
    let busy = run["bottleneck"]["utilization"].as_f64().unwrap();
    assert!((0.0538..0.060).contains(&busy), "{busy}");
    for file in ["logs/cubic.flow-1.quinn.sqlog", "traces/cubic.flow-1.csv"] {
        let text = std::fs::read_to_string(place.path(file)).unwrap();
        assert!(text.lines().count() > 10, "{file}: {text}");
    }
    let windows = std::fs::read_to_string(place.path("traces/cubic.flow-0.csv")).unwrap();
    let first: f64 = windows.lines().nth(1).unwrap().split(',').nth(2).unwrap().parse().unwrap();
    assert!((4.0..8.0).contains(&first), "the first window is --iw: {windows}");
}

#[test]
fn bursts_of_loss_reach_quinn_in_real_time() {
    let words = "compare quinn-cubic --on quic --real-time --size 300KB --rate 20Mbps --rtt 20ms \
                 --loss ge:2%,50% --seed 2 --duration 20s --json";
    let outcome = run(&words.split_whitespace().collect::<Vec<_>>());
    if !able(&outcome) {
        return;
    }
    let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let run = &results["runs"][0];
    assert_eq!(run["flows"][0]["delivered_bytes"], 300_000);
    let link = &run["bottleneck"];
    // One packet in 26, of 250 and those sent again.
    assert!((3..60).contains(&link["random_losses"].as_u64().unwrap()), "{link}");
}

#[test]
fn a_transfer_that_does_not_fit_its_time_says_so() {
    let words = "compare hoe --on quic --real-time --size 5MB --rate 10Mbps --duration 500ms";
    let outcome = run(&words.split(' ').collect::<Vec<_>>());
    if able(&outcome) {
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("a longer --duration"), "{}", outcome.stderr);
    }
}

#[test]
fn a_comparison_on_linux_has_the_schema_of_all_transports() {
    let words = "compare linux-reno linux-cubic --on linux --link tun --duration 1s --json";
    let outcome = run(&words.split(' ').collect::<Vec<_>>());
    if !able(&outcome) {
        return;
    }
    let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(results["schema"], "firstflight/results@1");
    for (run, name) in results["runs"].as_array().unwrap().iter().zip(["reno", "cubic"]) {
        assert_eq!(run["transport"], "linux");
        assert_eq!(run["control"], format!("linux-{name}"));
        assert_eq!(run["lab"]["link"], "tun");
        assert!(run["flows"][0]["delivered_bytes"].as_u64().unwrap() > 0, "{run}");
        assert!(run["lab"]["late_p99_us"].as_f64().unwrap() >= 0.0);
        let stolen = run["lab"]["stolen_share"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&stolen), "{stolen}");
    }
}

#[test]
fn what_disturbed_a_run_is_told_where_the_results_are() {
    let words = "compare linux-reno --on linux --link tun --duration 50ms --rtt 400ms --json";
    let outcome = run(&words.split(' ').collect::<Vec<_>>());
    if able(&outcome) {
        let results: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let note = results["runs"][0]["note"].as_str().unwrap();
        // It was told to end first, or its own patience did.
        assert!(note.starts_with("flow 0: "), "{note}");
        assert!(outcome.stderr.contains(&format!("linux-reno: {note}")), "{}", outcome.stderr);
    }
}

#[test]
fn with_json_a_links_commands_print_beside_the_document() {
    let words = ["link", "--json", "--serve", "echo there", "--", "sh", "-c", "echo here; exit 3"];
    let outcome = run(&words);
    if able(&outcome) {
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!((&document["near_exit"], outcome.code), (&3.into(), 1));
        assert!(outcome.stderr.contains("here\n") && outcome.stderr.contains("there\n"));
    }
}

/// The processes that a program has started, by their number.
pub(crate) fn children(parent: &Child) -> Vec<String> {
    let line = format!("PPid:\t{}", parent.id());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_child = |name: &String| {
        let status = std::fs::read_to_string(format!("/proc/{name}/status")).unwrap_or_default();
        status.lines().any(|found| found == line)
    };
    processes.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_child).collect()
}

/// Whether a program holds a device of the link, as it does from the beginning of a run to its end.
fn has_link(child: &Child) -> bool {
    let held =
        std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
    let mut held = held.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    held.any(|file| file.as_os_str() == "/dev/net/tun")
}

fn started(place: &Place, generator: &str) -> Option<Child> {
    let words = ["compare", "linux-reno", "--on", "linux", "--link", "tun", "--duration", "60s"];
    let mut command = place.command(&words);
    command.args(["--generator", generator]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let sends = |child: &Child| match generator {
        "own" => has_link(child),
        _ => !children(child).is_empty(),
    };
    wait_until("a run", || sends(&child) || child.try_wait().unwrap().is_some());
    std::thread::sleep(Duration::from_millis(500));
    match child.try_wait().unwrap() {
        None => Some(child),
        Some(status) => {
            let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            let code = status.code().unwrap();
            assert!(!able(&Outcome { code, stdout: String::new(), stderr }), "it ended: {code}");
            None
        }
    }
}

pub(crate) fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
}

#[test]
fn nothing_is_left_after_ctrl_c_nor_after_a_kill() {
    let place = Place::new();
    for (name, code) in [("-INT", Some(130)), ("-KILL", None)] {
        for generator in ["own", "iperf3"] {
            let Some(mut child) = started(&place, generator) else { return };
            let started = children(&child);
            assert_eq!(started.is_empty(), generator == "own", "{started:?}");
            signal(&child, name);
            assert_eq!(child.wait().unwrap().code(), code, "{name} {generator}");
            // The kernel needs a moment to end the children of a process that was killed.
            let gone = |pid: &String| !std::path::Path::new("/proc").join(pid).exists();
            wait_until("the end of all", || started.iter().all(gone));
        }
    }
    assert!(place.files().is_empty());
}

/// Processes that sleep for so long.
fn sleeping(seconds: &str) -> usize {
    let running = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = running.filter_map(|p| std::fs::read_to_string(p.path().join("cmdline")).ok());
    lines.filter(|line| *line == format!("sleep\0{seconds}\0")).count()
}

#[test]
fn what_a_link_served_dies_with_it_even_by_a_kill() {
    let place = Place::new();
    let seconds = format!("33.{}", std::process::id());
    let family = format!("(setsid sleep {seconds} &); sleep {seconds}");
    for signal_name in ["-TERM", "-KILL"] {
        let words = ["link", "--serve", &family, "--", "sh", "-c", &family];
        let mut command = place.command(&words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let all = || sleeping(&seconds) == 4;
        wait_until("four sleepers", || all() || child.try_wait().unwrap().is_some());
        if !all() {
            let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            let code = child.wait().unwrap().code().unwrap_or(-1);
            assert!(!able(&Outcome { code, stdout: String::new(), stderr }), "not 4 of them");
            return;
        }
        signal(&child, signal_name);
        let interrupted = (signal_name == "-TERM").then_some(130);
        assert_eq!(child.wait().unwrap().code(), interrupted, "{signal_name}");
        wait_until("the end of all", || sleeping(&seconds) == 0);
    }
}

fn rows(outcome: &Outcome) -> Vec<Value> {
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    document["rows"].as_array().unwrap().clone()
}

#[test]
fn rows_of_the_lab_run_only_when_asked_for_and_say_which_lab_measured_them() {
    let place = Place::new();
    let outcome = place.run(&["reproduce", "S0-LT1"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let remark = "S0-LT1a: not run now; measured by the lab of 20";
    assert!(outcome.stdout.contains(remark), "{}", outcome.stdout);
    let summary = "5 claims again on Linux (not run now; measured by the lab of 20";
    assert!(outcome.stdout.replace('\n', " ").contains(summary), "{}", outcome.stdout);
    let outcome = place.run(&["reproduce", "S0-LT1", "--json"]);
    let of_lab = |row: &Value| row["lab"]["kernel"].is_string() && row["verdict"] == "pass";
    assert!(rows(&outcome).iter().all(of_lab), "{outcome:?}");
}

/// A row of the lab from the paper's file to its verdict: the kernel's own Reno and, in a build
/// that can load it, the eBPF control, 20 s each.
#[test]
fn a_row_of_the_lab_is_measured_on_the_running_kernel() {
    let place = Place::new();
    let outcome = place.run(&["reproduce", "S0-LT2a", "--json"]);
    let row = &rows(&outcome)[0];
    let measured = row["measured"].as_str().unwrap();
    if row["verdict"] == "not-run" {
        assert_eq!(outcome.code, 3, "{outcome:?}");
        let why = measured.strip_prefix("not run: ").unwrap().to_owned();
        assert_eq!(why.lines().count(), 1, "{why}");
        if !why.starts_with("other work disturbed") && cfg!(feature = "kernel") {
            able(&Outcome { stderr: why, ..outcome });
        } else {
            eprintln!("skipped: {why}");
        }
        return;
    }
    assert_eq!((&row["verdict"], outcome.code), (&"pass".into(), 0), "{row}");
    assert!(measured.contains("eBPF newreno, %: 7"), "{measured}");
}
