//! Reads the logs of QUIC stacks: tolerant of what varies, exact about what is wrong.
//!
//! A log is read twice, record by record, so that memory does not grow with it: first for its
//! connections and the units of its numbers, then for the events of the connection that is chosen.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use firstflight_outside::word;
use serde::Serialize;

use crate::connection::{Connection, Order, Watch};
use crate::error::QlogError;
use crate::event::Event;
use crate::frame::{Framing, Visit, Whole};
use crate::head::Members;
use crate::record::Record;
use crate::survey::{Survey, Units};
use crate::translate::translate;

/// A log that was read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Log {
    /// The version as the file names it: `0.3`, `draft-00`, or the `file_schema` of newer drafts.
    pub version: String,
    /// The connection that was asked for, or the one with most events.
    pub connection: Connection,
    /// Its number among those of the log, from 1.
    pub number: usize,
    /// The connections of the log, at least one; each path of a connection counts as one.
    pub all: Vec<Listed>,
    /// Records that were left out.
    pub skipped: Skipped,
    /// Whether the file ends within a record or a document, as after a program was killed.
    pub truncated: bool,
}

/// One of the connections of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// What the file calls it, or its two ends; may be empty.
    pub title: String,
    /// `client`, `server`, `network`, or empty.
    pub vantage: String,
    /// Its events, packets or samples.
    pub events: u64,
    /// Its bytes, as far as they are known without reading it all.
    pub bytes: Option<u64>,
}

/// Records that were left out: how many, and the first with its place and what was wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The first.
    pub first: Option<String>,
    /// How many.
    pub count: u64,
}

impl Skipped {
    /// Counts a record; what is wrong is written down for the first one only.
    pub fn add(&mut self, problem: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(problem);
    }
}

impl Log {
    /// Reads a file, and of its connections the one of this number, from 1; without one that with
    /// most events.
    ///
    /// # Errors
    /// As [`Log::read`].
    pub fn open(path: &Path, number: Option<usize>) -> Result<Self, QlogError> {
        let file = path.display().to_string();
        let source = File::open(path)
            .map_err(|source| QlogError::Unreadable { file: file.clone(), source })?;
        Self::read(&file, source, number)
    }

    /// Reads a log from its begin; `file` is for messages.
    ///
    /// # Errors
    /// What cannot be read or is no qlog, and a number that it does not have. A single record that
    /// is broken, and the end of a document that breaks off behind its first event, are left out
    /// and counted in [`Log::skipped`].
    pub fn read<R: Read + Seek>(
        file: &str,
        mut source: R,
        number: Option<usize>,
    ) -> Result<Self, QlogError> {
        let mut watch = Watch::of_qlog();
        let mut log = Self::events(file, &mut source, number, |event| watch.take(event))?;
        let named = std::mem::replace(&mut log.connection, watch.finish());
        let connection = &mut log.connection;
        (connection.title, connection.vantage) = (named.title, named.vantage);
        (connection.names, connection.hidden) = (named.names, named.hidden);
        Ok(log)
    }

    /// Reads a log that is in memory.
    ///
    /// # Errors
    /// As [`Log::read`].
    pub fn of_bytes(file: &str, bytes: &[u8], number: Option<usize>) -> Result<Self, QlogError> {
        Self::read(file, Cursor::new(bytes), number)
    }

    /// Hands the events of a connection on, in order of time from 0; the log's own connection has
    /// then only names.
    ///
    /// # Errors
    /// As [`Log::read`].
    pub fn events<R: Read + Seek>(
        file: &str,
        mut source: R,
        number: Option<usize>,
        take: impl FnMut(&Event),
    ) -> Result<Self, QlogError> {
        let framing = Framing::of(file, &mut source)?;
        let mut survey = Survey::default();
        let mut whole = framing.walk(file, &mut source, &mut survey)?;
        if survey.has_late_members() {
            survey = survey.with_heads();
            whole = framing.walk(file, &mut source, &mut survey)?;
        }
        let version = accept(file, framing, &whole, &survey)?;
        let place = choose(file, number, &survey)?;
        let mut chosen = Chosen {
            file,
            framing,
            survey: &survey,
            place,
            now_ms: Vec::new(),
            order: Order::default(),
            take,
            connection: Connection::default(),
            skipped: Skipped::default(),
        };
        framing.walk(file, &mut source, &mut chosen)?;
        chosen.drain();
        let (mut connection, mut skipped) = (chosen.connection, chosen.skipped);
        let listed = survey.listed();
        (connection.title, connection.vantage) =
            (listed[place].title.clone(), listed[place].vantage.clone());
        connection.hidden = survey.hidden(place);
        if let (Some(error), Framing::Document) = (&whole.cut_short, framing) {
            skipped.add(|| format!("{file}, the end: {error}"));
        }
        Ok(Self {
            version,
            connection,
            number: place + 1,
            all: listed,
            skipped,
            truncated: whole.cut_short.is_some(),
        })
    }
}

/// The version of what is a log with events.
fn accept(
    file: &str,
    framing: Framing,
    whole: &Whole,
    survey: &Survey,
) -> Result<String, QlogError> {
    let not = |found: String| QlogError::NotQlog { file: file.to_owned(), found };
    let version = whole.members.version().ok_or_else(|| not(whole.members.described()))?;
    if framing == Framing::Document && !whole.has_traces {
        return Err(not("qlog without `traces`".to_owned()));
    }
    if survey.listed().is_empty() {
        return Err(not("qlog without a trace that has events".to_owned()));
    }
    Ok(version)
}

/// The place of the connection of a number; without one of that with most events.
fn choose(file: &str, number: Option<usize>, survey: &Survey) -> Result<usize, QlogError> {
    let all = survey.listed();
    let place = match number {
        Some(number) => number.checked_sub(1).filter(|place| *place < all.len()),
        None => (0..all.len()).rev().max_by_key(|place| all[*place].events),
    };
    place.ok_or_else(|| QlogError::NoSuchConnection {
        file: file.to_owned(),
        asked: number.unwrap_or_default(),
        all: all.len(),
    })
}

/// The connection that was chosen, while the log is read for its events.
struct Chosen<'a, F> {
    file: &'a str,
    framing: Framing,
    survey: &'a Survey,
    place: usize,
    /// The time of the newest event of each trace.
    now_ms: Vec<f64>,
    order: Order,
    take: F,
    connection: Connection,
    skipped: Skipped,
}

impl<F: FnMut(&Event)> Chosen<'_, F> {
    fn record(&mut self, trace: usize, event: Result<&str, String>) -> Result<(), String> {
        let record: Record<'_> =
            serde_json::from_str(event?).map_err(|error| readable(&error, "an event"))?;
        if self.now_ms.len() <= trace {
            self.now_ms.resize(trace + 1, 0.0);
        }
        let Some(head) = self.survey.head(trace) else { return Ok(()) };
        let Some(parts) = head.split(&record, self.now_ms[trace])? else { return Ok(()) };
        self.now_ms[trace] = parts.at_ms;
        if self.survey.place(trace, &parts) != Some(self.place) {
            return Ok(());
        }
        let Units { time, rtt_to_ms } = self.survey.units(self.place);
        for what in translate(&parts.name, parts.data, rtt_to_ms) {
            let event = Event { at_ms: parts.at_ms * time, what };
            if let Some(event) = self.order.take(event) {
                (self.take)(&event);
            }
        }
        let names = &mut self.connection.names;
        let name = word(&parts.name);
        if names.len() < MOST_NAMES || names.contains_key(&name) {
            *names.entry(name).or_default() += 1;
        }
        Ok(())
    }

    fn drain(&mut self) {
        while let Some(event) = self.order.next() {
            (self.take)(&event);
        }
    }
}

impl<F: FnMut(&Event)> Visit for Chosen<'_, F> {
    fn trace(&mut self, _: usize, _: &Members, _: &Members) {}

    fn event(&mut self, trace: usize, number: u64, event: Result<&str, String>) {
        if let Err(problem) = self.record(trace, event) {
            let place = match self.framing {
                Framing::Records(_) => format!("record {number}"),
                Framing::Document => format!("trace {}, event {number}", trace + 1),
            };
            self.skipped.add(|| format!("{}, {place}: {problem}", self.file));
        }
    }

    fn end(&mut self, place: usize, _: &Members, has_events: bool) {
        if !has_events {
            self.skipped.add(|| format!("{}, trace {}: no `events`", self.file, place + 1));
        }
    }
}

/// What is wrong with a record: the type that was found, or what the JSON lacks.
pub(crate) fn readable(error: &serde_json::Error, accepted: &str) -> String {
    let message = error.to_string();
    let found =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "));
    match found {
        Some((found, _)) => format!("{found}; accepted: {accepted}"),
        None => message,
    }
}

/// Names of events that are counted apart.
const MOST_NAMES: usize = 256;
