//! Bytes that are read as `show` and `kernel what-if` read a file: a capture, the output of `ss`,
//! the JSON of iperf3, a qlog, an access log or watched connections, maybe packed.

use std::io::Cursor;

use firstflight_record::mix::{self, Transfer};
use firstflight_record::{Recorded, read};

/// Reads them, and asks everything `show` and `kernel what-if` ask.
///
/// # Panics
/// Where a reader is wrong.
pub fn record(data: &[u8]) {
    match read("fuzz", Cursor::new(data), None) {
        Ok(recorded) => shown(&recorded),
        Err(error) => assert!(error.to_string().starts_with("fuzz"), "{error}"),
    }
    match mix::read("fuzz", Cursor::new(data)) {
        Ok(mix) => mix.transfers.iter().for_each(is_sound),
        Err(error) => assert!(error.to_string().starts_with("fuzz"), "{error}"),
    }
}

fn is_sound(transfer: &Transfer) {
    let seconds = [transfer.rtt_s, transfer.duration_s].into_iter().flatten();
    assert!(transfer.bytes > 0 && seconds.into_iter().all(f64::is_finite), "{transfer:?}");
    let rate = transfer.rate;
    let is_range = rate.is_none_or(|rate| {
        let most = rate.at_most.unwrap_or(rate.at_least);
        rate.at_least > 0.0 && most.is_finite() && rate.at_least <= most
    });
    assert!(is_range, "{transfer:?}");
}

fn shown(recorded: &Recorded) {
    assert!(recorded.number >= 1 && recorded.number <= recorded.all.len(), "{recorded:?}");
    let connection = &recorded.connection;
    let summary = &connection.summary;
    assert!(serde_json::to_string(summary).is_ok(), "{summary:?}");
    assert!(connection.hidden.is_none() || summary.exit.is_none(), "{recorded:?}");
    assert!(summary.duration_s.is_finite() && summary.duration_s >= 0.0, "{summary:?}");
    let limits = connection.limits.intervals();
    assert!(limits.iter().all(|it| it.from_s < it.to_s && it.from_s >= 0.0), "{limits:?}");
    assert!(limits.is_sorted_by(|a, b| a.to_s <= b.from_s), "{limits:?}");
    for curve in [&connection.curves(summary.duration_s).sent, &connection.curves(1.0).in_flight] {
        let points = curve.points();
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0), "{points:?}");
        assert!(points.iter().all(|(at, value)| at.is_finite() && value.is_finite()), "{points:?}");
    }
}
