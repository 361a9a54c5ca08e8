//! Events as JSON of version 0.3.

use serde_json::{Map, Value, json};

use crate::event::{Event, Lost, Metrics, Packet, State, What};

/// The record of an event: `time`, `name` and `data` (main-schema-05, section 3.4).
pub(crate) fn event(event: &Event) -> Value {
    let (name, data) = match &event.what {
        What::Metrics(metrics) => ("recovery:metrics_updated", self::metrics(metrics)),
        What::State(state) => ("recovery:congestion_state_updated", self::state(state)),
        What::Sent(packet) => ("transport:packet_sent", self::packet(packet)),
        What::Received(packet) => ("transport:packet_received", self::packet(packet)),
        What::Lost(lost) => ("recovery:packet_lost", self::lost(lost)),
        What::Credit(bytes) => {
            let data = json!({ "owner": "remote", "initial_max_data": bytes });
            ("transport:parameters_set", data)
        }
    };
    json!({ "time": time(event.at_ms), "name": name, "data": data })
}

/// Milliseconds with a fraction, to the nanosecond: more digits are noise of the conversion.
pub(crate) fn time(ms: f64) -> Value {
    let rounded = (ms * 1e6).round() / 1e6;
    json!(if rounded.is_finite() { rounded } else { 0.0 })
}

fn metrics(metrics: &Metrics) -> Value {
    let mut data = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            data.insert(name.to_owned(), value);
        }
    };
    put("min_rtt", metrics.min_rtt_ms.map(time));
    put("smoothed_rtt", metrics.smoothed_rtt_ms.map(time));
    put("latest_rtt", metrics.latest_rtt_ms.map(time));
    put("congestion_window", metrics.congestion_window.map(Value::from));
    put("bytes_in_flight", metrics.bytes_in_flight.map(Value::from));
    put("ssthresh", metrics.ssthresh.map(Value::from));
    put("packets_in_flight", metrics.packets_in_flight.map(Value::from));
    put("pacing_rate", metrics.pacing_rate_bps.map(Value::from));
    Value::Object(data)
}

fn state(state: &State) -> Value {
    let mut data = json!({ "new": state.new });
    if let Some(old) = &state.old {
        data["old"] = json!(old);
    }
    if let Some(trigger) = &state.trigger {
        // The schema knows two triggers (quic-events-05, section 5.4.3). Other words go to a field
        // of our own, which it allows (main-schema-05, section 3.4.6).
        let field = if TRIGGERS.contains(&trigger.as_str()) { "trigger" } else { "reason" };
        data[field] = json!(trigger);
    }
    data
}

fn packet(packet: &Packet) -> Value {
    let mut header = json!({ "packet_type": packet.packet_type.name() });
    if let Some(number) = packet.number {
        header["packet_number"] = json!(number);
    }
    // qvis looks into `raw` of every packet, so it is there even if the length is not known.
    let mut raw = json!({});
    if let Some(length) = packet.length {
        raw["length"] = json!(length);
    }
    let mut data = json!({ "header": header, "raw": raw });
    if !packet.acked.is_empty() {
        let ranges: Vec<Value> = packet.acked.iter().map(|(from, to)| json!([from, to])).collect();
        data["frames"] = json!([{ "frame_type": "ack", "acked_ranges": ranges }]);
    }
    data
}

fn lost(lost: &Lost) -> Value {
    let mut data = json!({ "header": { "packet_type": lost.packet_type.name() } });
    if let Some(number) = lost.number {
        data["header"]["packet_number"] = json!(number);
    }
    // The schema has no `raw` here, and 16 bits for a length (quic-events-05, section 5.4.5).
    if let Some(length) = lost.bytes.and_then(|bytes| u16::try_from(bytes).ok()) {
        data["header"]["length"] = json!(length);
    }
    if let Some(trigger) = &lost.trigger {
        data["trigger"] = json!(trigger);
    }
    data
}

/// Why a congestion controller changes its state, in the words of the schema.
const TRIGGERS: [&str; 2] = ["persistent_congestion", "ECN"];
