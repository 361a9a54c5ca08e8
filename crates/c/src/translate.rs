//! Structs of C as the core's, and back.

use firstflight_core::estimate::delivery_rate::AtSending;
use firstflight_core::event::{self, Departure, RateSample};
use firstflight_core::units::{Bytes, Instant, Span};

use crate::abi::{Ack, Packet, Sent};

impl Sent {
    /// A packet that leaves, in the core's words.
    #[inline(always)]
    pub(crate) fn event(&self) -> event::Sent {
        event::Sent {
            now: Instant(self.now),
            bytes: Bytes(self.bytes),
            in_flight: Bytes(self.in_flight),
            again: self.again != 0,
        }
    }
}

/// The fields that an ACK of TCP and an ACK frame of QUIC share, in the core's words.
#[inline(always)]
pub(crate) fn common(ack: &Ack) -> event::Ack {
    event::Ack {
        now: Instant(ack.now),
        in_flight: Bytes(ack.in_flight),
        rtt: (ack.rtt != 0).then_some(Span(ack.rtt)),
        marked: Bytes(ack.marked),
        app_limited: ack.app_limited != 0,
        ..event::Ack::default()
    }
}

/// An ACK of TCP, in the core's words.
#[inline(always)]
pub(crate) fn cumulative(ack: &Ack) -> event::Ack {
    event::Ack {
        acked: Bytes(ack.acked),
        credited: Bytes(ack.credited),
        snd_nxt: Bytes(ack.snd_nxt),
        ..common(ack)
    }
}

/// The delivery-rate sample that the stack took.
pub(crate) fn own_sample(ack: &Ack) -> RateSample {
    RateSample {
        delivered: Bytes(ack.sample_delivered),
        interval: Span(ack.sample_interval),
        app_limited: ack.sample_app_limited != 0,
    }
}

impl From<AtSending> for Packet {
    #[inline]
    fn from(at: AtSending) -> Self {
        Self {
            sent_at: at.departure.sent_at.0,
            delivered: at.departure.delivered.0,
            in_flight: at.departure.in_flight.0,
            first_sent_at: at.first_send_time.0,
            delivered_at: at.delivered_time.0,
            app_limited: at.app_limited.into(),
        }
    }
}

impl From<Packet> for AtSending {
    fn from(packet: Packet) -> Self {
        Self {
            departure: Departure {
                sent_at: Instant(packet.sent_at),
                delivered: Bytes(packet.delivered),
                in_flight: Bytes(packet.in_flight),
            },
            first_send_time: Instant(packet.first_sent_at),
            delivered_time: Instant(packet.delivered_at),
            app_limited: packet.app_limited != 0,
        }
    }
}
