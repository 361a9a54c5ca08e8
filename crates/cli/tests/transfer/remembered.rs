//! What a transfer learns of its path is handed to the next one to the same address.

use std::fs;

use crate::pair::{Receiver, private};
use crate::process::Place;

fn send(place: &Place, options: &[&str]) -> (serde_json::Value, String) {
    let receiver = Receiver::new(place, &["--discard"]);
    let words = [&["--size", "3MB", "--json"], options].concat();
    let outcome = receiver.send(place, &words);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(receiver.running.end().code, 0);
    (serde_json::from_str(&outcome.stdout).unwrap(), outcome.stderr)
}

#[test]
fn the_second_transfer_is_told_what_the_first_one_learned_and_a_third_may_decline() {
    let place = Place::new();
    let with = ["--control", "careful-resume", "--paths", "known/paths.json"];
    let (first, _) = send(&place, &with);
    assert!(first["scenario"]["told"].is_null(), "{first}");
    let note = |results: &serde_json::Value| results["runs"][0]["note"].to_string();
    assert!(note(&first).contains("memory") || note(&first).contains("earlier"), "{first}");
    let written = fs::read_to_string(place.path("known/paths.json")).unwrap();
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    let (second, _) = send(&place, &with);
    let hint = &second["scenario"]["told"];
    assert_eq!(hint["per_round_bytes"], written["paths"][0]["per_round_bytes"], "{second}");
    assert!(note(&second).len() < note(&first).len(), "{second}");
    let (third, _) = send(&place, &["--control", "careful-resume", "--no-paths"]);
    assert!(third["scenario"]["told"].is_null(), "{third}");
}

#[test]
fn a_file_that_cannot_be_written_costs_no_transfer_and_a_wrong_one_is_told_before_it() {
    let place = Place::new();
    let (_, errors) = send(&place, &["--control", "cubic", "--paths", "/proc/none/paths.json"]);
    assert!(
        errors.contains("note: what was learned of the path is not kept: /proc/none"),
        "{errors}"
    );

    private(&place, "other.json", "{}");
    let receiver = Receiver::new(&place, &["--discard"]);
    let outcome = receiver.send(&place, &["--size", "1kB", "--paths", "other.json"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("other.json: missing field `version`"), "{outcome:?}");
    receiver.running.kill();
}
