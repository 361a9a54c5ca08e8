//! What is written conforms to version 0.3: the part of its schema that is used here, written down
//! as rules. Sources: draft-ietf-quic-qlog-main-schema-05 (file and trace: sections 3.1 to 3.3;
//! event: 3.4; JSON text sequences: 6.2) and draft-ietf-quic-qlog-quic-events-05 (sections 4 and
//! 5, packet header: appendix A.5).

use firstflight_qlog::{
    Completing, Event, Header, Lost, Metrics, Packet, PacketType, State, Vantage, What, Writer,
};
use serde_json::{Value, json};

/// A rule for a value, after CDDL's types.
enum Rule {
    /// A number, not negative.
    Number,
    /// A whole number below 2^bits.
    Uint(u32),
    Text,
    /// One of these texts.
    Words(&'static [&'static str]),
    /// A list of at least one.
    List(Box<Rule>),
    /// A list of two.
    Pair(Box<Rule>),
    /// Fields: a name with `?` in front may be absent; others may not be there.
    Fields(Vec<(&'static str, Rule)>),
}

use Rule::{Fields, List, Number, Pair, Text, Uint, Words};

fn check(rule: &Rule, value: &Value, at: &str) -> Result<(), String> {
    let ok = match rule {
        Number => value.as_f64().is_some_and(|number| number >= 0.0),
        Uint(bits) => {
            value.as_u64().is_some_and(|number| *bits == 64 || number < 1u64 << bits.min(&63))
        }
        Text => value.is_string(),
        Words(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        List(rule) => {
            let items = value.as_array().ok_or(format!("{at}: no list"))?;
            items.iter().try_for_each(|item| check(rule, item, at))?;
            !items.is_empty()
        }
        Pair(rule) => {
            let items = value.as_array().ok_or(format!("{at}: no list"))?;
            items.iter().try_for_each(|item| check(rule, item, at))?;
            items.len() == 2
        }
        Fields(rules) => return check_fields(rules, value, at),
    };
    if ok { Ok(()) } else { Err(format!("{at}: {value}")) }
}

fn check_fields(rules: &[(&str, Rule)], value: &Value, at: &str) -> Result<(), String> {
    let fields = value.as_object().ok_or(format!("{at}: no object"))?;
    for (name, rule) in rules {
        let plain = name.trim_start_matches('?');
        match fields.get(plain) {
            Some(value) => check(rule, value, &format!("{at}.{plain}"))?,
            None if name.starts_with('?') => {}
            None => return Err(format!("{at}: no {plain}")),
        }
    }
    let known = |name: &String| rules.iter().any(|(rule, _)| rule.trim_start_matches('?') == name);
    match fields.keys().find(|name| !known(name)) {
        Some(name) => Err(format!("{at}: unknown {name}")),
        None => Ok(()),
    }
}

fn header_rule() -> Rule {
    let vantage = Fields(vec![
        ("?name", Text),
        ("type", Words(&["client", "server", "network", "unknown"])),
        ("?flow", Words(&["client", "server", "unknown"])),
    ]);
    let common = Fields(vec![
        ("?time_format", Words(&["absolute", "delta", "relative"])),
        ("?reference_time", Number),
        ("?protocol_type", List(Box::new(Text))),
        ("?group_id", Text),
    ]);
    let trace = Fields(vec![
        ("?title", Text),
        ("?description", Text),
        ("?common_fields", common),
        ("?vantage_point", vantage),
    ]);
    Fields(vec![
        ("qlog_version", Words(&["0.3"])),
        ("qlog_format", Words(&["JSON-SEQ"])),
        ("?title", Text),
        ("?description", Text),
        ("trace", trace),
    ])
}

fn packet_header() -> Rule {
    let types = Words(&["initial", "handshake", "0RTT", "1RTT", "retry", "unknown"]);
    Fields(vec![("packet_type", types), ("?packet_number", Uint(64)), ("?length", Uint(16))])
}

fn data_rule(name: &str) -> Option<Rule> {
    let raw = || Fields(vec![("?length", Uint(64)), ("?payload_length", Uint(64))]);
    let ranges = List(Box::new(Pair(Box::new(Uint(64)))));
    let ack = Fields(vec![("frame_type", Words(&["ack"])), ("?acked_ranges", ranges)]);
    let frames = ("?frames", List(Box::new(ack)));
    Some(match name {
        "transport:packet_sent" | "transport:packet_received" => {
            Fields(vec![("header", packet_header()), frames, ("?raw", raw())])
        }
        "recovery:packet_lost" => {
            let triggers = Words(&["reordering_threshold", "time_threshold", "pto_expired"]);
            Fields(vec![("?header", packet_header()), frames, ("?trigger", triggers)])
        }
        "recovery:congestion_state_updated" => Fields(vec![
            ("?old", Text),
            ("new", Text),
            ("?trigger", Words(&["persistent_congestion", "ECN"])),
            // A field of our own (main-schema-05, section 3.4.6).
            ("?reason", Text),
        ]),
        "recovery:metrics_updated" => Fields(vec![
            ("?min_rtt", Number),
            ("?smoothed_rtt", Number),
            ("?latest_rtt", Number),
            ("?rtt_variance", Number),
            ("?pto_count", Uint(16)),
            ("?congestion_window", Uint(64)),
            ("?bytes_in_flight", Uint(64)),
            ("?ssthresh", Uint(64)),
            ("?packets_in_flight", Uint(64)),
            ("?pacing_rate", Uint(64)),
        ]),
        _ => return None,
    })
}

/// Checks a whole file; the number of its events.
fn validate(bytes: &[u8]) -> Result<usize, String> {
    if bytes.first() != Some(&0x1e) {
        return Err("no record separator at the start".to_owned());
    }
    let mut records = bytes[1..].split(|byte| *byte == 0x1e).map(|record| {
        if record.last() != Some(&b'\n') {
            return Err("a record without a line feed at its end".to_owned());
        }
        serde_json::from_slice::<Value>(record).map_err(|error| error.to_string())
    });
    let header = records.next().ok_or("no header")??;
    check(&header_rule(), &header, "header")?;
    let mut events = 0;
    for record in records {
        let record = record?;
        let name = record["name"].as_str().ok_or("an event without a name")?.to_owned();
        let data = data_rule(&name).ok_or(format!("unknown event {name}"))?;
        let rules = vec![("time", Number), ("name", Text), ("data", data), ("?group_id", Text)];
        check(&Fields(rules), &record, &name)?;
        events += 1;
    }
    Ok(events)
}

fn header() -> Header {
    Header {
        title: "astart, 40 Mbps, 100 ms".to_owned(),
        description: "a test".to_owned(),
        vantage: Vantage::Server,
    }
}

fn every_kind() -> Vec<What> {
    let metrics = Metrics {
        congestion_window: Some(14_720),
        ssthresh: Some(65_536),
        bytes_in_flight: Some(1_000),
        packets_in_flight: Some(1),
        min_rtt_ms: Some(100.0),
        smoothed_rtt_ms: Some(100.25),
        latest_rtt_ms: Some(101.5),
        pacing_rate_bps: Some(40_000_000),
    };
    let sent = Packet { number: Some(7), length: Some(1_200), ..Packet::default() };
    let received =
        Packet { acked: vec![(0, 3), (5, 7)], packet_type: PacketType::Initial, ..sent.clone() };
    let state = |trigger: &str| State {
        old: Some("slow_start".to_owned()),
        new: "recovery".to_owned(),
        trigger: Some(trigger.to_owned()),
    };
    let lost = Lost {
        packets: 1,
        bytes: Some(1_200),
        number: Some(7),
        packet_type: PacketType::Handshake,
        trigger: Some("time_threshold".to_owned()),
    };
    vec![
        What::Metrics(metrics),
        What::Metrics(Metrics::default()),
        What::Sent(sent),
        What::Received(received),
        What::Received(Packet::default()),
        What::State(state("ECN")),
        What::State(state("heuristic")),
        What::Lost(lost),
        What::Lost(Lost { packets: 1, ..Lost::default() }),
    ]
}

fn written() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for (at, what) in every_kind().into_iter().enumerate() {
        writer.event(&Event { at_ms: at as f64 * 0.5, what }).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn every_kind_of_event_conforms_to_the_schema() {
    assert_eq!(validate(&written()), Ok(every_kind().len()));
}

#[test]
fn the_check_itself_finds_faults() {
    let text = String::from_utf8(written()).unwrap();
    let faults = [
        ("\"0.3\"", "\"0.4\""),
        ("JSON-SEQ", "JSON"),
        ("\"recovery:packet_lost\"", "\"recovery:lost\""),
        ("\"length\":1200", "\"length\":-1"),
        ("time_threshold", "because"),
        ("\"congestion_window\"", "\"cwnd\""),
        ("\"packet_type\":\"1RTT\",", ""),
        ("\n", ""),
    ];
    for (good, bad) in faults {
        assert!(text.contains(good), "{good}");
        assert!(validate(text.replace(good, bad).as_bytes()).is_err(), "{good} -> {bad}");
    }
}

/// Quinn, quiche and qlog-dancer read and write with the types of this crate.
#[test]
fn the_crate_qlog_reads_every_record_as_the_event_it_is() {
    let bytes = written();
    let mut reader =
        qlog::reader::QlogSeqReader::new(Box::new(std::io::Cursor::new(bytes))).unwrap();
    assert_eq!(reader.qlog.qlog_version, qlog::QLOG_VERSION);
    let events: Vec<_> = (&mut reader).collect();
    let typed = events.iter().filter(|event| matches!(event, qlog::reader::Event::Qlog(_))).count();
    // Its reader wants a separator behind each record and so never sees the last one.
    assert_eq!(typed, every_kind().len() - 1, "{events:?}");
}

#[test]
fn what_the_crate_qlog_writes_for_quinn_conforms_once_completed() {
    use qlog::events::quic::{PacketHeader, PacketSent, PacketType};
    use qlog::events::{Event as QlogEvent, EventData, EventImportance};
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let kept = Shared::default();
    let mut change =
        Some(State { new: "recovery".to_owned(), trigger: Some("loss".to_owned()), old: None });
    let probe = Box::new(move || change.take());
    let completing = Completing::new(kept.clone(), header(), probe);
    let vantage =
        qlog::VantagePoint { name: None, ty: qlog::VantagePointType::Unknown, flow: None };
    let mut streamer = qlog::streamer::QlogStreamer::new(
        qlog::QLOG_VERSION.into(),
        None,
        None,
        None,
        std::time::Instant::now(),
        qlog::TraceSeq::new(vantage, None, None, None, None),
        EventImportance::Core,
        Box::new(completing),
    );
    streamer.start_log().unwrap();
    let metrics =
        qlog::events::quic::MetricsUpdated { smoothed_rtt: Some(0.125), ..Default::default() };
    streamer.add_event(QlogEvent::with_time(1.0, EventData::MetricsUpdated(metrics))).unwrap();
    for number in 0..3 {
        let header = PacketHeader {
            packet_type: PacketType::OneRtt,
            packet_number: Some(number),
            length: Some(1_200),
            ..PacketHeader::default()
        };
        let sent = PacketSent { header, ..PacketSent::default() };
        let mut event = QlogEvent::with_time(1.0, EventData::PacketSent(sent));
        event.group_id = Some("c0ffee".to_owned());
        streamer.add_event(event).unwrap();
    }
    drop(streamer);
    let bytes = kept.0.lock().unwrap().clone();
    assert_eq!(validate(&bytes), Ok(5), "{}", String::from_utf8_lossy(&bytes));
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.matches("\"raw\":{\"length\":1200}").count(), 3, "{text}");
    assert!(text.contains("\"type\":\"server\""), "{text}");
    assert!(text.contains("\"smoothed_rtt\":125.0"), "{text}");
    let change = json!({ "new": "recovery", "reason": "loss" });
    assert!(text.contains(&change.to_string()), "{text}");
    assert!(!text.contains("c0ffee"), "one connection is one group, whatever quinn calls it");
}
