//! Transfers that come to their end.

use std::fs;

use serde_json::Value;

use crate::pair::{Receiver, content, private};
use crate::process::{Outcome, Place};
use crate::qlog_rules::validate;

fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    serde_json::from_str(&outcome.stdout).expect("standard output is one JSON document")
}

#[test]
fn a_file_arrives_under_its_name_and_the_results_are_in_the_shared_schema() {
    let place = Place::new();
    let sent = content(3_000_000);
    place.write("a file.bin", &sent);
    let receiver = Receiver::new(&place, &["--dir", "in", "--json"]);
    let words = ["a file.bin", "--control", "hoe+newreno", "--qlog", "log.sqlog", "--json"];
    let results = json(&receiver.send(&place, &words));
    let received = json(&receiver.running.end());

    assert!(fs::read(place.path("in/a file.bin")).unwrap() == sent, "the content differs");
    assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 1, "and nothing else is there");
    assert_eq!(results["schema"], "firstflight/results@1");
    let run = &results["runs"][0];
    assert_eq!((&run["transport"], &run["control"]), (&"quic".into(), &"hoe+newreno".into()));
    let flow = &run["flows"][0];
    assert_eq!(flow["delivered_bytes"], 3_000_000);
    assert!(flow["sent_packets"].as_u64().unwrap() >= 3_000_000 / 1_472);
    let (rate, took) = (&flow["throughput_bps"], &flow["completion_time_s"]);
    let bits = rate.as_f64().unwrap() * took.as_f64().unwrap();
    assert!((bits - 24e6).abs() < 1.0, "{bits}");
    assert_eq!(results["scenario"]["sha256"], received["scenario"]["sha256"]);
    assert_eq!(received["runs"][0]["flows"][0]["delivered_bytes"], 3_000_000);
    // Readers take documents of all transports for the same type.
    let text = results.to_string();
    let typed: firstflight_results::Results = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_value(&typed).unwrap(), results);
}

#[test]
fn the_qlog_conforms_to_its_schema_and_shows_the_connection() {
    let place = Place::new();
    let receiver = Receiver::new(&place, &["--discard"]);
    let words = ["--size", "1MB", "--control", "astart", "--qlog", "log.sqlog"];
    assert_eq!(receiver.send(&place, &words).code, 0);
    let log = fs::read(place.path("log.sqlog")).unwrap();
    let events = validate(&log).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(events > 500, "{events} events");
    let shown = json(&place.run(&["show", "log.sqlog", "--json"]));
    let startup = &shown["startup"];
    assert!(startup["bytes_sent"].as_u64().unwrap() > 1_000_000, "{startup}");
    assert!(startup["min_rtt_ms"].as_f64().is_some(), "{startup}");
    // On a busy machine quinn's smallest RTT can be 0: it reads the clock once a turn, and not with
    // each packet.
    let records = log.split(|byte| *byte == 0x1e);
    let events = records.filter_map(|record| serde_json::from_slice::<Value>(record).ok());
    let mut rtts: Vec<f64> =
        events.filter_map(|event| event["data"]["latest_rtt"].as_f64()).collect();
    rtts.sort_by(f64::total_cmp);
    let rtt = rtts[rtts.len() / 2];
    assert!(rtt > 0.005, "RTTs are milliseconds, not quinn's seconds: {rtt}");
}

#[test]
fn bytes_of_no_file_are_counted_and_a_duration_ends_by_itself() {
    let place = Place::new();
    for (words, bytes) in [(["--size", "2MB"], Some(2_000_000)), (["--duration", "300ms"], None)] {
        let receiver = Receiver::new(&place, &["--discard", "--json"]);
        let all: Vec<&str> = words.into_iter().chain(["--json"]).collect();
        let sent = json(&receiver.send(&place, &all));
        let received = json(&receiver.running.end());
        let delivered =
            |results: &Value| results["runs"][0]["flows"][0]["delivered_bytes"].as_u64().unwrap();
        assert_eq!(delivered(&sent), delivered(&received));
        assert!(delivered(&sent) > 0);
        assert!(bytes.is_none_or(|bytes| delivered(&sent) == bytes));
    }
    assert_eq!(place.files(), [""; 0], "nothing is stored");
}

#[test]
fn controls_of_ours_and_of_quinn_are_known_by_name() {
    let place = Place::new();
    let receiver = Receiver::new(&place, &["--discard", "--serve"]);
    for control in ["tcpw", "slow-start(iw=32pkt)+cubic", "quinn-newreno", "quinn-bbr"] {
        let words = ["--size", "300kB", "--control", control, "--json"];
        let results = json(&receiver.send(&place, &words));
        assert_eq!(results["runs"][0]["alias"], control);
    }
    let wrong = receiver.send(&place, &["--size", "1kB", "--control", "quinn-cubix"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("did you mean `quinn-cubic`"), "{wrong:?}");
    receiver.running.interrupt();
    assert_eq!(receiver.running.end().code, 130);
}

#[test]
fn files_that_end_with_a_stream_or_just_before_or_behind_it_arrive() {
    let place = Place::new();
    for bytes in [1 << 20, (1 << 20) - 1, (2 << 20) + 1] {
        let sent = content(bytes);
        place.write("f", &sent);
        let receiver = Receiver::new(&place, &["--dir", "in", "--force"]);
        assert_eq!(receiver.send(&place, &["f"]).code, 0);
        assert_eq!(receiver.running.end().code, 0);
        assert!(fs::read(place.path("in/f")).unwrap() == sent, "{bytes} bytes: another content");
    }
}

#[test]
fn an_empty_file_is_a_file() {
    let place = Place::new();
    place.write("empty", "");
    let receiver = Receiver::new(&place, &["--dir", "in"]);
    assert_eq!(receiver.send(&place, &["empty", "--name", "other"]).code, 0);
    assert_eq!(receiver.running.end().code, 0);
    assert_eq!(fs::read(place.path("in/other")).unwrap(), b"");
}

#[test]
fn a_partial_file_of_another_content_is_not_gone_on_with() {
    let place = Place::new();
    let sent = content(500_000);
    place.write("f", &sent);
    fs::create_dir(place.path("in")).unwrap();
    for wrong in [vec![7; 100_000], vec![7; 600_000]] {
        place.write("in/f.part", wrong);
        let receiver = Receiver::new(&place, &["--dir", "in", "--force"]);
        let outcome = receiver.send(&place, &["f"]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(!outcome.stdout.contains("already"), "{outcome:?}");
        assert_eq!(receiver.running.end().code, 0);
        assert!(fs::read(place.path("in/f")).unwrap() == sent, "the content differs");
    }
}

#[test]
fn certificates_from_files_let_in_whom_they_name() {
    let place = Place::new();
    for name in ["recv", "send"] {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        place.write(&format!("{name}.pem"), made.cert.pem());
        private(&place, &format!("{name}.key"), &made.signing_key.serialize_pem());
    }
    let words = ["--cert", "recv.pem", "--key", "recv.key", "--trust", "send.pem", "--discard"];
    let receiver = Receiver::new(&place, &words);
    let to = receiver.address.clone();
    let send = |words: &[&str]| {
        let all = ["send", &to, "--size", "10kB", "--trust", "recv.pem", "--timeout", "5s"];
        place.run(&all.into_iter().chain(words.iter().copied()).collect::<Vec<_>>())
    };
    let stranger = send(&[]);
    assert_eq!(stranger.code, 1);
    assert!(stranger.stderr.contains("does not accept this sender's"), "{stranger:?}");
    assert_eq!(send(&["--cert", "send.pem", "--key", "send.key"]).code, 0);
    let receiver = receiver.running.end();
    assert_eq!(receiver.code, 0, "a stranger ends nothing");
    assert!(receiver.stderr.contains("came to nothing"), "{receiver:?}");
}

#[test]
fn runs_over_quic_in_virtual_time_write_quinn_s_own_logs() {
    let place = Place::new();
    place.write("s.toml", "controls = ['astart', 'quinn-cubic']\nduration = '1s'");
    let words = ["run", "s.toml", "--on", "quic", "--qlog", "logs", "--json"];
    let results = json(&place.run(&words));
    for (run, name) in results["runs"].as_array().unwrap().iter().zip(["astart", "quinn-cubic"]) {
        let path = format!("logs/{name}.flow-0.quinn.sqlog");
        let log = fs::read(place.path(&path)).unwrap();
        let events = validate(&log).unwrap_or_else(|problem| panic!("{path}: {problem}"));
        assert!(events > 500, "{path}: {events} events");
        let startup = &json(&place.run(&["show", &path, "--json"]))["startup"];
        let flow = &run["flows"][0];
        assert_eq!(startup["packets_sent"], flow["sent_packets"], "{path}");
        assert_eq!(startup["exit"]["reason"], flow["startup"]["exit_reason"], "{path}");
    }
    place.write("tcp.toml", "controls = ['astart']\nduration = '1s'");
    let none = place.run(&["run", "tcp.toml", "--qlog", "logs"]);
    assert!(none.stderr.contains("qlogs: none"), "{none:?}");
    let wrong = place.run(&["run", "s.toml", "--on", "linux", "--qlog", "logs"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("--qlog belongs to `--on quic`"), "{wrong:?}");
}
