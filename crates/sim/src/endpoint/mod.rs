//! Endpoint constants: what a TCP implementation fixes besides its congestion control. Named sets
//! of them (profiles) belong to whoever builds the network.

pub(crate) mod rules;

use firstflight_core::units::{Bytes, Span};

use rules::{GrowingWindow, LinuxAcks, RecoveryRules, RtoRules};

/// The constants of one TCP endpoint pair.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Model the SYN exchange: one packet of [`Endpoint::ack_bytes`] before any data.
    pub syn: bool,
    /// The exchange's third packet takes its place in the buffers (RFC 9293 section 3.5). Not with
    /// [`Recovery::Quic`] or ns-2's agents, which have none.
    pub handshake_ack: bool,
    /// The last packet of a connection that ends carries the FIN, and leaves even if the congestion
    /// window is full (`tcp_cwnd_test`). With the recoveries of RFCs for TCP only.
    pub fin: bool,
    /// An ACK wakes the sender up, as in Linux: the first packet of a flight reaches the first link
    /// just before a departure that would be at the same time.
    pub wakes_up: bool,
    /// After a source's first connection data leaves without waiting for the SYN exchange
    /// (TCP Fast Open, RFC 7413).
    pub fast_open: bool,
    /// Initial window, in bytes.
    pub initial_window: Bytes,
    /// Initial ssthresh, in bytes.
    pub initial_ssthresh: Bytes,
    /// Receiver's advertised window, in packets.
    pub receiver_window: u32,
    /// Packets sent and not acknowledged that the sender has room for.
    pub send_buffer: u32,
    /// How lost packets are found and repaired.
    pub recovery: Recovery,
    /// Details of Tahoe, Reno and NewReno recovery.
    pub rules: RecoveryRules,
    /// Retransmission timer.
    pub rto: RtoRules,
    /// One ACK for this many packets.
    pub delayed_ack: u32,
    /// How the window that the receiver offers grows, if it does: [`GrowingWindow`].
    pub growing_window: Option<GrowingWindow>,
    /// Linux's rules of when a receiver that delays ACKs sends them, if it has them.
    pub linux_acks: Option<LinuxAcks>,
    /// A receiver that sends each ACK for new data in this many parts; 1 is none of that.
    pub split_acks: u32,
    /// The longest an ACK is held back.
    pub delayed_ack_timeout: Span,
    /// A packet that arrives no more than this before a held ACK is due arrives after that: with
    /// ns-2.35's ties, what the rounding of times puts apart.
    pub delayed_ack_ties: Span,
    /// A second arrival of the newest packet in order may be held back like the first, as ns-2.35's
    /// delayed-ACK sink does, instead of answered at once (RFC 9293 section 3.10.7.4).
    pub delay_repeated: bool,
    /// Bytes of a packet's payload that are not data: QUIC's headers, which its window counts too.
    pub overhead_bytes: u64,
    /// Size of an ACK on a link, in bytes; also of a SYN.
    pub ack_bytes: u64,
    /// The window grows no further than the flight justifies
    /// ([`firstflight_core::sender::Config::limit_growth_to_flight`]).
    pub growth_limit: bool,
    /// An ACK opens the window by one segment at most in slow start
    /// ([`firstflight_core::sender::Config::segment_per_ack`]). Not with [`Recovery::Quic`], which
    /// tells the control of each packet.
    pub segment_per_ack: bool,
    /// Explicit congestion notification (RFC 3168), both ends willing: new data is ECN-capable, the
    /// receiver echoes marks until it learns that the window was reduced.
    pub ecn: bool,
    /// How the receiver reports marks. With [`Recovery::Quic`] it is [`EcnFeedback::Counts`]
    /// whatever stands here.
    pub ecn_feedback: EcnFeedback,
    /// The window of an application-limited sender decays: it is halved for every timeout without
    /// data, down to the initial window, and falls halfway to the part that was used (RFC 2861, as
    /// Linux has it).
    pub slow_start_after_idle: bool,
    /// Packets are paced where the control does not say how: see
    /// [`firstflight_core::sender::Config::paces`].
    pub paces: bool,
    /// A control that paces is paced as by Linux's own timer, without `fq` (`tcp_pacing_check`).
    pub linux_pacing: bool,
    /// With [`Recovery::Rack`]: packets leave in bursts, as with segmentation offload
    /// (`tcp_tso_autosize`).
    pub tso: bool,
}

/// How a receiver reports marks to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFeedback {
    /// Every ACK echoes a mark until the sender says that it has reduced its window (RFC 3168
    /// section 6.1.3). How much was marked the sender cannot know.
    #[default]
    Classic,
    /// An ACK echoes whether what it acknowledges was marked. Where that changes, what waits is
    /// acknowledged first (RFC 8257 section 3.2).
    Dctcp,
    /// An ACK reports how many packets were marked so far (RFC 9768).
    Accurate,
    /// So does every ACK frame of QUIC (RFC 9000 section 19.3.2), and a packet that is marked is
    /// acknowledged at once (section 13.2.1).
    Counts,
}

impl Endpoint {
    /// How the receiver of a flow with ECN reports marks.
    pub(crate) fn feedback(&self) -> Option<EcnFeedback> {
        let quic = self.recovery == Recovery::Quic;
        self.ecn.then_some(if quic { EcnFeedback::Counts } else { self.ecn_feedback })
    }
}

impl EcnFeedback {
    /// Whether it reports how many packets were marked.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Self::Accurate | Self::Counts)
    }
}

/// How lost packets are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit and then slow start, without fast recovery (Jacobson 1988).
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 5681 section 3.2).
    Reno,
    /// NewReno: fast recovery that answers partial ACKs (RFC 6582).
    NewReno,
    /// SACK with a pipe estimate (RFC 6675).
    Sack,
    /// RACK-TLP (RFC 8985) with SACK, PRR and F-RTO, as Linux has them.
    Rack,
    /// QUIC's: packet numbers that are never used again, and ACK frames that say which have arrived
    /// (RFC 9002). The timer is that of the handshake; [`Endpoint::delayed_ack_timeout`] is
    /// `max_ack_delay`, [`Endpoint::paces`] turns QUIC's own pacing on,
    /// [`RecoveryRules::duplicate_acks`] is the packet threshold. Other rules have no effect.
    Quic,
    /// SACK as ns-2.35's Sack1 agent counts its pipe.
    Ns2Sack,
    /// Fine-grained retransmission as in ns-2.35's Vegas agent.
    Ns2Vegas,
    /// The timer alone, as in ns-2.35's TCP/Linux with receivers that report nothing out of order.
    /// The SYN is a packet of the window, and data leaves with it. Not with
    /// [`Endpoint::fast_open`].
    Ns2Linux,
}

impl Recovery {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Tahoe,
        Self::Reno,
        Self::NewReno,
        Self::Sack,
        Self::Rack,
        Self::Quic,
        Self::Ns2Sack,
        Self::Ns2Vegas,
        Self::Ns2Linux,
    ];
}

impl Endpoint {
    /// RFC 5681, 6298, 6582 and 3042, with one segment as the initial window and no ssthresh.
    pub fn rfc(mss: Bytes) -> Self {
        Self {
            syn: false,
            handshake_ack: false,
            fin: false,
            wakes_up: false,
            fast_open: false,
            initial_window: mss,
            initial_ssthresh: Bytes::MAX,
            receiver_window: UNLIMITED_WINDOW,
            send_buffer: UNLIMITED_WINDOW,
            recovery: Recovery::NewReno,
            rules: RecoveryRules::RFC,
            rto: RtoRules::RFC,
            delayed_ack: 1,
            growing_window: None,
            linux_acks: None,
            split_acks: 1,
            delayed_ack_timeout: Span::from_millis(200),
            delayed_ack_ties: Span(0),
            delay_repeated: false,
            overhead_bytes: 0,
            ack_bytes: ACK_BYTES,
            growth_limit: true,
            segment_per_ack: true,
            ecn: false,
            ecn_feedback: EcnFeedback::Classic,
            slow_start_after_idle: true,
            paces: false,
            linux_pacing: false,
            tso: false,
        }
    }
}

/// A receiver window that never limits.
pub const UNLIMITED_WINDOW: u32 = 1 << 30;

/// An ACK without options: 20 bytes each of IP and TCP header.
pub const ACK_BYTES: u64 = 40;
