//! The seeds, what was found before among them, and changes of them, without an engine.

use std::fs;
use std::path::{Path, PathBuf};

use firstflight_fuzz::TARGETS;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngSeed, TestRunner};

#[test]
fn no_seed_makes_a_target_panic() {
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        for seed in &seeds {
            target(seed);
        }
        assert!(seeds.len() >= 3, "{name}: {} seeds", seeds.len());
    }
}

/// The inputs are the same on every machine: what fails here fails everywhere. Those that
/// `cargo xtask fuzz` finds by coverage are others each time.
#[test]
fn no_change_of_a_seed_makes_a_target_panic() {
    for (name, target) in TARGETS {
        let mut config = ProptestConfig::with_cases(CASES);
        (config.rng_seed, config.failure_persistence) = (RngSeed::Fixed(1), None);
        let inputs = changed(seeds(name), words(name));
        let outcome = TestRunner::new(config).run(&inputs, |input| {
            target(&input);
            Ok(())
        });
        outcome.unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
}

/// Inputs for each target.
const CASES: u32 = 1000;

/// A part of an input, and what comes in its place.
type Change = (Index, Index, Vec<u8>);

/// A seed after a few changes.
fn changed(seeds: Vec<Vec<u8>>, words: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let parts = {
        let seeds = seeds.clone();
        (any::<Index>(), any::<Index>(), any::<Index>()).prop_map(move |(seed, from, length)| {
            let seed = seed.get(&seeds);
            let (from, to) = part(seed, from, length);
            seed[from..to].to_vec()
        })
    };
    let bytes = prop::collection::vec(any::<u8>(), 0..9);
    let by = prop_oneof![2 => bytes, 2 => select(words), 1 => parts];
    let changes = prop::collection::vec((any::<Index>(), any::<Index>(), by), 1..6);
    (select(seeds), changes).prop_map(|(mut input, changes): (Vec<u8>, Vec<Change>)| {
        for (from, length, by) in changes {
            let (from, to) = part(&input, from, length);
            input.splice(from..to, by);
        }
        input
    })
}

/// Where a part of some bytes begins and ends, the short ones more often than the long ones.
fn part(bytes: &[u8], from: Index, length: Index) -> (usize, usize) {
    let from = from.index(bytes.len() + 1);
    let most = bytes.len() - from;
    let length = length.index(10).min(most) * if length.index(7) == 0 { most / 10 } else { 1 };
    (from, from + length.min(most))
}

/// What is in the files of a target, in the order of their names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder().join(name)).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// The words of what a target reads, without those that the engine writes by escapes; nothing where
/// nobody wrote them down.
fn words(name: &str) -> Vec<Vec<u8>> {
    let words = fs::read_to_string(folder().join(format!("{name}.dict"))).unwrap_or_default();
    let words = words.lines().filter(|line| !line.contains('\\'));
    let words = words.filter_map(|line| Some(line.split_once('"')?.1.rsplit_once('"')?.0.into()));
    words.chain([Vec::new()]).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")
}
