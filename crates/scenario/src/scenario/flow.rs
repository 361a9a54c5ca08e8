//! What sends, as written: `[[flow]]` and `[[udp]]`.

use firstflight_control::ControlSpec;
use firstflight_control::quantity::{Rate, Size, Time};
use serde::Serialize;

use super::{Files, MOST_FLOWS, Starts, Write};
use crate::document::Node;
use crate::error::ScenarioError;
use crate::keys::FlowKeys;
use crate::profile::Carrier;
use crate::read::Read;

/// A group of equal flows: `[[flow]]`.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct FlowGroup {
    /// Its own control, in every run.
    pub control: Option<ControlSpec>,
    /// How many, 1 to 65,535 over all groups.
    pub count: Option<u64>,
    /// When all of them start.
    pub start: Option<Time>,
    /// Random starts, instead of `start`.
    pub starts: Option<Starts>,
    /// Each starts up to this much later, at random.
    pub start_jitter: Option<Time>,
    /// When all of them stop.
    pub stop: Option<Time>,
    /// How long each flow runs, instead of `stop`.
    pub lifetime: Option<Time>,
    /// How many bytes of payload each flow sends; without end when not written.
    pub size: Option<Size>,
    /// Two-way propagation delay of the whole path. The access links get what the shared links
    /// do not have of it.
    pub rtt: Option<Time>,
    /// Propagation of each access link, one way, instead of the path's.
    pub access_delay: Option<Time>,
    /// Rate of its access links instead of the path's.
    pub access_rate: Option<Rate>,
    /// What its application writes when, instead of `size`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Write>,
    /// How long after its start the advertised window holds; from then on there is no limit.
    pub receiver_window_until: Option<Time>,
    /// How much later than usual the receiver answers the first packet.
    pub handshake_delay: Option<Time>,
    /// Constants of these flows instead of the scenario's.
    #[serde(flatten)]
    pub own: FlowKeys,
    /// TCP or QUIC for these flows, instead of the run's transport.
    pub transport: Option<Carrier>,
    /// Names of links in the order of travel; the only link when not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Whether they send the other way over `path`, beside the others' ACKs.
    pub reverse: Option<bool>,
    /// Files one after the other instead of one stream.
    pub files: Option<Files>,
}

/// A source without congestion control: `[[udp]]`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Udp {
    /// The rate on the link, headers included, while it sends.
    pub rate: Rate,
    /// Packets come as a Poisson process, and not at equal distances.
    pub poisson: Option<bool>,
    /// The mean time for which it sends before it pauses.
    pub on: Option<Time>,
    /// The mean time of a pause.
    pub off: Option<Time>,
    /// When it begins to send.
    pub start: Option<Time>,
    /// When it stops; at the end of the run when not written.
    pub stop: Option<Time>,
    /// Size of its packets; the scenario's when not written.
    pub packet: Option<Size>,
    /// Names of links in the order of travel; the only link when not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
}

impl Read for FlowGroup {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let flow = Self {
            control: fields.read("control")?,
            count: fields.count("count", 1..=MOST_FLOWS)?,
            start: fields.read("start")?,
            starts: fields.read("starts")?,
            start_jitter: fields.read("start_jitter")?,
            stop: fields.read("stop")?,
            lifetime: fields.read("lifetime")?,
            size: fields.read("size")?,
            rtt: fields.read("rtt")?,
            access_delay: fields.read("access_delay")?,
            access_rate: fields.read("access_rate")?,
            writes: fields.list("writes")?,
            receiver_window_until: fields.read("receiver_window_until")?,
            handshake_delay: fields.read("handshake_delay")?,
            own: FlowKeys::read(&mut fields)?,
            transport: fields.read("transport")?,
            path: fields.list("path")?,
            reverse: fields.read("reverse")?,
            files: fields.read("files")?,
        };
        fields.finish()?;
        Ok(flow)
    }
}

impl Read for Udp {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let rate = fields.read("rate")?;
        let poisson = fields.read("poisson")?;
        let (on, off) = (fields.read("on")?, fields.read("off")?);
        let (start, stop) = (fields.read("start")?, fields.read("stop")?);
        let (packet, path) = (fields.read("packet")?, fields.list("path")?);
        let rate = rate.ok_or_else(|| fields.missing("rate", "rate = \"20Mbps\""));
        fields.finish()?;
        Ok(Self { rate: rate?, poisson, on, off, start, stop, packet, path })
    }
}
