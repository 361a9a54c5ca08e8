//! A flow's samples as qlog: windows and RTT over time, and the end of start-up.

use firstflight_qlog::{Event, Header, Metrics, State, Vantage, What, Writer};
use firstflight_results::{FlowResult, Series, Startup};

/// The log of one flow as it goes into a file; `packet_bytes` is the payload of a packet.
pub(super) fn log(
    title: &str,
    description: &str,
    samples: &Series,
    flow: &FlowResult,
    packet_bytes: u64,
) -> std::io::Result<Vec<u8>> {
    let header = Header {
        title: title.to_owned(),
        description: description.to_owned(),
        // Data flow from the endpoint that a simulated connection is opened by.
        vantage: Vantage::Client,
    };
    let mut writer = Writer::new(Vec::new(), &header)?;
    for event in events(samples, flow, packet_bytes) {
        writer.event(&event)?;
    }
    writer.finish()
}

fn events(samples: &Series, flow: &FlowResult, packet_bytes: u64) -> Vec<Event> {
    let mut events = changes(flow, packet_bytes);
    let columns = samples.columns();
    let place = |name: &str| columns.iter().position(|column| column == name);
    let places = ["time_s", "cwnd_packets", "ssthresh_packets", "in_flight_packets", "srtt_ms"];
    let places = places.map(place);
    let mut min_rtt_ms: Option<f64> = None;
    for row in samples.rows() {
        let [time, cwnd, ssthresh, in_flight, srtt] =
            places.map(|place| row.get(place?).copied().flatten());
        let bytes = |packets: Option<f64>| packets.map(|packets| whole(packets, packet_bytes));
        // Before the first sample the RTT is none, which the table of samples says as 0.
        let srtt = srtt.filter(|ms| *ms > 0.0);
        min_rtt_ms = srtt.map(|now| min_rtt_ms.map_or(now, |least| least.min(now))).or(min_rtt_ms);
        let metrics = Metrics {
            congestion_window: bytes(cwnd),
            ssthresh: bytes(ssthresh),
            bytes_in_flight: bytes(in_flight),
            packets_in_flight: in_flight.map(|packets| whole(packets, 1)),
            smoothed_rtt_ms: srtt,
            min_rtt_ms,
            ..Metrics::default()
        };
        events.push(Event { at_ms: time.unwrap_or(0.0) * 1e3, what: What::Metrics(metrics) });
    }
    events.sort_by(|a, b| a.at_ms.total_cmp(&b.at_ms));
    events
}

/// Start-up from the flow's start to its end, with the window it ended with: the samples beside
/// it may have missed that.
fn changes(flow: &FlowResult, packet_bytes: u64) -> Vec<Event> {
    let mut events = vec![Event { at_ms: flow.start_s * 1e3, what: What::State(State::begin()) }];
    let Startup { exit_time_s: Some(time_s), exit_reason, exit_cwnd_packets, .. } = &flow.startup
    else {
        return events;
    };
    let at_ms = (flow.start_s + time_s) * 1e3;
    let congestion_window = exit_cwnd_packets.map(|packets| packets * packet_bytes);
    let metrics = Metrics { congestion_window, ..Metrics::default() };
    events.push(Event { at_ms, what: What::Metrics(metrics) });
    events.push(Event { at_ms, what: What::State(State::end(exit_reason.as_deref())) });
    events
}

/// Samples count packets with a fraction; windows of the log are whole bytes.
fn whole(packets: f64, packet_bytes: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let bytes = (packets * packet_bytes as f64).round() as u64;
    bytes
}
