//! The events of a connection that matter for its start-up, in one form for all versions of qlog.

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When it happened, in milliseconds; in a log that was read, since the first event.
    pub at_ms: f64,
    /// What happened.
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Congestion control and RTT; what is `None` has not changed.
    Metrics(Metrics),
    /// The congestion controller went from one state to another.
    State(State),
    /// A packet was sent.
    Sent(Packet),
    /// A packet was received.
    Received(Packet),
    /// Packets were declared lost.
    Lost(Lost),
    /// The peer's transport parameters allow so many bytes of data on all streams
    /// (`initial_max_data`, RFC 9000 section 18.2).
    Credit(u64),
}

/// What `recovery:metrics_updated` says (quic-events, section 5.4.2 of draft-05).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Congestion window, bytes.
    pub congestion_window: Option<u64>,
    /// Slow-start threshold, bytes; `None` too while it is unlimited.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub bytes_in_flight: Option<u64>,
    /// Packets in flight.
    pub packets_in_flight: Option<u64>,
    /// Smallest RTT, milliseconds.
    pub min_rtt_ms: Option<f64>,
    /// Smoothed RTT, milliseconds.
    pub smoothed_rtt_ms: Option<f64>,
    /// Newest RTT sample, milliseconds.
    pub latest_rtt_ms: Option<f64>,
    /// Pacing rate, bit/s.
    pub pacing_rate_bps: Option<u64>,
}

/// What `recovery:congestion_state_updated` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The state before, if logged.
    pub old: Option<String>,
    /// The state now: `slow_start`, `congestion_avoidance`, `recovery`, or the stack's own word.
    pub new: String,
    /// Why, if logged.
    pub trigger: Option<String>,
}

impl State {
    /// Start-up begins.
    pub fn begin() -> Self {
        Self { old: None, new: SLOW_START.to_owned(), trigger: None }
    }

    /// Start-up is over, for a reason in the word of the results: `loss`, `timeout`, `ecn`,
    /// `ssthresh` or `heuristic`. After a cut the controller recovers.
    pub fn end(reason: Option<&str>) -> Self {
        let new = match reason {
            Some("loss" | "timeout" | "ecn") => "recovery",
            _ => "congestion_avoidance",
        };
        let (old, trigger) = (Some(SLOW_START.to_owned()), reason.map(str::to_owned));
        Self { old, new: new.to_owned(), trigger }
    }
}

/// The state of start-up, whichever algorithm it is.
const SLOW_START: &str = "slow_start";

/// A packet as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The type of the packet.
    pub packet_type: PacketType,
    /// The packet number.
    pub number: Option<u64>,
    /// Its length with all headers of QUIC, bytes.
    pub length: Option<u64>,
    /// The packet numbers it acknowledges, as ranges with both ends.
    pub acked: Vec<(u64, u64)>,
    /// What its frames say of data and flow control; the writer leaves it out.
    pub flow: FlowControl,
}

/// The frames of a packet for data and flow control (RFC 9000, section 4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowControl {
    /// The log has the packet's frames.
    pub has_frames: bool,
    /// Data of a stream is among them.
    pub has_stream: bool,
    /// The streams with data, and the offset at which each then ends, bytes.
    pub ends: Vec<(u64, u64)>,
    /// DATA_BLOCKED or STREAM_DATA_BLOCKED: the sender has data and no credit.
    pub blocked: bool,
    /// MAX_DATA: what the receiver allows in all, bytes.
    pub max_data: Option<u64>,
    /// MAX_STREAM_DATA: the receiver allows more on a stream.
    pub max_stream_data: bool,
}

/// The types of packets (quic-events, `PacketType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PacketType {
    /// `initial`
    Initial,
    /// `handshake`
    Handshake,
    /// `0RTT`
    ZeroRtt,
    /// `1RTT`: all data after the handshake.
    #[default]
    OneRtt,
    /// Another type, or none in the log.
    Other,
}

/// Packets declared lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// How many packets: one, but mvfst logs a batch as one event.
    pub packets: u64,
    /// Their bytes, if logged.
    pub bytes: Option<u64>,
    /// The type of the packets.
    pub packet_type: PacketType,
    /// The number of the packet, or of the highest of them.
    pub number: Option<u64>,
    /// Why: `time_threshold`, `reordering_threshold`, `pto_expired`, or the stack's own word.
    pub trigger: Option<String>,
}

impl PacketType {
    /// The word of qlog for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Handshake => "handshake",
            Self::ZeroRtt => "0RTT",
            Self::OneRtt => "1RTT",
            Self::Other => "unknown",
        }
    }

    /// The type that a stack's word means, in upper or lower case.
    pub(crate) fn of(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "initial" => Self::Initial,
            "handshake" => Self::Handshake,
            "0rtt" | "zerortt" => Self::ZeroRtt,
            "1rtt" | "onertt" => Self::OneRtt,
            _ => Self::Other,
        }
    }
}
