//! Folders that hold something else, and files that are damaged.

use std::fs;
use std::time::Duration;

use firstflight_runner::Options;
use firstflight_sweep::{Chunk, Format, Shard, Store, Summary, SweepError, VERSION};

use crate::place::{GRID, Place, chunks, run_shard};

#[test]
fn a_folder_of_another_sweep_or_version_or_format_is_refused() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    drop(place.store("out", &sweep));
    let out = place.path("out");
    let open = |text: &str| {
        let other = place.sweep(text);
        Store::open(&out, &other, Format::Csv, Shard::WHOLE).map(|_| ()).unwrap_err().to_string()
    };
    let problem = open(&GRID.replace("'20ms', ", ""));
    assert!(problem.contains("another sweep (30 points), this one (24 points)"), "{problem}");
    assert!(problem.contains("accepted: another folder"), "{problem}");

    let about = fs::read_to_string(out.join("sweep.json")).unwrap();
    let older = about.replace(&format!("\"version\": \"{VERSION}\""), "\"version\": \"0.0.9\"");
    fs::write(out.join("sweep.json"), &older).unwrap();
    assert!(open(GRID).contains(&format!("of version 0.0.9, this is version {VERSION}")));
    let parquet = about.replace("\"format\": \"csv\"", "\"format\": \"parquet\"");
    fs::write(out.join("sweep.json"), parquet).unwrap();
    assert!(open(GRID).contains("a sweep as parquet, this one is as csv"));
    fs::write(out.join("sweep.json"), "{}").unwrap();
    assert!(open(GRID).contains("sweep.json: missing field"));
}

#[test]
fn two_programs_cannot_run_one_shard_in_one_folder_and_two_shards_can() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    let open = |shard: &str| {
        let shard = shard.parse().unwrap();
        let opened = Store::open(&place.path("out"), &sweep, Format::Csv, shard);
        opened.map_err(|problem| problem.to_string())
    };
    let problem = open("1/1").map(|_| ()).unwrap_err();
    assert!(problem.contains("another program runs this sweep here now"), "{problem}");
    let _one = open("1/2").unwrap();
    let _other = open("2/2").unwrap();
    drop(store);
    assert!(open("1/1").is_ok());
}

#[test]
fn a_folder_that_is_none_is_named() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    fs::write(place.path("file"), "").unwrap();
    let opened = Store::open(&place.path("file"), &sweep, Format::Csv, Shard::WHOLE);
    let problem = opened.map(|_| ()).unwrap_err().to_string();
    assert!(problem.contains("cannot write") && problem.contains("file"), "{problem}");
    let problem = Summary::of(&place.path("")).unwrap_err().to_string();
    assert!(problem.contains("found no sweep.json"), "{problem}");
    drop(place.store("out", &sweep));
    let problem = Summary::of(&place.path("out")).unwrap_err().to_string();
    assert!(problem.contains("is not finished") && problem.contains("--merge"), "{problem}");
}

#[test]
fn a_damaged_chunk_is_named_and_no_table_is_written() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    run_shard(&sweep, &store, "1/1");
    let (victim, _) = chunks(&store).into_iter().next().unwrap();
    let text = fs::read_to_string(&victim).unwrap();
    let head = text.split_inclusive('\n').next().unwrap();
    for (damaged, word) in [
        ("", "its columns begin with \"\""),
        (head, "found 0 rows"),
        (&text[..text.len() - 100], "CSV error"),
        (&text.replace(",60,", ",soon,"), "is \"soon\""),
    ] {
        fs::write(&victim, damaged).unwrap();
        let problem = store.merge(&sweep).unwrap_err().to_string();
        let name = victim.file_name().unwrap().to_str().unwrap();
        assert!(problem.contains(word) && problem.contains(name), "{word}: {problem}");
        assert!(!place.path("out/flows.csv").exists());
    }
    fs::remove_file(&victim).unwrap();
    assert_eq!(run_shard(&sweep, &store, "1/1").ran, 1);
    store.merge(&sweep).unwrap();
}

#[test]
fn what_killed_programs_left_goes_when_nothing_is_left_to_do() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    run_shard(&sweep, &store, "1/1");
    let (chunk, _) = chunks(&store).into_iter().next().unwrap();
    let part = chunk.with_file_name(".killed.csv.1.part");
    fs::write(&part, "half a").unwrap();
    let [old, young] = ["1", "2"].map(|pid| place.path(&format!("out/.flows.csv.{pid}.part")));
    for part in [&old, &young] {
        fs::write(part, "half a table").unwrap();
    }
    let before = young.metadata().unwrap().modified().unwrap() - Duration::from_secs(3_601);
    fs::File::options().append(true).open(&old).unwrap().set_modified(before).unwrap();
    store.merge(&sweep).unwrap();
    assert!(!part.exists() && chunk.exists());
    assert!(!old.exists() && young.exists(), "another program may be merging");
}

#[test]
fn a_point_that_cannot_run_is_named_by_its_keys_and_values() {
    let place = Place::new();
    let text = place.sweep(GRID).chunk(0).unwrap().to_json();
    let chunk = Chunk::from_json(&text.replacen("\"50ms\"", "\"often\"", 1)).unwrap();
    let problem = chunk.run(&Options::default()).unwrap_err().to_string();
    let point = "at path.loss = 0%, path.rate = 5Mbps, path.rtt = often: ";
    assert!(problem.starts_with(point), "{problem}");
}

#[test]
fn a_chunk_of_another_version_or_form_is_refused() {
    let place = Place::new();
    let text = place.sweep(GRID).chunk(0).unwrap().to_json();
    let refused = |text: &str| match Chunk::from_json(text) {
        Err(SweepError::Chunk(problem)) => problem,
        other => panic!("{other:?}"),
    };
    let older = text.replace(&format!("\"version\":\"{VERSION}\""), "\"version\":\"0.0.9\"");
    assert!(refused(&older).contains("of version 0.0.9; accepted: firstflight/chunk@1 of version"));
    assert!(refused("{").contains("accepted: what a sweep cut"));
    assert!(refused("[]").contains("accepted"));
}
