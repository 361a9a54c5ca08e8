//! Bytes that are read as a qlog.

use std::io::Cursor;

use firstflight_qlog::{Event, Header, Log, Writer};

/// Reads it as `show` does, asks everything `show` asks, and writes what was understood.
///
/// # Panics
/// Where the reader, the summary or the writer is wrong.
pub fn qlog(data: &[u8]) {
    let log = match Log::of_bytes("fuzz.sqlog", data, None) {
        Ok(log) => log,
        Err(error) => return assert!(error.to_string().starts_with("fuzz.sqlog")),
    };
    assert!((1..=log.all.len()).contains(&log.number), "{log:?}");
    for number in 1..=log.all.len() {
        let log = Log::of_bytes("fuzz.sqlog", data, Some(number)).expect("it was read before");
        let summary = &log.connection.summary;
        assert!(serde_json::to_string(summary).is_ok(), "{summary:?}");
        let _ = log.connection.curves(summary.duration_s);
        let mut events = Vec::new();
        let take = |event: &Event| events.push(event.clone());
        Log::events("fuzz.sqlog", Cursor::new(data), Some(number), take).expect("it was read");
        let times: Vec<f64> = events.iter().map(|event| event.at_ms).collect();
        assert!(times.is_sorted() && times.iter().all(|at| at.is_finite()), "{times:?}");
        written_again(&events);
        if number >= MOST_CONNECTIONS {
            break;
        }
    }
}

/// Checks that what the writer writes has as many events when it is read back.
fn written_again(events: &[Event]) {
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory takes it");
    events.iter().for_each(|event| writer.event(event).expect("memory takes it"));
    let bytes = writer.finish().expect("memory takes it");
    let again = Log::of_bytes("again.sqlog", &bytes, None).expect("our own writer wrote it");
    assert_eq!(again.skipped.count, 0, "{:?}", again.skipped);
}

/// Connections of an input that are read: each takes a walk over all of it.
const MOST_CONNECTIONS: usize = 4;
