//! What a scenario sets for the rows of its runs, in base units.

/// What a scenario sets for its runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    /// The hash of path and flows.
    pub point: String,
    /// Payload of a packet.
    pub packet_bytes: u64,
    /// Bytes a packet adds on the link.
    pub header_bytes: u64,
    /// Whether the endpoints pace where the control does not.
    pub pacing: bool,
    /// The names of the links, in order.
    pub links: Vec<String>,
    /// The groups of flows, in order.
    pub groups: Vec<FlowFactors>,
}

/// What a scenario sets for a group of flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowFactors {
    /// How many flows the group has.
    pub count: u64,
    /// What the path lets pass on average over the run.
    pub rate_bps: u64,
    /// Two-way propagation, access links included.
    pub rtt_ns: u64,
    /// One-way propagation of each access link.
    pub access_delay_ns: u64,
    /// What fills the links.
    pub bdp_packets: u64,
    /// Room at the link that lets the least pass; of bytes, whole packets.
    pub buffer_packets: u64,
    /// Mean random loss over the path, 0 to 1.
    pub loss: f64,
    /// `none`, `independent` or `bursts`.
    pub loss_model: &'static str,
    /// What each flow sends; `None` without an end, and for a source of files.
    pub size_bytes: Option<u64>,
    /// Packets for which the receiver sends one ACK.
    pub delayed_ack: u64,
}

impl FlowFactors {
    pub(super) fn buffer_over_bdp(&self) -> Option<f64> {
        (self.bdp_packets > 0).then(|| self.buffer_packets as f64 / self.bdp_packets as f64)
    }
}
