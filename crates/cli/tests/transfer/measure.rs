//! `measure`: several controls in turn, over QUIC to a `recv` and by iperf3.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use firstflight_results::Results;
use serde_json::Value;

use crate::pair::{Receiver, complaint};
use crate::process::{Outcome, Place, run};

/// The command line of a `measure` to `receiver`.
fn words<'a>(receiver: &'a Receiver, words: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["measure", "--to", &receiver.address, "--pin", &receiver.pin];
    if !receiver.secret.is_empty() {
        all.extend(["--secret", &receiver.secret]);
    }
    all.extend(words);
    all
}

fn document(outcome: &Outcome, code: i32) -> (Results, Value) {
    assert_eq!(outcome.code, code, "{outcome:?}");
    let typed = serde_json::from_str(&outcome.stdout).expect("one document of the shared schema");
    (typed, serde_json::from_str(&outcome.stdout).unwrap())
}

fn aliases(results: &Results) -> Vec<&str> {
    results.runs.iter().map(|run| run.alias.as_str()).collect()
}

#[test]
fn controls_take_turns_and_medians_come_with_intervals() {
    let place = Place::new();
    let receiver = Receiver::new(&place, &["--discard", "--serve"]);
    let all = words(&receiver, &["--controls", "quinn-newreno,hoe", "--size", "100kB"]);
    let outcome = place.run(&[&all[..], &["--json", "--out", "out"]].concat());
    let (results, value) = document(&outcome, 0);
    assert_eq!(aliases(&results), ["quinn-newreno", "hoe"].repeat(6));
    for (at, name) in ["quinn-newreno", "hoe"].into_iter().enumerate() {
        let times = results.runs.iter().filter(|run| run.alias == name);
        let mut times: Vec<f64> =
            times.map(|run| run.flows[0].completion_time_s.unwrap()).collect();
        times.sort_by(f64::total_cmp);
        let summary = &value["summary"][at];
        assert_eq!((&summary["control"], &summary["finished"]), (&name.into(), &6.into()));
        let median = summary["completion_time_s"]["median"].as_f64().unwrap();
        assert!((median - (times[2] + times[3]) / 2.0).abs() < 1e-9, "{summary}");
        let interval = &summary["completion_time_s"]["interval"];
        assert_eq!(*interval, serde_json::json!([times[0], times[5]]));
        assert!(summary["throughput_ratio"]["median"].as_f64().unwrap() > 0.0);
    }
    let written = std::fs::read_to_string(place.path("out/results.json")).unwrap();
    assert_eq!(written, outcome.stdout);
    let page = std::fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(page.contains("quinn-newreno, hoe") && page.contains("Every transfer"));
}

#[test]
fn transfers_that_break_are_told_and_counted() {
    let place = Place::new();
    // It ends after three.
    let receiver =
        Receiver::new(&place, &["--discard", "--serve", "--allow-anyone", "--max-files", "3"]);
    let all = words(&receiver, &["--controls", "cubic,cubic", "--runs", "2", "--timeout", "1s"]);
    let outcome = place.run(&[&all[..], &["--size", "50kB"]].concat());
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(complaint(&outcome).contains("transfer 4 of 4, cubic: "), "{outcome:?}");
    assert!(outcome.stdout.contains("2 of 2") && outcome.stdout.contains("1 of 2"), "{outcome:?}");
    // Nothing is there at all any more.
    let outcome = place.run(&[&all[..], &["--json"]].concat());
    let (results, value) = document(&outcome, 1);
    assert_eq!(results.runs.len(), 2, "given up after a round");
    assert!(outcome.stderr.contains("given up"), "{outcome:?}");
    let transfers = [0, 1].map(|at| value["summary"][at]["transfers"].as_u64());
    assert_eq!(transfers, [Some(1), Some(1)], "they take turns");
    assert_eq!(value["summary"][0]["finished"], 0);
    assert_eq!(value["summary"][0]["completion_time_s"], Value::Null);
}

#[test]
fn ctrl_c_keeps_what_was_finished() {
    let place = Place::new();
    let mut receiver = Receiver::new(&place, &["--discard", "--serve"]);
    let rest = ["--controls", "cubic,hoe", "--runs", "500", "--size", "50kB", "--json"];
    let mut command = place.command(&words(&receiver, &rest));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Two are finished when the third has been received.
    (0..3).for_each(|_| assert!(receiver.running.line().contains("not stored")));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let outcome = Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    let (results, value) = document(&outcome, 130);
    let message = format!("interrupted: {} of 1000 transfers", results.runs.len());
    assert!(!results.runs.is_empty() && complaint(&outcome).contains(&message), "{outcome:?}");
    assert_eq!(value["summary"].as_array().unwrap().len(), 2);
}

/// An `iperf3 -s` that ends with the test.
struct Server(Child, String);

impl Server {
    /// `None` without iperf3.
    fn new() -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let port = free.port().to_string();
        let mut command = Command::new("iperf3");
        command.args(["-s", "-p", &port]).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self(command.spawn().ok()?, free.to_string());
        while TcpStream::connect(free).is_err() {
            thread::sleep(Duration::from_millis(10));
        }
        // It takes the look for a client, and is free again a moment later.
        thread::sleep(Duration::from_secs(1));
        Some(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whatever happened, it is to be gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_kernels_tcp_is_measured_by_iperf3() {
    let Some(server) = Server::new() else {
        eprintln!("no iperf3 on this machine: not tested");
        return;
    };
    let words = ["measure", "--to", &server.1, "--iperf3", "--controls", "reno,reno"];
    let rest = ["--runs", "2", "--size", "20MB", "--json"];
    let (results, value) = document(&run(&[&words[..], &rest].concat()), 0);
    assert_eq!(aliases(&results), ["reno"; 4]);
    for run in &results.runs {
        assert_eq!((&*run.transport, &*run.control), ("linux", "reno"));
        assert!(run.flows[0].delivered_bytes > 0 && run.flows[0].throughput_bps > 0.0, "{run:?}");
        assert_eq!(run.flows[0].completion_time_s, None, "iperf3 does not tell");
    }
    assert_eq!(value["summary"][1]["finished"], 2);
    let buffers = &value["socket_buffers"];
    assert!(buffers["largest_window_bytes"].as_u64().unwrap() > 0, "{value}");
    assert!(buffers["sends_up_to_bdp_bytes"].as_u64().unwrap() > 0, "{value}");

    // One that is there and says nothing.
    let stop = |signal: &str| {
        let id = server.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    };
    stop("-STOP");
    let silent = ["measure", "--to", &server.1, "--iperf3", "--controls", "reno,reno"];
    let began = Instant::now();
    let outcome = run(&[&silent[..], &["--runs", "1", "--timeout", "1s"]].concat());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("no byte moved for 1 s (--timeout)"), "{outcome:?}");
    stop("-CONT");

    let address = server.1.clone();
    drop(server);
    let words = ["measure", "--to", &address, "--iperf3", "--controls", "reno,reno"];
    let outcome = run(&words);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("unable to connect to server"), "{outcome:?}");
}

#[test]
fn what_cannot_be_measured_is_refused_at_once() {
    let pin = format!("sha256:{}", "0".repeat(64));
    let quic = ["--pin", &pin];
    let refused: [(&[&str], &[&str], i32, &str); 7] = [
        (&["--controls", "cubic"], &quic, 2, "--controls cubic: accepted: two or more"),
        (&["--controls", "cubic,astrat"], &quic, 2, "did you mean `astart`"),
        (&["--controls", "cubic,hoe"], &[], 2, "--pin"),
        (&["--controls", "cubic,hoe", "--size", "0B"], &quic, 2, "--size 0"),
        (&["--controls", "cubic,hoe", "--runs", "0"], &quic, 2, "--runs"),
        (&["--controls", "reno,reno", "--iperf3"], &quic, 2, "--iperf3"),
        (&["--controls", "reno,mstart", "--iperf3"], &[], 3, "`firstflight kernel load mstart`"),
    ];
    for (words, more, code, message) in refused {
        let outcome = run(&[&["measure", "--to", "127.0.0.1:9"], words, more].concat());
        assert_eq!(outcome.code, code, "{outcome:?}");
        assert!(complaint(&outcome).contains(message), "{outcome:?}");
    }
}
