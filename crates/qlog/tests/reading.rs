//! Logs as different stacks write them, made by hand after their formats, and broken ones.

use firstflight_qlog::{Evidence, Log, What};

/// A sequence of records.
fn sequence(records: &[&str]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("\u{1e}{record}\n").into_bytes()).collect()
}

fn read(bytes: &[u8]) -> Log {
    Log::read("a.sqlog", bytes).unwrap()
}

fn message(bytes: &[u8]) -> String {
    Log::read("a.sqlog", bytes).unwrap_err().to_string()
}

const HEADER: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"t","trace":
    {"vantage_point":{"type":"server"},"common_fields":{"time_format":"relative"}}}"#;

#[test]
fn quiche_and_quinn_sequences_of_0_3() {
    let log = read(&sequence(&[
        HEADER,
        r#"{"time":10.5,"name":"recovery:metrics_updated","data":{"smoothed_rtt":333.0,
            "congestion_window":12000,"ssthresh":18446744073709551615}}"#,
        r#"{"time":11.5,"name":"transport:packet_sent","data":{"header":
            {"packet_type":"1RTT","packet_number":5,"length":1200}}}"#,
        r#"{"time":12.0,"name":"transport:packet_received","data":{"header":
            {"packet_type":"1RTT","packet_number":3},"raw":{"length":40},
            "frames":[{"frame_type":"ack","acked_ranges":[[0,4],[6]]}]}}"#,
    ]));
    assert_eq!(log.version, "0.3");
    let connection = &log.connections[0];
    assert_eq!(connection.vantage, "server");
    assert_eq!(connection.events[0].at_ms, 0.0, "time counts from the first event");
    let What::Metrics(metrics) = &connection.events[0].what else { panic!() };
    assert_eq!((metrics.congestion_window, metrics.ssthresh), (Some(12_000), None));
    let What::Sent(sent) = &connection.events[1].what else { panic!() };
    assert_eq!((sent.number, sent.length), (Some(5), Some(1_200)));
    let What::Received(received) = &connection.events[2].what else { panic!() };
    assert_eq!(received.acked, [(0, 4), (6, 6)]);
}

#[test]
fn quinn_s_own_rtts_are_seconds() {
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":
        {"type":"unknown"},"configuration":{"time_offset":0.0}}}"#;
    let event = r#"{"time":1,"name":"recovery:metrics_updated","data":{"smoothed_rtt":0.25}}"#;
    let rtt = |header| read(&sequence(&[header, event])).connections[0].summary();
    assert_eq!(rtt(header).peak_smoothed_rtt_ms, Some(250.0));
    assert_eq!(rtt(HEADER).peak_smoothed_rtt_ms, Some(0.25));
}

#[test]
fn drafts_from_09_on_have_other_headers_and_names() {
    let header = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential",
        "serialization_format":"application/qlog+json-seq","trace":{"common_fields":
        {"time_format":"relative_to_previous_event"},"vantage_point":{"type":"client"}}}"#;
    let event = |time: f64, cwnd: u64| {
        format!(
            r#"{{"time":{time},"name":"quic:recovery_metrics_updated",
            "data":{{"congestion_window":{cwnd}}}}}"#
        )
    };
    let log = read(&sequence(&[header, &event(1.0, 10), &event(2.0, 20), &event(3.0, 40)]));
    assert_eq!(log.version, "urn:ietf:params:qlog:file:sequential");
    let times: Vec<f64> = log.connections[0].events.iter().map(|event| event.at_ms).collect();
    assert_eq!(times, [0.0, 2.0, 5.0]);
    assert_eq!(log.connections[0].summary().final_cwnd_bytes, Some(40));
}

#[test]
fn picoquic_has_columns_and_microseconds() {
    let log = read(
        br#"{ "qlog_version": "draft-00", "title": "picoquic", "traces": [
        { "vantage_point": { "name": "backend-67", "type": "client" },
        "event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"],
        "configuration": {"time_units": "us"},
        "events": [
        [0, "recovery", "metrics_updated", {"cwnd": 15360,"bytes_in_flight": 1252}],
        [46151, "recovery", "metrics_updated", {"smoothed_rtt": 46151,"min_rtt": 46000}],
        [50000, "RECOVERY", "PACKET_LOST", {"packet_type": "1RTT", "packet_number": 9}]]}]}"#,
    );
    // Its older versions shout.
    let summary = log.connections[0].summary();
    assert_eq!(summary.initial_cwnd_bytes, Some(15_360));
    assert_eq!(summary.min_rtt_ms, Some(46.0));
    assert_eq!(summary.packets_lost, 1);
    assert_eq!(summary.duration_s, 0.05);
}

#[test]
fn mvfst_logs_losses_in_batches_and_the_state_with_the_window() {
    let log = read(
        br#"{"qlog_version":"draft-00","traces":[{"configuration":{"time_units":"us"},
        "event_fields":["relative_time","category","event","data"],"events":[
        ["7000000","metric_update","congestion_metric_update",
            {"bytes_in_flight":0,"current_cwnd":14520,"state":"Hystart"}],
        ["7100000","metric_update","congestion_metric_update",
            {"bytes_in_flight":9,"current_cwnd":29040,"state":"Hystart"}],
        ["7100100","loss","packets_lost",
            {"largest_lost_packet_num":30,"lost_bytes":5000,"lost_packets":4}],
        ["7100200","metric_update","congestion_metric_update",
            {"bytes_in_flight":9,"current_cwnd":20328,"state":"FastRecovery"}]]}]}"#,
    );
    let summary = log.connections[0].summary();
    let exit = summary.exit.unwrap();
    assert_eq!((exit.evidence, exit.reason.as_deref()), (Evidence::State, Some("loss")));
    assert!((exit.time_s - 0.1002).abs() < 1e-9, "{exit:?}");
    assert_eq!((summary.packets_lost, summary.bytes_lost), (4, 5_000));
}

#[test]
fn a_server_logs_several_connections_in_one_sequence() {
    let event = |group: &str, cwnd: u64| {
        format!(
            r#"{{"time":1,"group_id":"{group}","name":"recovery:metrics_updated",
            "data":{{"congestion_window":{cwnd}}}}}"#
        )
    };
    let log = read(&sequence(&[HEADER, &event("a", 1), &event("b", 2), &event("b", 3)]));
    assert_eq!(log.connections.len(), 2);
    assert_eq!(log.richest().unwrap().summary().final_cwnd_bytes, Some(3));
}

#[test]
fn lines_of_json_are_read_too() {
    let text = format!(
        "{}\n{{\"time\":1,\"name\":\"recovery:packet_lost\",\"data\":{{}}}}\n",
        HEADER.replace('\n', " ")
    );
    assert_eq!(read(text.as_bytes()).connections[0].summary().packets_lost, 1);
}

#[test]
fn of_one_document_cut_anywhere_every_complete_event_is_read() {
    let event = |at: u32| {
        format!(r#"{{"time":{at}.5,"name":"recovery:packet_lost","data":{{"frames":[{{}}]}}}}"#)
    };
    let mut text = r#"{"qlog_version":"0.3","title":"é","traces":["#.to_owned();
    let mut ends = Vec::new();
    for (trace, before) in [("client", ""), ("server", "]},")] {
        text += &format!(r#"{before}{{"vantage_point":{{"type":"{trace}"}},"events":["#);
        for (at, comma) in [(1, ""), (2, ","), (3, ",\n")] {
            text += &format!("{comma}{}", event(at));
            ends.push(text.len());
        }
    }
    text += r#"]}],"summary":{"events":[7]}}"#;
    let whole = read(text.as_bytes());
    assert!(!whole.truncated && whole.skipped.is_empty(), "{whole:?}");
    for cut in 0..text.len() {
        let complete = ends.iter().filter(|end| **end <= cut).count();
        let Ok(log) = Log::read("a.qlog", &text.as_bytes()[..cut]) else {
            assert_eq!(complete, 0, "cut at {cut}");
            continue;
        };
        assert!(log.truncated && complete > 0, "cut at {cut}");
        assert!(log.skipped.last().unwrap().starts_with("a.qlog, the end: EOF"), "{log:?}");
        let events: Vec<usize> = log.connections.iter().map(|it| it.events.len()).collect();
        assert_eq!(events.iter().sum::<usize>(), complete, "cut at {cut}: {events:?}");
        for (cut, whole) in log.connections.iter().zip(&whole.connections) {
            assert_eq!((&cut.vantage, &cut.title), (&whole.vantage, &whole.title));
            assert!(whole.events.starts_with(&cut.events));
        }
    }
}

#[test]
fn what_is_wrong_before_the_end_is_not_a_document_cut_short() {
    let text = r#"{"qlog_version":"0.3","traces":[{"events":[
        {"time":1,"name":"recovery:packet_lost","data":{}},{"time":2,]}]}"#;
    assert!(message(text.as_bytes()).contains("does not parse: key must be a string at line 2"));
}

#[test]
fn a_record_cut_short_is_left_out_and_named() {
    let mut bytes = sequence(&[
        HEADER,
        r#"{"time":1,"name":"recovery:packet_lost","data":{}}"#,
        r#"{"name":"recovery:packet_lost","data":{}}"#,
        "7",
    ]);
    bytes.extend(b"\x1e{\"time\":2,\"na");
    let log = read(&bytes);
    assert_eq!(log.connections[0].events.len(), 1);
    assert_eq!(log.skipped[0], "a.sqlog, record 3: no `time` that is a number");
    assert_eq!(log.skipped[1], "a.sqlog, record 4: a number; accepted: an event");
    assert!(log.skipped[2].starts_with("a.sqlog, record 5: EOF while parsing"), "{log:?}");
    assert!(log.truncated && !read(&bytes[..bytes.len() - 14]).truncated);
}

#[test]
fn what_is_no_qlog_is_told_with_what_it_is() {
    assert!(message(b"").starts_with("a.sqlog: the file is empty; accepted: qlog as JSON"));
    assert!(message(b"time_s,cwnd\n").contains("begins with t"));
    assert!(message(b"\x1f\x8b\x08").contains("gzip"));
    assert!(message(b"\x28\xb5\x2f\xfd").contains("zstd"));
    assert!(message(b"{\"schema\":1}").contains("an object with `schema`"));
    assert!(message(b"{\"qlog_version\":\"0.3\"}").contains("without `traces`"));
    assert!(message(b"{\"qlog_version\":\"0.3\",\"traces\":[{}]}").contains("has events"));
    assert!(message(b"{\"qlog_version\":").contains("does not parse"));
    assert!(message(b"\x1e{}").contains("record 1: an empty object; accepted: a header"));
    assert!(message(b"\x1e").contains("record 1: no record"));
}
