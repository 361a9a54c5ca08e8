//! What is shown: a connection of a qlog, a capture or a record of `ss`.

use std::path::Path;

use firstflight_qlog::{Connection, Log, Summary};
use firstflight_record::{Form, RecordError, Recorded, capture, form, sockets};

use crate::failure::Failure;
use crate::output;

/// One connection of a file, with what the file is.
pub(super) struct Subject {
    /// `qlog`, `pcap` or `ss`.
    pub(super) form: &'static str,
    /// The version of a qlog; else empty.
    pub(super) version: String,
    pub(super) connection: Connection,
    pub(super) summary: Summary,
    /// Which connection, from 1, of how many.
    pub(super) number: usize,
    pub(super) connections: usize,
    pub(super) skipped: Vec<String>,
    pub(super) truncated: bool,
    /// The payload of a full packet of TCP, bytes.
    pub(super) mss: Option<u64>,
    /// The share of the time in which nothing was in flight ([`Recorded::idle_share`]).
    pub(super) idle_share: Option<f64>,
    /// Only bytes over time are known.
    pub(super) udp: bool,
}

impl Subject {
    /// Reads the connection of this number; without one the richest.
    ///
    /// # Errors
    /// A file that cannot be read or has nothing to show, and a number that it does not have.
    pub(super) fn open(path: &Path, number: Option<usize>) -> Result<Self, Failure> {
        let file = path.display().to_string();
        // What cannot be opened is told by the reader of qlogs.
        let recorded = |(form, recorded): (&'static str, Result<Recorded, RecordError>)| {
            recorded.map(|recorded| Self::of_record(form, recorded))
        };
        let subject = match form(path) {
            Ok(Some(Form::Capture)) => recorded(("pcap", capture::open(path, number)))?,
            Ok(Some(Form::Sockets)) => recorded(("ss", sockets::open(path, number)))?,
            Ok(None) | Err(_) => Self::of_log(Log::open(path)?, number)?,
        };
        subject.report_skipped(&file);
        subject.check_drawable(&file)?;
        Ok(subject)
    }

    fn of_record(form: &'static str, recorded: Recorded) -> Self {
        Self {
            form,
            version: String::new(),
            connection: recorded.connection,
            summary: recorded.summary,
            number: recorded.number,
            connections: recorded.connections,
            skipped: recorded.skipped,
            truncated: recorded.truncated,
            mss: Some(recorded.mss).filter(|bytes| *bytes > 0),
            idle_share: recorded.idle_share,
            udp: recorded.udp,
        }
    }

    fn of_log(mut log: Log, number: Option<usize>) -> Result<Self, Failure> {
        let connections = log.connections.len();
        let place = match number {
            Some(number) => number.checked_sub(1).filter(|place| *place < connections),
            None => {
                let richest = |place: &usize| log.connections[*place].events.len();
                (0..connections).rev().max_by_key(richest)
            }
        };
        let Some(place) = place else {
            return Err(Failure::Usage(format!(
                "--connection {}: the log has {connections} connections; accepted: 1 to \
                 {connections}",
                number.unwrap_or_default()
            )));
        };
        let connection = log.connections.swap_remove(place);
        Ok(Self {
            form: "qlog",
            version: log.version,
            summary: connection.summary(),
            connection,
            number: place + 1,
            connections,
            skipped: log.skipped,
            truncated: log.truncated,
            mss: None,
            idle_share: None,
            udp: false,
        })
    }

    /// One line for all that was left out, and one for a file that breaks off.
    fn report_skipped(&self, file: &str) {
        if let Some(first) = self.skipped.first() {
            let more = match self.skipped.len() {
                1 => String::new(),
                all => format!("; {} more records were left out", all - 1),
            };
            output::complain(&format!("left out: {first}{more}"));
        }
        if self.truncated {
            output::complain(&format!("{file} is truncated; this is what was complete of it"));
        }
        if self.udp {
            let title = &self.connection.title;
            let problem =
                "only bytes over time can be seen of UDP; a QUIC stack's qlog has the rest";
            output::complain(&format!("{file}: {title}: {problem}"));
        }
    }

    /// A log without a window has nothing to draw; says what it has instead.
    fn check_drawable(&self, file: &str) -> Result<(), Failure> {
        if self.summary.initial_cwnd_bytes.is_some() {
            return Ok(());
        }
        if self.form != "qlog" {
            return match self.summary.packets_sent {
                0 => Err(Failure::Usage(format!(
                    "{file}: {} carries no data; accepted: a connection that sends",
                    self.connection.title
                ))),
                _ => Ok(()),
            };
        }
        let names: Vec<&str> = self.connection.names.keys().take(6).map(String::as_str).collect();
        let found = match names.as_slice() {
            [] => "no event".to_owned(),
            names if names.iter().any(|name| name.contains("metrics_updated")) => {
                format!("`{}`, but no congestion_window in them", names.join("`, `"))
            }
            names => format!("only `{}`", names.join("`, `")),
        };
        Err(Failure::Usage(format!(
            "{file}: {found}; accepted: a log with recovery:metrics_updated and its \
             congestion_window, as a sender writes it"
        )))
    }
}
