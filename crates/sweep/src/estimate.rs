//! What a sweep will take, before it runs.

use crate::{Sweep, SweepError};

/// What a sweep will take on one core and on the disk, by the measured costs in docs/sweep.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// Points.
    pub points: u64,
    /// Chunks, which are files.
    pub chunks: u64,
    /// Rows: flows of all runs.
    pub rows: u64,
    /// CPU time, ns.
    pub cpu_ns: u128,
    /// The rows as CSV, bytes: once in the chunks and once in the table.
    pub csv_bytes: u64,
    /// Size of the table as Parquet, bytes.
    pub parquet_bytes: u64,
}

impl Sweep {
    /// What it will take, from its packets and from the flows of its first point.
    ///
    /// # Errors
    /// None, since the first point was read once.
    pub fn estimate(&self) -> Result<Estimate, SweepError> {
        let first = self.complete(&self.document()?, 0)?;
        let runs = first.runs.saturating_mul(first.controls.len().max(1) as u64);
        let rows = self.points().saturating_mul(runs).saturating_mul(first.flow_count());
        Ok(Estimate {
            points: self.points(),
            chunks: self.chunks(),
            rows,
            cpu_ns: (0..self.chunks()).map(|chunk| u128::from(self.weight_ns(chunk))).sum(),
            csv_bytes: rows.saturating_mul(CSV_ROW),
            parquet_bytes: rows.saturating_mul(PARQUET_ROW),
        })
    }
}

/// Bytes of a row, from docs/sweep.md.
const CSV_ROW: u64 = 425;
const PARQUET_ROW: u64 = 91;
