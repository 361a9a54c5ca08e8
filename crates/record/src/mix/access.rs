//! An access log: a request a line, with its size and what else its server logs.
//!
//! JSON and CSV have the keys `bytes`, `duration_s`, `rtt_s` or `rtt_us`, `rate_bps` and `control`;
//! only `bytes` must be there. The combined format of web servers has the size behind the status.
//! Each request counts as a connection of its own.

use serde::Deserialize;
use serde_json::Value;

use super::{Parsed, Rate, Transfer, carried};

/// The form of a log.
pub(super) enum Form {
    Json,
    /// With the heading's columns.
    Csv(Vec<String>),
    Combined,
}

/// The keys of a line; numbers may be written as texts, and `-` or nothing is none.
#[derive(Default, Deserialize)]
struct Line {
    bytes: Option<Value>,
    duration_s: Option<Value>,
    rtt_s: Option<Value>,
    rtt_us: Option<Value>,
    rate_bps: Option<Value>,
    control: Option<String>,
}

impl Form {
    /// The form of a text that begins so, if it is a log.
    pub(super) fn of(text: &str) -> Option<Self> {
        let first = text.lines().find(|line| !line.trim().is_empty())?.trim();
        if first.starts_with('{') {
            let line: Option<Line> = serde_json::from_str(first).ok();
            return line.and_then(|line| line.bytes).map(|_| Self::Json);
        }
        let columns = cells(first)?;
        if columns.iter().any(|column| column == "bytes") {
            return Some(Self::Csv(columns));
        }
        combined(first).map(|_| Self::Combined)
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Json => "a JSON access log",
            Self::Csv(_) => "a CSV access log",
            Self::Combined => "an access log in the combined format",
        }
    }

    /// The transfer of a line.
    pub(super) fn transfer(&mut self, number: u64, line: &str) -> Parsed {
        if line.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Json => {
                let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
                line.transfer()
            }
            Self::Csv(_) if number == 1 => Ok(None),
            Self::Csv(columns) => row(columns, line)?.transfer(),
            Self::Combined => {
                let bytes = combined(line).ok_or("accepted: a line of the combined format")?;
                Ok(Some(Transfer { bytes, ..Transfer::default() }))
            }
        }
    }
}

/// A row under a heading.
fn row(columns: &[String], line: &str) -> Result<Line, String> {
    let cells = cells(line).filter(|cells| cells.len() == columns.len());
    let cells = cells.ok_or_else(|| format!("accepted: {} cells", columns.len()))?;
    let mut row = Line::default();
    for (column, cell) in columns.iter().zip(cells) {
        let cell = Some(cell).filter(|cell| !cell.is_empty());
        let value = cell.clone().map(Value::String);
        match column.as_str() {
            "bytes" => row.bytes = value,
            "duration_s" => row.duration_s = value,
            "rtt_s" => row.rtt_s = value,
            "rtt_us" => row.rtt_us = value,
            "rate_bps" => row.rate_bps = value,
            "control" => row.control = cell,
            _ => {}
        }
    }
    Ok(row)
}

fn cells(line: &str) -> Option<Vec<String>> {
    let mut rows = csv::ReaderBuilder::new();
    let mut rows = rows.has_headers(false).trim(csv::Trim::All).from_reader(line.as_bytes());
    let cells = rows.records().next()?.ok()?;
    Some(cells.iter().map(str::to_owned).collect())
}

/// The size in a line such as `192.0.2.1 - - [TIME] "GET / HTTP/1.1" 200 2326 "-" "curl/8"`; a
/// quotation mark within the request is escaped.
fn combined(line: &str) -> Option<u64> {
    let (before, mut rest) = line.split_once('"')?;
    before.contains('[').then_some(())?;
    loop {
        let (part, behind) = rest.split_once('"')?;
        rest = behind;
        if !part.ends_with('\\') {
            break;
        }
    }
    let mut words = rest.split_ascii_whitespace();
    let status: u16 = words.next()?.parse().ok()?;
    (100..600).contains(&status).then_some(())?;
    let size = words.next()?;
    if size == "-" { Some(0) } else { size.parse().ok() }
}

impl Line {
    fn transfer(self) -> Parsed {
        let bytes = number("bytes", self.bytes.as_ref())?;
        let bytes = bytes.ok_or("no bytes; accepted: the size of the transfer")?;
        let duration_s = number("duration_s", self.duration_s.as_ref())?;
        let rtt_us = number("rtt_us", self.rtt_us.as_ref())?.map(|us| us / 1e6);
        let rtt_s = number("rtt_s", self.rtt_s.as_ref())?.or(rtt_us);
        let rate = number("rate_bps", self.rate_bps.as_ref())?.filter(|rate| *rate > 0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let bytes = bytes as u64;
        let carried = duration_s.and_then(|seconds| carried(bytes, seconds));
        let known = rate.map(|rate| Rate { at_least: rate, at_most: Some(rate) });
        Ok(Some(Transfer {
            bytes,
            rtt_s: rtt_s.filter(|rtt| *rtt > 0.0),
            rate: known.or(carried.map(|at_least| Rate { at_least, at_most: None })),
            duration_s,
            control: self.control.filter(|name| !name.is_empty()),
            ..Transfer::default()
        }))
    }
}

/// A number that is finite and not negative, if there is one.
fn number(key: &str, value: Option<&Value>) -> Result<Option<f64>, String> {
    let text = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.is_empty() || text == "-" => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let read = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let read = read.ok_or_else(|| {
        let text: String = text.chars().take(40).collect();
        format!("{key}: found \"{}\"; accepted: a number", text.escape_debug())
    });
    read.map(Some)
}
