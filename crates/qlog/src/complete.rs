//! Turns quinn's log into one that qvis can draw.
//!
//! quinn 0.11 writes 0.3 through the crate `qlog`, but
//! - leaves `raw.length` empty and puts the length into the packet's header,
//! - writes RTTs in seconds, where the schema has milliseconds,
//! - changes the `group_id` during the handshake, so that one connection looks like two,
//! - puts a packet's arrival behind what it sent meanwhile, so that times go back,
//! - calls the vantage point unknown and writes no `common_fields`,
//! - has no event for the state of the congestion controller.
//!
//! Here each record is put right as it passes. What quinn does not log cannot be added: which
//! packets an ACK acknowledged, and how long received packets were.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::encode;
use crate::event::{Event, State, What};
use crate::frame::RECORD_SEPARATOR;
use crate::write::{Header, write_record};

/// Called before each event; returns the new state of the congestion controller if it has changed.
pub type Probe = Box<dyn FnMut() -> Option<State> + Send + Sync>;

/// A writer between quinn and the file of one connection.
pub struct Completing<W: Write> {
    to: W,
    header: Header,
    probe: Probe,
    /// The bytes of the record that is not yet complete.
    pending: Vec<u8>,
    /// The log's header has been written.
    begun: bool,
    /// The time of the previous record, in milliseconds.
    time: f64,
    /// Why a record could not be written. quinn goes on after it.
    failed: Option<io::ErrorKind>,
}

impl<W: Write> Completing<W> {
    /// Writes to `to`, with this header instead of quinn's.
    pub fn new(to: W, header: Header, probe: Probe) -> Self {
        let (pending, begun, time, failed) = (Vec::new(), false, 0.0, None);
        Self { to, header, probe, pending, begun, time, failed }
    }

    /// Writes what is held back, because no further event comes.
    ///
    /// # Errors
    /// Those of the writer, now or for an earlier record.
    pub fn finish(&mut self) -> io::Result<()> {
        self.pass_on(true)?;
        self.to.flush()?;
        self.failed.map_or(Ok(()), |kind| Err(kind.into()))
    }

    /// Writes the first record, and all but the last if that may still grow.
    fn pass_on(&mut self, all: bool) -> io::Result<()> {
        loop {
            let rest = self.pending.get(1..).unwrap_or_default();
            let end = rest.iter().position(|byte| *byte == RECORD_SEPARATOR).map(|at| at + 1);
            let end = match end {
                Some(end) => end,
                None if all && !self.pending.is_empty() => self.pending.len(),
                None => return Ok(()),
            };
            let record: Vec<u8> = self.pending.drain(..end).collect();
            self.record(&record).inspect_err(|error| self.failed = Some(error.kind()))?;
        }
    }

    fn record(&mut self, record: &[u8]) -> io::Result<()> {
        let text = record.strip_prefix(&[RECORD_SEPARATOR]).unwrap_or(record);
        let Ok(mut record) = serde_json::from_slice::<Value>(text) else {
            return Ok(()); // White space, or what no reader could read either.
        };
        if !self.begun {
            self.begun = true;
            return write_record(&mut self.to, &self.header.record());
        }
        if let Some(time) = record.get("time").and_then(Value::as_f64) {
            self.time = self.time.max(time);
            record["time"] = json!(self.time);
        }
        if let Some(state) = (self.probe)() {
            let mut change = encode::event(&Event { at_ms: 0.0, what: What::State(state) });
            // Not a rounded one, which might be later than the next.
            change["time"] = json!(self.time);
            write_record(&mut self.to, &change)?;
        }
        complete(&mut record);
        write_record(&mut self.to, &record)
    }
}

fn complete(record: &mut Value) {
    if let Some(fields) = record.as_object_mut() {
        fields.remove("group_id");
    }
    let name = record.get("name").and_then(Value::as_str).unwrap_or_default();
    match name {
        "recovery:metrics_updated" => RTTS.iter().for_each(|rtt| in_milliseconds(record, rtt)),
        "transport:packet_sent" | "transport:packet_received" => move_length(record),
        _ => {}
    }
}

fn in_milliseconds(record: &mut Value, rtt: &str) {
    if let Some(value) = record.pointer_mut(&format!("/data/{rtt}"))
        && let Some(seconds) = value.as_f64()
    {
        *value = encode::time(seconds * 1e3);
    }
}

/// The length goes where version 0.3 has it (main-schema-05, section 5.1: `RawInfo`).
fn move_length(record: &mut Value) {
    let Some(data) = record.get_mut("data").and_then(Value::as_object_mut) else { return };
    let Some(header) = data.get_mut("header").and_then(Value::as_object_mut) else { return };
    let length = header.remove("length");
    let raw = data.entry("raw").or_insert_with(|| json!({}));
    if let (Some(length), Some(raw)) = (length, raw.as_object_mut()) {
        raw.entry("length").or_insert(length);
    }
}

impl<W: Write> Write for Completing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        // serde writes a few bytes at a time: only a new record ends the one before.
        if bytes.contains(&RECORD_SEPARATOR) {
            self.pass_on(false)?;
        }
        Ok(bytes.len())
    }

    /// Flushes what is complete; the last record is held back until the next one begins.
    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: Write> Drop for Completing<W> {
    fn drop(&mut self) {
        // quinn drops its writer without asking whether the end was written.
        let _ = self.finish();
    }
}

const RTTS: [&str; 4] = ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"];
