//! `sweep`: killed, interrupted, split, and told what it cannot do.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{Outcome, Place, wait_until};
use crate::small_disk::on_small_disk;

/// A hundred points in some dozen chunks.
const GRID: &str = "
[scenario]
controls = ['newreno', 'astart']
duration = '60s'
flow = [{ size = '30MB' }]
[grid]
'path.rate' = ['10Mbps', '20Mbps', '40Mbps', '80Mbps', '160Mbps']
'path.rtt' = ['20ms', '50ms', '100ms', '200ms', '400ms']
'path.buffer' = ['0.1bdp', '0.25bdp', '0.5bdp', '1bdp']
";

fn place() -> Place {
    let place = Place::new();
    place.write("grid.toml", GRID);
    place
}

fn results(place: &Place, folder: &str) -> Vec<Vec<u8>> {
    let file = |name| fs::read(place.path(folder).join(name)).unwrap();
    ["flows.csv", "points.csv", "summary.csv"].map(file).to_vec()
}

/// Chunks that are finished, by their names, with the time at which they were.
fn finished(folder: &Path) -> Vec<(String, std::time::SystemTime)> {
    let mut found = Vec::new();
    let folders = fs::read_dir(folder.join("chunks")).into_iter().flatten().flatten();
    for file in folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten()) {
        let name = file.file_name().into_string().unwrap();
        if !name.ends_with(".part") {
            found.push((name, file.metadata().unwrap().modified().unwrap()));
        }
    }
    found.sort();
    found
}

/// Starts a sweep and waits until it has finished so many chunks more.
fn begun(place: &Place, folder: &str, more: usize) -> Child {
    let mut command = place.command(&["sweep", "grid.toml", "--format", "csv", "--out", folder]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).env("RAYON_NUM_THREADS", "1");
    let path = place.path(folder);
    let wanted = finished(&path).len() + more;
    let child = command.spawn().unwrap();
    wait_until("finished chunks", || finished(&path).len() >= wanted);
    child
}

fn whole(place: &Place) -> Outcome {
    place.run(&["sweep", "grid.toml", "--format", "csv", "--out", "whole"])
}

#[test]
fn three_kills_leave_the_results_of_an_undisturbed_run_and_repeat_no_finished_chunk() {
    let place = place();
    assert_eq!(whole(&place).code, 0);
    let folder = place.path("killed");
    let all = finished(&place.path("whole")).len();
    assert!(all >= 10, "{all} chunks are too few to be killed among");
    for (more, wait_us) in [(1, 300), (3, 7000), (2, 2500)] {
        let before = finished(&folder);
        let mut child = begun(&place, "killed", more);
        // Somewhere in the next chunk, or in the writing of its file.
        std::thread::sleep(Duration::from_micros(wait_us));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "killed");
        let after = finished(&folder);
        assert!(before.len() < after.len() && after.len() < all, "{} of {all}", after.len());
        assert!(before.iter().all(|chunk| after.contains(chunk)), "written again");
    }
    let before = finished(&folder);
    let outcome = place.run(&["sweep", "grid.toml", "--format", "csv", "--out", "killed"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let counts = format!("{} chunks run, {} found finished", all - before.len(), before.len());
    assert!(outcome.stderr.contains(&counts), "{counts}: {outcome:?}");
    assert!(before.iter().all(|chunk| finished(&folder).contains(chunk)), "written again");
    assert!(results(&place, "killed") == results(&place, "whole"));
}

#[test]
fn a_kill_in_the_middle_of_a_file_leaves_no_chunk_that_is_not_whole() {
    let place = place();
    assert_eq!(whole(&place).code, 0);
    // The signal SIGXFSZ, at the first byte beyond 2 KB (4 KB in some shells) of a file.
    let script = "ulimit -f 4; exec \"$0\" sweep grid.toml --format csv --out cut";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_firstflight")]).current_dir(place.path(""));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), None, "killed: {output:?}");
    assert_eq!(finished(&place.path("cut")), []);
    let outcome = place.run(&["sweep", "grid.toml", "--format", "csv", "--out", "cut"]);
    assert!(outcome.code == 0 && !outcome.stderr.contains("found finished"), "{outcome:?}");
    assert!(results(&place, "cut") == results(&place, "whole"));
}

#[test]
fn tables_stand_in_a_page_that_has_a_place_for_them() {
    let place = Place::new();
    place.write(
        "grid.toml",
        "scenario = { controls = ['newreno'], flow = [{ size = '100kB' }] }
        grid = { 'path.rate' = ['10Mbps', '20Mbps'] }
        table = [{ head = 'all', row = '{points}', cell = ['{max(size_bytes):.0}'] }]",
    );
    let page = |table: &str| {
        format!("# A\n<!-- measured: grid.toml -->\n{table}\n<!-- end of what is measured -->\n")
    };
    place.write("page.md", page("old"));
    place.write("other.md", "# B\n");
    let refused = place.run(&["sweep", "grid.toml", "--page", "other.md"]);
    assert!(refused.code == 2 && refused.stderr.contains("no place for tables"), "{refused:?}");
    assert!(!place.path("firstflight-out").exists(), "{refused:?}");
    assert_eq!(place.run(&["sweep", "grid.toml", "--page", "page.md"]).code, 0);
    let new = fs::read_to_string(place.path("page.md")).unwrap();
    assert_eq!(new, page("\n| all | newreno |\n|---|---|\n| 2 | 100000 |"));
}

#[test]
fn a_billion_points_are_estimated_at_once_and_nothing_is_written() {
    let place = Place::new();
    let grid = |points: u64| {
        format!(
            "[scenario]\ncontrols = ['newreno', 'hoe', 'astart', 'hystart']\nduration = '5min'\n\
             flow = [{{ size = '5MB' }}]\n\
             [sample]\nmethod = 'random'\npoints = {points}\n\
             [sample.over]\n'path.rtt' = {{ from = '5ms', to = '700ms' }}\n"
        )
    };
    let estimated = |points: u64| {
        place.write("grid.toml", grid(points));
        let outcome = place.run(&["sweep", "grid.toml", "--estimate"]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
        outcome.stdout
    };
    let thousand = estimated(1000);
    assert!(thousand.starts_with("1000 points in 6"), "{thousand}");
    assert!(thousand.contains("\nrows    4000, as CSV 1.7 MB, as Parquet 364 kB"), "{thousand}");
    assert!(thousand.contains("s of CPU time, "), "{thousand}");
    let begun = Instant::now();
    let billion = estimated(1_000_000_000);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(billion.starts_with("1000000000 points in "), "{billion}");
    assert!(
        billion.contains("\nrows    4000000000, as CSV 1.7 TB, as Parquet 364 GB"),
        "{billion}"
    );
    assert!(billion.contains(" days of CPU time, "), "{billion}");
    assert!(!place.path("firstflight-out").exists());
}

#[test]
fn ctrl_c_exits_with_130_and_keeps_what_is_finished() {
    let place = place();
    let mut child = begun(&place, "out", 1);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let kept = finished(&place.path("out"));
    assert!(!kept.is_empty() && !place.path("out/flows.csv").exists());
    let outcome = place.run(&["sweep", "grid.toml", "--format", "csv", "--out", "out"]);
    assert!(outcome.stderr.contains(&format!("{} found finished", kept.len())), "{outcome:?}");
    assert!(kept.iter().all(|chunk| finished(&place.path("out")).contains(chunk)));
}

#[test]
fn shards_are_merged_when_all_are_there() {
    let place = place();
    let printed = whole(&place);
    assert!(printed.stdout.contains("100 points") && printed.stdout.contains("astart"));
    let run = |more: &[&str]| {
        place.run(&[&["sweep", "grid.toml", "--format", "csv", "--out", "parts"], more].concat())
    };
    let outcome = run(&["--shard", "2/2"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{outcome:?}");
    let early = run(&["--merge"]);
    assert_eq!(early.code, 1, "{early:?}");
    assert!(early.stderr.contains("chunks are missing; accepted: all of them"), "{early:?}");
    assert_eq!(run(&["--shard", "1/2"]).code, 0);
    let merged = run(&["--merge", "--json"]);
    assert_eq!(merged.code, 0, "{merged:?}");
    assert!(results(&place, "parts") == results(&place, "whole"));
    let summary: serde_json::Value = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!(summary["schema"], "firstflight/sweep-summary@1");
    assert_eq!(summary["controls"][1]["alias"], "astart");
    let again = place.run(&["sweep", "--summary", "parts", "--json"]);
    assert_eq!(again.stdout, merged.stdout);
}

#[test]
fn what_cannot_be_is_told_in_one_line_before_anything_is_written() {
    let place = place();
    place.write("wrong.toml", GRID.replace("path.rtt", "path.rtd"));
    place.write("control.toml", GRID.replace("'astart'", "'astrat'"));
    place.write("other.toml", GRID.replace("'20ms', ", ""));
    for (words, parts) in [
        (&["sweep"][..], &["GRID.toml"][..]),
        (&["sweep", "none.toml"], &["none.toml"]),
        (&["sweep", "wrong.toml"], &["path.rtd: unknown key, did you mean `rtt`"]),
        (&["sweep", "control.toml"], &["astrat", "astart"]),
        (&["sweep", "grid.toml", "--shard", "3/2"], &["--shard", "I from 1 to N"]),
        (&["sweep", "grid.toml", "--format", "xls"], &["--format", "accepted: csv, parquet"]),
        (&["sweep", "--summary", "nowhere"], &["nowhere: found no sweep.json"]),
        (&["sweep", "grid.toml", "--out", "grid.toml"], &["grid.toml"]),
    ] {
        let outcome = place.run(words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
        assert!(parts.iter().all(|part| outcome.stderr.contains(part)), "{parts:?}: {outcome:?}");
    }
    assert_eq!(place.files(), ["control.toml", "grid.toml", "other.toml", "wrong.toml"]);
    assert_eq!(whole(&place).code, 0);
    let other = place.run(&["sweep", "other.toml", "--format", "csv", "--out", "whole"]);
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("another sweep (100 points)"), "{other:?}");
}

#[test]
fn a_full_disk_is_told_and_what_was_finished_is_kept() {
    let place = place();
    let script = "\"$0\" sweep grid.toml --format csv --out small/out; code=$?; \
        find small -name '*.part' | wc -l; exit $code";
    // It is full in the first chunk, in a later one, and in one of the tables.
    for size in ["16k", "64k", "100k", "148k", "200k"] {
        let Some(outcome) = on_small_disk(&place, size, script) else { return };
        let Outcome { code, stdout, stderr } = outcome;
        assert_eq!(code, 3, "{size}: {stderr}");
        assert!(stderr.contains("cannot write small/out/"), "{size}: {stderr}");
        assert!(stderr.contains("make room there"), "{size}: {stderr}");
        assert_eq!(stdout.trim(), "0", "{size}: parts");
    }
}

#[test]
fn a_chunk_that_was_changed_is_named_and_run_again_or_said_by_a_merge() {
    let place = place();
    assert_eq!(whole(&place).code, 0);
    let want = results(&place, "whole");
    let folder = place.path("whole/chunks");
    let two = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let victim = fs::read_dir(two).unwrap().next().unwrap().unwrap().path();
    let name = victim.file_name().unwrap().to_str().unwrap().to_owned();
    let text = fs::read_to_string(&victim).unwrap();
    let changed = text.replacen(",newreno,", ",newrenn,", 1);
    assert_ne!(text, changed);
    fs::write(&victim, changed).unwrap();
    let words = ["sweep", "grid.toml", "--format", "csv", "--out", "whole"];
    let merged = place.run(&[&words[..], &["--merge"]].concat());
    assert_eq!((merged.code, merged.stdout.as_str()), (1, ""), "{merged:?}");
    for part in [name.as_str(), "are not those that were written", "the same sweep without"] {
        assert!(merged.stderr.contains(part), "{part}: {merged:?}");
    }
    let again = place.run(&words);
    assert_eq!(again.code, 0, "{again:?}");
    let all = finished(&place.path("whole")).len();
    for part in [&name, "the chunk is run again", &format!("1 chunk run, {} found", all - 1)] {
        assert!(again.stderr.contains(part), "{part}: {again:?}");
    }
    assert!(results(&place, "whole") == want);
}

#[test]
fn a_point_of_a_sweep_has_the_rows_of_the_same_scenario_alone() {
    let place = place();
    let grid = "scenario = { controls = ['newreno', 'astart'], flow = [{ size = '1MB' }] }
        grid = { 'path.rtt' = ['50ms'] }";
    place.write("one.toml", grid);
    assert_eq!(place.run(&["sweep", "one.toml", "--format", "csv", "--out", "one"]).code, 0);
    let words = ["compare", "newreno", "astart", "--rtt", "50ms", "--size", "1MB", "--csv"];
    assert_eq!(place.run(&[&words[..], &["alone.csv"]].concat()).code, 0);
    let read = |file: &str| fs::read_to_string(place.path(file)).unwrap();
    assert_eq!(read("one/flows.csv"), read("alone.csv"));
}

#[test]
fn compare_and_run_write_a_table_with_a_row_per_flow() {
    let place = place();
    let words = ["compare", "newreno", "astart", "--flows", "2", "--duration", "2s", "--csv"];
    let outcome = place.run(&[&words[..], &["flows.csv"]].concat());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("table: flows.csv"), "{outcome:?}");
    let text = fs::read_to_string(place.path("flows.csv")).unwrap();
    assert_eq!(text.lines().count(), 1 + 2 * 2);
    assert!(text.starts_with("point,control,alias,"));
    let outcome = place.run(&[&words[..], &["grid.toml/flows.csv"]].concat());
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("--csv grid.toml"), "{outcome:?}");
}

#[test]
fn what_is_wrong_with_the_points_is_told_by_its_key() {
    let place = place();
    let scenario = "[scenario]\ncontrols = ['newreno']\nduration = '1s'\n";
    let sample = "[sample]\nmethod = 'random'\npoints = 0\n\
                  [sample.over]\n'path.rtt' = ['1ms']\n";
    place.write("twice.csv", "path.rtt\n10ms\n20ms\n10ms\n");
    for (grid, message) in [
        ("[grid]\n'path.rtt' = ['10ms', '20ms', '10ms']\n", "path.rtt: 10ms stands there twice"),
        (sample, "sample.points: found 0; accepted: one point or more"),
        ("points = 'twice.csv'\n", "points: stands in [scenario]; accepted: `points` above"),
    ] {
        place.write("wrong.toml", format!("{scenario}{grid}"));
        let outcome = place.run(&["sweep", "wrong.toml"]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains(message), "{outcome:?}");
    }
    place.write("wrong.toml", format!("points = 'twice.csv'\n{scenario}"));
    let outcome = place.run(&["sweep", "wrong.toml"]);
    assert!(outcome.stderr.contains("twice.csv:4: points: 10ms stands there twice"), "{outcome:?}");
}

#[test]
fn a_sweep_that_is_not_finished_has_no_summary_and_says_how_to_get_one() {
    let place = place();
    let part =
        place.run(&["sweep", "grid.toml", "--format", "csv", "--out", "two", "--shard", "1/9"]);
    assert_eq!(part.code, 0, "{part:?}");
    let outcome = place.run(&["sweep", "--summary", "two"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.stderr.contains("two: the sweep in it is not finished; accepted: "),
        "{outcome:?}"
    );
}

#[test]
fn sweeps_and_reports_do_not_share_a_folder() {
    let place = place();
    let compare = ["compare", "newreno", "--duration", "1s", "--out"];
    assert_eq!(place.run(&[&compare[..], &["report"]].concat()).code, 0);
    let outcome = place.run(&["sweep", "grid.toml", "--out", "report"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("report: found a report (report.html); accepted: "));
    assert!(!place.path("report/chunks").exists());
    place.write(
        "one.toml",
        "scenario = { controls = ['newreno'], duration = '1s' }\n\
                             grid = { 'path.rtt' = ['50ms'] }",
    );
    assert_eq!(place.run(&["sweep", "one.toml", "--format", "csv", "--out", "swept"]).code, 0);
    let outcome = place.run(&[&compare[..], &["swept"]].concat());
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("--out swept: it holds a sweep"), "{outcome:?}");
}
