//! Runs a sweep on the cores of this machine.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use firstflight_runner::Options;
use rayon::prelude::*;

use crate::{Store, Sweep, SweepError};

/// A part of a sweep for one of several jobs: every `of`-th chunk from the `number`-th on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

/// How a run of a sweep ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Done {
    /// Chunks that were finished before.
    pub found: u64,
    /// Chunks that were run now.
    pub ran: u64,
    /// Chunks that are left, after an interruption.
    pub left: u64,
}

impl Shard {
    /// All of the sweep.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether a chunk belongs to it.
    pub fn has(self, chunk: u64) -> bool {
        chunk % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        numbers.filter(|shard| (1..=shard.of).contains(&shard.number)).ok_or_else(|| {
            format!("found \"{text}\"; accepted: I/N with I from 1 to N, such as 3/8")
        })
    }
}

/// Runs the chunks of a shard that the store does not have, on all cores unless they take real
/// time; `progress` hears the
/// nanoseconds of estimated work that are done, and of how many.
///
/// # Errors
/// A point that cannot be run, or a file that cannot be written; what was finished is kept.
pub fn run(
    sweep: &Sweep,
    store: &Store,
    shard: Shard,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Done, SweepError> {
    let mine = (0..sweep.chunks()).into_par_iter().filter(|chunk| shard.has(*chunk));
    let missing: Vec<(u64, bool)> = mine
        .map(|number| {
            let name = sweep.chunk(number).map(|chunk| chunk.name()).unwrap_or_default();
            (number, store.has(&name))
        })
        .collect();
    let found = missing.iter().filter(|(_, there)| *there).count() as u64;
    let todo: Vec<u64> =
        missing.into_iter().filter(|(_, there)| !there).map(|(number, _)| number).collect();
    let total = todo.iter().map(|chunk| sweep.weight_ns(*chunk)).sum();
    let (worked, ran) = (AtomicU64::new(0), AtomicU64::new(0));
    progress(0, total);
    let options = Options { stop: Some(stop), ..Options::default() };
    let one = |number: &u64| {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(chunk) = sweep.chunk(*number) else { return Ok(()) };
        let rows = match chunk.run(&*sweep.transport, &options) {
            Err(SweepError::Interrupted) => return Ok(()),
            rows => rows?,
        };
        store.put(&chunk.name(), rows)?;
        ran.fetch_add(1, Ordering::Relaxed);
        let weight = sweep.weight_ns(*number);
        progress(worked.fetch_add(weight, Ordering::Relaxed) + weight, total);
        Ok::<(), SweepError>(())
    };
    match sweep.transport.is_in_real_time() {
        true => todo.iter().try_for_each(one)?,
        false => todo.par_iter().with_max_len(1).try_for_each(one)?,
    }
    let ran = ran.into_inner();
    Ok(Done { found, ran, left: todo.len() as u64 - ran })
}
