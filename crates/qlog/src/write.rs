//! Writes qlog 0.3 as a JSON text sequence.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::encode;
use crate::event::Event;
use crate::frame::RECORD_SEPARATOR;

/// What a log says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The title, one line; qvis shows it as the name of the connection.
    pub title: String,
    /// A description in sentences; may be empty.
    pub description: String,
    /// The end whose view the log has.
    pub vantage: Vantage,
}

/// The end of a connection whose view a log has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vantage {
    /// The endpoint that opened the connection.
    #[default]
    Client,
    /// The endpoint that was connected to.
    Server,
}

/// Writes a log, record by record.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn new(mut to: W, header: &Header) -> io::Result<Self> {
        write_record(&mut to, &header.record())?;
        Ok(Self { to })
    }

    /// Writes an event. Times must not go back: qvis sorts, but warns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        write_record(&mut self.to, &encode::event(event))
    }

    /// Flushes, and gives back what was written to.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }
}

impl Header {
    /// The first record of the sequence (main-schema-05, section 6.2): the version and format by
    /// which readers know the file, and the one trace.
    pub(crate) fn record(&self) -> Value {
        let mut trace = json!({
            "vantage_point": { "type": self.vantage.name() },
            "title": self.title,
            // The reference time is that of no clock: simulated time has none, and results must
            // not depend on the wall clock.
            "common_fields": { "time_format": "relative", "reference_time": 0 },
        });
        let mut record = json!({
            "qlog_version": VERSION,
            "qlog_format": "JSON-SEQ",
            "title": self.title,
        });
        if !self.description.is_empty() {
            trace["description"] = json!(self.description);
            record["description"] = json!(self.description);
        }
        record["trace"] = trace;
        record
    }
}

impl Vantage {
    /// The word of qlog for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// The separator, the JSON text, and a line feed (RFC 7464, section 2.2).
pub(crate) fn write_record(to: &mut impl Write, record: &Value) -> io::Result<()> {
    let mut line = vec![RECORD_SEPARATOR];
    serde_json::to_writer(&mut line, record)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// The newest version that qvis opens.
const VERSION: &str = "0.3";
