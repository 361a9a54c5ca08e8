//! Constants of a connection that an experiment sets in place of the stack's own.

use std::time::Duration;

/// What is `None` stays as the stack has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// The first window of the control, bytes, where the start-up has none of its own.
    pub initial_window: Option<u64>,
    /// The first ssthresh of the control, bytes, where the start-up has none of its own. The
    /// stacks' own controllers have no such setting.
    pub initial_ssthresh: Option<u64>,
    /// The UDP payload of a full packet, bytes. No larger ones are looked for then.
    pub packet_bytes: Option<u16>,
    /// How many packets later acknowledged make a loss (RFC 9002 section 6.1.1).
    pub packet_threshold: Option<u64>,
    /// One ACK for this many packets, which the sender asks for by the ACK-frequency extension.
    pub delayed_ack: Option<u64>,
    /// An ACK this long after the packet that it is for, however many come meanwhile, by that
    /// extension too. The stacks hold none back for longer than a round trip or 25 ms.
    pub ack_delay: Option<Duration>,
    /// What the sender keeps that is not acknowledged, bytes.
    pub send_buffer: Option<u64>,
}

impl Constants {
    /// Sets those of the transport: quinn's or noq's `TransportConfig`.
    pub fn apply(self, transport: &mut impl TransportSettings) {
        transport.set_constants(self);
    }

    /// How many packets more than one an ACK waits for, and how long.
    #[cfg(any(feature = "quinn", feature = "noq"))]
    fn ack_frequency(self) -> Option<(u64, Duration)> {
        let usual = Duration::from_millis(25);
        let by_packets = |packets: u64| (packets.saturating_sub(1), usual);
        let by_time = self.ack_delay.map(|delay| (u64::MAX, delay));
        by_time.or(self.delayed_ack.map(by_packets))
    }
}

/// The `TransportConfig` of a stack, as far as [`Constants`] and
/// [`FlowControl`](crate::FlowControl) set it.
pub trait TransportSettings {
    /// Sets what is given.
    fn set_constants(&mut self, constants: Constants);

    /// Sets the stream, receive and send windows.
    fn set_windows(&mut self, bytes: u64);
}

/// The stacks' settings have one shape: noq has them of quinn.
#[cfg(any(feature = "quinn", feature = "noq"))]
macro_rules! settings {
    ($stack:ident) => {
        impl TransportSettings for $stack::TransportConfig {
            fn set_constants(&mut self, constants: Constants) {
                if let Some(packet) = constants.packet_bytes {
                    let none: Option<$stack::MtuDiscoveryConfig> = None;
                    self.initial_mtu(packet).min_mtu(packet).mtu_discovery_config(none);
                }
                if let Some(threshold) = constants.packet_threshold {
                    self.packet_threshold(u32::try_from(threshold).unwrap_or(u32::MAX).max(1));
                }
                if let Some(bytes) = constants.send_buffer {
                    self.send_window(bytes);
                }
                if let Some((more, delay)) = constants.ack_frequency() {
                    let mut frequency = $stack::AckFrequencyConfig::default();
                    let more = $stack::VarInt::from_u64(more).unwrap_or($stack::VarInt::MAX);
                    // Out of order is acknowledged at once, as without the extension.
                    let reordering = $stack::VarInt::from_u32(1);
                    frequency.ack_eliciting_threshold(more).reordering_threshold(reordering);
                    frequency.max_ack_delay(Some(delay));
                    self.ack_frequency_config(Some(frequency));
                }
            }

            fn set_windows(&mut self, bytes: u64) {
                let window = $stack::VarInt::from_u64(bytes).unwrap_or($stack::VarInt::MAX);
                self.stream_receive_window(window).receive_window(window).send_window(bytes);
            }
        }
    };
}

#[cfg(feature = "quinn")]
settings!(quinn_proto);
#[cfg(feature = "noq")]
settings!(noq_proto);
