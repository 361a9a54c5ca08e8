//! What is written conforms to version 0.3, and the crate `qlog` reads it.

mod rules;

use firstflight_qlog::{
    Completing, Event, Header, Lost, Metrics, Packet, PacketType, State, Vantage, What, Writer,
};
use rules::validate;
use serde_json::json;

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
        ("\"reference_time\"", "\"reference\""),
        ("\"time\":0.5", "\"time\":9.5"),
        ("\"raw\":{\"length\":1200}", "\"raw\":{}"),
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
