//! What one flow is given.

use std::time::Duration;

use super::adapter::{self, Build, Constants, Factory, OfStack};
use super::proto::{TransportConfig, VarInt};
use firstflight_control::ControlProblem;

/// A flow: its control and its constants, in bytes.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What decides the window.
    pub control: QuicControl,
    /// UDP payload of a full packet, 1200 to 16,383 bytes.
    pub packet_bytes: u64,
    /// Initial window; with `None` RFC 9002's.
    pub initial_window: Option<u64>,
    /// Initial ssthresh; with `None` there is none. A stack's own controllers have no such setting.
    pub initial_ssthresh: Option<u64>,
    /// How many packets later acknowledged make a loss (RFC 9002 section 6.1.1); with `None`
    /// three.
    pub packet_threshold: Option<u64>,
    /// One ACK for this many packets, by the ACK-frequency extension. With `None` the stack's own
    /// policy holds: every second packet, and 25 ms at most.
    pub delayed_ack: Option<u64>,
    /// An ACK so long after a packet instead, by that extension too.
    pub ack_delay: Option<Duration>,
    /// What the sender keeps that is not acknowledged; with `None` it never limits.
    pub send_buffer: Option<u64>,
    /// Bytes to send; with `None` it sends until the run ends.
    pub size: Option<u64>,
    /// Parts of it that the application writes later, each with its time in nanoseconds after the
    /// start, in order. The rest it writes at once.
    pub writes: Vec<(u64, u64)>,
    /// Flow-control window of the receiver; with `None` it is so large that it never limits.
    pub receive_window: Option<u64>,
    /// When that limit ends, in nanoseconds after the start.
    pub receiver_window_until: Option<u64>,
    /// What the path holds, queue included: the windows of flow control are a multiple of it.
    pub path_bytes: u64,
    /// Seeds the stack's generators; a flow's own.
    pub seed: u64,
}

/// A congestion controller by name: one of firstflight's, or one of the stack's own.
#[derive(Clone, Debug)]
pub enum QuicControl {
    /// A control of firstflight.
    Ours(Box<Factory>),
    /// One of the stack's own.
    Stacks(OfStack),
}

/// A flow that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A packet that QUIC cannot have.
    #[error(
        "packet of {found} bytes; accepted over QUIC: {MIN_PACKET} to {MAX_PACKET} bytes of UDP \
         payload (the least of RFC 9000 section 14, the most that quinn pads)"
    )]
    Packet {
        /// The size asked for.
        found: u64,
    },
}

impl QuicControl {
    /// The control of that name; `quinn-newreno`, `noq-cubic` and others are the stack's own.
    ///
    /// # Errors
    /// As of [`quinn::any`](firstflight_quic::quinn::any).
    pub fn named(name: &str) -> Result<Self, ControlProblem> {
        adapter::any(name)?;
        Ok(match OfStack::named(name.trim()) {
            Some(own) => Self::Stacks(own),
            None => Self::Ours(Box::new(adapter::control(name)?)),
        })
    }
}

impl Setup {
    /// A flow without end, of QUIC's smallest packets, over a path of `path_bytes`. Every constant
    /// is the stack's own or RFC 9002's.
    pub fn new(control: QuicControl, path_bytes: u64) -> Self {
        Self {
            control,
            packet_bytes: MIN_PACKET,
            initial_window: None,
            initial_ssthresh: None,
            packet_threshold: None,
            delayed_ack: None,
            ack_delay: None,
            send_buffer: None,
            size: None,
            writes: Vec::new(),
            receive_window: None,
            receiver_window_until: None,
            path_bytes,
            seed: 1,
        }
    }

    /// # Errors
    /// A packet size that QUIC does not have.
    pub(crate) fn check(&self) -> Result<u16, SetupError> {
        let fits = (MIN_PACKET..=MAX_PACKET).contains(&self.packet_bytes);
        let packet = u16::try_from(self.packet_bytes).ok().filter(|_| fits);
        packet.ok_or(SetupError::Packet { found: self.packet_bytes })
    }

    /// The factory of the sender's controller.
    pub(crate) fn build(&self) -> Build {
        let window = self.initial_window.or(self.window_for_large_packets());
        match &self.control {
            QuicControl::Ours(factory) => {
                Build::Ours(Box::new(Factory::clone(factory).with_constants(&self.constants())))
            }
            QuicControl::Stacks(own) => Build::Other(own.factory(window)),
        }
    }

    /// quinn sends while the flight with the next packet stays below its window, and holds even
    /// ACKs back. For large packets its own initial window of 12,000 bytes would let none leave,
    /// and RFC 9002's of two packets (section 7.2) one.
    fn window_for_large_packets(&self) -> Option<u64> {
        let least = LEAST_PACKETS * self.packet_bytes;
        (least > STACKS_WINDOW).then_some(least)
    }

    /// The configuration of the receiver.
    pub(crate) fn receiver(&self, packet: u16) -> TransportConfig {
        let mut transport = self.transport(packet);
        if let Some(window) = self.window_for_large_packets() {
            transport.congestion_controller_factory(OfStack::Cubic.factory(Some(window)));
        }
        transport
    }

    fn constants(&self) -> Constants {
        Constants {
            initial_window: self.initial_window,
            initial_ssthresh: self.initial_ssthresh,
            packet_bytes: None,
            packet_threshold: self.packet_threshold,
            delayed_ack: self.delayed_ack,
            ack_delay: self.ack_delay,
            send_buffer: self.send_buffer,
        }
    }

    /// The configuration that both ends have in common.
    pub(crate) fn transport(&self, packet: u16) -> TransportConfig {
        let window = self.path_bytes.saturating_mul(PATHS_OF_WINDOW);
        let mut transport = TransportConfig::default();
        adapter::FlowControl::of(window).apply(&mut transport);
        if let Some(window) = self.receive_window {
            let window = VarInt::from_u64(window).unwrap_or(VarInt::MAX);
            transport.receive_window(window);
            // That of a stream holds for as long as the stream is.
            if self.receiver_window_until.is_none() {
                transport.stream_receive_window(window);
            }
        }
        Constants { packet_bytes: Some(packet), ..self.constants() }.apply(&mut transport);
        transport
            .max_idle_timeout(None)
            .max_concurrent_uni_streams(VarInt::from_u32(1_024))
            .send_fairness(false)
            .enable_segmentation_offload(false);
        transport
    }
}

/// RFC 9000 section 14: a path carries UDP payloads of 1200 bytes.
pub const MIN_PACKET: u64 = 1_200;

/// The initial window of quinn's and noq's controllers.
const STACKS_WINDOW: u64 = 12_000;
const LEAST_PACKETS: u64 = 3;

/// quinn pads the packets of a handshake, and has two bytes for their length (RFC 9000 section 16).
pub(crate) const MAX_PACKET: u64 = 16_383;

/// Start-up may fill the path twice before it learns of a loss, and repair takes RTTs in which the
/// stream waits.
const PATHS_OF_WINDOW: u64 = 8;
