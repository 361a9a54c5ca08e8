//! What other programs rely on: the keys of the results and their types, the values that the issue
//! of the Astart paper asks for by command line, and what `compare` says in words.

use serde_json::Value;

use crate::process::{Outcome, Place, run};

fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    serde_json::from_str(&outcome.stdout).expect("standard output is one JSON document")
}

/// The kinds of values, by key: `s`tring, `u`nsigned, `f`loat, `o`bject, `a`rray, and `?` for null
/// as well.
fn check(value: &Value, keys: &[(&str, &str)]) {
    for (key, kind) in keys {
        let found = &value[*key];
        let present = value.as_object().is_some_and(|object| object.contains_key(*key));
        let right = match kind.trim_end_matches('?') {
            "s" => found.is_string(),
            "u" => found.is_u64(),
            "f" => found.is_f64(),
            "o" => found.is_object(),
            "a" => found.is_array(),
            other => panic!("{other}"),
        };
        assert!(present && (right || kind.ends_with('?') && found.is_null()), "{key}: {found}");
    }
}

const RUN: &[(&str, &str)] = &[
    ("control", "s"),
    ("alias", "s"),
    ("preset", "s"),
    ("transport", "s"),
    ("profile", "s"),
    ("seed", "u"),
    ("duration_s", "f"),
    ("flows", "a"),
    ("bottleneck", "o"),
    ("total_throughput_bps", "f"),
    ("jain_index", "f"),
    ("cost", "o"),
];

const FLOW: &[(&str, &str)] = &[
    ("id", "u"),
    ("control", "s"),
    ("start_s", "f"),
    ("throughput_bps", "f"),
    ("utilization", "f"),
    ("delivered_bytes", "u"),
    ("delivered_packets", "u"),
    ("sent_packets", "u"),
    ("retransmitted_packets", "u"),
    ("fast_retransmits", "u"),
    ("timeouts", "u"),
    ("completion_time_s", "f?"),
    ("peak_cwnd_packets", "u"),
    ("final_cwnd_packets", "u"),
    ("startup", "o"),
];

const STARTUP: &[(&str, &str)] = &[
    ("exit_time_s", "f?"),
    ("exit_reason", "s?"),
    ("exit_cwnd_packets", "u?"),
    ("exit_window_over_bdp", "f?"),
    ("inflight_over_window_at_exit", "f?"),
    ("drops_in_exit_round", "u?"),
    ("reductions_next_10_rtt", "u?"),
    ("time_to_bdp_s", "o"),
];

#[test]
fn results_have_every_key_with_its_type_on_every_simulated_transport() {
    for transport in ["sim", "quic", "noq"] {
        let words = ["compare", "hoe", "astart", "--json", "--size", "2MB", "--on", transport];
        let document = json(&run(&words));
        check(&document, &[("schema", "s"), ("version", "s"), ("scenario", "o"), ("runs", "a")]);
        for one in document["runs"].as_array().unwrap() {
            check(one, RUN);
            assert_eq!(one["transport"], transport);
            let link = &one["bottleneck"];
            check(link, &[("drops", "u"), ("random_losses", "u"), ("utilization", "f")]);
            check(link, &[("peak_queue_packets", "u"), ("mean_queue_packets", "f")]);
            check(&one["cost"], &[("wall_s", "f"), ("events", "u")]);
            check(&one["cost"], &[("delivered_packets_per_s", "f")]);
            for flow in one["flows"].as_array().unwrap() {
                check(flow, FLOW);
                check(&flow["startup"], STARTUP);
                let times = &flow["startup"]["time_to_bdp_s"];
                check(times, &[("0.6", "f?"), ("0.8", "f?"), ("0.9", "f?")]);
            }
        }
    }
}

#[test]
fn every_alias_of_the_contract_says_its_pair_and_its_preset() {
    let pairs = [
        ("reno", "slow-start+newreno", "endpoint"),
        ("newreno", "slow-start+newreno", "endpoint"),
        ("hoe", "hoe+newreno", "paper"),
        ("vegas", "vegas+vegas", ""),
        ("tcpw", "slow-start+westwood", "figures"),
        ("astart", "astart+westwood", "figures"),
        ("tcpw-a", "astart+westwood(lg=on)", "figures"),
        ("liw", "liw+newreno", ""),
        ("stcp", "slow-start+newreno", "endpoint"),
        ("bc", "bc+newreno", ""),
        ("dbc", "dbc+newreno", ""),
        ("mstart", "mstart+cubic", "tables"),
        ("cubic", "slow-start+cubic", "rfc9438"),
        ("astart(preset=paper)", "astart(preset=paper)+westwood", "paper"),
        ("tcpw(preset=paper)", "slow-start+westwood(preset=paper)", "paper"),
        ("vegas(alpha=2)", "vegas+vegas(alpha=2)", ""),
        ("mstart(mstart.P=5)", "mstart(P=5)+cubic", "tables"),
    ];
    for (name, control, preset) in pairs {
        let document = json(&run(&["compare", name, "--duration", "100ms", "--json"]));
        let one = &document["runs"][0];
        assert_eq!((&one["alias"], &one["control"]), (&name.into(), &control.into()));
        assert_eq!(one["preset"], preset, "{name}");
    }
}

/// Table 3 of the Astart paper: SYN exchange, then a window of two, and no ssthresh in the way.
#[test]
fn vegas_leaves_slow_start_where_the_table_says_unless_an_ssthresh_is_given() {
    let left = |words: &[&str]| {
        let words = [&["compare", "vegas", "--profile", "ns2", "--json"], words].concat();
        json(&run(&words))["runs"][0]["flows"][0]["startup"]["exit_cwnd_packets"].as_u64().unwrap()
    };
    for (rate, window) in [("10", 48), ("20", 48), ("40", 96), ("80", 96), ("150", 192)] {
        assert_eq!(left(&["--rate", &format!("{rate}Mbps")]), window, "{rate} Mbit/s");
    }
    assert_eq!(left(&["--ssthresh", "32pkt"]), 32);
}

#[test]
fn astart_fills_the_papers_path_over_a_whole_and_a_quarter_buffer() {
    for buffer in ["500pkt", "125pkt"] {
        let document = json(&run(&["compare", "astart", "--buffer", buffer, "--json"]));
        let one = &document["runs"][0];
        assert!(one["total_throughput_bps"].as_f64() >= Some(36e6), "{one}");
        assert_eq!(one["flows"][0]["timeouts"], 0);
        assert!(one["bottleneck"]["drops"].as_u64() <= Some(5), "{one}");
        let startup = &one["flows"][0]["startup"];
        let ended_by_loss = startup["exit_reason"] == "loss";
        assert_eq!(ended_by_loss, startup["drops_in_exit_round"].as_u64() > Some(0), "{one}");
    }
}

#[test]
fn hoe_needs_a_buffer_of_half_a_bdp() {
    let measured = |buffer| {
        let words = ["compare", "hoe", "--profile", "rfc", "--buffer", buffer, "--json"];
        let document = json(&run(&words));
        let one = &document["runs"][0];
        (one["total_throughput_bps"].as_f64().unwrap() / 1e6, one["bottleneck"]["drops"].as_u64())
    };
    let (below, above) = (measured("240pkt"), measured("250pkt"));
    assert!(below.0 < 30.0 && below.1 > Some(0), "{below:?}");
    assert!(above.0 > 38.0 && above.1 == Some(0), "{above:?}");
}

#[test]
fn losses_at_random_are_told_apart_from_an_overflow() {
    let words = ["compare", "newreno", "--loss", "0.5%", "--json"];
    let link = &json(&run(&words))["runs"][0]["bottleneck"];
    assert!(link["drops"].as_u64() > Some(0));
    assert_eq!(link["drops"], link["random_losses"], "its queue never fills");
    let link = &json(&run(&["compare", "hoe", "--buffer", "50pkt", "--json"]))["runs"][0];
    assert_eq!(link["bottleneck"]["random_losses"], 0);
}

/// The words are the same on the simulator and on QUIC, the mean where it always was.
#[test]
fn losses_in_bursts_are_a_scenario_of_every_transport() {
    for on in ["sim", "quic"] {
        let words = ["compare", "newreno", "--loss", "ge:1%,24%", "--json", "--on", on];
        let document = json(&run(&words));
        let link = &document["scenario"]["links"][0];
        assert_eq!(
            (&link["loss_ppb"], &link["bursts"]["in_bad_ppb"]),
            (&40_000_000.into(), &1_000_000_000.into())
        );
        let lost = &document["runs"][0]["bottleneck"]["random_losses"];
        assert!(lost.as_u64() > Some(5), "{on}: {lost}");
    }
    let plain = json(&run(&["compare", "newreno", "--loss", "4%", "--json"]));
    assert_eq!(plain["scenario"]["links"][0]["loss_ppb"], 40_000_000);
    assert_eq!(plain["scenario"]["links"][0].get("bursts"), None);
}

#[test]
fn a_comparison_says_which_is_best_and_why_the_others_are_not() {
    let path = ["--buffer", "125pkt", "--profile", "rfc"];
    let text = run(&[&["compare", "newreno", "hoe", "astart"], &path[..]].concat()).stdout;
    for part in [
        "astart carries most, 36.23 Mbps; hoe 37 % of it, newreno 27 % of it.",
        "newreno: start-up ended at ssthresh, at 0.06 BDP after 0.5041 s: too early",
        "astart: start-up ended by a loss, at 1.26 BDP",
    ] {
        assert!(text.replace("\n  ", " ").contains(part), "no {part:?} in {text}");
    }
    let words = ["compare", "newreno", "hoe", "--size", "3MB", "--receiver-window", "100pkt"];
    let text = run(&[&words[..], &["--profile", "rfc"]].concat()).stdout.replace("\n  ", " ");
    assert!(text.contains("hoe finishes first, after "), "{text}");
    assert!(text.contains("The receiver's window is 0.20 BDP: it is the limit here."), "{text}");
    let text = run(&["compare", "newreno", "hoe", "--size", "9MB", "--duration", "1s"]).stdout;
    assert!(text.contains("Nothing was finished in the 1s measured"), "{text}");
}

#[test]
fn compare_writes_traces_too() {
    let place = Place::new();
    json(&place.run(&["compare", "hoe", "--duration", "1s", "--trace", "t", "--json"]));
    for name in ["hoe.flow-0.csv", "hoe.flow-0.sqlog", "hoe.link-bottleneck.csv"] {
        assert!(place.path("t").join(name).is_file(), "{name}");
    }
}
