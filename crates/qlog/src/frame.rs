//! How records stand in a file: JSON text sequences, lines of JSON, or one document. One record is
//! in memory at a time.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Seek};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::QlogError;
use crate::head::{Members, is_kept};

/// Before each record of a JSON text sequence (RFC 7464, section 2.2).
pub(crate) const RECORD_SEPARATOR: u8 = 0x1e;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// A header, then events, each behind this byte (the separator) or before it (the line's end).
    Records(u8),
    /// One JSON document with traces.
    Document,
}

/// Receives the parts of a file as it is read.
pub(crate) trait Visit {
    /// The events of a trace begin; these are the members of the trace and of the file so far.
    fn trace(&mut self, place: usize, trace: &Members, file: &Members);
    /// An event as JSON, or what is wrong with it, and its number in the trace, from 1.
    fn event(&mut self, trace: usize, number: u64, event: Result<&str, String>);
    /// The trace ends, and has these members; whether it has `events`.
    fn end(&mut self, place: usize, trace: &Members, has_events: bool);
}

/// What a whole file says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    pub(crate) members: Members,
    pub(crate) has_traces: bool,
    /// How it breaks off, if it does.
    pub(crate) cut_short: Option<String>,
}

impl Framing {
    /// Finds out how a file is written.
    pub(crate) fn of<R: Read + Seek>(file: &str, source: &mut R) -> Result<Self, QlogError> {
        let not = |found: String| QlogError::NotQlog { file: file.to_owned(), found };
        let mut lines = rewound(file, source)?;
        let first = loop {
            match lines.fill_buf().map_err(|error| unreadable(file, error))? {
                [] => return Err(not("the file is empty".to_owned())),
                [byte, ..] if byte.is_ascii_whitespace() || MARK.contains(byte) => lines.consume(1),
                [byte, ..] => break *byte,
            }
        };
        match first {
            RECORD_SEPARATOR => Ok(Self::Records(RECORD_SEPARATOR)),
            b'{' => {
                let mut records = Records::new(lines, b'\n');
                let first = records.next().map_err(|error| unreadable(file, error))?;
                let whole = matches!(first, Some((Ok(line), _)) if is_json(line));
                let second = records.next().map_err(|error| unreadable(file, error))?;
                Ok(if whole && second.is_some() { Self::Records(b'\n') } else { Self::Document })
            }
            other => Err(not(format!("begins with {}", std::ascii::escape_default(other)))),
        }
    }

    /// Reads the file once from its begin.
    pub(crate) fn walk<R: Read + Seek>(
        self,
        file: &str,
        source: &mut R,
        visit: &mut dyn Visit,
    ) -> Result<Whole, QlogError> {
        let source = rewound(file, source)?;
        match self {
            Self::Records(separator) => records(file, Records::new(source, separator), visit),
            Self::Document => document(file, source, visit),
        }
    }
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

fn unreadable(file: &str, source: io::Error) -> QlogError {
    QlogError::Unreadable { file: file.to_owned(), source }
}

fn rewound<'a, R: Read + Seek>(
    file: &str,
    source: &'a mut R,
) -> Result<BufReader<&'a mut R>, QlogError> {
    source.rewind().map_err(|error| unreadable(file, error))?;
    Ok(BufReader::with_capacity(BUFFER, source))
}

/// A piece, or what is wrong with it; and whether the file ends with it.
type Piece<'a> = (Result<&'a [u8], String>, bool);

/// Pieces of a file between separators, empty ones left out.
struct Records<R> {
    source: R,
    separator: u8,
    piece: Vec<u8>,
    /// The file ends with the newest piece, without a separator after it.
    at_end: bool,
}

impl<R: BufRead> Records<R> {
    fn new(source: R, separator: u8) -> Self {
        Self { source, separator, piece: Vec::new(), at_end: false }
    }

    /// The next piece, and whether the file ends with it; an error is of one that is too long.
    fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        loop {
            self.piece.clear();
            let mut limited = self.source.by_ref().take(LONGEST as u64);
            if limited.read_until(self.separator, &mut self.piece)? == 0 {
                return Ok(None);
            }
            let ended = self.piece.last() == Some(&self.separator);
            self.at_end = !ended;
            if !ended && self.piece.len() >= LONGEST {
                self.source.skip_until(self.separator)?;
                return Ok(Some((Err(TOO_LONG.to_owned()), false)));
            }
            if ended {
                self.piece.pop();
            }
            if !self.piece.trim_ascii().is_empty() {
                break;
            }
        }
        let piece = self.piece.trim_ascii();
        Ok(Some((Ok(piece.strip_prefix(MARK).unwrap_or(piece)), self.at_end)))
    }
}

fn records<R: BufRead>(
    file: &str,
    mut records: Records<R>,
    visit: &mut dyn Visit,
) -> Result<Whole, QlogError> {
    let wrong = |problem: String| QlogError::Record { file: file.to_owned(), record: 1, problem };
    let read_error = |error| unreadable(file, error);
    let header = match records.next().map_err(read_error)? {
        None => return Err(wrong(format!("no record; accepted: {HEADER}"))),
        Some((header, _)) => {
            header.map_err(|problem| wrong(format!("{problem}; accepted: {HEADER}")))?
        }
    };
    let header = serde_json::from_slice::<Members>(header);
    let members = header.map_err(|error| wrong(format!("{error}; accepted: {HEADER} as JSON")))?;
    if members.version().is_none() {
        return Err(wrong(format!("{}; accepted: {HEADER}", members.described())));
    }
    let trace = Members::of(members.get("trace"));
    let mut whole = Whole { members, has_traces: true, cut_short: None };
    visit.trace(0, &trace, &whole.members);
    for number in 2.. {
        let Some((record, at_end)) = records.next().map_err(read_error)? else { break };
        let record = record.and_then(|bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => Err("no text in UTF-8".to_owned()),
        });
        if let (Ok(text), true) = (&record, at_end)
            && let Err(error) = serde_json::from_str::<IgnoredAny>(text)
        {
            whole.cut_short = error.is_eof().then(|| error.to_string());
        }
        visit.event(0, number, record);
    }
    visit.end(0, &trace, true);
    Ok(whole)
}

fn document<R: BufRead>(file: &str, source: R, visit: &mut dyn Visit) -> Result<Whole, QlogError> {
    let left = Cell::new(LONGEST);
    let mut meter = Meter { source, left: &left, last: 0 };
    let mut walk = Walk { visit, left: &left, whole: Whole::default(), traces: 0, events: 0 };
    let mut json = serde_json::Deserializer::from_reader(&mut meter);
    let read = File(&mut walk).deserialize(&mut json).and_then(|()| {
        left.set(usize::MAX);
        json.end()
    });
    let Err(error) = read else { return Ok(walk.whole) };
    // A number that breaks off is called wrong instead.
    let in_number = b"-+.eE".contains(&meter.last);
    let at_end = error.is_eof() || in_number && meter.source.fill_buf().is_ok_and(<[u8]>::is_empty);
    if at_end && walk.events > 0 {
        let eof = if error.is_eof() { "" } else { "EOF, " };
        walk.whole.cut_short = Some(format!("{eof}{error}"));
        return Ok(walk.whole);
    }
    let found = format!("JSON that does not parse: {error}");
    Err(QlogError::NotQlog { file: file.to_owned(), found })
}

/// Reads at most as many bytes as a record may have, so that none fills the memory.
struct Meter<'a, R> {
    source: R,
    left: &'a Cell<usize>,
    /// The newest byte.
    last: u8,
}

impl<R: Read> Read for Meter<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        let buffer = match buffer.get_mut(..buffer.len().min(left)) {
            Some([]) if left == 0 => return Err(io::Error::other(TOO_LONG)),
            Some(buffer) => buffer,
            None => return Ok(0),
        };
        let read = self.source.read(buffer)?;
        self.left.set(left - read);
        self.last = buffer[..read].last().copied().unwrap_or(self.last);
        Ok(read)
    }
}

/// A document while it is read.
struct Walk<'a> {
    visit: &'a mut dyn Visit,
    /// Bytes that the current record may still have.
    left: &'a Cell<usize>,
    whole: Whole,
    traces: usize,
    events: u64,
}

/// The file's object.
struct File<'a, 'b>(&'a mut Walk<'b>);

/// The list of traces.
struct Traces<'a, 'b>(&'a mut Walk<'b>);

/// A trace's object.
struct Trace<'a, 'b>(&'a mut Walk<'b>);

/// A trace's list of events.
struct Events<'a, 'b>(&'a mut Walk<'b>);

macro_rules! seed {
    ($seed:ident, $how:ident) => {
        impl<'de> DeserializeSeed<'de> for $seed<'_, '_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.$how(self)
            }
        }
    };
}

seed!(File, deserialize_map);
seed!(Traces, deserialize_any);
seed!(Trace, deserialize_any);
seed!(Events, deserialize_any);

/// Values of other types than the expected one are passed over.
macro_rules! others {
    () => {
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }

        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }

        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }

        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }

        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }
    };
}

impl<'de> Visitor<'de> for File<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == "traces" {
                self.0.whole.has_traces = true;
                self.0.whole.members.named(name);
                members.next_value_seed(Traces(self.0))?;
            } else {
                self.0.left.set(room_of(&name));
                self.0.whole.members.take(name, &mut members)?;
            }
            self.0.left.set(LONGEST);
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Traces<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of traces")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        while elements.next_element_seed(Trace(self.0))?.is_some() {}
        Ok(())
    }

    others!();
}

impl<'de> Visitor<'de> for Trace<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        let walk = self.0;
        let place = walk.traces;
        walk.traces += 1;
        let (mut trace, mut has_events) = (Members::default(), false);
        let read = walk.trace(place, &mut members, &mut trace, &mut has_events);
        if has_events || read.is_ok() {
            walk.visit.end(place, &trace, has_events);
        }
        read
    }

    others!();
}

impl Walk<'_> {
    /// Reads the members of a trace.
    fn trace<'de, M: MapAccess<'de>>(
        &mut self,
        place: usize,
        members: &mut M,
        trace: &mut Members,
        has_events: &mut bool,
    ) -> Result<(), M::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == "events" {
                *has_events = true;
                self.visit.trace(place, trace, &self.whole.members);
                trace.named(name);
                self.left.set(LONGEST);
                members.next_value_seed(Events(self))?;
            } else {
                self.left.set(room_of(&name));
                trace.take(name, members)?;
            }
            self.left.set(LONGEST);
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Events<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        let (walk, mut number) = (self.0, 0);
        while let Some(event) = elements.next_element::<Box<RawValue>>()? {
            (walk.events, number) = (walk.events + 1, number + 1);
            walk.visit.event(walk.traces - 1, number, Ok(event.get()));
            walk.left.set(LONGEST);
        }
        Ok(())
    }

    others!();
}

/// How long a member may be: one that is passed over fills no memory.
fn room_of(name: &str) -> usize {
    if is_kept(name) { LONGEST } else { usize::MAX }
}

const HEADER: &str = "a header with `qlog_version` or `file_schema`";
/// The byte order mark of UTF-8.
const MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const BUFFER: usize = 1 << 18;
/// The longest record, bytes: a packet's own bytes in hexadecimal are 128 KiB.
const LONGEST: usize = 1 << 20;
const TOO_LONG: &str = "a record longer than 1 MiB";
