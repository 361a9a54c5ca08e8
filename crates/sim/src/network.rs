//! What is simulated, in base units: links, flows over them, constant-rate cross traffic.

use firstflight_core::units::{Instant, Span};
use firstflight_link::Uniform;

use crate::control::Control;
use crate::endpoint::{Endpoint, UNLIMITED_WINDOW};
use crate::event::LATEST;
use crate::link::LinkSpec;

/// A whole experiment.
#[derive(Clone, Debug)]
pub struct Network {
    /// The links; a flow's path names them by index.
    pub links: Vec<LinkSpec>,
    /// TCP flows, at most 65,535.
    pub flows: Vec<FlowSpec>,
    /// Sources without congestion control.
    pub udp: Vec<UdpSpec>,
    /// How long to simulate; at most 19 hours.
    pub duration: Span,
    /// The one random seed; every element draws from a stream of its own.
    pub seed: u64,
    /// An arrival and a departure that fall together, but for rounding, come in the order in which
    /// ns-2 would have scheduled them: the arrival first if its way over the access link takes
    /// longer than its service at the link. Otherwise a departure at the same nanosecond comes
    /// first. Packets of different flows that reach a link at one instant come in the order in
    /// which their transmission towards it began. Otherwise the flow's number decides.
    pub ns2_ties: bool,
    /// Keep time series with this spacing.
    pub sample_every: Option<Span>,
}

/// One TCP flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Start-up and avoidance with their knobs ([`crate::control()`]).
    pub control: Control,
    /// The endpoint's constants.
    pub endpoint: Endpoint,
    /// The links that data crosses, in order; at least one. A number is a link's index, or behind
    /// the last of them, in the same order, that of its other direction.
    pub path: Vec<usize>,
    /// Propagation of the data besides that of its links and access links.
    pub path_delay: Span,
    /// Rate of the sender's and the receiver's access links, in bits per second.
    pub access_rate_bps: u64,
    /// One-way delay of each access link.
    pub access_delay: Span,
    /// Propagation of the ACKs besides that of [`FlowSpec::return_path`] and the access links.
    pub return_delay: Span,
    /// Rate at which ACKs are serialised once on the reverse path, in bits per second.
    pub return_rate_bps: u64,
    /// The links that ACKs cross, in order, numbered as in [`FlowSpec::path`], behind all that
    /// crosses them too. The other direction of a link is what [`LinkSpec::back`] says, or else has
    /// the link's rate and room for all of them. Without a link ACKs are not queued.
    pub return_path: Vec<usize>,
    /// Payload of a full packet, in bytes.
    pub payload_bytes: u64,
    /// Header bytes a packet takes on a link on top of its payload.
    pub header_bytes: u64,
    /// Size of the SYN on a link, in bytes, where the endpoint models one.
    pub syn_bytes: u64,
    /// When the flow starts.
    pub start: Instant,
    /// When its source falls silent. What arrives later is repaired as before, and not counted as
    /// delivered.
    pub stop: Option<Instant>,
    /// How many packets it has to send; greedy without.
    pub packets: Option<u32>,
    /// What its application writes later: packets more, so long after the start; times rise. The
    /// first write is [`FlowSpec::packets`].
    pub writes: Vec<(Span, u32)>,
    /// So long after the start the sender learns that the receiver takes all it can send;
    /// [`Endpoint::receiver_window`] holds until then.
    pub receiver_window_until: Option<Span>,
    /// So much later than usual the answer to the flow's first packet leaves the other end.
    pub handshake_delay: Span,
    /// Sends files, each on a connection of its own or all on one, instead of one stream of
    /// packets.
    pub files: Option<FilesSpec>,
    /// BDP of its path, in bytes, for the times at which the flight reached parts of it. `None` if
    /// it changes: then the outcome has how the flight grew ([`crate::FlowOutcome::flights`]).
    pub bdp_bytes: Option<u64>,
}

impl FlowSpec {
    /// The largest window that its receiver ever advertises, in packets.
    pub(crate) fn largest_window(&self) -> u32 {
        if self.receiver_window_until.is_some() {
            UNLIMITED_WINDOW
        } else {
            self.endpoint.receiver_window
        }
    }

    /// Whether no more than cwnd, which that window caps, limits what is in flight.
    pub(crate) fn cwnd_is_the_limit(&self) -> bool {
        let Endpoint { receiver_window, send_buffer, .. } = self.endpoint;
        self.receiver_window_until.is_none() && receiver_window <= send_buffer
    }

    /// What a full packet carries to the application, in bytes.
    pub fn data_bytes(&self) -> u64 {
        self.payload_bytes.saturating_sub(self.endpoint.overhead_bytes).max(1)
    }
}

impl Network {
    /// What is written of a link or, behind the last, of the other direction of one; nothing of one
    /// that has the link's rate and room for all.
    pub(crate) fn direction(&self, number: usize) -> Option<&LinkSpec> {
        match number.checked_sub(self.links.len()) {
            None => self.links.get(number),
            Some(of) => self.links.get(of)?.back.as_deref(),
        }
    }

    /// Its rate, in bits per second.
    pub(crate) fn rate_bps(&self, number: usize) -> u64 {
        let link = || &self.links[number % self.links.len()];
        self.direction(number).unwrap_or_else(link).rate_bps
    }

    /// Whether some flow sends its data over a reverse path, where it queues with others' ACKs.
    pub(crate) fn has_traffic_both_ways(&self) -> bool {
        let count = self.links.len();
        let other_way = |flow: &FlowSpec| {
            flow.path.iter().any(|link| *link >= count)
                || flow.return_path.iter().any(|link| *link < count)
        };
        self.flows.iter().any(other_way)
    }

    /// When the run ends.
    pub(crate) fn end(&self) -> Instant {
        Instant(self.duration.0).min(LATEST)
    }
}

/// Files one after the other over the same route: the first when the flow starts, every other one a
/// pause after the sender has had the last ACK of the one before.
#[derive(Clone, Copy, Debug)]
pub struct FilesSpec {
    /// Size of a file, in bytes.
    pub bytes: Uniform,
    /// The pause, in nanoseconds.
    pub pause_ns: Uniform,
    /// All on the one connection, which rests in the pauses.
    pub keep_alive: bool,
}

/// When a source without congestion control sends its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pattern {
    /// At equal distances.
    #[default]
    Constant,
    /// At exponentially distributed distances: a Poisson process.
    Poisson,
    /// At equal distances for a while, and then not at all for a while. Both are exponentially
    /// distributed with these means, as in ns-2's `Application/Traffic/Exponential`.
    OnOff {
        /// The mean of the times in which it sends.
        on: Span,
        /// The mean of the times in which it does not.
        off: Span,
    },
}

/// A source without congestion control.
#[derive(Clone, Debug)]
pub struct UdpSpec {
    /// Indices of the links it crosses, in order.
    pub path: Vec<usize>,
    /// Rate while it sends, in bits per second.
    pub rate_bps: u64,
    /// When its packets come.
    pub pattern: Pattern,
    /// Packet size on the link, in bytes.
    pub packet_bytes: u64,
    /// First packet.
    pub start: Instant,
    /// No packet from then on.
    pub stop: Option<Instant>,
}
