//! Everything that the four papers name can be had by name: `list` shows it, and it runs.

use serde_json::Value;

use crate::process::run;

/// As the papers say, where they do, and what it is called here: a control, or a path flag.
const NAMED: &[(&str, &str, &str)] = &[
    ("slow start", "S0 S1 S2 S4", "slow-start"),
    ("TCP Tahoe", "S1", "tahoe"),
    ("TCP Reno", "S0 S1 S4", "reno"),
    ("TCP NewReno", "S0 S2", "newreno"),
    ("Tahoe, Reno, NewReno, SACK recovery", "S1", "--recovery"),
    ("TCP Vegas", "S0 S2", "vegas"),
    ("Hoe's ssthresh from packet pairs", "S0 S1", "hoe"),
    ("TCP Westwood", "S0 S2", "tcpw"),
    ("Westwood+ as Linux has it", "S2", "westwood-plus"),
    ("Adaptive Start (Astart)", "S0", "astart"),
    ("TCPW with Agile Probing and Load Gauge", "S2", "tcpw-a"),
    ("large initial window", "S0", "liw"),
    ("initial window of about 4 KB (RFC 3390)", "S0", "iw4k"),
    ("initial window of 10 (RFC 6928)", "S4", "iw10"),
    ("a larger initial window, any", "S0 S1", "--iw"),
    ("Fast Start", "S0 S2", "fast-start"),
    ("SPAND", "S0", "spand"),
    ("Smooth-start", "S0 S4", "smooth-start"),
    ("pacing", "S0 S2", "paced"),
    ("standard TCP (STCP)", "S1", "stcp"),
    ("Byte Counting", "S1", "bc"),
    ("Decreasing Byte Counting", "S1", "dbc"),
    ("delayed ACKs", "S1", "--delayed-ack"),
    ("CUBIC", "S4", "cubic"),
    ("M-Start", "S4", "mstart"),
    ("AFStart", "S4", "afstart"),
    ("TCP Fast Open", "S4", "--fast-open"),
    ("Gallop-Vegas", "S4", "gallop-vegas"),
    ("HyStart", "S4", "hystart"),
    ("P-TCP, two-phase slow start", "S4", "two-phase"),
    ("quick start for satellites", "S4", "packet-pair"),
    ("Quick-Start (RFC 4782)", "S4", "quick-start"),
    ("timer-driven slow start", "S4", "paced"),
    ("ACK splitting", "S4", "--split-acks"),
    ("a sender that counts ACKs, which splitting abuses", "S4", "ack-counting"),
    ("Hoe with early retransmission", "S4", "hoe-early"),
    ("conservative slow start", "S4", "conservative"),
    ("Limited Slow Start (RFC 3742)", "S4", "limited"),
    ("Hybla", "S4", "hybla"),
];

fn names(document: &Value, table: &str) -> Vec<String> {
    let entries = document[table].as_array().expect("a list");
    entries.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn list_shows_every_system_that_the_papers_name() {
    let outcome = run(&["list", "--json"]);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("one JSON document");
    let tables = ["startups", "avoidances", "aliases", "path_flags"];
    let listed: Vec<String> = tables.iter().flat_map(|table| names(&document, table)).collect();
    let missing: Vec<_> =
        NAMED.iter().filter(|(.., name)| !listed.iter().any(|known| known == name)).collect();
    assert!(missing.is_empty(), "not listed: {missing:?}");
    for (system, papers, _) in NAMED {
        assert!(
            papers.split(' ').all(|paper| ["S0", "S1", "S2", "S4"].contains(&paper)),
            "{system}"
        );
    }
}

#[test]
fn every_control_that_the_papers_name_carries_a_file() {
    let controls = NAMED.iter().map(|(.., name)| *name).filter(|name| !name.starts_with("--"));
    let mut controls: Vec<&str> = controls.collect();
    controls.sort_unstable();
    controls.dedup();
    let words = ["compare", "--json", "--size", "200KB", "--rate", "10Mbps", "--duration", "60s"];
    let outcome = run(&[&words[..], &controls].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("one JSON document");
    let runs = document["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), controls.len());
    for run in runs {
        let flow = &run["flows"][0];
        assert_eq!(flow["delivered_bytes"], 200_000, "{}", run["alias"]);
        assert!(flow["completion_time_s"].is_number(), "{}", run["alias"]);
    }
}
