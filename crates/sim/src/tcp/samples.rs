//! The states in which packets left, for controls that need them or delivery-rate samples: what
//! the core's [`Sampler`] says when a packet leaves is kept until the packet is acknowledged.

use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::Ack;
use firstflight_core::units::{Bytes, Instant};

use crate::ring::Ring;

/// A connection's sampler, and a state for every packet outstanding.
#[derive(Debug)]
pub(super) struct Samples {
    sampler: Sampler,
    states: Ring<AtSending>,
    /// The packet that the first of them belongs to.
    first: u32,
    /// A packet beyond the cumulative ACK that the ACK at hand is the first to report.
    early: Option<u32>,
}

impl Samples {
    pub(super) fn new() -> Self {
        Self { sampler: Sampler::default(), states: Ring::new(), first: 0, early: None }
    }

    /// Packet `seq` leaves; `in_flight` includes it.
    #[inline(never)]
    pub(super) fn on_sent(&mut self, seq: u32, now: Instant, in_flight: Bytes, idle: bool) {
        if self.states.len() == 0 {
            self.first = seq;
        }
        let state = self.sampler.on_sent(now, in_flight, idle);
        if !self.states.replace(seq.wrapping_sub(self.first) as usize, state) {
            self.states.push_back(state);
        }
    }

    /// Packet `seq` leaves, as [`Samples::on_sent`], and has never left before.
    #[inline]
    pub(super) fn on_sent_first(&mut self, seq: u32, now: Instant, in_flight: Bytes, idle: bool) {
        if self.states.len() == 0 {
            self.first = seq;
        }
        self.states.push_back(self.sampler.on_sent(now, in_flight, idle));
    }

    /// The source has nothing more to send.
    pub(super) fn on_app_limited(&mut self, in_flight: Bytes) {
        self.sampler.on_app_limited(in_flight);
    }

    /// The ACK at hand is the first to report that `seq`, beyond what it acknowledges, has arrived.
    pub(super) fn note_early(&mut self, seq: u32) {
        self.early = Some(seq);
    }

    /// Adds to an ACK for all below `una` what is known of its newest packet.
    pub(super) fn complete(&mut self, ack: &mut Ack, una: u32) {
        let cumulative = (ack.acked > Bytes(0)).then(|| una.wrapping_sub(1));
        let newest = self.early.take().or(cumulative);
        let place = newest.map(|seq| seq.wrapping_sub(self.first) as usize);
        match place.and_then(|place| self.states.get(place)) {
            Some(state) if ack.credited > Bytes(0) => {
                let sent_at = state.departure.sent_at;
                let sample = self.sampler.on_delivered(ack.now, ack.credited, sent_at, state);
                ack.app_limited = sample.is_some_and(|sample| sample.app_limited);
                (ack.sample, ack.packet) = (sample, Some(state.departure));
            }
            _ if ack.credited > Bytes(0) => self.sampler.count(ack.now, ack.credited),
            _ => {}
        }
        let acked = self.states.skip(una.wrapping_sub(self.first) as usize);
        self.first = self.first.wrapping_add(acked as u32);
    }
}
