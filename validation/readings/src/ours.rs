//! The core, behind the adapter for quinn, without quinn.

use std::time::{Duration, Instant};

use firstflight_core::view::Phase;
use firstflight_quic::quinn::{Controller, control};
use quinn_proto::congestion::Controller as _;

use crate::peer::{Frame, PACKET, Packet, Peer, Time};

pub(crate) struct Ours {
    controller: Controller,
    zero: Instant,
}

impl Ours {
    /// The control of that name.
    pub(crate) fn new(name: &str) -> Self {
        let factory = control(name).unwrap_or_else(|problem| panic!("{problem}"));
        let zero = Instant::now();
        let mtu = u16::try_from(PACKET).unwrap_or(u16::MAX);
        Self { controller: factory.controller(zero, mtu), zero }
    }

    fn at(&self, time: Time) -> Instant {
        self.zero + Duration::from_nanos(time)
    }
}

impl Peer for Ours {
    fn on_sent(&mut self, packet: Packet, _in_flight: u64) {
        self.controller.on_sent(self.at(packet.sent_at), PACKET, packet.number);
    }

    fn on_frame(&mut self, frame: &Frame) {
        for packet in frame.packets {
            self.controller.acknowledged(self.at(packet.sent_at), PACKET);
        }
        let newest = Some(frame.newest().number);
        self.controller.on_end_acks(self.at(frame.now), frame.in_flight, false, newest);
    }

    fn on_lost(&mut self, now: Time, packets: &[Packet], _in_flight: u64) {
        let newest = self.at(packets[packets.len() - 1].sent_at);
        let bytes = packets.len() as u64 * PACKET;
        self.controller.on_congestion_event(self.at(now), newest, false, bytes);
    }

    fn window(&self) -> u64 {
        self.controller.metrics().congestion_window
    }

    fn rate(&self) -> Option<u64> {
        self.controller.sender().pacing().map(|pacing| pacing.rate.0)
    }

    fn left(&self) -> bool {
        self.controller.sender().view().phase != Phase::Startup
    }
}
