//! What a log holds, before any of its events is used: its traces, its connections and their paths,
//! and the units of its numbers.

use std::collections::HashMap;

use firstflight_outside::word;
use serde_json::Value;

use crate::event::{PacketType, What};
use crate::fields::{any, count_of};
use crate::frame::Visit;
use crate::head::{Head, Members, Parts};
use crate::read::Listed;
use crate::record::Record;
use crate::translate::translate;
use crate::unit::UnitEvidence;

/// What was seen of a log.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    heads: Vec<Option<Head>>,
    /// Members of traces that stood before their events, to see whether more came behind them.
    early: Vec<Members>,
    late: bool,
    /// The heads are those of an earlier walk.
    known: bool,
    now_ms: Vec<f64>,
    groups: HashMap<(usize, String), Group>,
    seen: Vec<PathSurvey>,
}

/// A connection of a trace, which may have several paths.
#[derive(Debug, Default)]
struct Group {
    /// The places of its paths by their name.
    paths: HashMap<String, usize>,
    /// Events without a path belong to the first one.
    first: usize,
    /// The first one has a name.
    named: bool,
}

/// One path of a connection.
#[derive(Debug)]
struct PathSurvey {
    trace: usize,
    /// The key of its group.
    group: (usize, String),
    path: String,
    events: u64,
    evidence: UnitEvidence,
    first_ms: f64,
    /// The number of the first packet of data that was sent, if no packet of a handshake was.
    first_data: Option<u64>,
    handshake: bool,
}

/// The units of a connection's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// What the times of its trace are multiplied with.
    pub(crate) time: f64,
    /// Milliseconds per unit of its RTTs.
    pub(crate) rtt_to_ms: f64,
}

impl Survey {
    /// Members behind the events decide how these are read: the log has to be walked once more.
    pub(crate) fn has_late_members(&self) -> bool {
        self.late
    }

    /// A new survey that knows the heads.
    pub(crate) fn with_heads(self) -> Self {
        Self { heads: self.heads, known: true, ..Self::default() }
    }

    pub(crate) fn head(&self, trace: usize) -> Option<&Head> {
        self.heads.get(trace)?.as_ref()
    }

    /// The place of the connection to which an event belongs.
    pub(crate) fn place(&self, trace: usize, parts: &Parts<'_>) -> Option<usize> {
        let group = self.groups.get(&(trace, group_of(parts)))?;
        match path_of(parts) {
            None => Some(group.first),
            Some(path) => group.paths.get(&path).copied(),
        }
    }

    pub(crate) fn units(&self, place: usize) -> Units {
        let seen = &self.seen[place];
        match self.head(seen.trace) {
            Some(head) => seen.evidence.units(head, seen.first_ms),
            None => Units { time: 1.0, rtt_to_ms: 1.0 },
        }
    }

    /// Why a connection's log cannot show its start-up: it begins later.
    pub(crate) fn hidden(&self, place: usize) -> Option<String> {
        let seen = &self.seen[place];
        let first = seen.first_data.filter(|first| !seen.handshake && *first > MANY)?;
        Some(format!(
            "the log begins in the middle of the connection: no handshake is in it, and its first \
             packet has the number {first}"
        ))
    }

    pub(crate) fn listed(&self) -> Vec<Listed> {
        let listed = |seen: &PathSurvey| {
            let head = self.head(seen.trace);
            let title = head.map_or("", |head| head.title.as_str());
            let alone = self.groups.get(&seen.group).is_none_or(|group| group.paths.len() < 2);
            let title = match seen.path.as_str() {
                path if !alone && !path.is_empty() => format!("{title} path {path}"),
                _ => title.to_owned(),
            };
            let title = title.trim_start().to_owned();
            let vantage = head.map(|head| head.vantage.clone()).unwrap_or_default();
            Listed { title, vantage, events: seen.events, bytes: None }
        };
        self.seen.iter().map(listed).collect()
    }

    fn record(&mut self, trace: usize, event: &str) -> Result<(), String> {
        let record: Record<'_> = serde_json::from_str(event).map_err(|error| error.to_string())?;
        let Some(Some(head)) = self.heads.get(trace) else { return Ok(()) };
        if self.now_ms.len() <= trace {
            self.now_ms.resize(trace + 1, 0.0);
        }
        let Some(parts) = head.split(&record, self.now_ms[trace])? else { return Ok(()) };
        self.now_ms[trace] = parts.at_ms;
        let Some(place) = self.take_place(trace, &parts) else { return Ok(()) };
        let seen = &mut self.seen[place];
        seen.events += 1;
        if seen.events == 1 {
            seen.first_ms = parts.at_ms;
        }
        seen.first_ms = seen.first_ms.min(parts.at_ms);
        seen.evidence.until(parts.at_ms);
        if !seen.evidence.is_enough() {
            for what in translate(&parts.name, parts.data, 1.0) {
                seen.note_packet(&what);
                seen.evidence.take(parts.at_ms, &what);
            }
        }
        Ok(())
    }

    /// The place of an event's connection, which is made if it is new and there is room.
    fn take_place(&mut self, trace: usize, parts: &Parts<'_>) -> Option<usize> {
        let next = self.seen.len();
        let key = (trace, group_of(parts));
        if next >= MOST_CONNECTIONS && !self.groups.contains_key(&key) {
            return None;
        }
        let group =
            self.groups.entry(key.clone()).or_insert(Group { first: next, ..Group::default() });
        let is_new = group.first == next;
        let path = path_of(parts);
        let place = match &path {
            None if is_new => next,
            None => return Some(group.first),
            Some(path) => match group.paths.get(path) {
                Some(place) => return Some(*place),
                // Events before may have named none.
                None if !is_new && !group.named => group.first,
                None if next >= MOST_CONNECTIONS => return None,
                None => next,
            },
        };
        let path = path.unwrap_or_default();
        if !path.is_empty() {
            group.named = true;
            group.paths.insert(path.clone(), place);
        }
        if place == next {
            self.seen.push(PathSurvey::new(key));
        }
        self.seen[place].path = path;
        Some(place)
    }
}

impl PathSurvey {
    fn new(group: (usize, String)) -> Self {
        Self {
            trace: group.0,
            group,
            path: String::new(),
            events: 0,
            evidence: UnitEvidence::default(),
            first_ms: 0.0,
            first_data: None,
            handshake: false,
        }
    }

    fn note_packet(&mut self, what: &What) {
        let What::Sent(packet) = what else { return };
        match packet.packet_type {
            PacketType::Initial | PacketType::Handshake => self.handshake = true,
            PacketType::OneRtt | PacketType::ZeroRtt | PacketType::Other => {
                if let Some(number) = packet.number {
                    self.first_data.get_or_insert(number);
                }
            }
        }
    }
}

impl Visit for Survey {
    fn trace(&mut self, place: usize, trace: &Members, file: &Members) {
        if !self.known {
            self.heads.resize_with(place + 1, || None);
            self.heads[place] = Some(Head::new(trace, file));
            self.early.resize_with(place + 1, Members::default);
            self.early[place] = trace.clone();
        }
    }

    fn event(&mut self, trace: usize, _: u64, event: Result<&str, String>) {
        // What is wrong is reported when the chosen connection is read.
        let _ = event.and_then(|event| self.record(trace, event));
    }

    fn end(&mut self, place: usize, trace: &Members, has_events: bool) {
        if !has_events {
            return;
        }
        if !self.known && self.early.get(place).is_some_and(|early| early.lacks_any_of(trace)) {
            self.late = true;
            self.heads[place] = Some(Head::new(trace, &Members::default()));
        }
        // A trace without events of a connection is a connection without events.
        if !self.groups.keys().any(|(of, _)| *of == place) && self.seen.len() < MOST_CONNECTIONS {
            let first = self.seen.len();
            let key = (place, String::new());
            self.groups.insert(key.clone(), Group { first, ..Group::default() });
            self.seen.push(PathSurvey::new(key));
        }
    }
}

fn group_of(parts: &Parts<'_>) -> String {
    word(parts.group)
}

/// The path of an event: its own field, one in its data, or the two ends of its datagram.
fn path_of(parts: &Parts<'_>) -> Option<String> {
    if !parts.path.is_empty() {
        return Some(word(parts.path.trim_matches('"'))).filter(|path| !path.is_empty());
    }
    // Most data are not parsed.
    let fields = ["\"path", "\"tuple\"", "\"src_ip\"", "\"five_tuple\""];
    if !fields.iter().any(|name| parts.data.contains(name)) {
        return None;
    }
    let data: Value = serde_json::from_str(parts.data).ok()?;
    let header = data.get("header").unwrap_or(&Value::Null);
    let named = any(&data, PATHS).or_else(|| any(header, PATHS)).map(|path| match path {
        Value::String(name) => name.clone(),
        other => other.to_string(),
    });
    named.or_else(|| ends(&data)).map(|path| word(&path))
}

/// The two ends of a datagram, in one order for both directions.
fn ends(data: &Value) -> Option<String> {
    let end = |ip: &str, port: &str| {
        let ip = data.get(ip)?.as_str()?.to_owned();
        Some(format!("{ip}:{}", count_of(data, &[port]).unwrap_or(0)))
    };
    let mut both = [end("src_ip", "src_port")?, end("dst_ip", "dst_port")?];
    both.sort();
    Some(both.join(" "))
}

const PATHS: &[&str] = &["path_id", "path", "tuple", "five_tuple"];
/// Connections of a log that are kept apart.
const MOST_CONNECTIONS: usize = 4096;
/// Packets before the first one of a log that show that it began later: more than a handshake has.
const MANY: u64 = 100;
