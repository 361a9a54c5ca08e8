//! Everything that the four papers name can be had by name: `list` shows it, and it runs.

use serde_json::Value;

use crate::process::run;

fn catalogue() -> Value {
    serde_json::from_str(&run(&["list", "--json"]).stdout).expect("one JSON document")
}

fn names(document: &Value, table: &str) -> Vec<String> {
    let entries = document[table].as_array().expect("a list");
    entries.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
}

/// The names of the papers, each with what it is called here; `None` if there is no control.
fn named(document: &Value) -> Vec<(String, Option<String>)> {
    let entries = document["named"].as_array().expect("a list");
    let text = |entry: &Value, key: &str| entry[key].as_str().map(str::to_owned);
    entries.iter().map(|entry| (text(entry, "name").unwrap(), text(entry, "here"))).collect()
}

#[test]
fn every_system_that_a_paper_names_is_listed_or_has_a_reason() {
    let document = catalogue();
    let tables = ["startups", "avoidances", "aliases", "path_flags"];
    let listed: Vec<String> = tables.iter().flat_map(|table| names(&document, table)).collect();
    for (name, here) in named(&document) {
        assert!(here.is_none_or(|here| listed.contains(&here)), "{name} is not what is listed");
    }
    for entry in document["named"].as_array().unwrap() {
        let papers = entry["papers"].as_array().unwrap();
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/");
        let is_paper = |paper: &Value| {
            std::path::Path::new(root).join(paper.as_str().unwrap()).join("paper.toml").is_file()
        };
        assert!(!papers.is_empty() && papers.iter().all(is_paper), "{entry}");
        assert!(entry["here"].is_string() || entry["note"].is_string(), "{entry}");
    }
}

#[test]
fn a_reader_finds_a_system_by_the_name_in_the_paper() {
    for (asked, found) in [
        ("Scalable TCP", "slow-start+scalable"),
        ("highspeed tcp", "RFC 3649"),
        ("SPAND", "start-up spand"),
        ("LIW", "start-up liw"),
        ("SACK", "path flag --recovery"),
        ("RED", "`queue = \"red\"` is it"),
    ] {
        let outcome = run(&["list", asked]);
        assert_eq!(outcome.code, 0, "{asked}: {}", outcome.stderr);
        assert!(outcome.stdout.contains(found), "{asked}: {}", outcome.stdout);
        assert!(outcome.stdout.contains("is its name in the paper"), "{asked}: {}", outcome.stdout);
    }
    let nearly = run(&["list", "Scalable TPC"]);
    assert_eq!(nearly.code, 2);
    assert!(nearly.stderr.contains("did you mean `Scalable TCP`"), "{}", nearly.stderr);
}

#[test]
fn every_control_that_is_listed_or_that_the_papers_name_carries_a_file() {
    let document = catalogue();
    let named = named(&document).into_iter().filter_map(|(_, here)| here);
    let mut controls: Vec<String> = named.filter(|name| !name.starts_with("--")).collect();
    controls.extend(["startups", "aliases"].iter().flat_map(|table| names(&document, table)));
    controls.sort_unstable();
    controls.dedup();
    let words = ["compare", "--json", "--size", "200KB", "--rate", "10Mbps", "--duration", "60s"];
    let controls: Vec<&str> = controls.iter().map(String::as_str).collect();
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

/// A control that needs routers is refused where there are none that answer, not left to wait.
#[test]
fn controls_that_need_routers_run_in_the_simulator_only() {
    let document = catalogue();
    for name in ["quick-start", "xcp", "tcp-ebn", "slow-start+xcp"] {
        let first = name.split('+').next().unwrap();
        let over_quic = run(&["compare", name, "--on", "quic", "--duration", "1s"]);
        assert_eq!(over_quic.code, 2, "{name}: {}", over_quic.stdout);
        assert!(over_quic.stderr.contains("needs routers that"), "{}", over_quic.stderr);
        let startups = document["startups"].as_array().unwrap();
        let Some(entry) = startups.iter().find(|entry| entry["name"] == first) else { continue };
        let needs_none = first == "slow-start";
        let runs_on: Vec<&str> =
            entry["transports"].as_array().unwrap().iter().map(|on| on.as_str().unwrap()).collect();
        assert_eq!(runs_on == ["sim"], !needs_none, "{name}: {runs_on:?}");
    }
}
