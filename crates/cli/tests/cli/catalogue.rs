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
    let scenario = run(&["scenarios", "wifi"]);
    assert_eq!((scenario.code, scenario.stderr.as_str()), (0, ""));
    assert!(scenario.stdout.starts_with("C1-wifi: A busy WiFi cell"), "{}", scenario.stdout);
    assert_eq!(run(&["scenarios", "c1"]).stdout, scenario.stdout);
    for part in ["Why it matters: ", "Expected: ", "What it does not show: ", "c4 3.8 s"] {
        assert!(scenario.stdout.contains(part), "{part}: {}", scenario.stdout);
    }
    for drawn in ["cwnd (packets)", "queue (packets)", "hystart-pp"] {
        assert!(scenario.stdout.contains(drawn), "{drawn}: {}", scenario.stdout);
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

#[test]
fn a_control_is_judged_with_the_numbers_behind_each_verdict() {
    let place = Place::new();
    let judged = place.run(&["judge", "hystart-pp", "--only", "one-flow,F4", "--json"]);
    assert_eq!((judged.code, judged.stderr.as_str()), (1, ""), "HyStart++ loses packets on A1");
    let json = document(&judged.stdout);
    assert_eq!(json["schema"], "firstflight/judgement@1");
    assert_eq!(json["control"], "hystart-pp");
    let ids: Vec<_> = json["scenarios"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["A1", "F4"]);
    let one = &json["scenarios"][0];
    assert_eq!(one["name"], "A1-one-flow");
    assert_eq!(one["verdicts"]["R1"], "pass");
    assert_eq!(one["verdicts"]["R3"], "n/a");
    assert_eq!(one["verdicts"]["R5"], "fail");
    assert!(one["reasons"]["R5"].as_str().unwrap().contains("dominated by hystart"), "{one}");
    assert!(one["source"].as_str().unwrap().contains("C4 tests"));
    assert_eq!(one["published_s"]["cubic"], 4.48);
    // 4 s of sending 10 MB at 20 Mbit/s, a handshake and some round trips.
    let took = one["measured"]["completion_s"].as_f64().unwrap();
    assert!((4.2..4.6).contains(&took), "{took}");
    for reference in ["slow-start+cubic", "hystart", "hystart-pp"] {
        assert!(one["references"][reference]["lost_packets"].is_number(), "{reference}");
    }
    assert_eq!(json["summary"]["R5"]["fail"], 1);
    let share = &json["scenarios"][1]["measured"]["others_share"];
    assert!(share.as_f64().is_some_and(|share| share > 0.0 && share < 1.0), "{share}");
}

#[test]
fn a_control_for_which_every_rule_holds_ends_well() {
    let judged = Place::new().run(&["judge", "hystart", "--only", "A1"]);
    assert_eq!((judged.code, judged.stderr.as_str()), (0, ""), "{}", judged.stdout);
    let beginning =
        "hystart on sim, 1 scenario: R1 fast in 1 of 1, R2 gentle in 1 of 1, R5 not dominated";
    assert!(judged.stdout.replace("\n  ", " ").starts_with(beginning), "{}", judged.stdout);
    assert!(!judged.stdout.contains("R3"), "a rule that is not asked: {}", judged.stdout);
}

#[test]
fn a_judgement_fits_80_columns_and_has_names_for_rules_and_scenarios() {
    let place = Place::new();
    let words = ["judge", "hystart-pp", "--quick", "--only", "A,C,F"];
    let judged = place.command(&words).env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(judged.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let head: Vec<&str> = text.lines().take(8).collect();
    assert!(head[0].starts_with("hystart-pp on sim, "), "the sums first: {text}");
    assert!(
        head.contains(&"R1 fast, R2 gentle, R3 safe to others, R4 never stuck, R5 not dominated")
    );
    for name in ["A1-one-flow", "F5b-five-hundred-starts"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {text}");
    }
}

#[test]
fn a_judgement_needs_no_folder_that_nobody_asked_for() {
    let place = Place::new();
    place.write("firstflight-out", "a file is in the way");
    let judged = place.run(&["judge", "hystart", "--only", "A1"]);
    assert_eq!(judged.code, 0, "{judged:?}");
    let note = "finished runs are not kept: firstflight-out/judge/runs cannot be made\n";
    assert_eq!(judged.stderr, note);
    let asked = place.run(&["judge", "hystart", "--only", "A1", "--out", "firstflight-out"]);
    assert_eq!(asked.code, 2, "{asked:?}");
}

#[test]
fn what_was_judged_is_kept_and_only_the_rest_is_run() {
    let place = Place::new();
    let words = ["judge", "hystart", "--only", "C1", "--seeds", "2", "--json", "--out", "kept"];
    let first = place.run(&words);
    let kept = || {
        let folders = std::fs::read_dir(place.path("kept/runs")).unwrap().flatten();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.sort();
        files
    };
    // Two seeds of three controls, of which the one under judgement is one.
    let files = kept();
    assert_eq!(files.len(), 6);
    let before = |path| std::fs::metadata(path).unwrap().modified().unwrap();
    let times: Vec<_> = files.iter().map(before).collect();
    std::fs::remove_file(&files[2]).unwrap();
    let again = place.run(&words);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(kept(), files);
    for (i, (file, time)) in files.iter().zip(times).enumerate() {
        assert_eq!(before(file) == time, i != 2, "{}", file.display());
    }
    let more = ["judge", "hystart", "--only", "C1", "--seeds", "3", "--out", "kept"];
    place.run(&more);
    assert_eq!(kept().len(), 9);
}

#[test]
fn a_judgement_is_a_table_too() {
    let place = Place::new();
    place.run(&["judge", "scout", "--against", "bbr", "--only", "A1", "--csv", "rows.csv"]);
    let text = std::fs::read_to_string(place.path("rows.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("scenario,control,transport,judged,seeds,completion_s,"));
    assert!(lines[1].starts_with("A1-one-flow,scout,sim,true,1,4."), "{}", lines[1]);
    assert_eq!(lines.len(), 1 + 1 + 4, "the control and four references");
    assert!(lines[1].ends_with(",n/a,n/a,pass"), "{}", lines[1]);
    assert!(lines[2].ends_with(",,,,,"), "{}", lines[2]);
}

/// HyStart++ loses packets on A1 where HyStart does not.
#[test]
fn a_stored_judgement_decides_what_is_worse() {
    let place = Place::new();
    for (control, file) in [("hystart", "good.json"), ("hystart-pp", "bad.json")] {
        place.write(file, place.run(&["judge", control, "--only", "A1,A3", "--json"]).stdout);
    }
    let judge = |control: &str, stored: &str| {
        let words = ["judge", control, "--only", "A1", "--baseline", stored];
        place.run(&[&words[..], &["--markdown", "it.md", "--sarif", "it.sarif"]].concat())
    };
    let same = judge("hystart-pp", "bad.json");
    assert_eq!(same.code, 0, "nothing is worse: {}", same.stderr);
    let since = "since hystart-pp on sim, version 0.1.0: 0 rules are worse, 0 rules are better; ";
    assert!(same.stderr.contains(since), "{}", same.stderr);
    assert!(same.stderr.contains("2 scenarios of it not judged now"), "{}", same.stderr);
    let worse = judge("hystart-pp", "good.json");
    assert_eq!(worse.code, 1, "{}", worse.stderr);
    let change = "worse: A1-one-flow R5 not dominated: pass before, now fail";
    assert!(worse.stderr.contains(change), "{}", worse.stderr);
    let better = judge("hystart", "bad.json");
    assert_eq!(better.code, 0, "{}", better.stderr);
    assert!(better.stderr.contains("better: A1-one-flow R5 not dominated"), "{}", better.stderr);
    let lost = place.run(&["judge", "hystart", "--only", "A1", "--baseline", "none.json"]);
    assert_eq!((lost.code, lost.stdout.as_str()), (2, ""));
    assert!(lost.stderr.contains("--baseline none.json: no such file; accepted: "), "{lost:?}");
}

/// What the standard requires (SARIF 2.1.0), and what forges do beside it.
#[test]
fn what_does_not_hold_is_sarif_and_markdown_too() {
    let place = Place::new();
    let words = ["judge", "hystart-pp", "--only", "A1", "--markdown", "it.md"];
    let judged = place.run(&[&words[..], &["--sarif", "it.sarif", "--json"]].concat());
    let verdicts = document(&judged.stdout)["scenarios"][0]["verdicts"].clone();
    let failed: Vec<&str> = ["R1", "R2", "R3", "R4", "R5"]
        .into_iter()
        .filter(|rule| verdicts[rule] == "fail")
        .collect();
    let log = document(&std::fs::read_to_string(place.path("it.sarif")).unwrap());
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "firstflight judge");
    let results = run["results"].as_array().unwrap();
    let found: Vec<_> = results.iter().map(|one| one["ruleId"].as_str().unwrap()).collect();
    assert!(!failed.is_empty() && found == failed, "{found:?}");
    let file = include_str!("../../../../scenarios/catalogue/A1-one-flow.toml");
    for one in results {
        let rule = &run["tool"]["driver"]["rules"][one["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], one["ruleId"]);
        assert!(one["message"]["text"].as_str().unwrap().contains("One flow"), "{one}");
        let place = &one["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "scenarios/catalogue/A1-one-flow.toml");
        let line = place["region"]["startLine"].as_u64().unwrap() as usize;
        assert!(file.lines().nth(line - 1).unwrap().starts_with("rules"), "line {line}");
    }
    let summary = std::fs::read_to_string(place.path("it.md")).unwrap();
    assert!(summary.starts_with("### hystart-pp on sim, 1 scenario: R1 fast in "), "{summary}");
    assert!(summary.contains("\n| A1-one-flow | ✓ | ✓ | ✗ |"), "{summary}");
    assert!(summary.contains("\n- A1-one-flow R5 not dominated: 4.497 s, "), "{summary}");
}

#[test]
fn what_cannot_be_judged_is_refused_before_anything_runs() {
    for (words, problem) in [
        (&["judge", "hystartpp"][..], "did you mean `hystart-pp`"),
        (&["judge", "cubic", "--against", "bbr,zebra"], "--against: control `zebra`"),
        (&["judge", "cubic", "--only", "A1,Q7"], "--only: found \"Q7\""),
        (&["judge", "cubic", "--seeds", "0"], "--seeds"),
        (&["judge", "cubic", "--on", "simm"], "did you mean `sim`"),
        (&["judge", "cubic", "--on", "quic", "--virtual-time"], "--virtual-time belongs to"),
    ] {
        let place = Place::new();
        let found = place.run(words);
        assert_eq!((found.code, found.stdout.as_str()), (2, ""), "{words:?}");
        assert!(found.stderr.contains(problem), "{words:?}: {}", found.stderr);
        assert!(place.files().is_empty(), "{words:?}");
    }
}

/// On QUIC the references are ours over quinn, and quinn's own control is judged beside them.
#[test]
fn a_control_of_quinn_is_judged_over_quic() {
    let judged =
        Place::new().run(&["judge", "quinn-cubic", "--on", "quic", "--only", "A3", "--json"]);
    assert!(judged.code <= 1, "{}", judged.stderr);
    let json = document(&judged.stdout);
    assert_eq!(json["on"], "quic");
    assert!(json["scenarios"][1]["measured"]["completion_s"].as_f64().unwrap() > 15.0);
}

#[test]
fn a_report_has_the_matrix_the_plane_the_questions_and_a_picture_per_scenario() {
    let place = Place::new();
    let judged = place.run(&["judge", "scout", "--only", "A1,A4,F4", "--out", "report"]);
    assert!(judged.code <= 1, "{}", judged.stderr);
    let page = std::fs::read_to_string(place.path("report/report.html")).unwrap();
    for part in ["Time against loss", "Harm to others", "The questions of RFC 9743"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("A1 R1 pass") && page.contains("not covered"), "the evidence");
    for picture in ["plane", "scenario-A1-one-flow", "scenario-F4-with-slow-start"] {
        assert!(place.path(&format!("report/figures/{picture}.svg")).is_file(), "{picture}");
    }
    let json = std::fs::read_to_string(place.path("report/judgement.json")).unwrap();
    assert_eq!(document(&json)["scenarios"].as_array().unwrap().len(), 3);
}
