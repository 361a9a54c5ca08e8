//! Logs that other stacks really wrote, of the same transfer over the same path (`logs/README.md`).

use std::path::Path;

use firstflight_qlog::{Evidence, Log};

/// What a log has of its stack, counted by hand in the file.
struct Expected {
    first_window: u64,
    /// How the end of slow start is known.
    evidence: Evidence,
    bytes_lost: Option<u64>,
    /// How often the log has the window and the bytes sent.
    points: [usize; 2],
}

/// What is known of the path, 40 ms at least and two packets lost, and what the log has.
fn check(file: &str, expected: &Expected) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(file);
    let log = Log::open(&path, None).unwrap();
    assert_eq!(log.skipped.count, 0, "{file}: {:?}", log.skipped);
    let connection = &log.connection;
    assert_eq!(connection.vantage, "server", "{file}");
    let summary = &connection.summary;
    let at = format!("{file}: {summary:?}");
    assert_eq!(summary.initial_cwnd_bytes, Some(expected.first_window), "{at}");
    assert!((40.0..55.0).contains(&summary.min_rtt_ms.unwrap()), "{at}");
    assert!((40.0..60.0).contains(&summary.peak_smoothed_rtt_ms.unwrap()), "{at}");
    assert_eq!(summary.packets_lost, Some(2), "{at}");
    assert_eq!(summary.bytes_lost, expected.bytes_lost, "{at}");
    assert!((40_000..60_000).contains(&summary.bytes_sent.unwrap()), "{at}");
    let exit = summary.exit.as_ref().unwrap_or_else(|| panic!("{at}"));
    assert_eq!((exit.reason.as_deref(), exit.evidence), (Some("loss"), expected.evidence), "{at}");
    assert!(exit.cwnd_bytes > Some(expected.first_window), "{at}");
    // The window doubles once or twice before the loss is noticed.
    assert!((0.08..0.2).contains(&exit.time_s), "{at}");
    let curves = connection.curves(summary.duration_s);
    assert_eq!([curves.cwnd.points().len(), curves.sent.points().len()], expected.points, "{at}");
}

#[test]
fn aioquic() {
    let evidence = Evidence::Threshold;
    let expected =
        Expected { first_window: 12_000, evidence, bytes_lost: Some(2_400), points: [65, 44] };
    check("aioquic.qlog", &expected);
}

#[test]
fn ngtcp2() {
    let evidence = Evidence::Threshold;
    let expected =
        Expected { first_window: 14_520, evidence, bytes_lost: Some(2_812), points: [54, 39] };
    check("ngtcp2.sqlog", &expected);
}

#[test]
fn quic_go() {
    let evidence = Evidence::State;
    let expected =
        Expected { first_window: 40_960, evidence, bytes_lost: Some(2_560), points: [54, 39] };
    check("quic-go.sqlog", &expected);
}

/// It counts lost packets only, and has the window only where it changed.
#[test]
fn quiche() {
    let evidence = Evidence::State;
    let expected = Expected { first_window: 12_000, evidence, bytes_lost: None, points: [7, 41] };
    check("quiche.sqlog", &expected);
}
