//! Columns over time: traces of flows and queues, ready for CSV, Parquet and plots.

use std::io;

use firstflight_core::units::{Bytes, Instant, Span};
use serde::{Deserialize, Serialize};

/// Columns of a flow's trace; policies may append their own gauges.
pub const FLOW_COLUMNS: &[&str] = &[
    "time_s",
    "flow",
    "cwnd_packets",
    "ssthresh_packets",
    "in_flight_packets",
    "srtt_ms",
    "delivered_packets",
];

/// Columns of a queue's trace: packets waiting, the one being sent excluded.
pub const QUEUE_COLUMNS: &[&str] = &["time_s", "queue_packets"];

/// A table of numbers with named columns. `None` is "no value", such as an unlimited ssthresh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    columns: Vec<String>,
    /// Row by row.
    values: Vec<Option<f64>>,
}

impl Series {
    /// An empty table with these columns, at least one.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let columns: Vec<String> = columns.into_iter().map(Into::into).collect();
        assert!(!columns.is_empty(), "a series has at least one column");
        Self { columns, values: Vec::new() }
    }

    /// Names of the columns, in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        if self.columns.is_empty() { 0 } else { self.values.len() / self.columns.len() }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Appends a row, one value per column. What is not finite is kept as "no value".
    ///
    /// # Panics
    /// When the number of values is not the number of columns: an error of the program.
    pub fn push(&mut self, row: &[Option<f64>]) {
        assert_eq!(row.len(), self.columns.len(), "one value per column");
        self.values.extend(row.iter().map(|value| value.filter(|v| v.is_finite())));
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[Option<f64>]> {
        self.values.chunks_exact(self.columns.len().max(1))
    }

    /// One column by name, top to bottom.
    pub fn column(&self, name: &str) -> Option<impl Iterator<Item = Option<f64>> + '_> {
        let at = self.columns.iter().position(|column| column == name)?;
        Some(self.rows().map(move |row| row[at]))
    }

    /// The table with those of its columns that are among these, in its own order.
    #[must_use]
    pub fn only(&self, columns: &[&str]) -> Self {
        let kept: Vec<usize> =
            (0..self.columns.len()).filter(|at| columns.contains(&&*self.columns[*at])).collect();
        let values = self.rows().flat_map(|row| kept.iter().map(|at| row[*at]));
        let mut all = Vec::with_capacity(kept.len() * self.len());
        all.extend(values);
        Self { columns: kept.iter().map(|at| self.columns[*at].clone()).collect(), values: all }
    }

    /// Writes the table as CSV: a line of names, then a line per row, "no value" left empty.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, mut to: impl io::Write) -> io::Result<()> {
        writeln!(to, "{}", self.columns.join(","))?;
        for row in self.rows() {
            let cells = row.iter().map(|v| v.map_or(String::new(), |v| v.to_string()));
            writeln!(to, "{}", cells.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
}

/// One sample of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// When.
    pub at: Instant,
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; [`Bytes::MAX`] while unset.
    pub ssthresh: Bytes,
    /// Payload in flight.
    pub in_flight: Bytes,
    /// Smoothed RTT.
    pub srtt: Span,
    /// Packets acknowledged so far.
    pub acked_packets: u64,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
    /// The policies' own quantities.
    pub gauges: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_come_back_and_no_value_stays_none() {
        let mut series = Series::new(["time_s", "ssthresh_packets"]);
        series.push(&[Some(0.0), Some(f64::INFINITY)]);
        series.push(&[Some(0.1), Some(250.0)]);
        assert_eq!(series.len(), 2);
        let ssthresh: Vec<_> = series.column("ssthresh_packets").unwrap().collect();
        assert_eq!(ssthresh, [None, Some(250.0)]);
        assert!(series.column("srtt_ms").is_none());
        let mut csv = Vec::new();
        series.write_csv(&mut csv).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap(), "time_s,ssthresh_packets\n0,\n0.1,250\n");
    }
}
