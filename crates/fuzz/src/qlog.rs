//! Bytes that are read as a qlog.

use firstflight_qlog::{Event, Header, Log, Writer};

/// Reads it as `show` does, asks everything `show` asks, and writes what was understood.
///
/// # Panics
/// Where the reader, the summary or the writer is wrong.
pub fn qlog(data: &[u8]) {
    let log = match Log::read("fuzz.sqlog", data) {
        Ok(log) => log,
        Err(error) => return assert!(error.to_string().starts_with("fuzz.sqlog")),
    };
    assert!(!log.connections.is_empty(), "a log without a connection was read");
    for connection in &log.connections {
        let summary = connection.summary();
        assert!(serde_json::to_string(&summary).is_ok(), "{summary:?}");
        connection.curves(summary.duration_s);
        let times: Vec<f64> = connection.events.iter().map(|event| event.at_ms).collect();
        assert!(times.is_sorted() && times.iter().all(|at| at.is_finite()), "{times:?}");
        written_again(&connection.events);
    }
}

/// Checks that what the writer writes has as many events when it is read back.
fn written_again(events: &[Event]) {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory takes it");
    events.iter().for_each(|event| writer.event(event).expect("memory takes it"));
    let bytes = writer.finish().expect("memory takes it");
    let again = Log::read("again.sqlog", &bytes).expect("our own writer wrote it");
    assert!(again.skipped.is_empty(), "{:?}", again.skipped);
}
