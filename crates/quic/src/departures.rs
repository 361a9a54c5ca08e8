//! The state in which packets left, kept until they are acknowledged: delivery-rate samples are
//! taken of it.
//!
//! quinn reports when an acknowledged packet was sent, not which one it was. Packets that left at
//! the same instant share one entry.

use std::collections::VecDeque;

use firstflight_core::estimate::delivery_rate::{AtSending, Sampler};
use firstflight_core::event::Ack;
use firstflight_core::units::{Bytes, Instant};

/// Entries of packets in flight, oldest first, and the sampler that makes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures {
    sampler: Sampler,
    entries: VecDeque<AtSending>,
}

impl Departures {
    /// A packet leaves; `in_flight` includes it, `idle` if nothing else was in flight.
    pub(crate) fn on_sent(&mut self, now: Instant, in_flight: Bytes, idle: bool) {
        let at = self.sampler.on_sent(now, in_flight, idle);
        let length = self.entries.len();
        match self.entries.back_mut() {
            Some(last) if last.departure.sent_at >= now => last.departure.in_flight = in_flight,
            _ if length < MAX_ENTRIES => self.entries.push_back(at),
            _ => {}
        }
    }

    /// An ACK frame credits what `ack` says; the newest packet acknowledged so far left at
    /// `newest`, if it is in the frame. Adds the sample and the state of that packet to the ACK.
    pub(crate) fn on_delivered(&mut self, ack: &mut Ack, newest: Option<Instant>) {
        let then = newest.and_then(|sent| {
            while self.entries.get(1).is_some_and(|next| next.departure.sent_at <= sent) {
                self.entries.pop_front();
            }
            let then = self.entries.front().filter(|then| then.departure.sent_at <= sent)?;
            Some((sent, *then))
        });
        match then {
            Some((sent, then)) => {
                ack.sample = self.sampler.on_delivered(ack.now, ack.credited, sent, &then);
                ack.packet = Some(then.departure).filter(|then| then.sent_at == sent);
            }
            None => self.sampler.count(ack.now, ack.credited),
        }
        if ack.app_limited {
            self.sampler.on_app_limited(ack.in_flight);
        }
    }
}

/// Entries kept at most: about 1 MB, for 20 MB in flight where every packet leaves at an instant of
/// its own. A packet that leaves while all are in use has no entry. Its sample is taken from the
/// last packet before it that has one, which is a longer interval and as right; its state is not
/// reported.
const MAX_ENTRIES: usize = 16_384;

#[cfg(test)]
mod tests {
    use firstflight_core::units::Span;

    use super::*;

    const MS: u64 = 1_000_000;

    fn ack(ms: u64, bytes: u64, app_limited: bool) -> Ack {
        let (now, credited) = (Instant(ms * MS), Bytes(bytes));
        Ack { now, credited, acked: credited, app_limited, ..Ack::default() }
    }

    #[test]
    fn an_ack_has_the_sample_and_the_state_of_its_newest_packet() {
        let mut departures = Departures::default();
        departures.on_sent(Instant(0), Bytes(1_000), true);
        departures.on_sent(Instant(0), Bytes(2_000), false);
        departures.on_sent(Instant(MS), Bytes(3_000), false);
        let mut first = ack(40, 2_000, false);
        departures.on_delivered(&mut first, Some(Instant(0)));
        let packet = first.packet.unwrap();
        assert_eq!((packet.sent_at, packet.in_flight), (Instant(0), Bytes(2_000)));
        assert_eq!(first.sample.unwrap().interval, Span(40 * MS));
        departures.on_sent(Instant(40 * MS), Bytes(2_000), false);
        let mut second = ack(42, 1_000, false);
        departures.on_delivered(&mut second, Some(Instant(MS)));
        assert_eq!(second.packet.unwrap().in_flight, Bytes(3_000));
        let mut third = ack(90, 1_000, false);
        departures.on_delivered(&mut third, Some(Instant(40 * MS)));
        assert_eq!(third.packet.unwrap().delivered, Bytes(2_000));
        let sample = third.sample.unwrap();
        assert_eq!((sample.delivered, sample.interval), (Bytes(2_000), Span(50 * MS)));
    }

    #[test]
    fn a_late_packet_counts_and_is_no_sample() {
        let mut departures = Departures::default();
        departures.on_sent(Instant(0), Bytes(1_000), true);
        departures.on_sent(Instant(MS), Bytes(2_000), false);
        departures.on_delivered(&mut ack(40, 1_000, false), Some(Instant(MS)));
        let mut late = ack(45, 1_000, false);
        departures.on_delivered(&mut late, None);
        assert_eq!((late.sample, late.packet), (None, None));
        assert_eq!(departures.sampler.delivered(), Bytes(2_000));
    }

    #[test]
    fn what_leaves_after_the_source_had_nothing_to_send_is_marked() {
        let mut departures = Departures::default();
        departures.on_sent(Instant(0), Bytes(1_000), true);
        departures.on_delivered(&mut ack(40, 1_000, true), Some(Instant(0)));
        departures.on_sent(Instant(50 * MS), Bytes(1_000), true);
        let mut later = ack(90, 1_000, false);
        departures.on_delivered(&mut later, Some(Instant(50 * MS)));
        assert!(later.sample.unwrap().app_limited);
    }

    #[test]
    fn memory_is_bounded_and_samples_go_on_without_a_state_that_was_not_kept() {
        let mut departures = Departures::default();
        let all = 2 * MAX_ENTRIES as u64;
        (0..all).for_each(|ms| departures.on_sent(Instant(ms * MS), Bytes(ms), ms == 0));
        assert_eq!(departures.entries.len(), MAX_ENTRIES);
        let mut newest = ack(2 * all, 1, false);
        departures.on_delivered(&mut newest, Some(Instant((all - 1) * MS)));
        assert!(newest.sample.is_some() && newest.packet.is_none());
        assert_eq!(departures.entries.len(), 1);
    }
}
