//! However a sweep is run, its results have the same bytes.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firstflight_quic_sim::quinn::SIM;
use firstflight_results::{Kind, Value};
use firstflight_runner::Options;
#[cfg(feature = "parquet")]
use firstflight_sweep::Store;
use firstflight_sweep::{Chunk, Format, Shard, Summary, SweepError, run};

use crate::place::{GRID, Place, chunks, run_shard};

#[test]
fn shards_in_folders_of_their_own_give_the_results_of_one_run() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    assert!(sweep.chunks() >= 3, "{}", sweep.chunks());
    let whole = place.store("whole", &sweep);
    assert_eq!(run_shard(&sweep, &whole, "1/1").ran, sweep.chunks());
    let merged = whole.merge(&sweep).unwrap();
    assert_eq!(merged.rows, 30 * 2 * 2);

    let all = place.store("all", &sweep);
    for shard in ["3/3", "1/3", "2/3"] {
        let own = place.store(&format!("own-{}", &shard[..1]), &sweep);
        run_shard(&sweep, &own, shard);
        for (path, _) in chunks(&own) {
            let place = path.strip_prefix(own.dir()).unwrap();
            let there = all.dir().join(place);
            fs::create_dir_all(there.parent().unwrap()).unwrap();
            assert!(!there.exists(), "two shards ran one chunk");
            fs::copy(path, there).unwrap();
        }
    }
    all.merge(&sweep).unwrap();
    assert_eq!(place.results("all"), place.results("whole"));
}

#[test]
fn chunks_that_travel_as_json_and_come_in_any_order_give_the_results_of_one_run() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let whole = place.store("whole", &sweep);
    run_shard(&sweep, &whole, "1/1");
    whole.merge(&sweep).unwrap();

    let store = place.store("by-hand", &sweep);
    for number in (0..sweep.chunks()).rev() {
        let chunk = Chunk::from_json(&sweep.chunk(number).unwrap().to_json()).unwrap();
        store.put(&chunk.name(), chunk.run(&SIM, &Options::default()).unwrap()).unwrap();
    }
    store.merge(&sweep).unwrap();
    assert_eq!(place.results("by-hand"), place.results("whole"));
}

#[test]
fn a_sweep_that_is_stopped_keeps_what_is_finished_and_runs_only_the_rest() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let whole = place.store("whole", &sweep);
    run_shard(&sweep, &whole, "1/1");
    whole.merge(&sweep).unwrap();

    let store = place.store("stopped", &sweep);
    let stop = AtomicBool::new(false);
    // It stops as soon as the first chunk is finished.
    let done = run(&sweep, &store, Shard::WHOLE, &stop, &|done, _| {
        stop.store(done > 0, Ordering::Relaxed);
    });
    let done = done.unwrap();
    assert!(done.ran >= 1 && done.left >= 1, "{done:?}");
    let kept = chunks(&store);
    assert_eq!(kept.len() as u64, done.ran);

    let again = run_shard(&sweep, &store, "1/1");
    assert_eq!((again.found, again.ran, again.left), (done.ran, done.left, 0));
    let after = chunks(&store);
    assert!(kept.iter().all(|file| after.contains(file)), "a finished chunk was written again");
    store.merge(&sweep).unwrap();
    assert_eq!(place.results("stopped"), place.results("whole"));
}

#[test]
fn the_table_has_the_points_in_their_order_and_every_value_that_varies() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    run_shard(&sweep, &store, "1/1");
    store.merge(&sweep).unwrap();
    let mut flows = csv::Reader::from_path(place.path("out/flows.csv")).unwrap();
    let names = flows.headers().unwrap().clone();
    let at = |name: &str| names.iter().position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = flows.records().map(Result::unwrap).collect();
    let mut points = csv::Reader::from_path(place.path("out/points.csv")).unwrap();
    let head: Vec<String> = points.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(head, ["number", "point", "path.loss", "path.rate", "path.rtt"]);
    for (number, record) in points.records().enumerate() {
        let record = record.unwrap();
        assert_eq!(record[0], number.to_string());
        let four = &rows[4 * number..4 * number + 4];
        let aliases: Vec<&str> = four.iter().map(|row| &row[at("alias")]).collect();
        assert_eq!(aliases, ["newreno", "newreno", "astart", "astart"]);
        assert!(four.iter().all(|row| row[at("point")] == record[1]));
        let megabits = record[3].strip_suffix("Mbps").unwrap();
        assert!(four.iter().all(|row| row[at("rate_bps")] == format!("{megabits}000000")));
    }
}

#[test]
fn the_summary_of_a_folder_is_that_of_its_rows() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    run_shard(&sweep, &store, "1/1");
    let merged = store.merge(&sweep).unwrap();
    let summary = Summary::of(&place.path("out")).unwrap();
    assert_eq!(summary, merged.summary);
    assert_eq!((summary.points, summary.rows), (30, 120));
    // By hand: for each seed the mean over the points, and Student's t over the two seeds.
    let columns = firstflight_results::table::flows::columns();
    assert!(columns.iter().any(|c| c.name == "completion_time_s" && c.kind == Kind::Number));
    let file = fs::File::open(place.path("out/flows.csv")).unwrap();
    let rows = firstflight_results::CsvRows::new(file, columns).unwrap().next(1000).unwrap();
    let cell = |name: &str, row| rows.column(name).unwrap().at(row);
    let mut sums = [0.0, 0.0];
    for row in (0..rows.len()).filter(|row| cell("alias", *row) == Value::Text("astart")) {
        let Value::Number(time) = cell("completion_time_s", row) else { panic!("unfinished") };
        let Value::Count(seed) = cell("seed", row) else { panic!() };
        sums[seed as usize - 1] += time / 30.0;
    }
    let mean = (sums[0] + sums[1]) / 2.0;
    // Half the distance is the standard error of two values; 12.706 is Student's t.
    let half = (sums[0] - sums[1]).abs() / 2.0 * 12.706;
    let found = summary.controls[1].completion_time_s;
    assert!((found.mean.unwrap() - mean).abs() < 1e-9, "{found:?}, {mean}");
    assert!((found.half_95.unwrap() - half).abs() < 1e-9, "{found:?}, {half}");
    assert!(summary.controls.iter().all(|control| control.best_at <= 30));
}

#[test]
fn a_merge_says_how_much_is_missing() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    run_shard(&sweep, &store, "2/2");
    let half = sweep.chunks().div_ceil(2);
    assert_eq!(store.missing(&sweep), half);
    let problem = store.merge(&sweep).unwrap_err();
    assert!(matches!(problem, SweepError::Incomplete { missing, .. } if missing == half));
    assert!(problem.to_string().contains(&format!("{half} of {} chunks", sweep.chunks())));
    assert!(!place.path("out/flows.csv").exists());
}

#[test]
fn a_point_that_cannot_run_is_named_before_anything_runs() {
    let place = Place::new();
    // A flow that stops before it starts: found out when the scenario is complete.
    let text = "
        [scenario]
        controls = ['newreno']
        duration = '2s'
        [[scenario.flow]]
        stop = '1s'
        [grid]
        'flow[0].start' = ['0s', '3s']";
    let sweep = firstflight_sweep::Sweep::parse(text, "grid.toml", &place.path(""), Arc::new(SIM));
    let problem = sweep.unwrap_err();
    assert!(problem.to_string().contains("flow[0].start"), "{problem}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_rows_of_csv_and_has_the_same_bytes_however_it_was_run() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let open = |folder: &str| {
        Store::open(&place.path(folder), &sweep, Format::Parquet, Shard::WHOLE).unwrap()
    };
    let (one, other) = (open("one"), open("other"));
    run_shard(&sweep, &one, "1/1");
    run_shard(&sweep, &other, "2/2");
    run_shard(&sweep, &other, "1/2");
    let summary = one.merge(&sweep).unwrap().summary;
    assert_eq!(other.merge(&sweep).unwrap().summary, summary);
    let bytes = |folder: &str| fs::read(place.path(folder).join("flows.parquet")).unwrap();
    assert!(bytes("one") == bytes("other"));
    let csv = place.store("csv", &sweep);
    run_shard(&sweep, &csv, "1/1");
    assert_eq!(csv.merge(&sweep).unwrap().summary, summary);
    assert_eq!(Summary::of(&place.path("one")).unwrap(), summary);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_where_it_is_not_built_in() {
    assert!(Format::named("parquet").unwrap_err().contains("built without parquet"));
    assert!(Format::named("xls").unwrap_err().contains("accepted: csv, parquet"));
}
