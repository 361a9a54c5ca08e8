//! No bytes make the reader panic, and what is written is read back as it was.

use std::io::{Cursor, Write as _};

use firstflight_qlog::{
    Completing, Event, FlowControl, Header, Log, Lost, Metrics, Packet, PacketType, State, What,
    Writer,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Counts that JSON numbers and the schema can say.
fn count() -> impl Strategy<Value = u64> {
    0u64..1 << 50
}

fn ms() -> impl Strategy<Value = f64> {
    // RTTs that a path has, in milliseconds and in seconds, with a fraction that both binary and
    // six decimal digits have exactly.
    (64u64..320).prop_map(|parts| parts as f64 / 64.0)
}

fn metrics() -> impl Strategy<Value = What> {
    let counts = (option::of(count()), option::of(count()), option::of(count()));
    let others = (option::of(count()), option::of(count()));
    let rtts = (option::of(ms()), option::of(ms()), option::of(ms()));
    (counts, others, rtts).prop_map(|(counts, others, rtts)| {
        What::Metrics(Metrics {
            congestion_window: counts.0,
            ssthresh: counts.1,
            bytes_in_flight: counts.2,
            packets_in_flight: others.0,
            pacing_rate_bps: others.1,
            min_rtt_ms: rtts.0,
            smoothed_rtt_ms: rtts.1,
            latest_rtt_ms: rtts.2,
        })
    })
}

fn packet() -> impl Strategy<Value = Packet> {
    let types = prop_oneof![
        Just(PacketType::Initial),
        Just(PacketType::Handshake),
        Just(PacketType::ZeroRtt),
        Just(PacketType::OneRtt),
        Just(PacketType::Other),
    ];
    let ranges = vec((count(), 0u64..100).prop_map(|(from, more)| (from, from + more)), 0..4);
    (types, option::of(count()), option::of(count()), ranges).prop_map(
        |(packet_type, number, length, acked)| {
            let flow = FlowControl { has_frames: !acked.is_empty(), ..FlowControl::default() };
            Packet { packet_type, number, length, acked, flow }
        },
    )
}

fn what() -> impl Strategy<Value = What> {
    let state = (option::of("[a-z_]{1,12}"), "[a-z_]{1,12}", option::of("[ -~é]{0,12}"));
    let lost = (option::of(0u64..65_536), option::of(count()), option::of("[a-z_]{1,12}"));
    prop_oneof![
        metrics(),
        packet().prop_map(What::Sent),
        packet().prop_map(What::Received),
        count().prop_map(What::Credit),
        state.prop_map(|(old, new, trigger)| What::State(State { old, new, trigger })),
        lost.prop_map(|(bytes, number, trigger)| {
            What::Lost(Lost { packets: 1, bytes, number, trigger, ..Lost::default() })
        }),
    ]
}

fn written(whats: Vec<What>) -> (Vec<Event>, Vec<u8>) {
    // No RTT is longer than the log, or the reader takes its unit for another.
    let at_ms = |place: u32| f64::from(place) * 1e7;
    let events: Vec<Event> =
        whats.into_iter().zip(0..).map(|(what, at)| Event { at_ms: at_ms(at), what }).collect();
    let mut writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    events.iter().for_each(|event| writer.event(event).unwrap());
    (events, writer.finish().unwrap())
}

fn in_milliseconds(mut event: Event) -> Event {
    if let What::Metrics(metrics) = &mut event.what {
        let rtts =
            [&mut metrics.min_rtt_ms, &mut metrics.smoothed_rtt_ms, &mut metrics.latest_rtt_ms];
        rtts.into_iter().flatten().for_each(|rtt| *rtt *= 1e3);
    }
    event
}

/// The events of the first connection.
fn read(bytes: &[u8]) -> Vec<Event> {
    let mut all = Vec::new();
    Log::events("a", Cursor::new(bytes), Some(1), |event| all.push(event.clone())).unwrap();
    all
}

/// Everything that can be asked of a log.
fn ask(log: &Log) {
    let summary = &log.connection.summary;
    assert!(serde_json::to_string(summary).is_ok());
    let _ = log.connection.curves(summary.duration_s);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(whats in vec(what(), 1..40)) {
        let (events, bytes) = written(whats);
        let log = Log::of_bytes("a", &bytes, None).unwrap();
        prop_assert_eq!(log.skipped.count, 0, "{:?}", log.skipped);
        prop_assert_eq!(read(&bytes), events);
        ask(&log);
    }

    #[test]
    fn completing_changes_nothing_but_seconds_into_milliseconds(
        whats in vec(what(), 1..20),
        cuts in vec(1usize..200, 1..20),
    ) {
        let (events, bytes) = written(whats);
        let mut kept = Vec::new();
        let mut completing = Completing::new(&mut kept, Header::default(), Box::new(|| None));
        let mut rest = bytes.as_slice();
        for cut in cuts {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            completing.write_all(now).unwrap();
            rest = later;
        }
        completing.write_all(rest).unwrap();
        completing.finish().unwrap();
        drop(completing);
        let expected: Vec<Event> = events.into_iter().map(in_milliseconds).collect();
        prop_assert_eq!(read(&kept), expected);
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..400)) {
        if let Ok(log) = Log::of_bytes("a", &bytes, None) {
            ask(&log);
        }
    }

    #[test]
    fn no_json_panics(
        name in "(recovery:|transport:|quic:)?(metrics_updated|packet_sent|packets_lost|\
            packet_received|congestion_state_updated|congestion_metric_update)",
        data in json(),
        time in json(),
        fields in json(),
    ) {
        let event = format!(r#"{{"time":{time},"name":"{name}","data":{data}}}"#);
        let sequence = format!("\u{1e}{{\"qlog_version\":\"0.3\"}}\n\u{1e}{event}\n");
        let list = format!(r#"[{time},"{name}",{data}]"#);
        let document = format!(
            r#"{{"qlog_version":"0","traces":[
            {{"event_fields":{fields},"events":[{event},{list}]}},
            {{"event_fields":["time","event","data"],"events":[{list}],
            "common_fields":{fields}}}]}}"#
        );
        for text in [sequence, document] {
            if let Ok(log) = Log::of_bytes("a", text.as_bytes(), None) {
                ask(&log);
            }
        }
    }

    #[test]
    fn no_damage_panics(
        whats in vec(what(), 1..10),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
    ) {
        let (_, mut bytes) = written(whats);
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len()));
        if let Ok(log) = Log::of_bytes("a", &bytes, None) {
            ask(&log);
        }
        let mut kept = Vec::new();
        let probe = Box::new(|| Some(State::default()));
        let mut completing = Completing::new(&mut kept, Header::default(), probe);
        completing.write_all(&bytes).unwrap();
        completing.finish().unwrap();
    }
}

/// JSON with the names that the reader looks for, and values of every type in their place.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|word| word.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        Just("1e308".to_owned()),
        Just("-1.5e-300".to_owned()),
        Just("\"nan\"".to_owned()),
        Just("\"18446744073709551616\"".to_owned()),
        Just("\"slow_start\"".to_owned()),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let names = prop_oneof![
            Just("header"),
            Just("raw"),
            Just("length"),
            Just("frames"),
            Just("acked_ranges"),
            Just("packet_number"),
            Just("congestion_window"),
            Just("smoothed_rtt"),
            Just("ssthresh"),
            Just("lost_packets"),
            Just("new"),
            Just("old"),
            Just("state"),
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec((names, inner), 0..4).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}
