//! Reads the logs of QUIC stacks: tolerant of what varies, exact about what is wrong.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::Value;

use crate::error::QlogError;
use crate::event::{Event, What};
use crate::fields::{real_of, text_of};
use crate::frame::{Framed, take_apart};
use crate::translate::translate;

/// A log that was read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Log {
    /// The version as the file names it: `0.3`, `draft-00`, or the `file_schema` of newer drafts.
    pub version: String,
    /// The connections of the log; there is at least one.
    pub connections: Vec<Connection>,
    /// Records that were left out, each with its number and what was wrong.
    pub skipped: Vec<String>,
    /// Whether the file ends within a record or a document, as after a program was killed.
    pub truncated: bool,
}

/// One connection of a log, seen from one end.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Connection {
    /// What the log calls it; may be empty.
    pub title: String,
    /// `client`, `server`, `network`, or empty.
    pub vantage: String,
    /// The events in order of time; the first is at 0.
    pub events: Vec<Event>,
    /// How often each event name was in the log, understood or not.
    pub names: BTreeMap<String, u64>,
}

impl Log {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is no qlog.
    pub fn open(path: &Path) -> Result<Self, QlogError> {
        let file = path.display().to_string();
        let mut bytes = Vec::new();
        // A device has no size to be asked for.
        let read = File::open(path).and_then(|log| log.take(MOST + 1).read_to_end(&mut bytes));
        let read = read.and_then(|_| match bytes.len() as u64 > MOST {
            true => Err(io::Error::other("larger than 512 MiB, the most that is read")),
            false => Ok(()),
        });
        match read {
            Ok(()) => Self::read(&file, &bytes),
            Err(source) => Err(QlogError::Unreadable { file, source }),
        }
    }

    /// Reads the content of a file; `file` is for messages.
    ///
    /// # Errors
    /// Bytes that are no qlog. A single record that is broken, and the end of a document that
    /// breaks off behind its first event, are left out and named in [`Log::skipped`].
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, QlogError> {
        match take_apart(file, bytes)? {
            Framed::Document(document) => of_document(file, &document),
            Framed::CutShort(document, error) => {
                let mut log = of_document(file, &document)?;
                log.skipped.push(format!("{file}, the end: {error}"));
                Ok(Log { truncated: true, ..log })
            }
            Framed::Records(records) => of_records(file, records),
        }
    }

    /// The connection with the most events to draw.
    pub fn richest(&self) -> Option<&Connection> {
        self.connections.iter().max_by_key(|connection| connection.events.len())
    }
}

impl Connection {
    /// A connection without a name, of these events, which are in order of time from 0.
    pub fn new(events: Vec<Event>) -> Self {
        Self { events, ..Self::default() }
    }

    /// When the first packet came back after one was sent, in milliseconds; 0 for a log without
    /// packets. RTTs in the log before that are the stack's guess (RFC 9002, section 6.2.2), not
    /// measurements.
    pub(crate) fn first_answer_ms(&self) -> f64 {
        let sent = self.events.iter().position(|event| matches!(event.what, What::Sent(_)));
        let after = self.events.get(sent.unwrap_or(0)..).unwrap_or_default();
        let answer = after.iter().find(|event| matches!(event.what, What::Received(_)));
        answer.map_or(0.0, |event| event.at_ms)
    }
}

fn of_records(file: &str, records: Vec<serde_json::Result<Value>>) -> Result<Log, QlogError> {
    let truncated = matches!(records.last(), Some(Err(error)) if error.is_eof());
    let mut records = (1..).zip(records);
    let wrong = |record: usize, problem: String| QlogError::Record {
        file: file.to_owned(),
        record,
        problem,
    };
    let Some((_, header)) = records.next() else {
        return Err(wrong(1, format!("no record; accepted: {HEADER}")));
    };
    let header =
        header.map_err(|error| wrong(1, format!("{error}; accepted: {HEADER} as JSON")))?;
    let version = version(&header)
        .ok_or_else(|| wrong(1, format!("{}; accepted: {HEADER}", described(&header))))?;
    let mut log = Log { version, truncated, ..Log::default() };
    let mut trace = Trace::new(header.get("trace").unwrap_or(&Value::Null), &header);
    for (number, record) in records {
        let record = record.map_err(|error| error.to_string());
        let taken = record.and_then(|record| trace.take(&record));
        if let Err(problem) = taken {
            log.skipped.push(format!("{file}, record {number}: {problem}"));
        }
    }
    log.connections = trace.connections();
    Ok(log)
}

fn of_document(file: &str, document: &Value) -> Result<Log, QlogError> {
    let not = |found: String| QlogError::NotQlog { file: file.to_owned(), found };
    let version = version(document).ok_or_else(|| not(described(document)))?;
    let mut log = Log { version, ..Log::default() };
    let Some(traces) = document.get("traces").and_then(Value::as_array) else {
        return Err(not("qlog without `traces`".to_owned()));
    };
    for (place, trace) in (1..).zip(traces) {
        let mut reading = Trace::new(trace, document);
        let events = trace.get("events").and_then(Value::as_array);
        let Some(events) = events else {
            log.skipped.push(format!("{file}, trace {place}: no `events`"));
            continue;
        };
        for (number, event) in (1..).zip(events) {
            if let Err(problem) = reading.take(event) {
                log.skipped.push(format!("{file}, trace {place}, event {number}: {problem}"));
            }
        }
        log.connections.extend(reading.connections());
    }
    if log.connections.is_empty() {
        return Err(not("qlog without a trace that has events".to_owned()));
    }
    Ok(log)
}

/// The log's version: in `qlog_version`, and from draft-09 on in `file_schema`.
fn version(header: &Value) -> Option<String> {
    text_of(header, &["qlog_version", "file_schema"])
}

/// A JSON value in a few words.
fn described(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "an empty object".to_owned(),
        Value::Object(fields) => {
            let names: Vec<&str> = fields.keys().take(4).map(String::as_str).collect();
            let names = names.join("`, `");
            format!("an object with `{}`", names.chars().take(80).collect::<String>())
        }
        Value::Array(_) => "a list".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) | Value::Null => "a word".to_owned(),
    }
}

/// A trace while its events are read.
struct Trace {
    title: String,
    vantage: String,
    /// Milliseconds per unit of the log's times.
    to_ms: f64,
    /// Milliseconds per unit of the log's RTTs.
    rtt_to_ms: f64,
    /// Whether each time counts from the previous event.
    delta: bool,
    /// The time of the newest event, in units of the log.
    now: f64,
    /// Places of time, category, name and data in events that are lists, as draft-00 and -01 have.
    columns: Option<Columns>,
    /// The connections, in the order of their first event.
    connections: Vec<Connection>,
    /// The index of each connection by `group_id`, of which a server's log has several.
    places: BTreeMap<String, usize>,
}

#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    category: Option<usize>,
    name: usize,
    data: usize,
}

impl Trace {
    fn new(trace: &Value, file: &Value) -> Self {
        let common = trace.get("common_fields").unwrap_or(&Value::Null);
        let configuration = trace.get("configuration").unwrap_or(&Value::Null);
        let columns = trace.get("event_fields").and_then(Value::as_array).map(Vec::as_slice);
        let units = text_of(configuration, &["time_units"]);
        let format = text_of(common, &["time_format"]).unwrap_or_default();
        let columns = columns.and_then(Columns::of);
        let to_ms = if units.as_deref() == Some("us") { 1e-3 } else { 1.0 };
        Self {
            title: text_of(trace, &["title"])
                .or_else(|| text_of(file, &["title"]))
                .unwrap_or_default(),
            vantage: vantage(trace).unwrap_or_default(),
            to_ms,
            rtt_to_ms: if is_quinns(trace) { 1e3 } else { to_ms },
            delta: format == "delta" || format == "relative_to_previous_event",
            now: 0.0,
            columns,
            connections: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    /// Takes an event; an error says what is wrong with it.
    fn take(&mut self, event: &Value) -> Result<(), String> {
        let (time, name, data) = match event {
            Value::Array(cells) => {
                let columns = self.columns.ok_or("a list, but the trace has no `event_fields`")?;
                columns.apart(cells)?
            }
            // Some writers end a list with an empty object, for the sake of the comma before it.
            Value::Object(fields) if fields.is_empty() => return Ok(()),
            Value::Object(_) => {
                let time = real_of(event, &["time", "relative_time"]);
                let time = time.ok_or("no `time` that is a number")?;
                let name = text_of(event, &["name", "type"]).ok_or("no `name`")?;
                (time, name, event.get("data").unwrap_or(&Value::Null))
            }
            other => return Err(format!("{}; accepted: an event", described(other))),
        };
        let time = time * self.to_ms;
        self.now = if self.delta { self.now + time } else { time };
        let group = event.get("group_id").map(ToString::to_string).unwrap_or_default();
        let now = self.now;
        let whats = translate(&name, data, self.rtt_to_ms);
        let connection = self.group(group);
        *connection.names.entry(name).or_default() += 1;
        connection.events.extend(whats.into_iter().map(|what| Event { at_ms: now, what }));
        Ok(())
    }

    fn group(&mut self, name: String) -> &mut Connection {
        let place = *self.places.entry(name).or_insert(self.connections.len());
        if place == self.connections.len() {
            let (title, vantage) = (self.title.clone(), self.vantage.clone());
            self.connections.push(Connection { title, vantage, ..Connection::default() });
        }
        &mut self.connections[place]
    }

    /// The connections, their events in order of time from 0. A trace without events is one too.
    fn connections(mut self) -> Vec<Connection> {
        if self.connections.is_empty() {
            self.group(String::new());
        }
        for connection in &mut self.connections {
            connection.events.sort_by(|a, b| a.at_ms.total_cmp(&b.at_ms));
            let first = connection.events.first().map_or(0.0, |event| event.at_ms);
            connection.events.iter_mut().for_each(|event| event.at_ms -= first);
        }
        self.connections
    }
}

fn vantage(trace: &Value) -> Option<String> {
    text_of(trace.get("vantage_point")?, &["type"])
}

/// quinn 0.11 writes RTTs in seconds, and its header has no name in it. It is known by what no
/// other stack has together: an unknown vantage point, a `time_offset`, no `common_fields`.
fn is_quinns(trace: &Value) -> bool {
    vantage(trace).as_deref() == Some("unknown")
        && trace.pointer("/configuration/time_offset").is_some()
        && trace.get("common_fields").is_none()
}

impl Columns {
    fn of(fields: &[Value]) -> Option<Self> {
        let place = |names: &[&str]| {
            let named = |field: &Value| {
                let field = field.as_str().unwrap_or_default().to_ascii_lowercase();
                names.contains(&field.as_str())
            };
            fields.iter().position(named)
        };
        Some(Self {
            time: place(&["relative_time", "time", "delta_time"])?,
            category: place(&["category"]),
            name: place(&["event", "event_type", "type"])?,
            data: place(&["data"])?,
        })
    }

    fn apart<'a>(&self, cells: &'a [Value]) -> Result<(f64, String, &'a Value), String> {
        let text = |place: usize| cells.get(place).and_then(Value::as_str);
        let time = cells.get(self.time).and_then(crate::fields::real);
        let time = time.ok_or("no time that is a number")?;
        let name = text(self.name).ok_or("no name of an event")?;
        let category = self.category.and_then(text);
        let name = category.map_or(name.to_owned(), |category| format!("{category}:{name}"));
        Ok((time, name, cells.get(self.data).unwrap_or(&Value::Null)))
    }
}

const HEADER: &str = "a header with `qlog_version` or `file_schema`";

/// A log of ten million packets is smaller.
const MOST: u64 = 512 << 20;
