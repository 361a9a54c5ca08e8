//! One table of all chunks.

use std::path::PathBuf;

use firstflight_outside::AtomicFile;
use firstflight_results::table::flows;
use rayon::prelude::*;

use crate::{Shard, Store, Summary, Sweep, SweepError};

/// The table of a whole sweep.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged {
    /// `flows.csv` or `flows.parquet`.
    pub table: PathBuf,
    /// Its rows.
    pub rows: u64,
    /// What they say, in short.
    pub summary: Summary,
}

impl Store {
    /// How many chunks of the sweep are not there.
    pub fn missing(&self, sweep: &Sweep) -> u64 {
        self.look();
        let there = |number: u64| sweep.chunk(number).is_some_and(|chunk| self.has(&chunk.name()));
        (0..sweep.chunks()).into_par_iter().filter(|number| !there(*number)).count() as u64
    }

    /// Writes the table of all rows, in the order of the points, `points.csv` with the values at
    /// every point, and `summary.csv`. The bytes follow from the sweep alone, however it was run.
    ///
    /// # Errors
    /// [`SweepError::Incomplete`], [`SweepError::Damaged`], or a file that cannot be written.
    pub fn merge(&self, sweep: &Sweep) -> Result<Merged, SweepError> {
        let missing = self.missing(sweep);
        if missing > 0 {
            let (dir, total) = (self.dir().to_owned(), sweep.chunks());
            return Err(SweepError::Incomplete { dir, missing, total });
        }
        let damaged = self.recheck(sweep, Shard::WHOLE);
        if !damaged.is_empty() {
            return Err(SweepError::Damaged(damaged));
        }
        let path = self.dir().join(format!("flows.{}", self.format().name()));
        let mut summary = Summary::writing(&self.dir().join("summary.csv"))?;
        let mut whole = self.format().begin(&path, &flows::columns())?;
        let mut rows = 0;
        for number in 0..sweep.chunks() {
            let Some(chunk) = sweep.chunk(number) else { continue };
            let Some(file) = self.file(&chunk.name()) else { continue };
            let before = rows;
            self.format().read(&file, |table| {
                rows += table.len() as u64;
                summary.add(&table)?;
                whole.write(table)
            })?;
            if rows - before < chunk.points() as u64 {
                let problem = format!(
                    "found {} rows for {} points; accepted: a whole chunk; remove the file and run \
                     the sweep again",
                    rows - before,
                    chunk.points()
                );
                return Err(SweepError::Folder { path: file, problem });
            }
        }
        whole.finish()?;
        self.points(sweep)?;
        let summary = summary.finish()?;
        self.tidy();
        Ok(Merged { table: path, rows, summary })
    }

    /// Writes `points.csv`: number, hash, and the value of every key that varies.
    fn points(&self, sweep: &Sweep) -> Result<(), SweepError> {
        let path = self.dir().join("points.csv");
        let file = AtomicFile::create(&path).map_err(SweepError::write(&path))?;
        let mut to = csv::Writer::from_writer(file.file().map_err(SweepError::write(&path))?);
        let fault = |error| SweepError::csv(&path)(error);
        let keys = sweep.keys().iter().map(String::as_str);
        to.write_record(["number", "point"].into_iter().chain(keys)).map_err(fault)?;
        let base = sweep.document()?;
        for chunk in 0..sweep.chunks() {
            let (first, points) = sweep.span(chunk);
            let hashes: Vec<String> = (first..first + points)
                .into_par_iter()
                .map(|number| Ok(sweep.complete(&base, number)?.point()))
                .collect::<Result<_, SweepError>>()?;
            for (number, hash) in (first..).zip(hashes) {
                let values = sweep.values(number);
                to.write_record([number.to_string(), hash].into_iter().chain(values))
                    .map_err(fault)?;
            }
        }
        to.flush().and_then(|()| file.finish()).map_err(SweepError::write(&path))
    }
}
