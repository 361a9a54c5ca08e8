//! The states in which packets left, for controls that need them or delivery-rate samples: what
//! the core's [`Sampler`] says when a packet leaves is kept until the packet is acknowledged.

use std::collections::VecDeque;

use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::Ack;
use firstflight_core::units::{Bytes, Instant};

/// A connection's sampler, and a state for every packet outstanding.
#[derive(Debug, Default)]
pub(super) struct Samples {
    sampler: Sampler,
    states: VecDeque<AtSending>,
    /// The packet that the first of them belongs to.
    first: u32,
    /// A packet beyond the cumulative ACK of which the ACK at hand is the first to tell.
    early: Option<u32>,
}

impl Samples {
    /// Packet `seq` leaves; `in_flight` includes it.
    pub(super) fn on_sent(&mut self, seq: u32, now: Instant, in_flight: Bytes, idle: bool) {
        if self.states.is_empty() {
            self.first = seq;
        }
        let state = self.sampler.on_sent(now, in_flight, idle);
        let place = seq.wrapping_sub(self.first) as usize;
        match self.states.get_mut(place) {
            Some(known) => *known = state,
            None => self.states.push_back(state),
        }
    }

    /// The source has nothing more to send.
    pub(super) fn on_app_limited(&mut self, in_flight: Bytes) {
        self.sampler.on_app_limited(in_flight);
    }

    /// The ACK at hand is the first to tell that `seq`, beyond what it acknowledges, has arrived.
    pub(super) fn note_early(&mut self, seq: u32) {
        self.early = Some(seq);
    }

    /// Adds to an ACK for all below `una` what is known of its newest packet.
    pub(super) fn complete(&mut self, ack: &mut Ack, una: u32) {
        let cumulative = (ack.acked > Bytes(0)).then(|| una.wrapping_sub(1));
        let newest = self.early.take().or(cumulative);
        let place = newest.map(|seq| seq.wrapping_sub(self.first) as usize);
        match place.and_then(|place| self.states.get(place)).copied() {
            Some(state) if ack.credited > Bytes(0) => {
                let sent_at = state.departure.sent_at;
                let sample = self.sampler.on_delivered(ack.now, ack.credited, sent_at, &state);
                ack.app_limited = sample.is_some_and(|sample| sample.app_limited);
                (ack.sample, ack.packet) = (sample, Some(state.departure));
            }
            _ if ack.credited > Bytes(0) => self.sampler.count(ack.now, ack.credited),
            _ => {}
        }
        while self.first != una && self.states.pop_front().is_some() {
            self.first = self.first.wrapping_add(1);
        }
    }
}
