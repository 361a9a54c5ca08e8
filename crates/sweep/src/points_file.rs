//! Points in a CSV file: a line of dotted keys, then a line of values per point.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::Path;

use csv::StringRecord;
use firstflight_outside::open;
use firstflight_scenario::Place;
use serde::{Deserialize, Serialize};

use crate::SweepError;

/// Points of the caller's own sampler.
#[derive(Clone, Debug)]
pub(crate) struct PointsFile {
    /// The file as messages name it.
    pub(crate) file: String,
    /// The keys.
    pub(crate) keys: Vec<String>,
    /// A value for each key.
    pub(crate) rows: Vec<Vec<String>>,
    /// The line of each row.
    lines: Vec<u64>,
}

/// Where the first values of some points stand, for messages about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// The file of the points.
    file: String,
    /// The line of each point.
    lines: Vec<u64>,
    /// How many keys the file has.
    keys: usize,
}

impl PointsFile {
    /// Reads a file.
    ///
    /// # Errors
    /// What is no regular file of at most 64 MiB, no CSV, or has a point twice.
    pub(crate) fn read(path: &Path) -> Result<Self, SweepError> {
        let file = path.display().to_string();
        let wrong = |line: Option<u64>, problem: String| SweepError::Grid {
            place: Place::Key {
                file: file.clone(),
                line: line.map(|line| line as usize),
                key: "points".to_owned(),
            },
            problem,
        };
        let content = open(path, MOST).map_err(|unread| {
            wrong(None, format!("{unread}; accepted: a CSV file, a line of keys first"))
        })?;
        let mut reader = csv::Reader::from_reader(BufReader::new(content));
        let no_csv = |error: csv::Error| {
            let line = error.position().map(csv::Position::line);
            wrong(line, format!("{error}; accepted: CSV, a line of keys first"))
        };
        let texts = |record: &StringRecord| record.iter().map(|t| t.trim().to_owned()).collect();
        let keys: Vec<String> = texts(reader.headers().map_err(no_csv)?);
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(no_csv)? {
            // A record begins with the empty lines before it.
            let begins = record.position().map_or(0, csv::Position::line);
            lines.push(begins.max(reader.position().line().saturating_sub(1)));
            rows.push(texts(&record));
        }
        let mut known = BTreeSet::new();
        let twice = rows.iter().zip(&lines).find(|(row, _)| !known.insert(*row));
        if let Some((row, line)) = twice {
            let problem =
                format!("{} stands there twice; accepted: each point once", row.join(","));
            return Err(wrong(Some(*line), problem));
        }
        drop(known);
        Ok(Self { file, keys, rows, lines })
    }

    /// Where the values of these rows stand.
    pub(crate) fn origin(&self, rows: impl Iterator<Item = u64>) -> Origin {
        let line = |row: u64| self.lines.get(row as usize).copied().unwrap_or_default();
        Origin { file: self.file.clone(), lines: rows.map(line).collect(), keys: self.keys.len() }
    }
}

impl Origin {
    /// The place of a value by the number of its point and of its key, if it stands in the file.
    pub(crate) fn place(&self, point: usize, at: usize, key: &str) -> Option<Place> {
        let line = *self.lines.get(point).filter(|_| at < self.keys)? as usize;
        Some(Place::Key { file: self.file.clone(), line: Some(line), key: key.to_owned() })
    }
}

/// Bytes of a file of points, some millions of them, which are all in memory.
const MOST: u64 = 64 << 20;
