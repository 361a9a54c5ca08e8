//! `scenarios` and `judge`: the catalogue listed and explained, and a control judged by it.

use serde_json::Value;

use crate::process::{Place, run};

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_catalogue_is_listed_by_groups_and_as_a_document() {
    let listed = run(&["scenarios"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
    for group in ["A. One flow", "B. Long delay", "F. Others on the path", "G. Applications"] {
        assert!(listed.stdout.contains(group), "{}", listed.stdout);
    }
    let json = document(&run(&["scenarios", "--group", "B", "--json"]).stdout);
    assert_eq!(json["schema"], "firstflight/scenarios@1");
    let scenarios = json["scenarios"].as_array().unwrap();
    assert!(scenarios.len() >= 10, "{}", scenarios.len());
    for one in scenarios {
        assert_eq!(one["group"], "B");
        for key in ["about", "why", "expected", "shows_not", "source", "title", "toml"] {
            assert!(one[key].as_str().is_some_and(|text| text.len() > 5), "{}: {key}", one["id"]);
        }
    }
}

#[test]
fn a_scenario_is_explained_and_its_references_are_drawn() {
    let told = run(&["scenarios", "c1"]);
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    for part in ["Why it matters: ", "Expected: ", "What it does not show: ", "c4 3.8 s"] {
        assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
    }
    for drawn in ["cwnd (packets)", "queue (packets)", "hystart-pp"] {
        assert!(told.stdout.contains(drawn), "{drawn}: {}", told.stdout);
    }
}

#[test]
fn the_file_of_a_scenario_runs_as_any_other() {
    let place = Place::new();
    let file = place.run(&["scenarios", "A3b", "--file"]);
    assert_eq!(file.code, 0);
    place.write("a3b.toml", &file.stdout);
    let ran = place.run(&["run", "a3b.toml", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(document(&ran.stdout)["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_name_that_is_none_is_refused_with_the_nearest() {
    let found = run(&["scenarios", "A33"]);
    assert_eq!((found.code, found.stdout.as_str()), (2, ""));
    assert!(found.stderr.contains("scenarios: found \"A33\""), "{}", found.stderr);
    assert!(found.stderr.contains("did you mean `A3"), "{}", found.stderr);
    let group = run(&["scenarios", "--group", "Q"]);
    assert_eq!(group.code, 2);
    assert!(group.stderr.contains("accepted: a group (A, B, C, D, E, F, G)"), "{}", group.stderr);
}
