//! What is shown: a connection of a qlog, a capture, a record of `ss` or of iperf3.

use std::path::Path;

use firstflight_record::{Form, Recorded};

use crate::failure::Failure;
use crate::output;

/// Reads the connection of this number; without one the largest. What was left out of the file is
/// told.
///
/// # Errors
/// A file that cannot be read or has nothing to show, and a number that it does not have.
pub(super) fn open(path: &Path, number: Option<usize>) -> Result<Recorded, Failure> {
    let recorded = firstflight_record::open(path, number)?;
    let file = path.display().to_string();
    report_skipped(&file, &recorded);
    check_drawable(&file, &recorded)?;
    Ok(recorded)
}

/// Which connection this is, of how many, and how to see the others.
pub(super) fn named(recorded: &Recorded) -> String {
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

/// One line for all that was left out, and one for a file that breaks off.
fn report_skipped(file: &str, recorded: &Recorded) {
    if let Some(first) = &recorded.skipped.first {
        let more = match recorded.skipped.count {
            0 | 1 => String::new(),
            all => format!("; {} more records were left out", all - 1),
        };
        output::complain(&format!("left out: {first}{more}"));
    }
    if recorded.truncated {
        output::complain(&format!("{file} is truncated; this is what was complete of it"));
    }
    if recorded.udp {
        let title = &recorded.connection.title;
        let problem = "only bytes over time can be seen of UDP; a QUIC stack's qlog has the rest";
        output::complain(&format!("{file}: {title}: {problem}"));
    }
}

/// A log without a window has nothing to draw; says what it has instead.
fn check_drawable(file: &str, recorded: &Recorded) -> Result<(), Failure> {
    let (connection, summary) = (&recorded.connection, &recorded.connection.summary);
    let draws = summary.packets_sent > Some(0) || connection.hidden.is_some();
    if summary.initial_cwnd_bytes.is_some() || (recorded.form != Form::Qlog && draws) {
        return Ok(());
    }
    if recorded.form != Form::Qlog {
        return Err(Failure::Usage(format!(
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
    Err(Failure::Usage(format!(
        "{file}: {found}; accepted: a log with recovery:metrics_updated and its \
         congestion_window, as a sender writes it"
    )))
}
