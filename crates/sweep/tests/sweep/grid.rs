//! What a grid file can say, and the messages for what is wrong in it.

use std::fs;
use std::sync::Arc;

use firstflight_quic_sim::quinn::SIM;
use firstflight_sweep::{Chunk, Sweep};

use crate::place::{GRID, Place};

fn refused(text: &str) -> String {
    let place = Place::new();
    Sweep::parse(text, "grid.toml", &place.path(""), Arc::new(SIM)).unwrap_err().to_string()
}

const BASE: &str = "scenario = { controls = ['newreno'], duration = '1s' }\n";

#[test]
fn what_is_wrong_in_a_grid_file_is_named_with_what_is_accepted() {
    for (text, words) in [
        ("", ["grid.toml: the file is empty", "accepted"]),
        ("grid = [", ["grid.toml:1", "accepted: TOML"]),
        ("grid = { 'path.rtt' = ['1ms'] }", ["scenario: is missing", "[scenario]"]),
        ("scenario = 3\ngrid = { 'path.rtt' = ['1ms'] }", ["scenario: found 3", "[scenario]"]),
    ] {
        let problem = refused(text);
        assert!(words.iter().all(|word| problem.contains(word)), "{text}: {problem}");
    }
    for (text, words) in [
        ("", ["nothing varies", "[grid]"]),
        ("grdi = { seed = [1] }", ["grdi: unknown key, did you mean `grid`", "scenario, grid"]),
        ("grid = 3", ["grid: found 3", "accepted"]),
        ("grid = { 'path.rtt' = '1ms' }", ["grid.path.rtt: found", "lists"]),
        ("grid = { 'path.rtt' = [] }", ["grid.path.rtt", "a list of texts or numbers"]),
        ("grid = { 'path.rtt' = [['1ms']] }", ["grid.path.rtt", "a list of texts or numbers"]),
        ("grid = { 'path.rtt' = [5] }", ["path.rtt = 5", "a time needs a unit"]),
        ("grid = { 'path.rtt' = ['5parsec'] }", ["path.rtt = \"5parsec\"", "unknown unit"]),
        ("grid = { 'path.rtd' = ['5ms'] }", ["path.rtd: unknown key, did you mean `rtt`", "loss"]),
        ("grid = { controls = ['hoe'] }", ["controls: does not vary", "in `scenario`"]),
        ("grid = { 'flow[3].size' = ['1MB'] }", ["no place for `flow[3].size`", "grid.toml"]),
        ("grid = { seed = [1] }\npoints = 3", ["points: found 3", "CSV file"]),
        ("points = 'none.csv'", ["none.csv: points: no such file", "a CSV file"]),
        ("points = '/dev/zero'", ["/dev/zero: points: no regular file", "a CSV file"]),
        ("points = '.'", ["points: this is a directory", "a CSV file"]),
        ("sample = 1", ["sample: found 1", "method"]),
        ("[sample]\npoints = 9\nover.seed = [1]", ["sample.method: found nothing", "random"]),
        ("[sample]\nmethod = 'sobol'\npoints = 9\nover.seed = [1]", ["sobol", "scipy.stats.qmc"]),
        ("[sample]\nmethod = 'random'\nover.seed = [1]", ["sample.points: is missing", "1000"]),
        ("[sample]\nmethod = 'random'\npoints = -1\nover.seed = [1]", ["found -1", "1000"]),
        ("[sample]\nmethod = 'random'\npoints = 0\nover.seed = [1]", ["found 0", "one point"]),
        (
            "[sample]\nmethod = 'random'\npoints = 1000000000000000000\nover.seed = [1]",
            ["1000000000000000000 points are more than two months", "several sweeps"],
        ),
        ("[sample]\nmethod = 'random'\npoints = 5", ["sample.over: is missing", "accepted"]),
        (
            "[sample]\nmethod = 'random'\npoints = 5\nover.seed = { from = 1, two = 2 }",
            ["sample.over.seed.two: unknown key, did you mean `to`", "from, to, scale"],
        ),
        (
            "[sample]\nmethod = 'random'\npoints = 5\nover.path.rtt = { from = '1ms', to = '1MB' }",
            ["sample.over.path.rtt", "two kinds"],
        ),
        (
            "grid = { seed = [1] }\n[sample]\nmethod = 'random'\npoints = 5\nover.seed = [2]",
            ["seed: varies twice", "one list or range"],
        ),
    ] {
        let problem = refused(&format!("{BASE}{text}"));
        assert!(words.iter().all(|word| problem.contains(word)), "{text}: {problem}");
    }
}

#[test]
fn what_is_wrong_in_its_scenario_is_named_with_its_line() {
    let problem =
        refused("[grid]\nseed = [1]\n\n[scenario]\ncontrols = ['newreno']\nduraton = '1s'");
    assert!(problem.starts_with("grid.toml:6: scenario.duraton: unknown key"), "{problem}");
    let problem = refused("grid = { seed = [1] }\nscenario = { controls = ['newrenno'] }");
    assert!(problem.contains("newrenno") && problem.contains("newreno"), "{problem}");
}

#[test]
fn the_layout_of_a_grid_file_does_not_matter_and_its_content_does() {
    let place = Place::new();
    let one = place.sweep(GRID);
    let turned = "
        # A comment.
        [grid.path]
        loss = [\"0%\", \"0.1%\"]
        rtt = [\"20ms\", \"50ms\", \"100ms\", \"200ms\", \"400ms\"]
        rate = [\"5Mbps\", \"20Mbps\", \"80Mbps\"]
        [[scenario.flow]]
        size = \"20MB\"
        [scenario]
        runs = 2
        duration = \"60s\"
        controls = [\"newreno\", \"astart\"]";
    assert_eq!(place.sweep(turned).hash(), one.hash());
    assert_eq!(place.sweep(turned).chunk(0).unwrap().name(), one.chunk(0).unwrap().name());
    let other = place.sweep(&GRID.replace("runs = 2", "runs = 3"));
    assert_ne!(other.hash(), one.hash());
    assert_ne!(other.chunk(0).unwrap().name(), one.chunk(0).unwrap().name());
}

#[test]
fn every_part_of_a_chunk_is_in_its_name_but_the_grid_files() {
    let chunk = Place::new().sweep(GRID).chunk(0).unwrap();
    let text = chunk.to_json();
    let name = |text: &str| Chunk::from_json(text).unwrap().name();
    assert_eq!(name(&text), chunk.name());
    assert_eq!(name(&text.replace("grid.toml", "other.toml")), chunk.name());
    let (rest, last) = text.rsplit_once("ms\"]").unwrap();
    let changed = [
        format!("{rest}us\"]{last}"),
        text.replace("runs = 2", "runs = 3"),
        text.replace("path.rate", "path.access_rate"),
    ];
    for other in changed {
        assert_ne!(name(&other), chunk.name(), "{other}");
    }
}

#[test]
fn a_scenario_and_points_can_stand_in_files_beside_it() {
    let place = Place::new();
    fs::write(place.path("base.toml"), "controls = ['newreno']\nduration = '1s'").unwrap();
    fs::write(place.path("points.csv"), "path.rate,path.rtt\n10Mbps,20ms\n7Mbps, 35ms\n").unwrap();
    let sweep = place.sweep(
        "scenario = 'base.toml'\npoints = 'points.csv'\ngrid = { 'path.loss' = ['0%', '1%'] }",
    );
    assert_eq!(sweep.keys(), ["path.rate", "path.rtt", "path.loss"]);
    assert_eq!(
        (sweep.points(), sweep.values(3)),
        (4, ["7Mbps", "35ms", "1%"].map(str::to_owned).to_vec())
    );
    fs::write(place.path("points.csv"), "path.rate,path.rtt\n10Mbps\n").unwrap();
    let text = "scenario = 'base.toml'\npoints = 'points.csv'";
    let problem =
        Sweep::parse(text, "grid.toml", &place.path(""), Arc::new(SIM)).unwrap_err().to_string();
    assert!(problem.contains("points.csv:2: points: CSV error"), "{problem}");
    fs::write(place.path("points.csv"), "path.rate\n10Mbps\n5furlongs\n").unwrap();
    let problem =
        Sweep::parse(text, "grid.toml", &place.path(""), Arc::new(SIM)).unwrap_err().to_string();
    let at = "at path.rate = 5furlongs: ";
    let stands = format!("{}:3: path.rate = \"5furlongs\": ", place.path("points.csv").display());
    assert!(problem.starts_with(&format!("{at}{stands}")), "{problem}");
    fs::write(place.path("points.csv"), "path.rate\n10Mbps\n\n10Mbps\n").unwrap();
    let problem =
        Sweep::parse(text, "grid.toml", &place.path(""), Arc::new(SIM)).unwrap_err().to_string();
    assert!(problem.contains("points.csv:4: points: 10Mbps stands there twice"), "{problem}");
}

#[test]
fn what_is_wrong_among_the_values_is_named_with_its_line() {
    let rows = "path.rate = ['5Mbps',\n  '7furlongs']\n";
    for (text, message) in [
        (&format!("{BASE}[grid]\nseed = [1]\n{rows}"), "grid.toml:5: path.rate = \"7furlongs\": "),
        (&format!("{BASE}[grid]\n'path.rtd' = ['5ms']"), "grid.toml:3: path.rtd: unknown key"),
        (&format!("{BASE}[grid]\n\n'path.rtt' = '5ms'"), "grid.toml:4: grid.path.rtt: found"),
        (&format!("{BASE}\ngrdi = 3"), "grid.toml:3: grdi: unknown key"),
        (&format!("{BASE}[grid]\ncontrols = ['hoe']"), "grid.toml:3: controls: does not vary"),
        (&format!("{BASE}[grid]\nseed = [1, 2, 1]"), "grid.toml:3: grid.seed: 1 stands there"),
        (
            &format!("{BASE}[sample]\nmethod = 'random'\npoints = 0\nover.seed = [1]"),
            "grid.toml:4: sample.points: found 0",
        ),
        (
            &format!("{BASE}[sample]\nmethod = 'random'\npoints = 4\nover.'path.rtt' = ['often']"),
            "at path.rtt = often: grid.toml:5: path.rtt = \"often\": ",
        ),
        (&format!("{BASE}[grid]\n'flow[3].size' = ['1MB']"), "grid.toml:3: flow[3].size: there"),
    ] {
        let problem = refused(text);
        assert!(problem.starts_with(message), "{message}: {problem}");
    }
}

/// Not all points are looked at before anything runs.
#[test]
fn a_chunk_names_the_line_of_its_point_on_any_machine() {
    let place = Place::new();
    fs::write(place.path("points.csv"), "path.rtt\n10ms\n20ms\n").unwrap();
    let sweep = place.sweep(&format!("{BASE}points = 'points.csv'\ngrid = {{ seed = [1, 2] }}"));
    let text = sweep.chunk(0).unwrap().to_json().replace("\"20ms\"", "\"often\"");
    let chunk = Chunk::from_json(&text).unwrap();
    let problem = chunk.run(&SIM, &Default::default()).unwrap_err().to_string();
    assert!(problem.starts_with("at path.rtt = often, seed = 1: "), "{problem}");
    assert!(problem.contains("points.csv:3: path.rtt = \"often\": "), "{problem}");
}

#[test]
fn samples_lie_in_their_ranges() {
    let place = Place::new();
    let sweep = place.sweep(&format!(
        "{BASE}
        [sample]
        method = 'latin-hypercube'
        points = 60
        [sample.over]
        path.rate = {{ from = '1Mbps', to = '1Gbps', scale = 'log' }}
        path.buffer = {{ from = '0.1bdp', to = '2bdp' }}
        profile = ['linux', 'rfc']"
    ));
    assert_eq!(sweep.keys(), ["path.buffer", "path.rate", "profile"]);
    let rates = (0..60).map(|point| sweep.values(point)[1].parse::<firstflight_scenario::Rate>());
    let mut rates: Vec<u64> = rates.map(|rate| rate.unwrap().bps()).collect();
    rates.sort_unstable();
    // One in each of the 60 strata of the logarithm, so 20 in each decade.
    let decade = rates.iter().filter(|rate| (10_000_000..100_000_000).contains(*rate)).count();
    assert_eq!(decade, 20);
    assert!(rates[0] >= 1_000_000 && rates[59] <= 1_000_000_000);
}

/// With a list of two values and one of these seeds the first and the last point are the same by
/// both methods.
#[test]
fn samples_by_another_method_are_another_sweep() {
    let place = Place::new();
    for seed in 1..=12 {
        let hash = |method: &str| {
            let sample = format!(
                "{BASE}\n[sample]\nmethod = '{method}'\npoints = 6\nseed = {seed}\n\
                 over.path.rate = ['10Mbps', '20Mbps']"
            );
            place.sweep(&sample).hash().to_owned()
        };
        assert_ne!(hash("random"), hash("latin-hypercube"), "{seed}");
    }
}

#[test]
fn a_billion_points_are_cut_without_a_look_at_each() {
    let place = Place::new();
    let sweep = place.sweep(
        "scenario = { controls = ['newreno', 'astart'], flow = [{ size = '5MB' }] }
        [sample]
        method = 'random'
        points = 1000000000
        over.path.rate = { from = '10Mbps', to = '1Gbps', scale = 'log' }",
    );
    assert_eq!(sweep.points(), 1_000_000_000);
    let last = sweep.chunk(sweep.chunks() - 1).unwrap();
    assert!((1..=4096).contains(&last.points()));
    // About a second each.
    let mean = (0..sweep.chunks()).map(|chunk| sweep.weight_ns(chunk) as f64).sum::<f64>()
        / sweep.chunks() as f64;
    assert!((0.5e9..1.5e9).contains(&mean), "{mean}");
}
