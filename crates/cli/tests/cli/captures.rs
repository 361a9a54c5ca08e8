//! `run --pcap`: what passed the senders, read back by `show` and by tcpdump.

use std::process::Command;

use serde_json::Value;

use crate::process::Place;

const PATH: &str = "controls = [\"slow-start\"]\nduration = \"9s\"\n[path]\nrate = \"20Mbps\"\n\
                    rtt = \"100ms\"\n[[flow]]\nsize = \"2MB\"\n";

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The outcome without its only part that differs from run to run.
fn without_cost(mut results: Value) -> Value {
    for run in results["runs"].as_array_mut().unwrap() {
        run.as_object_mut().unwrap().remove("cost");
    }
    results
}

#[test]
fn a_capture_shows_what_the_simulator_did() {
    let place = Place::new();
    place.write("path.toml", PATH);
    let ran = place.run(&["run", "path.toml", "--pcap", "it", "--json", "--buffer", "0.5bdp"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "captures: 1 in it\n"));
    let plain = place.run(&["run", "path.toml", "--json", "--buffer", "0.5bdp"]);
    let results = document(&ran.stdout);
    assert_eq!(without_cost(results.clone()), without_cost(document(&plain.stdout)));
    let flow = &results["runs"][0]["flows"][0];
    let shown = place.run(&["show", "it/slow-start.pcap", "--json"]);
    let shown = document(&shown.stdout);
    assert_eq!((&shown["vantage"], &shown["hidden"]), (&"sender".into(), &Value::Null));
    let seen = &shown["startup"];
    assert_eq!(seen["packets_sent"], flow["sent_packets"]);
    assert_eq!(seen["packets_lost"], flow["retransmitted_packets"]);
    assert_eq!(seen["exit"]["time_s"], flow["startup"]["exit_time_s"]);
    // Limited transmit sends two packets more before the loss is known (RFC 3042).
    let flight = seen["exit"]["cwnd_bytes"].as_u64().unwrap() / 1000;
    assert_eq!(Some(flight - 2), flow["startup"]["exit_cwnd_packets"].as_u64());

    let Ok(read) =
        Command::new("tcpdump").args(["-vnr"]).arg(place.path("it/slow-start.pcap")).output()
    else {
        println!("skipped: no tcpdump");
        return;
    };
    let text = String::from_utf8(read.stdout).unwrap();
    let data = text.matches(", length 1000\n").count() as u64;
    assert_eq!(Some(data), flow["sent_packets"].as_u64());
    assert!(text.contains("[sack 3 {") && !text.contains("incorrect"), "{text}");
}

#[test]
fn the_window_that_the_receiver_offers_is_in_the_capture() {
    let place = Place::new();
    place.write("path.toml", PATH);
    let words = ["run", "path.toml", "--pcap", "it", "--receiver-window", "64KB"];
    assert_eq!(place.run(&words).code, 0);
    let shown = place.run(&["show", "it/slow-start.pcap", "--json"]);
    let limits = document(&shown.stdout)["limits"].clone();
    assert_eq!(limits[0]["by"], "receiver", "{}", shown.stdout);
}

#[test]
fn what_has_no_capture_is_refused() {
    let place = Place::new();
    place.write("path.toml", PATH);
    for (words, problem) in [
        (&["--on", "quic"][..], "--pcap: the simulator alone writes captures; accepted: no --on"),
        (&["--profile", "quic"], "--pcap: a flow is QUIC's, whose packets are encrypted; accepted"),
    ] {
        let found = place.run(&[&["run", "path.toml", "--pcap", "it"], words].concat());
        assert_eq!((found.code, found.stdout.as_str()), (2, ""), "{words:?}");
        assert!(found.stderr.contains(problem), "{words:?}: {}", found.stderr);
        assert_eq!(place.files(), ["path.toml"]);
    }
}
