//! The members of iperf3's JSON that are read, here and by those who run it.

use serde::Deserialize;
use serde_json::Value;

/// A test (`--json`). Of one that breaks off early the end is empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Why it failed; the exit code is 0 then too.
    pub error: Option<String>,
    /// Its begin.
    pub start: Start,
    /// Interval by interval.
    pub intervals: Vec<Interval>,
    /// Its end.
    pub end: End,
}

/// The begin of a test, or the data of its event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Start {
    pub(super) connected: Vec<Connected>,
    pub(super) version: String,
    /// The payload of a full packet, bytes.
    #[serde(alias = "tcp_mss")]
    pub tcp_mss_default: Option<f64>,
    pub(super) test_start: Protocol,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Protocol {
    pub(super) protocol: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Connected {
    pub(super) socket: i64,
    pub(super) local_host: String,
    pub(super) local_port: Value,
    pub(super) remote_host: String,
    pub(super) remote_port: Value,
}

/// An interval of a test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Interval {
    /// Stream by stream.
    pub streams: Vec<StreamInterval>,
}

/// A stream in an interval. Where the system has no figures of TCP, only its end and bytes are
/// here.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamInterval {
    pub(super) socket: i64,
    /// Seconds after the test's begin.
    pub end: f64,
    pub(super) bytes: f64,
    /// Packets that were sent again in the interval.
    pub retransmits: Option<f64>,
    /// The congestion window, bytes.
    pub snd_cwnd: Option<f64>,
    pub(super) snd_wnd: Option<f64>,
    /// The smoothed RTT, microseconds.
    pub rtt: Option<f64>,
}

/// The end of a test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct End {
    /// Stream by stream.
    pub streams: Vec<StreamEnd>,
    /// What the sender counted.
    pub sum_sent: Sum,
    /// What arrived, as the receiver counted it.
    pub sum_received: Option<Sum>,
}

/// A stream of a test, as its ends counted it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamEnd {
    /// The sender.
    pub sender: StreamSender,
}

/// The sender of a stream.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamSender {
    /// The largest congestion window, bytes.
    pub max_snd_cwnd: u64,
}

/// All streams of a test.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Sum {
    /// Bytes.
    pub bytes: u64,
    /// In so many seconds.
    pub seconds: f64,
    /// Packets that were sent again.
    pub retransmits: u64,
}
