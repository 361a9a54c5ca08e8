//! What a record shows of a connection's start-up: the documents of `show`, and what is said beside
//! them.

use firstflight_qlog::{Limited, Listed, Summary};
use firstflight_record::{Form, Recorded};
use firstflight_runner::RunError;
use serde::Serialize;

use crate::Judged;

/// The document of `show --json`.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Document<'a> {
    schema: &'static str,
    file: &'a str,
    /// `qlog`, `pcap`, `ss` or `iperf3`.
    form: &'static str,
    qlog_version: &'a str,
    title: &'a str,
    vantage: &'a str,
    connection: usize,
    connections: usize,
    skipped_records: u64,
    truncated: bool,
    /// Where a capture was taken, and how that is known.
    taken: Option<&'a str>,
    /// Why the record cannot show the start-up; `null` if it can.
    hidden: Option<&'a str>,
    startup: &'a Summary,
    /// What limited the sender other than its window, and when.
    limits: &'a [Limited],
    /// The comparison with the references; there is none unless a path was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'a Judged>,
}

/// The document of `show --list --json`.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Listing<'a> {
    schema: &'static str,
    file: &'a str,
    form: &'static str,
    connections: &'a [Listed],
}

impl<'a> Document<'a> {
    /// The document of a connection, with what was found on its path if that is known.
    pub fn of(file: &'a str, recorded: &'a Recorded, judged: Option<&'a Judged>) -> Self {
        let connection = &recorded.connection;
        Self {
            schema: "firstflight/show@1",
            file,
            form: recorded.form.name(),
            qlog_version: if recorded.form == Form::Qlog { &recorded.version } else { "" },
            title: &connection.title,
            vantage: &connection.vantage,
            connection: recorded.number,
            connections: recorded.all.len(),
            skipped_records: recorded.skipped.count,
            truncated: recorded.truncated,
            taken: recorded.taken.as_deref(),
            hidden: connection.hidden.as_deref(),
            startup: &connection.summary,
            limits: connection.limits.intervals(),
            judged,
        }
    }
}

impl<'a> Listing<'a> {
    /// The document of a file's connections.
    pub fn of(file: &'a str, recorded: &'a Recorded) -> Self {
        let (form, connections) = (recorded.form.name(), &recorded.all[..]);
        Self { schema: "firstflight/show-list@1", file, form, connections }
    }
}

/// Which connection this is, of how many, and how to see the others.
pub fn named(recorded: &Recorded) -> String {
    let title = match recorded.connection.title.as_str() {
        "" => "a connection without a name",
        title => title,
    };
    match recorded.all.len() {
        0 | 1 => format!("{title}, the only one in the file"),
        all => format!(
            "{title}, number {} of {all} (--connection N shows another, --list names all)",
            recorded.number
        ),
    }
}

/// One line for all that was left out of the file, one for a file that breaks off, and one for UDP.
pub fn cautions(file: &str, recorded: &Recorded) -> Vec<String> {
    let skipped = recorded.skipped.first.as_ref().map(|first| {
        let more = match recorded.skipped.count {
            0 | 1 => String::new(),
            all => format!("; {} more records were left out", all - 1),
        };
        format!("left out: {first}{more}")
    });
    let truncated = format!("{file} is truncated; this is what was complete of it");
    let udp = format!(
        "{file}: {}: only bytes over time can be seen of UDP; a QUIC stack's qlog has the rest",
        recorded.connection.title
    );
    let lines = [skipped, recorded.truncated.then_some(truncated), recorded.udp.then_some(udp)];
    lines.into_iter().flatten().collect()
}

/// Refuses a record that has nothing to draw, as a log without a window; says what it has instead.
///
/// # Errors
/// It is such a record.
pub fn check(file: &str, recorded: &Recorded) -> Result<(), RunError> {
    let (connection, summary) = (&recorded.connection, &recorded.connection.summary);
    let draws = summary.packets_sent > Some(0) || connection.hidden.is_some();
    if summary.initial_cwnd_bytes.is_some() || (recorded.form != Form::Qlog && draws) {
        return Ok(());
    }
    if recorded.form != Form::Qlog {
        return Err(RunError::Input(format!(
            "{file}: {} carries no data; accepted: a connection that sends",
            connection.title
        )));
    }
    let names: Vec<&str> = connection.names.keys().take(6).map(String::as_str).collect();
    let found = match names.as_slice() {
        [] => "no event".to_owned(),
        names if names.iter().any(|name| name.contains("metrics_updated")) => {
            format!("`{}`, but no congestion_window in them", names.join("`, `"))
        }
        names => format!("only `{}`", names.join("`, `")),
    };
    Err(RunError::Input(format!(
        "{file}: {found}; accepted: a log with recovery:metrics_updated and its \
         congestion_window, as a sender writes it"
    )))
}
