//! Folders that hold something else, and files that are damaged.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use firstflight_quic_sim::quinn::SIM;
use firstflight_runner::Options;
use firstflight_sweep::{Chunk, Format, Shard, Store, Summary, Sweep, SweepError, VERSION};

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

/// What can happen to the files of chunks.
fn damages(text: &str) -> [String; 4] {
    let digit = text.rfind(|c: char| c.is_ascii_digit()).unwrap();
    let other = if &text[digit..=digit] == "7" { "8" } else { "7" };
    [
        format!("{}{other}{}", &text[..digit], &text[digit + 1..]),
        text[..text.len() - 100].to_owned(),
        text.split_inclusive('\n').next().unwrap().to_owned(),
        String::new(),
    ]
}

#[test]
fn a_chunk_that_was_changed_is_named_by_a_merge_and_no_table_is_written() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    run_shard(&sweep, &store, "1/1");
    let (victim, _) = chunks(&store).into_iter().next().unwrap();
    for damaged in damages(&fs::read_to_string(&victim).unwrap()) {
        fs::write(&victim, damaged).unwrap();
        let problem = store.merge(&sweep).unwrap_err().to_string();
        assert!(problem.starts_with(&victim.display().to_string()), "{problem}");
        assert!(problem.contains("or the same sweep without --merge"), "{problem}");
        assert!(!place.path("out/flows.csv").exists());
    }
}

#[test]
fn a_chunk_that_was_changed_swapped_or_cut_is_run_again_by_every_way_to_run() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let whole = place.store("whole", &sweep);
    run_shard(&sweep, &whole, "1/1");
    whole.merge(&sweep).unwrap();
    let [(first, _), (second, _)] = &chunks(&whole)[..2] else { panic!("too few chunks") };
    let text = fs::read_to_string(first).unwrap();
    let swapped = fs::read_to_string(second).unwrap();
    // Here, as a shard, and by an executor, which hands in the rows of the missing chunks.
    type Ran = fn(&Sweep, &Store);
    let ways: [Ran; 3] = [
        |sweep, store| assert_eq!(run_shard(sweep, store, "1/1").ran, 2),
        |sweep, store| {
            let ran = ["1/3", "2/3", "3/3"].map(|shard| run_shard(sweep, store, shard).ran);
            assert_eq!(ran.iter().sum::<u64>(), 2);
        },
        |sweep, store| {
            let chunks = (0..sweep.chunks()).filter_map(|number| sweep.chunk(number));
            let missing: Vec<Chunk> = chunks.filter(|chunk| !store.has(&chunk.name())).collect();
            assert_eq!(missing.len(), 2);
            for chunk in missing {
                let rows = chunk.run(&SIM, &Options::default()).unwrap();
                store.put(&chunk.name(), rows).unwrap();
            }
        },
    ];
    for damaged in damages(&text).into_iter().chain([swapped]) {
        for way in ways {
            fs::write(first, &damaged).unwrap();
            // Its whole name is another's, and so is the checksum in it.
            fs::write(second, &text).unwrap();
            let named = whole.recheck(&sweep, Shard::WHOLE);
            assert_eq!(named, [first.clone(), second.clone()]);
            fs::remove_file(place.path("whole/flows.csv")).unwrap();
            way(&sweep, &whole);
            whole.merge(&sweep).unwrap();
        }
    }
    assert_eq!(fs::read_to_string(first).unwrap(), text);
    let again = place.store("again", &sweep);
    run_shard(&sweep, &again, "1/1");
    again.merge(&sweep).unwrap();
    assert_eq!(place.results("whole"), place.results("again"));
}

#[test]
fn a_chunk_under_the_name_of_another_is_noticed_though_its_checksum_came_along() {
    let place = Place::new();
    let sweep = place.sweep(GRID);
    let store = place.store("out", &sweep);
    run_shard(&sweep, &store, "1/1");
    let [(first, _), (second, _)] = &chunks(&store)[..2] else { panic!("too few chunks") };
    let of = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    let (name, _) = of(first).split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let sum = of(second).split_once('.').unwrap().1.to_owned();
    let posed = first.with_file_name(format!("{name}.{sum}"));
    fs::copy(second, &posed).unwrap();
    fs::remove_file(first).unwrap();
    drop(store);
    let store = place.store("out", &sweep);
    assert_eq!(store.recheck(&sweep, Shard::WHOLE), [posed]);
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
    let problem = chunk.run(&SIM, &Options::default()).unwrap_err().to_string();
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
