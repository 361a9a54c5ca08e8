//! `reproduce`: verdicts, what it writes, and its exit code.

use std::fs;

use serde_json::Value;

use crate::commands::json;
use crate::process::Place;

#[test]
fn reproduce_prints_the_verdicts_of_a_table_and_writes_its_report() {
    let place = Place::new();
    let outcome = place.run(&["reproduce", "S0-T1"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("Astart, 2004: astart/table1"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("5 claims: 5 pass, 0 fail"), "{}", outcome.stdout);
    // In between a line if no font of the machine is embedded.
    let notes = &outcome.stderr;
    assert!(notes.starts_with("report: firstflight-out/reproduce/S0-T1/report.html\n"), "{notes}");
    assert!(notes.ends_with("\nexit code 0: every verdict is the recorded one\n"), "{notes}");
    let page = place.path("firstflight-out/reproduce/S0-T1/report.html");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("firstflight reproduce S0-T1"));
}

#[test]
fn of_a_whole_paper_only_what_fails_and_one_total_are_printed() {
    let place = Place::new();
    let outcome = place.run(&["reproduce", "modern", "--quick"]);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines.len() < 20, "{}", outcome.stdout);
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{}", outcome.stdout);
    assert!(outcome.stdout.starts_with("Today's start-ups: 2 of "), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("\nS5-PQ5 "), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(" must be ≤ 6.5"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("Why: No slow start"), "{}", outcome.stdout);
    assert_eq!(outcome.stdout.matches(" pass, ").count(), 1, "one total: {}", outcome.stdout);
    let tables = place.run(&["reproduce", "modern", "--quick", "--tables"]);
    assert!(tables.stdout.lines().count() > 100, "{}", tables.stdout);
}

#[test]
fn a_claim_that_fails_as_recorded_is_no_error_unless_strict() {
    let record = include_str!("../../../../papers/verdicts.toml");
    let failing = record.lines().find_map(|line| line.strip_suffix(" = \"fail\"")).unwrap();
    let place = Place::new();
    let outcome = place.run(&["reproduce", failing, "--out", "o"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let last = "exit code 0: every verdict is the recorded one, the one that fails too\n";
    assert!(outcome.stderr.ends_with(last), "{outcome:?}");
    let outcome = place.run(&["reproduce", failing, "--out", "o", "--strict"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.ends_with("exit code 1: 1 row fails as recorded (--strict)\n"));
}

#[test]
fn reproduce_markdown_has_the_claims_and_only_their_papers() {
    let place = Place::new();
    let outcome = place.run(&["reproduce", "S0-X2", "S4-T2", "--markdown", "docs/claims.md"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let text = fs::read_to_string(place.path("docs/claims.md")).unwrap();
    let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(sections.len() == 2 && sections[0].starts_with("Astart, 2004: "), "{sections:?}");
    assert!(text.contains("<br>refuted, ") && text.contains("23.2 % of 40"), "{text}");
    assert!(text.contains("| 12.9 Mbit/s | | | | | | **refuted-confirmed** |"), "{text}");
    assert!(text.contains("| | cwnd after ACK 2 | 12 | 12 | 0 | = 12 | 1 | "), "{text}");
}

#[test]
fn reproduce_json_is_one_document_of_the_rows_asked_for() {
    let place = Place::new();
    let document = json(&place.run(&["reproduce", "S0-T1c", "S0-T2a", "--json", "--out", "o"]));
    let ids: Vec<_> = document["rows"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["S0-T1c", "S0-T2a"]);
    let row = &document["rows"][0];
    assert_eq!((&row["paper"], &row["verdict"]), (&"astart".into(), &"pass".into()));
    let check = row["checks"][0].as_object().unwrap();
    let keys: Vec<&str> = check.keys().map(String::as_str).collect();
    let wanted = "what paper measured difference tolerance seeds interval preset verdict";
    assert_eq!(keys.join(" "), wanted);
    assert_eq!((&check["paper"], &check["seeds"]), (&23.2.into(), &1.into()));
    let written = fs::read_to_string(place.path("o/rows.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), document);
}
