//! s2n-quic's controllers: CUBIC with a HyStart of its own, and BBR version 2.

use std::collections::BTreeMap;
use std::time::Duration;

use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::bbr::BbrCongestionController;
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, CubicCongestionController, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};

use crate::peer::{Frame, PACKET, Packet, Peer, Time};

/// One of them.
pub(crate) struct S2n<C: CongestionController> {
    controller: C,
    rtt: RttEstimator,
    zero: Timestamp,
    publisher: Recorder,
    infos: BTreeMap<u64, C::PacketInfo>,
    lost_at: Option<Time>,
}

impl S2n<CubicCongestionController> {
    pub(crate) fn cubic() -> Self {
        Self::of(CubicCongestionController::new(MTU, Default::default()))
    }
}

impl S2n<BbrCongestionController> {
    pub(crate) fn bbr() -> Self {
        Self::of(BbrCongestionController::new(MTU, Default::default()))
    }
}

impl<C: CongestionController> S2n<C> {
    fn of(controller: C) -> Self {
        Self {
            controller,
            rtt: RttEstimator::new(Duration::from_millis(333)),
            zero: NoopClock.get_time(),
            publisher: Recorder::default(),
            infos: BTreeMap::new(),
            lost_at: None,
        }
    }

    fn at(&self, time: Time) -> Timestamp {
        self.zero + Duration::from_nanos(time)
    }
}

impl<C: CongestionController> Peer for S2n<C> {
    fn on_sent(&mut self, packet: Packet, _in_flight: u64) {
        let at = self.at(packet.sent_at);
        let (bytes, limited) = (PACKET as usize, Some(false));
        let info =
            self.controller.on_packet_sent(at, bytes, limited, &self.rtt, &mut self.publisher);
        self.infos.insert(packet.number, info);
    }

    fn on_frame(&mut self, frame: &Frame) {
        let (now, newest) = (self.at(frame.now), frame.newest());
        let (sent, rtt) = (self.at(newest.sent_at), Duration::from_nanos(frame.rtt()));
        let space = PacketNumberSpace::ApplicationData;
        self.rtt.update_rtt(Duration::ZERO, rtt, now, true, space);
        self.controller.on_rtt_update(sent, now, &self.rtt, &mut self.publisher);
        let Some(info) = self.infos.get(&newest.number).copied() else { return };
        let bytes = frame.packets.len() * PACKET as usize;
        let publisher = &mut self.publisher;
        self.controller.on_ack(sent, bytes, info, &self.rtt, &mut NoChance, now, publisher);
        for packet in frame.packets {
            self.infos.remove(&packet.number);
        }
    }

    fn on_lost(&mut self, now: Time, packets: &[Packet], _in_flight: u64) {
        let at = self.at(now);
        for (place, packet) in packets.iter().enumerate() {
            let Some(info) = self.infos.remove(&packet.number) else { continue };
            let begins = place == 0 && self.lost_at != Some(now);
            self.controller.on_packet_lost(
                PACKET as u32,
                info,
                false,
                begins,
                &mut NoChance,
                at,
                &mut self.publisher,
            );
        }
        self.lost_at = Some(now);
    }

    fn window(&self) -> u64 {
        self.controller.congestion_window().into()
    }

    fn rate(&self) -> Option<u64> {
        self.publisher.rate
    }

    fn left(&self) -> bool {
        self.publisher.left
    }
}

/// What a controller publishes of itself.
#[derive(Default)]
struct Recorder {
    rate: Option<u64>,
    left: bool,
}

impl Publisher for Recorder {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _window: u32) {
        self.left = true;
    }

    fn on_delivery_rate_sampled(&mut self, _sample: RateSample) {}

    fn on_pacing_rate_updated(&mut self, rate: Bandwidth, _burst: u32, _gain: Ratio<u64>) {
        self.rate = Some(rate.as_bytes_per_second());
    }

    fn on_bbr_state_changed(&mut self, state: BbrState) {
        self.left |= !matches!(state, BbrState::Startup);
    }
}

/// Nothing is left to chance here.
struct NoChance;

impl Generator for NoChance {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0x55);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0x55);
    }
}

const MTU: u16 = PACKET as u16;
