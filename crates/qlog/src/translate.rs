//! From the names of each version and stack to one set of events.
//!
//! | version or stack | name | metrics |
//! | --- | --- | --- |
//! | 0.3 (quinn, neqo, quic-go, older quiche) | `recovery:metrics_updated` | `congestion_window` |
//! | draft-09 and newer (quiche) | `quic:recovery_metrics_updated` | `congestion_window` |
//! | picoquic (draft-00) | `recovery`, `metrics_updated` | `cwnd` |
//! | aioquic (0.3) | `recovery:metrics_updated` | `cwnd` |
//! | mvfst (draft-00) | `congestion_metric_update`, `metric_update` | `current_cwnd` |

use serde_json::Value;

use crate::event::{FlowControl, Lost, Metrics, Packet, PacketType, State, What};
use crate::fields::{any, count, count_of, real_of, text_of};

/// What a record says about start-up, in the one set of events; empty if nothing. `data` is JSON,
/// and `to_ms` makes milliseconds of the log's RTTs.
pub(crate) fn translate(name: &str, data: &str, to_ms: f64) -> Vec<What> {
    let name = name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase();
    if !NAMES.contains(&name.as_str()) {
        return Vec::new();
    }
    let data = &serde_json::from_str(data).unwrap_or(Value::Null);
    match name.as_str() {
        "metrics_updated" | "recovery_metrics_updated" | "metric_update" => {
            let lost = counted(data).map(What::Lost);
            std::iter::once(What::Metrics(metrics(data, to_ms))).chain(lost).collect()
        }
        "congestion_metric_update" => {
            let state = text_of(data, &["state"]).map(|new| State { new, ..State::default() });
            let metrics = What::Metrics(metrics(data, to_ms));
            std::iter::once(metrics).chain(state.map(What::State)).collect()
        }
        "congestion_state_updated" => state(data).into_iter().collect(),
        "packet_sent" => vec![What::Sent(packet(data))],
        "packet_received" => vec![What::Received(packet(data))],
        "packet_lost" | "packets_lost" => vec![What::Lost(lost(data))],
        "parameters_set" | "transport_parameters_update" => credit(data).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// What the peer's transport parameters allow at first.
fn credit(data: &Value) -> Option<What> {
    let remote = text_of(data, &["owner", "initiator"]).is_some_and(|owner| owner == "remote");
    count_of(data, &["initial_max_data"]).filter(|_| remote).map(What::Credit)
}

fn metrics(data: &Value, to_ms: f64) -> Metrics {
    let rtt = |name: &str| real_of(data, &[name]).map(|rtt| rtt * to_ms);
    let threshold = count_of(data, &["ssthresh"]).filter(|bytes| *bytes < UNLIMITED);
    Metrics {
        congestion_window: count_of(data, &["congestion_window", "cwnd", "current_cwnd"]),
        ssthresh: threshold,
        bytes_in_flight: count_of(data, &["bytes_in_flight"]),
        packets_in_flight: count_of(data, &["packets_in_flight"]),
        min_rtt_ms: rtt("min_rtt"),
        smoothed_rtt_ms: rtt("smoothed_rtt"),
        latest_rtt_ms: rtt("latest_rtt"),
        pacing_rate_bps: count_of(data, &["pacing_rate"]),
    }
}

fn state(data: &Value) -> Option<What> {
    let new = text_of(data, &["new"])?;
    let old = text_of(data, &["old"]);
    Some(What::State(State { old, new, trigger: text_of(data, &["trigger", "reason"]) }))
}

fn packet(data: &Value) -> Packet {
    let header = data.get("header").unwrap_or(&Value::Null);
    let named = text_of(header, &["packet_type"]).or_else(|| text_of(data, OWN_TYPES));
    Packet {
        packet_type: named.map_or(PacketType::Other, |name| PacketType::of(&name)),
        number: count_of(header, &["packet_number"]).or_else(|| count_of(data, &["packet_number"])),
        length: length(data),
        acked: acked(data),
        flow: flow(data),
    }
}

/// The packet's length. Version 0.3 has it in `raw`, earlier versions and quinn in the header.
fn length(data: &Value) -> Option<u64> {
    let raw = data.get("raw").and_then(|raw| count_of(raw, &["length"]));
    let header = || count_of(data.get("header")?, &["packet_size", "length"]);
    raw.or_else(header).or_else(|| count_of(data, &["packet_size", "length"]))
}

fn acked(data: &Value) -> Vec<(u64, u64)> {
    let frames = data.get("frames").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ranges = frames.iter().filter_map(|frame| frame.get("acked_ranges")?.as_array()).flatten();
    ranges.filter_map(range).collect()
}

fn flow(data: &Value) -> FlowControl {
    let Some(frames) = data.get("frames").and_then(Value::as_array) else {
        return FlowControl::default();
    };
    let mut flow = FlowControl { has_frames: true, ..FlowControl::default() };
    for frame in frames {
        match text_of(frame, &["frame_type", "type"]).unwrap_or_default().as_str() {
            "stream" => {
                flow.has_stream = true;
                flow.ends.extend(stream(frame));
            }
            "data_blocked" | "stream_data_blocked" => flow.blocked = true,
            "max_data" => flow.max_data = count_of(frame, &["maximum", "maximum_data", "max_data"]),
            "max_stream_data" => flow.max_stream_data = true,
            _ => {}
        }
    }
    flow
}

/// A stream's number, and where the data of a frame end on it, if both are logged.
fn stream(frame: &Value) -> Option<(u64, u64)> {
    let length = count_of(frame, &["length"])
        .or_else(|| count_of(frame.get("raw")?, &["payload_length", "length"]))?;
    let offset = count_of(frame, &["offset"])?;
    Some((count_of(frame, &["stream_id", "id"])?, offset.saturating_add(length)))
}

/// A range of packet numbers: `[first, last]`, or a single number alone.
fn range(value: &Value) -> Option<(u64, u64)> {
    let ends = value.as_array()?;
    let first = count(ends.first()?)?;
    let last = ends.get(1).map_or(Some(first), count)?;
    Some((first.min(last), first.max(last)))
}

fn lost(data: &Value) -> Lost {
    let packet = packet(data);
    let batch = any(data, &["lost_packets"]).and_then(count);
    Lost {
        packets: batch.unwrap_or(1),
        bytes: count_of(data, &["lost_bytes"]).or(packet.length),
        packet_type: packet.packet_type,
        number: packet.number.or_else(|| count_of(data, &["largest_lost_packet_num"])),
        trigger: text_of(data, &["trigger"]),
    }
}

/// quiche's own fields among the metrics: what was lost since it last logged them. It has no event
/// for a lost packet.
fn counted(data: &Value) -> Option<Lost> {
    let since = |name: &str| count_of(data.get(name)?, &["delta"]).filter(|count| *count > 0);
    let packets = since("cf_lost_packets")?;
    Some(Lost { packets, bytes: since("cf_lost_bytes"), ..Lost::default() })
}

/// The names of events that say something.
const NAMES: [&str; 11] = [
    "metrics_updated",
    "recovery_metrics_updated",
    "metric_update",
    "congestion_metric_update",
    "congestion_state_updated",
    "packet_sent",
    "packet_received",
    "packet_lost",
    "packets_lost",
    "parameters_set",
    "transport_parameters_update",
];

/// The names that picoquic and aioquic have for the packet type, beside the header.
const OWN_TYPES: &[&str] = &["packet_type", "type"];

/// Stacks write the largest number they have for "no threshold yet".
const UNLIMITED: u64 = 1 << 52;
