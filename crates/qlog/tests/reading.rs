//! Logs as different stacks write them, made by hand after their formats, and broken ones.

use std::io::Cursor;

use firstflight_qlog::{Event, Evidence, Limit, Log, What};

/// A sequence of records.
fn sequence(records: &[&str]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("\u{1e}{record}\n").into_bytes()).collect()
}

fn read(bytes: &[u8]) -> Log {
    Log::of_bytes("a.sqlog", bytes, None).unwrap()
}

/// The connection of a number.
fn numbered(bytes: &[u8], number: usize) -> Log {
    Log::of_bytes("a.sqlog", bytes, Some(number)).unwrap()
}

/// The events of a connection; none of what is no log.
fn events(bytes: &[u8], number: Option<usize>) -> Vec<Event> {
    let mut all = Vec::new();
    let _ = Log::events("a.sqlog", Cursor::new(bytes), number, |event| all.push(event.clone()));
    all
}

fn message(bytes: &[u8]) -> String {
    Log::of_bytes("a.sqlog", bytes, None).unwrap_err().to_string()
}

const HEADER: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"t","trace":
    {"vantage_point":{"type":"server"},"common_fields":{"time_format":"relative"}}}"#;

#[test]
fn quiche_and_quinn_sequences_of_0_3() {
    let bytes = sequence(&[
        HEADER,
        r#"{"time":10.5,"name":"recovery:metrics_updated","data":{"smoothed_rtt":333.0,
            "congestion_window":12000,"ssthresh":18446744073709551615}}"#,
        r#"{"time":11.5,"name":"transport:packet_sent","data":{"header":
            {"packet_type":"1RTT","packet_number":5,"length":1200}}}"#,
        r#"{"time":12.0,"name":"transport:packet_received","data":{"header":
            {"packet_type":"1RTT","packet_number":3},"raw":{"length":40},
            "frames":[{"frame_type":"ack","acked_ranges":[[0,4],[6]]}]}}"#,
    ]);
    let log = read(&bytes);
    assert_eq!(log.version, "0.3");
    assert_eq!(log.connection.vantage, "server");
    let events = events(&bytes, None);
    assert_eq!(events[0].at_ms, 0.0, "time counts from the first event");
    let What::Metrics(metrics) = &events[0].what else { panic!() };
    assert_eq!((metrics.congestion_window, metrics.ssthresh), (Some(12_000), None));
    let What::Sent(sent) = &events[1].what else { panic!() };
    assert_eq!((sent.number, sent.length), (Some(5), Some(1_200)));
    let What::Received(received) = &events[2].what else { panic!() };
    assert_eq!(received.acked, [(0, 4), (6, 6)]);
}

#[test]
fn quinn_s_own_rtts_are_seconds() {
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":
        {"type":"unknown"},"configuration":{"time_offset":0.0}}}"#;
    let event = r#"{"time":1,"name":"recovery:metrics_updated","data":{"smoothed_rtt":0.25}}"#;
    let rtt = |header| read(&sequence(&[header, event])).connection.summary;
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
    let bytes = sequence(&[header, &event(1.0, 10), &event(2.0, 20), &event(3.0, 40)]);
    let log = read(&bytes);
    assert_eq!(log.version, "urn:ietf:params:qlog:file:sequential");
    let times: Vec<f64> = events(&bytes, None).iter().map(|event| event.at_ms).collect();
    assert_eq!(times, [0.0, 2.0, 5.0]);
    assert_eq!(log.connection.summary.final_cwnd_bytes, Some(40));
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
    let summary = log.connection.summary;
    assert_eq!(summary.initial_cwnd_bytes, Some(15_360));
    assert_eq!(summary.min_rtt_ms, Some(46.0));
    assert_eq!(summary.packets_lost, Some(1));
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
    let summary = log.connection.summary;
    let exit = summary.exit.unwrap();
    assert_eq!((exit.evidence, exit.reason.as_deref()), (Evidence::State, Some("loss")));
    assert!((exit.time_s - 0.1002).abs() < 1e-9, "{exit:?}");
    assert_eq!((summary.packets_lost, summary.bytes_lost), (Some(4), Some(5_000)));
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
    assert_eq!((log.all.len(), log.number), (2, 2), "the one with most events");
    assert_eq!(log.connection.summary.final_cwnd_bytes, Some(3));
}

#[test]
fn lines_of_json_are_read_too() {
    let text = format!(
        "{}\n{{\"time\":1,\"name\":\"recovery:packet_lost\",\"data\":{{}}}}\n",
        HEADER.replace('\n', " ")
    );
    assert_eq!(read(text.as_bytes()).connection.summary.packets_lost, Some(1));
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
    assert!(!whole.truncated && whole.skipped.count == 0, "{whole:?}");
    for cut in 0..text.len() {
        let complete = ends.iter().filter(|end| **end <= cut).count();
        let cut_bytes = &text.as_bytes()[..cut];
        let Ok(log) = Log::of_bytes("a.qlog", cut_bytes, None) else {
            assert_eq!(complete, 0, "cut at {cut}");
            continue;
        };
        assert!(log.truncated && complete > 0, "cut at {cut}");
        assert!(log.skipped.first.as_ref().unwrap().starts_with("a.qlog, the end: EOF"), "{log:?}");
        let mut found = 0;
        for (listed, number) in log.all.iter().zip(1..) {
            let here = events(cut_bytes, Some(number));
            assert_eq!(here.len() as u64, listed.events);
            found += here.len();
            let there = &whole.all[number - 1];
            assert_eq!((&listed.vantage, &listed.title), (&there.vantage, &there.title));
            assert!(events(text.as_bytes(), Some(number)).starts_with(&here));
        }
        assert_eq!(found, complete, "cut at {cut}");
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
    assert_eq!(log.connection.events, 1);
    let (first, count) = (log.skipped.first.as_deref(), log.skipped.count);
    assert_eq!((first, count), (Some("a.sqlog, record 3: no `time` that is a number"), 3));
    let second = sequence(&[HEADER, "7"]);
    let skipped = read(&second).skipped.first;
    assert_eq!(skipped.as_deref(), Some("a.sqlog, record 2: integer `7`; accepted: an event"));
    assert!(log.truncated && !read(&bytes[..bytes.len() - 14]).truncated);
}

#[test]
fn what_is_no_qlog_is_refused_with_what_it_is() {
    assert!(message(b"").starts_with("a.sqlog: the file is empty; accepted: qlog as JSON"));
    assert!(message(b"time_s,cwnd\n").contains("begins with t"));
    assert!(message(b"{\"schema\":1}").contains("an object with `schema`"));
    assert!(message(b"{\"qlog_version\":\"0.3\"}").contains("without `traces`"));
    assert!(message(b"{\"qlog_version\":\"0.3\",\"traces\":[{}]}").contains("has events"));
    assert!(message(b"{\"qlog_version\":").contains("does not parse"));
    assert!(message(b"\x1e{}").contains("record 1: an empty object; accepted: a header"));
    assert!(message(b"\x1e").contains("record 1: no record"));
}

/// Records of a transfer: packets of a number each, with the given fields.
fn transfer(header: &str, events: &[String]) -> Vec<u8> {
    let all = std::iter::once(header.to_owned()).chain(events.iter().cloned());
    all.map(|line| format!("{}\n", line.replace('\n', " "))).collect::<String>().into_bytes()
}

fn sent(at: f64, number: u64) -> String {
    format!(
        r#"{{"time":{at},"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT",
        "packet_number":{number}}},"raw":{{"length":1200}}}}}}"#
    )
}

fn acked(at: f64, last: u64) -> String {
    format!(
        r#"{{"time":{at},"name":"transport:packet_received","data":{{"header":{{"packet_type":
        "1RTT"}},"frames":[{{"frame_type":"ack","acked_ranges":[[0,{last}]]}}]}}}}"#
    )
}

fn metrics(at: f64, more: &str) -> String {
    format!(r#"{{"time":{at},"name":"recovery:metrics_updated","data":{{{more}}}}}"#)
}

/// quinn's header is the same whether its RTTs are in seconds (0.11) or in milliseconds (later).
#[test]
fn the_unit_of_rtts_is_checked_against_the_times_of_packets() {
    let quinns = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"unknown"},
        "configuration":{"time_offset":0.0}}}"#;
    let log = |header: &str, scale: f64, rtt: f64| {
        let rtt = format!(r#""latest_rtt":{rtt},"smoothed_rtt":{rtt}"#);
        let at = |ms: f64| ms * scale;
        let all = [
            sent(at(0.0), 0),
            acked(at(40.0), 0),
            metrics(at(40.0), &rtt),
            sent(at(40.1), 1),
            acked(at(80.2), 1),
            metrics(at(240.0), &rtt),
        ];
        let summary = read(&transfer(header, &all)).connection.summary;
        (summary.min_rtt_ms.unwrap(), summary.duration_s)
    };
    let milliseconds = (40.0, 0.24);
    for header in [quinns, HEADER] {
        assert_eq!(log(header, 1.0, 40.0), milliseconds, "as the schema has it");
        assert_eq!(log(header, 1.0, 0.04), milliseconds, "RTTs in seconds");
        assert_eq!(log(header, 1.0, 40_000.0), milliseconds, "RTTs in microseconds");
    }
    let (rtt, duration) = log(HEADER, 1e3, 40.0);
    assert!((rtt - 40.0).abs() < 1e-9 && (duration - 0.24).abs() < 1e-9, "times in microseconds");
    let (rtt, duration) = log(HEADER, 1e-3, 40.0);
    assert!((rtt - 40.0).abs() < 1e-9 && (duration - 0.24).abs() < 1e-9, "times in seconds");
}

/// How an event names its path: a field of the event, and fields of its data.
type Named = fn(&str) -> (String, String);

/// Two paths: one doubles its window, the other is cut after a loss.
fn two_paths(path: Named) -> Vec<u8> {
    let event = |at: u32, on: &str, name: &str, data: &str| {
        let (field, inner) = path(on);
        let comma = if inner.is_empty() || data.is_empty() { "" } else { "," };
        format!(r#"{{"time":{at},{field}"name":"{name}","data":{{{inner}{comma}{data}}}}}"#)
    };
    let mut all = Vec::new();
    for (round, cwnd) in [12_000, 24_000, 48_000].into_iter().enumerate() {
        let at = 20 * round as u32;
        let window = format!(r#""congestion_window":{cwnd},"smoothed_rtt":20"#);
        all.push(event(at, "0", "recovery:metrics_updated", &window));
        all.push(event(at, "0", "transport:packet_sent", r#""raw":{"length":1200}"#));
    }
    for (at, cwnd) in [(5, 12_000), (65, 24_000)] {
        let window = format!(r#""congestion_window":{cwnd},"smoothed_rtt":60"#);
        all.push(event(at, "1", "recovery:metrics_updated", &window));
    }
    all.push(event(90, "1", "recovery:packet_lost", ""));
    all.push(event(91, "1", "recovery:metrics_updated", r#""congestion_window":12000"#));
    transfer(HEADER, &all)
}

#[test]
fn each_path_is_a_connection_however_it_is_named() {
    let ways: [Named; 4] = [
        |on| (format!(r#""path_id":{on},"#), String::new()),
        |on| (format!(r#""path":"{on}","#), String::new()),
        |on| (String::new(), format!(r#""path_id":{on}"#)),
        |on| {
            let (from, to) = (format!("192.0.2.{on}"), "198.51.100.9");
            let ends =
                format!(r#""src_ip":"{from}","src_port":4433,"dst_ip":"{to}","dst_port":50000"#);
            (String::new(), ends)
        },
    ];
    for way in ways {
        let bytes = two_paths(way);
        let (first, second) = (numbered(&bytes, 1), numbered(&bytes, 2));
        assert_eq!(first.all.len(), 2, "{:?}", first.all);
        assert!(first.all[0].title.contains("path "), "{:?}", first.all);
        let summary = first.connection.summary;
        assert_eq!((summary.exit, summary.peak_cwnd_bytes), (None, Some(48_000)));
        let summary = second.connection.summary;
        let exit = summary.exit.unwrap();
        assert_eq!((exit.reason.as_deref(), exit.cwnd_bytes), (Some("loss"), Some(24_000)));
        assert_eq!((summary.packets_lost, summary.packets_sent), (Some(1), None));
    }
}

#[test]
fn what_a_log_does_not_tell_is_not_zero() {
    let window = metrics(0.0, r#""congestion_window":12000"#);
    let summary = read(&transfer(HEADER, &[window])).connection.summary;
    assert_eq!((summary.packets_sent, summary.bytes_sent), (None, None));
    assert_eq!((summary.packets_lost, summary.bytes_lost), (None, None));
    let nameless = r#"{"time":1,"name":"quic:packet_sent","data":{"packet_number":1}}"#.to_owned();
    let summary = read(&transfer(HEADER, &[nameless])).connection.summary;
    assert_eq!((summary.packets_sent, summary.bytes_sent), (Some(1), None), "no length");
    let without_header =
        r#"{"time":1,"name":"quic:packet_sent","data":{"packet_number":1,"length":1200}}"#;
    let lost = r#"{"time":2,"name":"recovery:packet_lost","data":{"packet_number":1}}"#;
    let all = [without_header.to_owned(), lost.to_owned()];
    let summary = read(&transfer(HEADER, &all)).connection.summary;
    assert_eq!((summary.bytes_sent, summary.bytes_lost), (Some(1200), Some(1200)));
}

#[test]
fn pauses_are_the_application_s() {
    let mut all = Vec::new();
    for burst in 0..5_u32 {
        let begin = f64::from(burst) * 10_000.0;
        for packet in 0..20_u32 {
            let number = u64::from(burst * 20 + packet);
            all.push(sent(begin + f64::from(packet), number));
        }
        all.push(acked(begin + 50.0, u64::from(burst * 20 + 19)));
        // The last ACK is not followed by what was in flight then.
        let data = r#""congestion_window":50000,"bytes_in_flight":9000,"smoothed_rtt":30"#;
        all.push(metrics(begin + 50.0, data));
    }
    let connection = read(&transfer(HEADER, &all)).connection;
    let of: Vec<_> = connection.limits.intervals().iter().map(|it| (it.by, it.to_s)).collect();
    assert!(of.iter().all(|(by, _)| *by == Limit::Application), "{of:?}");
    let paused = connection.limits.held_s(Limit::Application, 0.0, 40.0);
    assert!((39.0..=40.0).contains(&paused), "{paused}");
}

#[test]
fn a_receiver_that_allows_no_more_is_the_limit() {
    let data = |at: f64, number: u64, end: u64| {
        format!(
            r#"{{"time":{at},"name":"transport:packet_sent","data":{{"header":{{"packet_type":
            "1RTT","packet_number":{number}}},"raw":{{"length":1240}},"frames":[{{"frame_type":
            "stream","stream_id":0,"offset":{},"length":1200}}]}}}}"#,
            end - 1200
        )
    };
    let more = |at: f64, bytes: u64| {
        format!(
            r#"{{"time":{at},"name":"transport:packet_received","data":{{"frames":[{{"frame_type":
            "max_data","maximum":{bytes}}}]}}}}"#
        )
    };
    let allows = r#"{"time":0,"name":"transport:parameters_set","data":{"owner":"remote",
        "initial_max_data":12000}}"#;
    let mut all = vec![allows.to_owned()];
    for round in 0..10_u32 {
        let at = f64::from(round) * 100.0;
        for packet in 1..=10_u64 {
            let number = u64::from(round) * 10 + packet;
            all.push(data(at + packet as f64 / 10.0, number, number * 1200));
        }
        let data = r#""congestion_window":60000,"bytes_in_flight":12000,"smoothed_rtt":100"#;
        all.push(metrics(at + 2.0, data));
        all.push(more(at + 100.0, u64::from(round + 2) * 12_000));
    }
    let connection = read(&transfer(HEADER, &all)).connection;
    let held = connection.limits.held_s(Limit::Receiver, 0.0, 1.0);
    assert!(held > 0.95, "{held}: {:?}", connection.limits);
    // The same by frames alone, in a log without offsets.
    let blocked = |at: f64| {
        format!(
            r#"{{"time":{at},"name":"transport:packet_sent","data":{{"frames":[{{"frame_type":
            "data_blocked","limit":12000}}]}}}}"#
        )
    };
    let rtt = metrics(0.0, r#""smoothed_rtt":100"#);
    let all =
        [rtt, sent(0.0, 1), blocked(1.0), more(101.0, 24_000), sent(101.0, 2), blocked(102.0)];
    let connection = read(&transfer(HEADER, &all)).connection;
    assert!(connection.limits.held_s(Limit::Receiver, 0.0, 1.0) > 0.09, "{connection:?}");
}

#[test]
fn a_log_from_the_middle_of_a_connection_says_so() {
    let begins = |number: u64| {
        let all = [sent(0.0, number), metrics(1.0, r#""congestion_window":90000"#)];
        read(&transfer(HEADER, &all)).connection.hidden
    };
    assert_eq!(begins(0), None);
    assert!(begins(40_000).unwrap().contains("the number 40000"));
}
