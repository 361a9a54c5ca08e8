//! What a log says of itself before its events: version, title, units, columns.

use std::fmt;

use firstflight_outside::word;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::fields::text_of;
use crate::record::{Record, number, text};

/// The members of a file's or a trace's object that matter, and the first names of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    kept: serde_json::Map<String, Value>,
    names: Vec<String>,
}

impl Members {
    /// Takes a member of an object.
    pub(crate) fn take<'de, M: MapAccess<'de>>(
        &mut self,
        name: String,
        members: &mut M,
    ) -> Result<(), M::Error> {
        if is_kept(&name) {
            self.kept.insert(name.clone(), members.next_value()?);
        } else {
            members.next_value::<IgnoredAny>()?;
        }
        self.named(name);
        Ok(())
    }

    /// Remembers that there is a member of this name.
    pub(crate) fn named(&mut self, name: String) {
        if self.names.len() < 4 {
            self.names.push(name);
        }
    }

    /// The members of a value; of what is no object none.
    pub(crate) fn of(value: &Value) -> Self {
        let members = value.as_object().cloned().unwrap_or_default();
        Self { names: members.keys().take(4).cloned().collect(), kept: members }
    }

    pub(crate) fn get(&self, name: &str) -> &Value {
        self.kept.get(name).unwrap_or(&Value::Null)
    }

    /// The log's version: in `qlog_version`, and from draft-09 on in `file_schema`.
    pub(crate) fn version(&self) -> Option<String> {
        let of = |name: &str| self.get(name).as_str();
        of("qlog_version").or_else(|| of("file_schema")).map(word)
    }

    /// Whether another has a member that is used and that this one lacks.
    pub(crate) fn lacks_any_of(&self, other: &Self) -> bool {
        other.kept.keys().any(|name| !self.kept.contains_key(name))
    }

    /// In a few words.
    pub(crate) fn described(&self) -> String {
        if self.names.is_empty() {
            return "an empty object".to_owned();
        }
        let names = word(&self.names.join("`, `"));
        format!("an object with `{}`", names.chars().take(80).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Members, M::Error> {
                let mut all = Members::default();
                while let Some(name) = members.next_key()? {
                    all.take(name, &mut members)?;
                }
                Ok(all)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// What a trace says of all its events.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) title: String,
    pub(crate) vantage: String,
    /// Milliseconds per unit of time.
    pub(crate) to_ms: f64,
    /// The log names the unit of its times.
    pub(crate) has_unit: bool,
    /// Milliseconds per unit of an RTT, by the head.
    pub(crate) rtt_to_ms: f64,
    /// Whether each time counts from the previous event.
    delta: bool,
    columns: Option<Columns>,
}

/// Places of what matters in events that are lists.
#[derive(Clone, Copy, Debug)]
struct Columns {
    time: usize,
    category: Option<usize>,
    name: usize,
    data: usize,
    group: Option<usize>,
    path: Option<usize>,
}

/// The parts of an event.
pub(crate) struct Parts<'a> {
    /// Milliseconds.
    pub(crate) at_ms: f64,
    pub(crate) name: String,
    /// The JSON of its `group_id`; empty if there is none.
    pub(crate) group: &'a str,
    /// The JSON of its path; empty if there is none.
    pub(crate) path: &'a str,
    /// The data as JSON.
    pub(crate) data: &'a str,
}

impl Head {
    /// The head of a trace, in a file with these members.
    pub(crate) fn new(trace: &Members, file: &Members) -> Self {
        let configuration = trace.get("configuration");
        let format = text_of(trace.get("common_fields"), &["time_format"]).unwrap_or_default();
        let units = text_of(configuration, &["time_units"]);
        let to_ms = if units.as_deref() == Some("us") { 1e-3 } else { 1.0 };
        let title = trace.get("title").as_str().or(file.get("title").as_str());
        let vantage = text_of(trace.get("vantage_point"), &["type"]).unwrap_or_default();
        // quinn 0.11 writes RTTs in seconds, and its header does not name it. It is known by what
        // no other stack has together; newer versions have milliseconds, which their events show.
        let is_quinns = vantage == "unknown"
            && configuration.get("time_offset").is_some()
            && trace.get("common_fields").is_null();
        Self {
            title: word(title.unwrap_or_default()),
            vantage: word(&vantage),
            to_ms,
            has_unit: units.is_some(),
            rtt_to_ms: if is_quinns { 1e3 } else { to_ms },
            delta: format == "delta" || format == "relative_to_previous_event",
            columns: trace.get("event_fields").as_array().and_then(|fields| Columns::of(fields)),
        }
    }

    /// The parts of an event, if it is one; `now_ms` is the time of the one before. An error says
    /// what is wrong with it.
    pub(crate) fn split<'a>(
        &self,
        record: &Record<'a>,
        now_ms: f64,
    ) -> Result<Option<Parts<'a>>, String> {
        let (time, name, group, path, data) = match record {
            Record::Empty => return Ok(None),
            Record::Named(named) => {
                let time = named.time.ok_or("no `time` that is a number")?;
                let name = named.name.as_deref().ok_or("no `name`")?;
                (time, name.to_owned(), named.group, named.path, named.data)
            }
            Record::Listed(cells) => {
                let columns = self.columns.ok_or("a list, but the trace has no `event_fields`")?;
                let time = cells.get(columns.time).and_then(|cell| number(cell));
                let time = time.ok_or("no time that is a number")?;
                let at = |place: Option<usize>| place.and_then(|place| cells.get(place).copied());
                let name = at(Some(columns.name)).and_then(text).ok_or("no name of an event")?;
                let name = match at(columns.category).and_then(text) {
                    Some(category) => format!("{category}:{name}"),
                    None => name.into_owned(),
                };
                (time, name, at(columns.group), at(columns.path), at(Some(columns.data)))
            }
        };
        let at_ms = time * self.to_ms + if self.delta { now_ms } else { 0.0 };
        let raw = |value: Option<&'a serde_json::value::RawValue>| {
            value.map(serde_json::value::RawValue::get).filter(|text| *text != "null")
        };
        let (group, path) = (raw(group).unwrap_or(""), raw(path).unwrap_or(""));
        Ok(Some(Parts { at_ms, name, group, path, data: raw(data).unwrap_or("null") }))
    }
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
            group: place(&["group_id"]),
            path: place(&["path_id", "path", "tuple"]),
        })
    }
}

/// Whether a member of a file's or a trace's object is used.
pub(crate) fn is_kept(name: &str) -> bool {
    KEPT.contains(&name)
}

/// Members that are used; of the others only the name is kept.
const KEPT: [&str; 8] = [
    "qlog_version",
    "file_schema",
    "title",
    "vantage_point",
    "common_fields",
    "configuration",
    "event_fields",
    "trace",
];
