//! Logs that other stacks really wrote, of the same transfer over the same path (`logs/README.md`).

use std::path::Path;

use firstflight_qlog::{Evidence, Log};

/// What is known of the path: 40 ms at least, two packets lost, and of the stack: its first window
/// and how its log tells the end of slow start.
fn tells(file: &str, first_window: u64, evidence: Evidence) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(file);
    let log = Log::open(&path).unwrap();
    assert!(log.skipped.is_empty(), "{file}: {:?}", log.skipped);
    let connection = log.richest().unwrap();
    assert_eq!(connection.vantage, "server", "{file}");
    let summary = connection.summary();
    let at = format!("{file}: {summary:?}");
    assert_eq!(summary.initial_cwnd_bytes, Some(first_window), "{at}");
    assert!((40.0..55.0).contains(&summary.min_rtt_ms.unwrap()), "{at}");
    assert!((40.0..60.0).contains(&summary.peak_smoothed_rtt_ms.unwrap()), "{at}");
    assert_eq!(summary.packets_lost, 2, "{at}");
    // quiche counts packets only.
    let bytes = if file.starts_with("quiche") { 0..=0 } else { 2_400..=2_904 };
    assert!(bytes.contains(&summary.bytes_lost), "{at}");
    assert!((40_000..60_000).contains(&summary.bytes_sent), "{at}");
    let exit = summary.exit.as_ref().unwrap_or_else(|| panic!("{at}"));
    assert_eq!((exit.reason.as_deref(), exit.evidence), (Some("loss"), evidence), "{at}");
    assert!(exit.cwnd_bytes > Some(first_window), "{at}");
    // The window doubles once or twice before the loss is noticed.
    assert!((0.08..0.2).contains(&exit.time_s), "{at}");
    let curves = connection.curves(summary.duration_s);
    assert!(curves.cwnd.len() > 5 && curves.sent.len() > 30, "{at}");
}

#[test]
fn aioquic() {
    tells("aioquic.qlog", 12_000, Evidence::Threshold);
}

#[test]
fn ngtcp2() {
    tells("ngtcp2.sqlog", 14_520, Evidence::Threshold);
}

#[test]
fn quic_go() {
    tells("quic-go.sqlog", 40_960, Evidence::State);
}

#[test]
fn quiche() {
    tells("quiche.sqlog", 12_000, Evidence::State);
}
