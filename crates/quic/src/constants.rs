//! Constants of a connection that an experiment sets in place of quinn's own.

use std::time::Duration;

use quinn_proto::{AckFrequencyConfig, MtuDiscoveryConfig, TransportConfig, VarInt};

/// What is `None` stays as quinn has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// The first window of the control, bytes, where the start-up has none of its own.
    pub initial_window: Option<u64>,
    /// The first ssthresh of the control, bytes, where the start-up has none of its own. quinn's
    /// own controllers have no such setting.
    pub initial_ssthresh: Option<u64>,
    /// The UDP payload of a full packet, bytes. No larger ones are looked for then.
    pub packet_bytes: Option<u16>,
    /// How many packets later acknowledged make a loss (RFC 9002 section 6.1.1).
    pub packet_threshold: Option<u64>,
    /// One ACK for this many packets, which the sender asks for by the ACK-frequency extension.
    pub delayed_ack: Option<u64>,
}

impl Constants {
    /// Sets those of the transport.
    pub fn apply(self, transport: &mut TransportConfig) {
        if let Some(packet) = self.packet_bytes {
            let none: Option<MtuDiscoveryConfig> = None;
            transport.initial_mtu(packet).min_mtu(packet).mtu_discovery_config(none);
        }
        if let Some(threshold) = self.packet_threshold {
            transport.packet_threshold(u32::try_from(threshold).unwrap_or(u32::MAX).max(1));
        }
        if let Some(packets) = self.delayed_ack {
            let mut frequency = AckFrequencyConfig::default();
            let more = VarInt::from_u64(packets.saturating_sub(1)).unwrap_or(VarInt::MAX);
            // Out of order is acknowledged at once, as without the extension.
            frequency.ack_eliciting_threshold(more).reordering_threshold(VarInt::from_u32(1));
            frequency.max_ack_delay(Some(Duration::from_millis(25)));
            transport.ack_frequency_config(Some(frequency));
        }
    }
}
