//! `advise`: the page, the document, the picture, and what is refused.

use serde_json::Value;

use crate::process::{Place, run};

const PATH: [&str; 5] = ["advise", "--rate", "20Mbps", "--rtt", "100ms"];

fn document(more: &[&str]) -> Value {
    let outcome = run(&[&PATH[..], more, &["--json"]].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{more:?}");
    serde_json::from_str(&outcome.stdout).expect("one document")
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of}"))
}

#[test]
fn what_is_advised_is_gentle_and_quicker_than_what_linux_has() {
    let answer = document(&["--size", "1MB"]);
    assert_eq!(answer["schema"], "firstflight/advise@1");
    let take = &answer["take"][0];
    assert_eq!(answer["own"]["control"], "linux-cubic");
    assert!(take["gentle"] == true && number(&take["over_own"]) < 0.9, "{take}");
    assert_eq!(
        take["seconds"].as_array().unwrap().len(),
        answer["points"].as_array().unwrap().len()
    );
    let [least, median, most] = ["least_s", "median_s", "most_s"].map(|key| number(&take[key]));
    assert!(least <= median && median <= most && number(&answer["interval"]) > 0.9);
    // The unknown is named, and what was given is not.
    let names = |answer: &Value| -> Vec<String> {
        let all = answer["unknown"].as_array().unwrap().iter();
        all.map(|of| of["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&answer), ["buffer", "loss", "bursts", "jitter", "acks"]);
    let known = ["--size", "1MB", "--loss", "0%", "--buffer", "1bdp", "--jitter", "1ms"];
    assert_eq!(names(&document(&known)), ["acks"]);
}

/// Ten times the loss and none are two paths, and the answer differs.
#[test]
fn loss_decides() {
    let take = |loss: &str| document(&["--size", "2MB", "--loss", loss])["take"].clone();
    let (clean, lossy) = (take("0%"), take("3%"));
    assert!(number(&lossy[0]["median_s"]) > 1.5 * number(&clean[0]["median_s"]));
    let quicker = lossy.as_array().unwrap().iter().find(|choice| choice["role"] == "quicker");
    assert!(quicker.is_some_and(|choice| choice["gentle"] == false), "{lossy}");
}

#[test]
fn what_fits_into_the_first_window_gains_nothing() {
    let page = run(&[&PATH[..], &["--size", "14KB"]].concat()).stdout;
    assert!(page.contains("Nothing is gained: a transfer of 14KB is over in the first"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
}

#[test]
fn others_are_counted_on_a_shared_path() {
    let answer = document(&["--size", "500KB", "--shared", "--on", "quic"]);
    assert!(number(&answer["take"][0]["others"]) <= 1.1, "rule R3");
    assert!(answer["points"][0]["others"].as_str().unwrap().starts_with('F'));
    assert!(document(&["--size", "100KB"])["take"][0]["others"].is_null());
}

#[test]
fn the_picture_is_written_and_quinn_measures() {
    let place = Place::new();
    let more = ["--size", "300KB", "--on", "quinn", "--verify", "--out", "times.svg"];
    let outcome = place.run(&[&PATH[..], &more].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("picture: times.svg"), "{}", outcome.stderr);
    assert!(std::fs::read_to_string(place.path("times.svg")).unwrap().contains("quinn-cubic"));
    assert!(outcome.stdout.contains("measured again"), "{}", outcome.stdout);
}

/// Each row of README.md's first table, which a kernel measured, is what the simulator says within
/// 1 %, and two packets lost.
#[test]
fn the_first_screen_is_what_the_simulator_says_too() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let rows = readme.lines().filter(|line| line.starts_with("| ") && line.contains(" lost"));
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let path = cells[0].replace(" BDP", "bdp").replace(' ', "");
        let mut words = vec!["compare", "hystart", "scout", "--delayed-ack", "2", "--json"];
        words.extend(["--packet", "1448B", "--headers", "52B"]);
        for (flag, value) in
            ["--rate", "--rtt", "--buffer", "--size"].into_iter().zip(path.split(','))
        {
            words.extend([flag, value]);
        }
        let results: Value = serde_json::from_str(&run(&words).stdout).unwrap();
        for (cell, run) in cells[1..].iter().zip(results["runs"].as_array().unwrap()) {
            let time = number(&run["flows"][0]["completion_time_s"]);
            let (shown, lost) = cell.split_once(" s, ").unwrap();
            let shown: f64 = shown.parse().unwrap();
            let lost: f64 = lost.split(' ').next().unwrap().parse().unwrap();
            assert!((shown / time - 1.0).abs() < 0.01, "{row}: {time}");
            assert!((lost - number(&run["bottleneck"]["drops"])).abs() <= 2.0, "{row}: {run}");
        }
        count += 1;
    }
    assert_eq!(count, 3);
}
