//! Bytes that are read as a capture and as the output of `ss`.

use firstflight_record::{Recorded, capture, sockets};

/// Reads them as `show` does, and asks everything `show` asks.
///
/// # Panics
/// Where a reader is wrong.
pub fn record(data: &[u8]) {
    match capture::read("fuzz.pcap", data, None) {
        Ok(recorded) => shown(&recorded),
        Err(error) => assert!(error.to_string().starts_with("fuzz.pcap"), "{error}"),
    }
    match sockets::read("fuzz.txt", data, None) {
        Ok(recorded) => shown(&recorded),
        Err(error) => assert!(error.to_string().starts_with("fuzz.txt"), "{error}"),
    }
}

fn shown(recorded: &Recorded) {
    assert!(recorded.number >= 1 && recorded.number <= recorded.connections, "{recorded:?}");
    let summary = &recorded.summary;
    assert!(serde_json::to_string(summary).is_ok(), "{summary:?}");
    recorded.connection.curves(summary.duration_s);
    let times: Vec<f64> = recorded.connection.events.iter().map(|event| event.at_ms).collect();
    assert!(times.is_sorted() && times.iter().all(|at| at.is_finite()), "{times:?}");
}
